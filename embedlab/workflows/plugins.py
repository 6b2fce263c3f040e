"""What every plug-in is and whether it works: each is loaded in this process."""

from collections.abc import Iterator
from dataclasses import dataclass

from embedlab.core.errors import EmbedlabError
from embedlab.core.plugins import KINDS, Kind, Plugin, discover, file_faults, gathered_faults

OK = "ok"


@dataclass(frozen=True, kw_only=True)
class PluginState:
    """One plug-in, or a file of which no name is known."""

    kind: str
    name: str
    origin: str
    state: str  # "ok", or why it cannot be used

    @property
    def is_usable(self) -> bool:
        """Whether it works."""
        return self.state == OK


def plugin_states(*, shipped: bool = False) -> list[PluginState]:
    """Return the state of every plug-in, by kind, then of the files that declare nothing; SHIPPED
    adds what is part of embedlab.
    """
    with gathered_faults():  # each is a state here, and no note besides
        return [*_named(shipped=shipped), *_unnamed()]


def _named(*, shipped: bool) -> Iterator[PluginState]:
    for kind in KINDS:
        for plugin in discover(kind):
            if shipped or not plugin.is_shipped:
                yield PluginState(
                    kind=kind, name=plugin.name, origin=plugin.origin, state=_state(kind, plugin)
                )


def _unnamed() -> Iterator[PluginState]:
    for file, error in file_faults():
        yield PluginState(kind="", name="", origin=str(file.path), state=f"fails: {_line(error)}")


def _state(kind: Kind, plugin: Plugin) -> str:
    try:
        _use(kind, plugin)
    except EmbedlabError as error:
        return f"fails: {_line(error)}"
    return OK


def _use(kind: Kind, plugin: Plugin) -> None:
    """Load PLUGIN as whoever uses it does, so that what is not of its kind is refused."""
    if plugin.fault is not None:
        raise plugin.fault
    match kind:
        case "objectives":
            from embedlab.core.names import objective_options

            objective_options(plugin.name)
        case "tasks":
            from embedlab.tasks.task import task

            task(plugin.name)
        case "datasets":
            from embedlab.data.source import dataset

            dataset(plugin.name)
        case "poolings":
            from embedlab.encoders.pooling import pooling_method

            pooling_method(plugin.name)
        case "encoders":
            from embedlab.models.encoder_kind import encoder_kind

            encoder_kind(plugin.name)
        case "properties":
            from embedlab.outcomes.property import property_named

            property_named(plugin.name)


def _line(error: EmbedlabError) -> str:
    return f"{error.message}; {error.hint}" if error.hint else error.message
