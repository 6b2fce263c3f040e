"""Standard folders, and atomic writes: a killed process never leaves half a file."""

import errno
import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path

import platformdirs

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.temporaries import take_place, temporary_file, temporary_folder

PACKAGE = Path(__file__).parents[1]
STARTER = "starter"  # names the real data inside the package where a data folder is named
STARTER_FOLDER = PACKAGE / "data" / STARTER
# A file exists where a folder is needed, or the file system, such as /proc, accepts no files.
_BLOCKED = (errno.ENOTDIR, errno.EEXIST, errno.ENOENT)
ELSEWHERE = "choose another folder with --runs or EMBEDLAB_CACHE"  # the hint for paths that the program chooses


def recipes_folder() -> Path:
    """Return the folder of the shipped recipes: inside the wheel, or at the top of a source checkout."""
    installed = PACKAGE / "recipes"
    return installed if installed.is_dir() else PACKAGE.parent / "recipes"


def data_folder(named: Path) -> Path:
    """Return the data folder that is NAMED: a path, or the starter set inside the package; a name that could be both is refused."""
    if named != Path(STARTER):
        return named
    if named.is_dir():
        raise UsageError(
            f"data {STARTER!r} is the set inside embedlab, and also a folder here",
            hint=f"for the folder: --data {named.absolute()}; for the set: work elsewhere, or rename the folder",
        )
    return STARTER_FOLDER


def data_name(folder: Path) -> str:
    """Return what names FOLDER where a data folder is named: for the starter set its name, which holds in every installation."""
    return STARTER if folder == STARTER_FOLDER else str(folder)


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


@contextmanager
def disk_errors(what: Path, *, hint: str = ELSEWHERE) -> Iterator[None]:
    """Turn a full, read-only or forbidden disk into a one-line error that names WHAT could not be written.

    HINT says how to choose another folder.
    """
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise MissingError(f"no space left to write {str(what)!r}", hint="free some space; what was saved is intact") from error
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS, errno.EFBIG, *_BLOCKED}:
            raise MissingError(f"cannot write {str(what)!r}: {error.strerror}", hint=hint) from error
        raise


def write_atomic(path: Path, content: str | bytes, *, hint: str = ELSEWHERE) -> None:
    """Replace PATH by CONTENT in one step: a reader sees either the old file or the new one."""
    with disk_errors(path, hint=hint):
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_file(path) as temporary:
            with temporary.open("r+b") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            sync_folder(path.parent)


@contextmanager
def atomic_folder(path: Path, *, hint: str = ELSEWHERE, is_new: bool = False) -> Iterator[Path]:
    """Yield an empty folder next to PATH that replaces PATH when the block ends without an error.

    With IS_NEW it is an error if another process has created PATH meanwhile; that folder stays.
    """
    with disk_errors(path, hint=hint):
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary_folder(path) as temporary:
            yield temporary
            for file in temporary.rglob("*"):
                if file.is_file():
                    follow_umask(file)
                    _sync(file)
                elif file.is_dir():
                    sync_folder(file)
            sync_folder(temporary)
            take_place(temporary, path, is_new=is_new)
            sync_folder(path.parent)


def follow_umask(path: Path) -> None:
    """Give the file at PATH the permissions of its folder, so that colleagues can read it; safetensors writes private files."""
    path.chmod(path.parent.stat().st_mode & 0o666)


def sync_folder(path: Path) -> None:
    """Wait until the names in the folder at PATH are on the disk; a file system that cannot do this, or forbids it, has its own ways."""
    try:
        _sync(path)
    except OSError as error:
        if error.errno not in {errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EPERM}:
            raise


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def files_below(folder: Path, *, skips: Callable[[Path], bool] = lambda _: False) -> Iterator[Path]:
    """Yield the files in FOLDER and in the folders below it that are not skipped, those behind links too; nothing else than files."""
    for place, folders, names in os.walk(folder, followlinks=True):
        around = {one.resolve() for one in (Path(place), *Path(place).parents)}  # a link to one of them leads in a circle
        folders[:] = [name for name in folders if (path := Path(place, name)).resolve() not in around and not skips(path)]
        yield from (path for name in names if (path := Path(place, name)).is_file())


def file_hash(path: Path) -> str:
    """Return the sha256 of a file; it is recomputed only when its size or modification time changes."""
    status = path.stat()
    return _hash(path.resolve(), status.st_size, status.st_mtime_ns)


@lru_cache(maxsize=4096)  # enough for the (text) files of all suites, and for those of many models
def _hash(path: Path, size: int, changed_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
