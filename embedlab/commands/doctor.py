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
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Annotated

from embedlab.commands.command import command
from embedlab.commands.options import Flag
from embedlab.core.errors import EmbedlabError
from embedlab.core.paths import STARTER_FOLDER
from embedlab.core.session import Session
from embedlab.core.settings import Settings
from embedlab.core.version import __version__
from embedlab.reports.report import Report
from embedlab.reports.tables import Table, columns_of

if TYPE_CHECKING:
    from embedlab.core.plugins import Kind, Plugin


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
            help="Show only plug-ins: the objectives, tasks, datasets, poolings, encoders and "
            "properties of installed packages and of files that you name, and whether each works.",
        ),
    ] = False
    everything: Annotated[
        bool, Flag(names=("--all",), help="With --plugins: also what embedlab ships.")
    ] = False


@command("data runs machine output")
def doctor(options: DoctorOptions, session: Session) -> Report:
    """Show versions, devices, folders, plug-ins and the terminal; the exit code is 3 if something
    that you selected is unusable.

    Examples:
        $ embedlab doctor --data DIR
        $ embedlab doctor --format json
        $ embedlab doctor --plugins --all

    """
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
    columns = columns_of("check [key]", "found [text]", "problem [text]")
    table = Table("embedlab doctor", columns, [*map(vars, findings)])
    return Report.of(table, is_whole=not any(finding.problem for finding in findings))


def _plugin_report(*, shipped: bool) -> Report:
    rows = [*map(vars, plugin_states(shipped=shipped))]
    none = "none: --plugin, or [plugins] files in your settings; packages add by entry points"
    columns = columns_of("kind", "name", "origin = from", "state [text]")
    return Report.of(Table("Plug-ins", columns, rows, () if rows else (none,)))


@dataclass(frozen=True)
class MachineFact:
    """One fact, and what is wrong with it where something is."""

    check: str
    found: str
    problem: str = ""


def _versions() -> Iterator[MachineFact]:

    yield MachineFact("embedlab", __version__)
    yield MachineFact("python", f"{platform.python_version()} on {platform.platform()}")
    for name in PACKAGES:
        try:
            yield MachineFact(name, version(name))
        except PackageNotFoundError:
            yield MachineFact(name, "not installed")


def _devices(settings: Settings) -> Iterator[MachineFact]:

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
        yield MachineFact(
            str(device),
            f"{name}, {'with' if has_bf16_units(device) else 'without'} bf16 matrix units",
        )
    yield MachineFact("cpu engine", engine_line(settings))
    try:
        hardware = machine(settings, training=True)
        yield MachineFact(
            "training on",
            f"{hardware.device} in {hardware.precision}, {hardware.threads} threads of "
            f"{os.cpu_count()}",
        )
    except EmbedlabError as error:
        yield MachineFact("training on", settings.device, problem=error.message)


def _folders(settings: Settings) -> Iterator[MachineFact]:
    if settings.data is None:
        yield MachineFact(
            "data folder",
            "none: --data DIR or EMBEDLAB_DATA; --data starter is inside embedlab",
        )
    else:
        description = (
            f"the starter set, {settings.data}"
            if settings.data == STARTER_FOLDER
            else str(settings.data)
        )
        yield MachineFact(
            "data folder",
            description,
            problem="" if settings.data.is_dir() else "no such folder",
        )
    for check, folder in (("runs folder", settings.runs), ("cache folder", settings.cache)):
        existing = next(
            path for path in (folder.absolute(), *folder.absolute().parents) if path.exists()
        )
        free_gib = shutil.disk_usage(existing).free / 2**30
        yield MachineFact(
            check,
            f"{folder}, {free_gib:.1f} GiB free",
            problem=_why_not_writable(existing),
        )


def _why_not_writable(path: Path) -> str:
    if not path.is_dir():
        return f"{str(path)!r} is not a folder"
    return "" if os.access(path, os.W_OK | os.X_OK) else f"cannot write in {str(path)!r}"


def _plugins() -> Iterator[MachineFact]:

    for state in plugin_states():
        description = (
            f"{state.kind} {state.name} of {state.origin}".strip() if state.name else state.origin
        )
        yield MachineFact(
            "plug-in", description, problem="" if state.state == "ok" else state.state
        )


def _hub(settings: Settings) -> Iterator[MachineFact]:

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
    yield MachineFact("hub", f"{state}; cache {constants.HF_HUB_CACHE}")


def _terminal() -> Iterator[MachineFact]:

    size = shutil.get_terminal_size()
    kind = "a terminal" if sys.stdout.isatty() else "not a terminal"
    colour = (
        "off (NO_COLOR)"
        if os.environ.get("NO_COLOR")
        else os.environ.get("COLORTERM", "as TERM says")
    )
    yield MachineFact(
        "terminal",
        f"{kind}, {size.columns}x{size.lines}, TERM={os.environ.get('TERM', '')}, colour {colour}",
    )
    yield MachineFact("encoding", f"{sys.stdout.encoding}, locale {locale.getlocale()[0]}")


@dataclass(frozen=True)
class PluginState:
    """One plug-in, or a file of which no name is known."""

    kind: str
    name: str
    origin: str
    state: str  # "ok", or why it cannot be used


def plugin_states(*, shipped: bool = False) -> list[PluginState]:
    """Return the state of every plug-in, by kind, then of the files that declare nothing; SHIPPED
    adds what is part of embedlab.
    """
    from embedlab.core.plugins import KINDS, discover, file_faults, gathered_faults

    with gathered_faults():  # each is a state here, and no note besides
        states = [
            PluginState(kind, plugin.name, plugin.origin, _state(kind, plugin))
            for kind in KINDS
            for plugin in discover(kind)
            if shipped or not plugin.is_shipped
        ]
        faults = [*file_faults()]
    return states + [PluginState("", "", str(file.path), _failure(error)) for file, error in faults]


# what loads a plug-in of each kind, as whoever uses it does: what is not of its kind is refused
_USES: dict[str, str] = {
    "objectives": "core.names:objective_options",
    "tasks": "tasks.task:task",
    "datasets": "data.source:dataset",
    "poolings": "encoders.pooling:pooling_method",
    "encoders": "models.encoder_kind:encoder_kind",
    "properties": "outcomes.property:property_named",
}


def _state(kind: Kind, plugin: Plugin) -> str:
    try:
        if plugin.fault is not None:
            raise plugin.fault
        resolve_name(f"embedlab.{_USES[kind]}")(plugin.name)
    except EmbedlabError as error:
        return _failure(error)
    return "ok"


def _failure(error: EmbedlabError) -> str:
    return "; ".join(filter(None, (f"fails: {error.message}", error.hint)))
