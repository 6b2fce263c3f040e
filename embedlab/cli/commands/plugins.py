"""`embedlab plugins`: what packages and files of the user's own add."""

from dataclasses import dataclass
from typing import Annotated

import typer

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.flag import Flag

app = typer.Typer(
    name="plugins",
    help="See what your own packages and files add.",
    no_args_is_help=True,
)


@dataclass(frozen=True, kw_only=True)
class PluginsOptions:
    """Which plug-ins are listed."""

    everything: Annotated[bool, Flag(names=("--all",), help="Also what embedlab ships.")] = False


@app.command(epilog=examples("embedlab plugins ls", "embedlab plugins ls --all --json"))
@common("output")
@takes
def ls(options: PluginsOptions, *, terminal: Terminal) -> None:
    """List objectives, tasks, datasets, poolings and encoders of installed packages and of files
    that you name.

    Each is loaded, to say whether it works. State: ok, or why it fails.
    docs/plugins.md shows how to write one.
    """
    from embedlab.reports.tables import Column, Table
    from embedlab.workflows.plugins import plugin_states

    rows = [vars(state) for state in plugin_states(shipped=options.everything)]
    titles = {"kind": "kind", "name": "name", "origin": "from", "state": "state"}
    columns = tuple(
        Column(key=key, title=title, role="text" if key == "state" else None)
        for key, title in titles.items()
    )
    notes = (
        ()
        if rows
        else ("none: --plugin, or [plugins] files in your settings; packages add by entry points",)
    )
    terminal.show(Table(title="Plug-ins", columns=columns, rows=rows, notes=notes))
