"""The paths of a user's own files of rows in a recipe: relative to the recipe's file, or to the
working folder where they are typed.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from embedlab.core.paths import typed_path
from embedlab.core.schema import TomlTable


def absolute(files: Sequence[str], folder: Path | None = None) -> list[str]:
    """Return FILES as absolute paths; relative ones are in FOLDER, or in the working folder."""
    return [os.path.abspath((folder or Path()) / typed_path(file)) for file in files]  # noqa: PTH100 - a link stays a link


def place_files(values: TomlTable, folder: Path) -> TomlTable:
    """Return the table of a recipe whose stages name their files by absolute paths: it was read
    from a file in FOLDER.

    Values of a wrong type are left as they are, and refused when the recipe is built.
    """
    stages = values.get("stage")
    for stage in stages if isinstance(stages, list) else ():
        data = stage.get("data") if isinstance(stage, dict) else None
        files = data.get("files") if isinstance(data, dict) else None
        if (
            isinstance(data, dict)
            and isinstance(files, list)
            and all(isinstance(file, str) for file in files)
        ):
            data["files"] = absolute(files, folder)
    return values


def published_name(name: str) -> str:
    """Return the NAME of a dataset for publication: of a file with an absolute path the file's
    name, with its options.
    """
    path, sign, options = name.partition("?")
    return f"{Path(path).name}{sign}{options}" if Path(path).is_absolute() else name
