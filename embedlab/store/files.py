"""The one writer of files and folders: in one step, so that a killed process never leaves half a
file.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from embedlab.core.errors import MissingError
from embedlab.store.temporaries import take_place, temporary_file, temporary_folder

# A file exists where a folder is needed, or the file system, such as /proc, accepts no files.
_BLOCKED = (errno.ENOTDIR, errno.EEXIST, errno.ENOENT)
# the hint for paths that the program chooses
ELSEWHERE = "choose another folder with --runs or EMBEDLAB_CACHE"


class FullDiskError(MissingError):
    """A disk, or a user's share of it, has no room left."""


@contextmanager
def disk_errors(what: Path, *, hint: str = ELSEWHERE) -> Iterator[None]:
    """Turn a full, read-only or forbidden disk into a one-line error that names WHAT could not be
    written.

    HINT says how to choose another folder.
    """
    try:
        yield
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise FullDiskError(
                f"no space left to write {str(what)!r}",
                hint="free some space; what was saved is intact",
            ) from error
        if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS, errno.EFBIG, *_BLOCKED}:
            raise MissingError(
                f"cannot write {str(what)!r}: {error.strerror}", hint=hint
            ) from error
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
    """Give the file at PATH the permissions of its folder, so that colleagues can read it;
    safetensors writes private files.
    """
    path.chmod(path.parent.stat().st_mode & 0o666)


def sync_folder(path: Path) -> None:
    """Wait until the names in the folder at PATH are on the disk; a file system that cannot do
    this, or forbids it, has its own ways.
    """
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
