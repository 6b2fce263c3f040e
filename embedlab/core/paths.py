"""Standard folders, and the files in them."""

import hashlib
import os
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

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


def data_folder(named: Path) -> Path:
    """Return the data folder that is NAMED: a path, the starter set inside the package, or the
    generated corpora; a name that could be a folder too is refused.
    """
    if str(named) not in INSIDE:
        return named
    if named.is_dir():
        raise UsageError(
            f"data {str(named)!r} is the set inside embedlab, and also a folder here",
            hint=Hint(
                "for the folder: ",
                NamedOption("--data", str(named.absolute())),
                "; for the set: work elsewhere, or rename the folder",
            ),
        )
    return INSIDE[str(named)]


def data_name(folder: Path) -> str:
    """Return what names FOLDER where a data folder is named: for what is inside embedlab its name,
    which holds in every installation.
    """
    return next((name for name, inside in INSIDE.items() if inside == folder), str(folder))


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
        around = {
            path.resolve() for path in (Path(parent), *Path(parent).parents)
        }  # a link to one of them leads in a circle
        folders[:] = [
            name
            for name in folders
            if (path := Path(parent, name)).resolve() not in around and not skips(path)
        ]
        yield from (path for name in names if (path := Path(parent, name)).is_file())


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
