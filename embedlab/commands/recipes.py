"""`embedlab recipes`: what can be trained."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated

from embedlab.commands.command import command
from embedlab.commands.options import Flag, profile_flag, with_profile
from embedlab.commands.terminal import Terminal
from embedlab.core.errors import UsageError
from embedlab.core.names import recipe_names, recipe_path


@dataclass(frozen=True, kw_only=True)
class RecipesOptions:
    """One recipe, or all of them."""

    name: Annotated[
        str | None,
        Flag(metavar="NAME", help="One recipe, printed as its file.", completes="recipes"),
    ] = None
    # None: the file as it is
    profile: Annotated[str | None, profile_flag("NAME, all written out")] = None


@command(
    "output",
    examples=(
        "embedlab recipes",
        "embedlab recipes snli-supcl > mine.toml",
        "embedlab recipes supcl-seq --profile code",
    ),
)
def recipes(options: RecipesOptions, session: Terminal) -> None:
    """List the shipped recipes, or print one to start your own from."""
    from embedlab.core.recipe import declared_text, load_recipe, recipe_to_table, to_toml

    if options.name is None:
        if options.profile is not None:
            raise UsageError(
                "--profile is of one recipe", hint="embedlab recipes supcl-seq --profile code"
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
    from embedlab.reports.tables import Column, Table

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
    columns = (
        Column(key="recipe", title="recipe"),
        Column(key="summary", title="summary", role="text"),
    )
    session.show(
        Table(
            title="Recipes",
            columns=columns,
            rows=rows,
            keys=("recipe", "data", "objective", "summary"),
        )
    )
