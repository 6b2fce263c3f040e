"""The pages of settings, recipe keys, grid files and paper files."""

import importlib
from typing import Any

from docs.reference.text import code, field_table, fields_of, first_line, table


def settings_page() -> str:
    """Return the page of settings."""
    from embedlab.commands.command import SHARED
    from embedlab.commands.options import options_of
    from embedlab.core.settings import SHOWN, Settings

    helps = {
        option.name: option.flag.help for group in SHARED.values() for option in options_of(group)
    }
    rows = [
        (
            code(one.name),
            code(f"EMBEDLAB_{one.name.upper()}"),
            one.kind,
            code(one.default),
            one.note or helps.get(one.name, ""),
        )
        for one in fields_of(Settings)
    ]
    return (
        "# Settings\n\nOptions hold before `EMBEDLAB_*` variables, these before a file named by "
        "`--config`, that before the user's own settings file. `embedlab config` shows "
        "each value and where it was set. `embedlab.toml` (or `[tool.embedlab]` in "
        f"pyproject.toml) of the working folder sets only {', '.join(map(code, SHOWN))}.\n\n"
        + table(("key of a file", "variable", "is", "default", "meaning"), rows)
        + "\n`plugins` is the table `[plugins]` with the key `files`, a list of files: "
        "[Plug-ins](../plugins.md).\n"
    )


def recipe_sections() -> dict[str, Any]:
    """Return the tables of a recipe file with the classes that check them."""
    recipe = importlib.import_module("embedlab.core.recipe")
    overrides = importlib.import_module("embedlab.core.overrides")
    declared = importlib.import_module("embedlab.core.overrides")
    return {
        "(top level)": recipe.Recipe,
        "[encoder]": recipe.EncoderSection,
        "[[stage]] data": recipe.DataSection,
        "[[stage]] optim": recipe.OptimSection,
        "[mix]": recipe.MixSection,
        "[evaluate]": recipe.EvaluateSection,
        "[deviations] KEY": declared.Declaration,
        "[profiles.NAME]": overrides.Profile,
    }


def recipes_page() -> str:
    """Return the page of recipes and their keys."""
    from embedlab.core.names import recipe_names
    from embedlab.core.recipe import load_recipe

    parts = [
        "# Recipes\n\nA recipe is one training in strict TOML: an unknown key, a wrong type "
        "or an impossible value is refused with file, key and "
        "the nearest valid name. `--set KEY=VALUE` changes a key for one training; "
        "`stages.optim.lr` is that key of every stage, `stage.0.optim.lr` "
        "that of the first, and `optim.lr` is enough where there is one stage. `embedlab "
        "recipes NAME` prints one to start from.\n",
        "## Keys\n\nBesides these every file has a `summary`, and each `[[stage]]` an "
        "`objective` with its `name` and "
        "[its own options](objectives.md). `NAME+OTHER` is a recipe with the stages of both.\n",
    ]
    for title, cls in recipe_sections().items():
        parts.append(f"### {title}\n\n{first_line(cls.__doc__)}\n\n{field_table(cls)}")
    rows = [(code(name), load_recipe(name).summary) for name in recipe_names()]
    parts.append(
        f"## Shipped recipes\n\nEach value in a recipe has its source as a "
        f"comment.\n\n{table(('recipe', 'what it trains'), rows)}"
    )
    return "\n".join(parts)


def grids_page() -> str:
    """Return the page of grid files."""
    from embedlab.experiments import grid_file

    rows = [(code(name), grid_file.load_grid(name).summary) for name in grid_file.grid_names()]
    return (
        "# Grid files\n\nA grid is a recipe and axes: each combination of values and seeds "
        "is a run. An axis is a key of the recipe with a list of "
        "values, or a table of labels, each with several keys.\n\n"
        + field_table(grid_file._File)
        + "\n## Shipped grids\n\n"
        + table(("grid", "what it varies"), rows)
    )


def papers_page() -> str:
    """Return the page of paper files."""
    from embedlab.analysis.claims import Claim
    from embedlab.experiments import paper_file

    parts = [
        "# Paper files\n\n`recipes/papers/NAME/paper.toml` says what produces each row of a "
        "paper's tables, whose numbers are CSV files beside it: [Reproduce this "
        "table](../guides/reproduce.md).\n"
    ]
    keys = {
        "[tables.NAME]": paper_file._Table,
        "rows.LABEL": paper_file._Row,
        "columns.NAME": paper_file._Column,
        "[claims] NAME": Claim,
        "[published] NAME": paper_file.PublishedModel,
    }
    for title, cls in keys.items():
        parts.append(f"## {title}\n\n{first_line(cls.__doc__)}\n\n{field_table(cls)}")
    return "\n".join(parts)
