"""Standard folders, and the files in them; the paths of a user's own files of rows in a recipe:
relative to the recipe's file, or to the working folder where they are typed.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import platformdirs

from embedlab.core.errors import Hint, NamedOption, UsageError
from embedlab.core.foreign_files import refuse_foreign

PACKAGE = Path(__file__).parents[1]
STARTER = "starter"  # names the real data inside the package where a data folder is named
STARTER_FOLDER = PACKAGE / "data" / STARTER
TINY = "tiny"  # names the generated data in the same way
TINY_FOLDER = PACKAGE / "data" / TINY  # a name alone: nothing is in it
CORPORA_FOLDER = PACKAGE / "data" / "corpora"  # a file each
INSIDE = {STARTER: STARTER_FOLDER, TINY: TINY_FOLDER}  # data that is named, not a path


def typed_path(text: str) -> Path:
    """Return the path that a user typed, with "~" replaced where there is such a user."""
    return Path(os.path.expanduser(text))  # noqa: PTH111 - Path refuses users that do not exist


def recipes_folder() -> Path:
    """Return the folder of the shipped recipes: inside the wheel, or at the top of a source
    checkout.
    """
    installed = PACKAGE / "recipes"
    return installed if installed.is_dir() else PACKAGE.parent / "recipes"


def data_folder(named_folder: Path) -> Path:
    """Return the data folder that NAMED_FOLDER names: a path, the starter set inside the package,
    or the generated corpora; a name that could be a folder too is refused.
    """
    if str(named_folder) not in INSIDE:
        return named_folder
    if named_folder.is_dir():
        raise UsageError(
            f"data {str(named_folder)!r} is the set inside embedlab, and also a folder here",
            hint=Hint(
                "for the folder: ",
                NamedOption("--data", str(named_folder.absolute())),
                "; for the set: work elsewhere, or rename the folder",
            ),
        )
    return INSIDE[str(named_folder)]


def data_name(folder: Path) -> str:
    """Return how to name FOLDER as a data folder: data inside embedlab by a name that is valid in
    every installation.
    """
    return next(
        (name for name, packaged_folder in INSIDE.items() if packaged_folder == folder), str(folder)
    )


def user_config_file() -> Path:
    """Return the path of the user's settings file."""
    return platformdirs.user_config_path("embedlab") / "embedlab.toml"


def default_cache_folder() -> Path:
    """Return the folder that caches embeddings and scores of models other than runs."""
    return platformdirs.user_cache_path("embedlab")


def user_models_folder() -> Path:
    """Return the folder of models that `embedlab models get` put together."""
    return platformdirs.user_data_path("embedlab") / "models"


def state_folder() -> Path:
    """Return the folder of the dashboard's state and logs."""
    return platformdirs.user_state_path("embedlab")


def files_below(folder: Path, *, skips: Callable[[Path], bool] = lambda _: False) -> Iterator[Path]:
    """Yield the files in FOLDER and in the folders below it that are not skipped, those behind
    links too; nothing else than files.
    """
    for parent, folders, names in os.walk(folder, followlinks=True):
        folder_path = Path(parent)
        # a link to one of them leads in a circle
        enclosing = {path.resolve() for path in (folder_path, *folder_path.parents)}
        folders[:] = [
            name
            for name in folders
            if (folder_path / name).resolve() not in enclosing and not skips(folder_path / name)
        ]
        yield from (folder_path / name for name in names if (folder_path / name).is_file())


def file_hash(path: Path) -> str:
    """Return the sha256 of a file; it is recomputed only when its size or modification time
    changes.
    """
    refuse_foreign(path)
    status = path.stat()
    return _hash(path.resolve(), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4096)  # enough for the (text) files of all suites, and for those of many models
def _hash(path: Path, size: int, changed_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def absolute_paths(files: Sequence[str], folder: Path | None = None) -> list[str]:
    """Return FILES as absolute paths; relative ones are in FOLDER, or in the working folder."""
    return [os.path.abspath((folder or Path()) / typed_path(file)) for file in files]  # noqa: PTH100 - a link stays a link


def place_files(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the table of a recipe whose stages name their files by absolute paths: it was read
    from a file in FOLDER.

    Values of a wrong type are left as they are, and refused when the recipe is built.
    """
    stages = values.get("stage")
    for stage in stages if isinstance(stages, list) else ():
        with suppress(AttributeError, KeyError, TypeError):
            if isinstance(files := stage["data"].get("files"), list):
                stage["data"]["files"] = absolute_paths(files, folder)
    return values


def published_name(name: str) -> str:
    """Return the NAME of a dataset for publication: of a file with an absolute path the file's
    name, with its options.
    """
    path, sign, options = name.partition("?")
    return f"{Path(path).name}{sign}{options}" if Path(path).is_absolute() else name


_ABSOLUTE = re.compile(r"(?<![\w.~/-])/(?!/)[^\s\"'<>|,;()?&=]*/[^\s\"'<>|,;()?&=]+")


def hide_folders(text: str) -> str:
    """Return a TEXT for publication without the folders of this machine: each path that exists is
    shortened to its last name, and to as much before it as distinguishes it from the others.
    """
    existing = {path_text: _part_here(path_text) for path_text in _ABSOLUTE.findall(text)}
    paths = {path_text: real_path for path_text, real_path in existing.items() if real_path != "/"}
    names: dict[str, str] = {}
    for path_text, real_path in paths.items():
        others = {*paths.values()} - {real_path}
        name = Path(real_path).name
        for parent in [*Path(real_path).parents][:-1]:
            if not any(other.endswith(f"/{name}") for other in others):
                break
            name = f"{parent.name}/{name}"
        is_folder_alone = os.path.isdir(real_path) and path_text.rstrip("/") != real_path  # noqa: PTH112
        kept_path = "" if is_folder_alone else name
        names[path_text] = (kept_path + path_text[len(real_path) :]).lstrip("/")
    return _ABSOLUTE.sub(lambda match: names.get(match[0], match[0]), text)


def _part_here(path: str) -> str:
    """Return the longest beginning of a PATH that is on this machine."""
    while path.strip("/") and not os.path.lexists(path):
        path = path.rpartition("/")[0]
    return path.rstrip("/") or "/"
