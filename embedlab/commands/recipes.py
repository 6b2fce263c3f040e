"""`embedlab recipes`: what can be trained."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated

from embedlab.commands.command import command
from embedlab.commands.options import Flag, with_profile
from embedlab.commands.terminal import Terminal
from embedlab.core.errors import UsageError
from embedlab.core.names import recipe_names, recipe_path
from embedlab.reports.tables import Table, columns_of


@dataclass(frozen=True, kw_only=True)
class RecipesOptions:
    """One recipe, or all of them."""

    name: Annotated[
        str | None,
        Flag(
            is_argument=True,
            metavar="NAME",
            help="One recipe, printed as its file.",
            completes="recipes",
        ),
    ] = None
    # None: the file as it is
    profile: Annotated[
        str | None,
        Flag(
            is_expert=True,
            metavar="NAME",
            help="Print all values: those of the paper, or code for those of the authors' public "
            "code.",
        ),
    ] = None


@command("output")
def recipes(options: RecipesOptions, session: Terminal) -> None:
    """List the shipped recipes, or print one to start your own from.

    Examples:
        $ embedlab recipes
        $ embedlab recipes snli-supcl > mine.toml
        $ embedlab recipes supcl-seq --profile code

    """
    from embedlab.core.recipe import declared_text, load_recipe, recipe_to_table, to_toml

    if options.name is None:
        if options.profile is not None:
            raise UsageError(
                "--profile needs the name of a recipe",
                hint="embedlab recipes supcl-seq --profile code",
            )
        return _list(session)
    if options.profile is None and session.settings.format != "json":
        return session.write(recipe_path(options.name).read_text(encoding="utf-8"))

    recipe = load_recipe(options.name, with_profile(options.profile, ()))
    if session.settings.format == "json":
        return session.write_json(json.dumps(recipe_to_table(recipe), indent=2, ensure_ascii=False))
    return session.write(to_toml(recipe) + declared_text(recipe))


def _list(session: Terminal) -> None:

    from embedlab.core.schema import read_toml

    rows = []
    for name in recipe_names():
        values = read_toml(recipe_path(name))
        stages = values.get("stage", [])
        rows.append(
            {
                "recipe": name,
                "data": " → ".join(
                    "+".join(stage["data"].get("datasets", ["own files"])) for stage in stages
                ),
                "objective": " → ".join(stage["objective"]["name"] for stage in stages),
                "summary": values.get("summary", ""),
            }
        )
    columns = columns_of("recipe", "summary [text]")
    session.show(Table("Recipes", columns, rows, keys=("recipe", "data", "objective", "summary")))
