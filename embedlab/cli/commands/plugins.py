"""`embedlab plugins`: what packages and files of the user's own add, and which files may run."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.flag import Flag

app = typer.Typer(
    name="plugins",
    help="See what your own packages and files add, and trust a file.",
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
    that settings name.

    Each is loaded, to say whether it works. State: ok, not trusted, or why it fails.
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
        else ("none: [plugins] files of embedlab.toml names files; packages add by entry points",)
    )
    terminal.show(Table(title="Plug-ins", columns=columns, rows=rows, notes=notes))


@dataclass(frozen=True, kw_only=True)
class TrustFileOptions:
    """A file of plug-ins."""

    file: Annotated[Path, Flag(metavar="FILE", help="A Python file that ./embedlab.toml names.")]


@app.command(
    epilog=examples(
        "embedlab plugins trust mine.py", "embedlab plugins trust tools/poolings.py --json"
    )
)
@common("output")
@takes
def trust(options: TrustFileOptions, *, terminal: Terminal) -> None:
    """Let FILE run as a plug-in as long as it does not change: its SHA-256 is stored. Read it
    before.

    Only what the embedlab.toml of a folder, its pyproject.toml or EMBEDLAB_PLUGINS names needs
    this; files of your own settings run.
    """
    from embedlab.workflows.trust import trust_file

    sha256 = trust_file(options.file)
    terminal.done(
        f"{options.file} is trusted as it is now", file=str(options.file.absolute()), sha256=sha256
    )
