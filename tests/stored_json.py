"""Changes to files that a run or an evaluation has stored, as embedlab itself would have written
them.
"""

import json
from pathlib import Path
from typing import Any

from embedlab.core.seal import KEY, sealed_json


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


def without_checksums(run: Path) -> None:
    """Take the checksums of recipe and environment out of the folder of a RUN, as it was before
    these had any.
    """
    recipe, environment = run / "recipe.toml", run / "environment.json"
    lines = recipe.read_text(encoding="utf-8").splitlines(keepends=True)
    recipe.write_text(
        "".join(line for line in lines if not line.startswith("# checksum: ")), encoding="utf-8"
    )
    environment.write_text(json.dumps(stored_values(environment)), encoding="utf-8")
