"""`embedlab trust`: folders whose settings, and files whose code, may be used."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.flag import Flag

EXAMPLES = examples(
    "embedlab trust", "embedlab trust mine.py", "embedlab trust --list", "embedlab trust --revoke ."
)


@dataclass(frozen=True, kw_only=True)
class TrustOptions:
    """What is trusted, or not any more."""

    place: Annotated[
        Path,
        Flag(metavar="[FOLDER|FILE]", help="A folder with an embedlab.toml, or a Python file."),
    ] = Path()
    plugins: Annotated[
        bool,
        Flag(
            names=("--plugins/--no-plugins",),
            help="Of a folder: let its plug-in files run, also changed.",
        ),
    ] = True
    listing: Annotated[bool, Flag(names=("--list",), help="Show all that is trusted.")] = False
    revoke: Annotated[bool, Flag(names=("--revoke",), help="End the trust in FOLDER or FILE.")] = (
        False
    )


@common("output")
@takes
def trust(options: TrustOptions, *, terminal: Terminal) -> None:
    """Let the embedlab.toml of FOLDER (by default this one) set everything, and its plug-in files
    run. Read it before.

    Without trust it may set formats and how to compute, not data, runs and caches, the network or
    plug-ins. When one of those values changes the folder must be trusted again; its plug-in files
    may change. A FILE is trusted as it is now.
    """
    from embedlab.reports.tables import Column, Table
    from embedlab.workflows.trust import end_trust, trust_place, trusted_places

    if options.listing:
        columns = tuple(Column(key=key, title=key) for key in ("place", "covers", "state"))
        terminal.show(
            Table(
                title="Trusted",
                columns=columns,
                rows=[vars(trusted_place) for trusted_place in trusted_places()],
            )
        )
    elif options.revoke:
        ended = end_trust(options.place)
        terminal.done(f"{ended} is not trusted any more", place=ended)
    else:
        given = trust_place(options.place, plugins=options.plugins)
        terminal.done(
            f"{given.place} is trusted: {given.covers}", place=given.place, covers=given.covers
        )
