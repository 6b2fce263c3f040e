"""`embedlab doctor`: what this machine has, and what is wrong with it."""

from __future__ import annotations

import locale
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from embedlab.commands.command import command
from embedlab.commands.options import Flag
from embedlab.core.errors import EmbedlabError
from embedlab.core.paths import STARTER_FOLDER
from embedlab.core.session import Session
from embedlab.core.settings import Settings
from embedlab.core.version import __version__

if TYPE_CHECKING:
    from embedlab.core.plugins import Kind, Plugin
    from embedlab.reports.report import Report


PACKAGES = (
    "torch",
    "transformers",
    "tokenizers",
    "datasets",
    "accelerate",
    "sentence-transformers",
    "numpy",
    "polars",
)


@dataclass(frozen=True, kw_only=True)
class DoctorOptions:
    """What is looked at."""

    plugins: Annotated[
        bool,
        Flag(
            names=("--plugins",),
            help="Only the objectives, tasks, datasets, poolings, encoders and properties of "
            "installed packages and of files that you name, and whether each works.",
        ),
    ] = False
    everything: Annotated[
        bool, Flag(names=("--all",), help="With --plugins: also what embedlab ships.")
    ] = False


@command(
    *("data", "runs", "machine", "output"),
    examples=(
        "embedlab doctor --data DIR",
        "embedlab doctor --format json",
        "embedlab doctor --plugins --all",
    ),
)
def doctor(options: DoctorOptions, session: Session) -> Report:
    """Show versions, devices, folders, plug-ins and the terminal; ends with 3 when something that
    was selected is unusable.
    """
    from embedlab.reports.report import Report
    from embedlab.reports.tables import Column, Table

    if options.plugins or options.everything:
        return _plugin_report(shipped=options.everything)
    settings = session.settings
    findings = [
        *_versions(),
        *_devices(settings),
        *_folders(settings),
        *_plugins(),
        *_hub(settings),
        *_terminal(),
    ]
    columns = tuple(
        Column(key=key, title=key, role="key" if key == "check" else "text")
        for key in ("check", "found", "problem")
    )
    rows = [vars(finding) for finding in findings]
    return Report.of(
        [Table(title="embedlab doctor", columns=columns, rows=rows)],
        is_whole=not any(finding.problem for finding in findings),
    )


