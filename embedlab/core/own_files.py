"""The paths of a user's own files of rows in a recipe: relative to the recipe's file, or to the
working folder where they are typed.
"""

import os
import re
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


_ABSOLUTE = re.compile(r"(?<![\w.~/-])/(?!/)[^\s\"'<>|,;()?&=]*/[^\s\"'<>|,;()?&=]+")


def published(text: str) -> str:
    """Return a TEXT for publication without the folders of this machine: of each path that is here
    the last name is left, and as much before it as tells it from the others.
    """
    paths = {
        match: end for match in set(_ABSOLUTE.findall(text)) if (end := _part_here(match)) != "/"
    }
    names: dict[str, str] = {}
    for found, here in paths.items():
        parts = Path(here).parts[1:]
        others = {Path(other).parts[1:] for other in paths.values()} - {parts}
        is_folder_alone = os.path.isdir(here) and found.rstrip("/") != here  # noqa: PTH112
        count = next(
            count
            for count in range(1, len(parts) + 1)
            if count == len(parts) or not any(parts[-count:] == one[-count:] for one in others)
        )
        kept = "" if is_folder_alone else "/".join(parts[-count:])
        names[found] = (kept + found[len(here) :]).lstrip("/")
    return _ABSOLUTE.sub(lambda match: names.get(match[0], match[0]), text)


def _part_here(path: str) -> str:
    """Return the longest beginning of a PATH that is on this machine."""
    while path.strip("/") and not os.path.lexists(path):
        path = path.rpartition("/")[0]
    return path.rstrip("/") or "/"
