"""`embedlab doctor`: what this machine has, and what is wrong with it."""

import locale
import os
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import typer

from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode

if TYPE_CHECKING:
    from embedlab.workflows.doctor import Finding

EXAMPLES = examples("embedlab doctor --data DIR", "embedlab doctor --format json")


@common("data", "runs", "machine", "output")
def doctor(*, terminal: Terminal) -> None:
    """Show versions, devices, folders and the terminal; ends with 3 when something that was
    selected is unusable.
    """
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