def _plugin_report(*, shipped: bool) -> Report:
    from embedlab.reports.report import Report
    from embedlab.reports.tables import Column, Table

    rows = [vars(state) for state in plugin_states(shipped=shipped)]
    titles = {"kind": "kind", "name": "name", "origin": "from", "state": "state"}
    columns = tuple(
        Column(key=key, title=title, role="text" if key == "state" else None)
        for key, title in titles.items()
    )
    none = "none: --plugin, or [plugins] files in your settings; packages add by entry points"
    notes = () if rows else (none,)
    return Report.of([Table(title="Plug-ins", columns=columns, rows=rows, notes=notes)])


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One fact, and what is wrong with it where something is."""

    check: str
    found: str
    problem: str = ""


def _versions() -> Iterator[Finding]:

    yield Finding(check="embedlab", found=__version__)
    yield Finding(check="python", found=f"{platform.python_version()} on {platform.platform()}")
    for name in PACKAGES:
        try:
            yield Finding(check=name, found=version(name))
        except PackageNotFoundError:
            yield Finding(check=name, found="not installed")


def _devices(settings: Settings) -> Iterator[Finding]:

    import torch

    from embedlab.encoders.device import engine_line, has_bf16_units, machine

    processors = [torch.device("cpu")]
    processors += [torch.device("cuda", number) for number in range(torch.cuda.device_count())]
    processors += [torch.device("mps")] if torch.backends.mps.is_available() else []
    for device in processors:
        name = (
            torch.cuda.get_device_name(device)
            if device.type == "cuda"
            else platform.processor() or platform.machine()
        )
        yield Finding(
            check=str(device),
            found=f"{name}, {'with' if has_bf16_units(device) else 'without'} bf16 matrix units",
        )
    yield Finding(check="cpu engine", found=engine_line(settings))
    try:
        chosen = machine(settings, training=True)
        yield Finding(
            check="training on",
            found=f"{chosen.device} in {chosen.precision}, {chosen.threads} threads of "
            f"{os.cpu_count()}",
        )
    except EmbedlabError as error:
        yield Finding(check="training on", found=settings.device, problem=error.message)


def _folders(settings: Settings) -> Iterator[Finding]:
    if settings.data is None:
        yield Finding(
            check="data folder",
            found="none: --data DIR or EMBEDLAB_DATA; --data starter is inside embedlab",
        )
    else:
        description = (
            f"the starter set, {settings.data}"
            if settings.data == STARTER_FOLDER
            else str(settings.data)
        )
        yield Finding(
            check="data folder",
            found=description,
            problem="" if settings.data.is_dir() else "no such folder",
        )
    for check, folder in (("runs folder", settings.runs), ("cache folder", settings.cache)):
        existing = next(
            path for path in (folder.absolute(), *folder.absolute().parents) if path.exists()
        )
        free_gib = shutil.disk_usage(existing).free / 2**30
        yield Finding(
            check=check,
            found=f"{folder}, {free_gib:.1f} GiB free",
            problem=_why_not_writable(existing),
        )


def _why_not_writable(path: Path) -> str:
    if not path.is_dir():
        return f"{str(path)!r} is not a folder"
    return "" if os.access(path, os.W_OK | os.X_OK) else f"cannot write in {str(path)!r}"


def _plugins() -> Iterator[Finding]:

    for state in plugin_states():
        description = (
            f"{state.kind} {state.name} of {state.origin}".strip() if state.name else state.origin
        )
        yield Finding(
            check="plug-in", found=description, problem="" if state.is_usable else state.state
        )


def _hub(settings: Settings) -> Iterator[Finding]:

    from huggingface_hub import constants

    from embedlab.core.network import is_reachable

    is_offline = settings.offline or constants.HF_HUB_OFFLINE
    state = (
        "switched off"
        if is_offline
        else "it answers"
        if is_reachable()
        else "it does not answer, the cache alone can be used"
    )
    yield Finding(check="hub", found=f"{state}; cache {constants.HF_HUB_CACHE}")


def _terminal() -> Iterator[Finding]:

    size = shutil.get_terminal_size()
    kind = "a terminal" if sys.stdout.isatty() else "not a terminal"
    colour = (
        "off (NO_COLOR)"
        if os.environ.get("NO_COLOR")
        else os.environ.get("COLORTERM", "as TERM says")
    )
    yield Finding(
        check="terminal",
        found=f"{kind}, {size.columns}x{size.lines}, TERM={os.environ.get('TERM', '')}, colour "
        f"{colour}",
    )
    yield Finding(check="encoding", found=f"{sys.stdout.encoding}, locale {locale.getlocale()[0]}")


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
        return self.state == "ok"


def plugin_states(*, shipped: bool = False) -> list[PluginState]:
    """Return the state of every plug-in, by kind, then of the files that declare nothing; SHIPPED
    adds what is part of embedlab.
    """
    from embedlab.core.plugins import gathered_faults

    with gathered_faults():  # each is a state here, and no note besides
        return [*_named(shipped=shipped), *_unnamed()]


def _named(*, shipped: bool) -> Iterator[PluginState]:
    from embedlab.core.plugins import KINDS, discover

    for kind in KINDS:
        for plugin in discover(kind):
            if shipped or not plugin.is_shipped:
                yield PluginState(
                    kind=kind, name=plugin.name, origin=plugin.origin, state=_state(kind, plugin)
                )


def _unnamed() -> Iterator[PluginState]:
    from embedlab.core.plugins import file_faults

    for file, error in file_faults():
        yield PluginState(kind="", name="", origin=str(file.path), state=f"fails: {_line(error)}")


def _state(kind: Kind, plugin: Plugin) -> str:
    try:
        _use(kind, plugin)
    except EmbedlabError as error:
        return f"fails: {_line(error)}"
    return "ok"


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
