"""`embedlab cache`: results stored on disk for later commands, and how to delete them."""

from datetime import datetime
from typing import TYPE_CHECKING

import typer

from embedlab.cli.confirmation import ConfirmOptions
from embedlab.cli.generated_options import takes
from embedlab.cli.help_pages import HelpedCommand
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal

if TYPE_CHECKING:
    from embedlab.reports.tables import Value

app = typer.Typer(
    name="cache", help="See and clear what is stored to be computed once.", no_args_is_help=True
)


@app.command(cls=HelpedCommand, epilog=examples("embedlab cache ls", "embedlab cache ls --json"))
@common("runs", "output")
def ls(*, terminal: Terminal) -> None:
    """List what is stored, of which model, its size and when it was last used."""
    from embedlab.models.grammar import title_of
    from embedlab.reports.tables import Column, Table, TableCell
    from embedlab.workflows.cache import cache_state

    state = cache_state(terminal.settings.cache, terminal.settings.runs)
    rows: list[dict[str, Value | TableCell]] = [
        {
            "entry": entry.path.name,
            "kind": entry.kind,
            "model": TableCell(value=entry.model or None, text=title_of(entry.model))
            if entry.model
            else None,
            "mib": entry.mib,
            "used": TableCell(
                value=(used := _time(entry.used_s)), text=used[:16].replace("T", " ")
            ),
        }
        for entry in sorted(state.entries, key=lambda entry: -entry.used_s)
    ]
    columns = (
        Column(key="entry", title="entry", role="minor"),
        Column(key="kind", title="kind"),
        Column(key="model", title="model"),
        Column(key="mib", title="MiB", digits=1),
        Column(key="used", title="last used"),
    )
    total = (
        f"{state.mib:.1f} MiB in {state.folder}; embeddings are trimmed to "
        f"{terminal.settings.cache_gib:g} GiB"
    )
    terminal.show(Table(title="Cache", columns=columns, rows=rows, notes=(total,)))


@app.command(
    cls=HelpedCommand, epilog=examples("embedlab cache clear", "embedlab cache clear --yes")
)
@common("output")
@takes
def clear(confirm: ConfirmOptions, *, terminal: Terminal) -> None:
    """Delete what embedlab has stored; it is computed again when it is needed. Other files in the
    folder stay.
    """
    from embedlab.workflows.cache import cache_state, clear_cache

    state = cache_state(terminal.settings.cache)
    what = f"{len(state.entries)} entries, {state.mib:.1f} MiB"
    if state.entries:
        confirm.require(f"delete {what} in {state.folder}?", "nothing deleted", terminal)
    clear_cache(state)
    terminal.done(
        f"deleted {what}", folder=str(state.folder), deleted=len(state.entries), mib=state.mib
    )


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat()
