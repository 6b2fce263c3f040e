"""`embedlab recipes`: what can be trained."""

import json
from dataclasses import dataclass
from typing import Annotated

from embedlab.cli.generated_options import takes
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import UsageError
from embedlab.core.names import recipe_names, recipe_path
from embedlab.workflows.options.flag import Flag
from embedlab.workflows.options.trainings import profile_flag, profile_override

EXAMPLES = examples(
    "embedlab recipes",
    "embedlab recipes snli-supcl > mine.toml",
    "embedlab recipes supcl-seq --profile code",
)


@dataclass(frozen=True, kw_only=True)
class RecipesOptions:
    """One recipe, or all of them."""

    name: Annotated[
        str | None,
        Flag(metavar="NAME", help="One recipe, printed as its file.", completes="recipes"),
    ] = None
    # None: the file as it is
    profile: Annotated[str | None, profile_flag("NAME, all written out")] = None


@common("output")
@takes
def recipes(options: RecipesOptions, *, terminal: Terminal) -> None:
    """List the shipped recipes, or print one to start your own from."""
    if options.name is None:
        if options.profile is not None:
            raise UsageError(
                "--profile is of one recipe", hint="embedlab recipes supcl-seq --profile code"
            )
        return _list(terminal)
    if options.profile is None and terminal.settings.format != "json":
        return terminal.write(recipe_path(options.name).read_text(encoding="utf-8"))
    from embedlab.core.recipe import declared_text, load_recipe, recipe_to_table, to_toml

    recipe = load_recipe(options.name, profile_override(options.profile))
    if terminal.settings.format == "json":
        return terminal.write_json(
            json.dumps(recipe_to_table(recipe), indent=2, ensure_ascii=False)
        )
    return terminal.write(to_toml(recipe) + declared_text(recipe))


def _list(terminal: Terminal) -> None:
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
    terminal.show(
        Table(
            title="Recipes",
            columns=columns,
            rows=rows,
            keys=("recipe", "data", "objective", "summary"),
        )
    )
