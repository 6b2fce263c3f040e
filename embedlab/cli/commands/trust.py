"""`embedlab trust`: folders whose settings, and files whose code, may be used."""

from pathlib import Path
from typing import Annotated

import typer

from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal

EXAMPLES = examples("embedlab trust", "embedlab trust mine.py", "embedlab trust --list", "embedlab trust --revoke .")


@common("output")
def trust(
    place: Annotated[Path, typer.Argument(metavar="[FOLDER|FILE]", help="A folder with an embedlab.toml, or a Python file.")] = Path(),
    plugins: Annotated[bool, typer.Option("--plugins/--no-plugins", help="Of a folder: let its plug-in files run, also changed.")] = True,
    listing: Annotated[bool, typer.Option("--list", help="Show all that is trusted.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="End the trust in FOLDER or FILE.")] = False,
    *,
    terminal: Terminal,
) -> None:
    """Let the embedlab.toml of FOLDER (by default this one) set everything, and its plug-in files run. Read it before.

    Without trust it may set formats and how to compute, not data, runs and caches, the network or plug-ins. When one of those
    values changes the folder must be trusted again; its plug-in files may change. A FILE is trusted as it is now.
    """
    from embedlab.reports.tables import Column, Table
    from embedlab.workflows.trust import end_trust, trust_place, trusted_places

    if listing:
        columns = tuple(Column(key=key, title=key) for key in ("place", "covers", "state"))
        terminal.show(Table(title="Trusted", columns=columns, rows=[vars(one) for one in trusted_places()]))
    elif revoke:
        ended = end_trust(place)
        terminal.done(f"{ended} is not trusted any more", place=ended)
    else:
        given = trust_place(place, plugins=plugins)
        terminal.done(f"{given.place} is trusted: {given.covers}", place=given.place, covers=given.covers)
