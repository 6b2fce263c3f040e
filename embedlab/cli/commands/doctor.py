"""`embedlab doctor`: what this machine has, and what is wrong with it."""

import locale
import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode
from embedlab.workflows.options.flag import Flag

if TYPE_CHECKING:
    from embedlab.workflows.doctor import Finding

EXAMPLES = examples(
    "embedlab doctor --data DIR",
    "embedlab doctor --format json",
    "embedlab doctor --plugins --all",
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


@common("data", "runs", "machine", "output")
@takes
def doctor(options: DoctorOptions, *, terminal: Terminal) -> None:
    """Show versions, devices, folders, plug-ins and the terminal; ends with 3 when something that
    was selected is unusable.
    """
    if options.plugins or options.everything:
        return _show_plugins(terminal, shipped=options.everything)
    return _show_machine(terminal)


def _show_plugins(terminal: Terminal, *, shipped: bool) -> None:
    from embedlab.reports.tables import Column, Table
    from embedlab.workflows.plugins import plugin_states

    rows = [vars(state) for state in plugin_states(shipped=shipped)]
    titles = {"kind": "kind", "name": "name", "origin": "from", "state": "state"}
    columns = tuple(
        Column(key=key, title=title, role="text" if key == "state" else None)
        for key, title in titles.items()
    )
    none = "none: --plugin, or [plugins] files in your settings; packages add by entry points"
    notes = () if rows else (none,)
    terminal.show(Table(title="Plug-ins", columns=columns, rows=rows, notes=notes))


def _show_machine(terminal: Terminal) -> None:
    from embedlab.reports.tables import Column, Table
    from embedlab.workflows.doctor import examine

    findings = [*examine(terminal.settings), *_terminal()]
    columns = tuple(
        Column(key=key, title=key, role="key" if key == "check" else "text")
        for key in ("check", "found", "problem")
    )
    terminal.show(
        Table(
            title="embedlab doctor", columns=columns, rows=[vars(finding) for finding in findings]
        )
    )
    if any(finding.problem for finding in findings):
        raise typer.Exit(ExitCode.MISSING)


def _terminal() -> "Iterator[Finding]":
    from embedlab.workflows.doctor import Finding

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
