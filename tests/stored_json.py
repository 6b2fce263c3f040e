"""Changes to files that a run or an evaluation has stored, as embedlab itself would have written
them.
"""

import json
from pathlib import Path
from typing import Any

from embedlab.core.disk import KEY, UNSEALED, sealed_json, write_sealed
from embedlab.core.recipe import Recipe, to_toml
from embedlab.runs.store import RunFolder


def stored_values(path: Path) -> dict[str, Any]:
    """The values of a stored JSON file, without its checksum."""
    return {
        key: value
        for key, value in json.loads(path.read_text(encoding="utf-8")).items()
        if key != KEY
    }


def store_values(path: Path, values: dict[str, Any]) -> None:
    """Write VALUES in place of a stored JSON file, with their checksum."""
    path.write_text(sealed_json(values), encoding="utf-8")


def store_recipe(run: RunFolder, recipe: Recipe) -> None:
    """Write the RECIPE of a RUN, with its checksum."""
    write_sealed(run.recipe_file, f"{to_toml(recipe)}# {KEY}: {UNSEALED}\n".encode())
