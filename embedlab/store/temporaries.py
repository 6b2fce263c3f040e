"""Temporary files and folders next to their final paths, each locked by the process that writes it.

Their names contain more than a process id, which another machine or a later process may share. The
lock shows that the writer is alive; the leftovers of a killed one are unlocked, and the next write
of the same path removes them.
"""

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from embedlab.store.locks import is_same_file, take_lock, wait_for_lock


@contextmanager
def temporary_file(path: Path) -> Iterator[Path]:
    """Yield an empty file next to PATH; it is deleted after the block, unless it was moved."""
    # Created like any other file, so that colleagues may read what the umask allows; mkstemp's are
    # private.
    with _temporary(path, lambda path: path.open("xb").close()) as temporary:
        yield temporary


@contextmanager
def temporary_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder next to PATH; it is deleted after the block, unless it was moved."""
    with _temporary(path, Path.mkdir) as temporary:
        yield temporary


def take_place(folder: Path, path: Path, *, is_new: bool = False) -> None:
    """Move FOLDER to PATH, replacing what exists, even if other processes do the same at this
    moment.

    With IS_NEW an existing path, unless an empty folder, stays and is a FileExistsError.
    """
    while not _moved(folder, path):
        if is_new:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
        old = _name(path, "old")
        with suppress(FileNotFoundError):
            path.replace(old)
        is_done = _moved(folder, path)
        _remove(old)
        if is_done:
            return


def _moved(folder: Path, path: Path) -> bool:
    """Move FOLDER to PATH and return True, or return False where another folder with files is."""
    try:
        folder.replace(path)
    except OSError as error:
        if error.errno not in {errno.ENOTEMPTY, errno.EEXIST}:
            raise
        return False
    return True


@contextmanager
def _temporary(path: Path, make: Callable[[Path], object]) -> Iterator[Path]:
    _remove_leftovers(path)
    temporary, descriptor = _locked(path, make)
    try:
        yield temporary
    finally:
        _remove(temporary)
        os.close(descriptor)


def _locked(path: Path, make: Callable[[Path], object]) -> tuple[Path, int]:
    while True:
        temporary = _name(path, "tmp")
        make(temporary)
        with suppress(
            FileNotFoundError
        ):  # another process took it for a leftover before it was locked
            descriptor = os.open(temporary, os.O_RDONLY)
            with suppress(OSError):  # a file system without locks
                wait_for_lock(descriptor)
            if is_same_file(descriptor, temporary):
                return temporary, descriptor
            os.close(descriptor)


def _name(path: Path, kind: str) -> Path:
    return path.with_name(f".{path.name}.{kind}-{uuid4().hex}")


def _remove_leftovers(path: Path) -> None:
    """Remove what killed processes left next to PATH, under the names of this version and earlier
    ones.
    """
    kinds = "tmp|old" if path.exists() else "tmp"  # the old one may be all there is
    leftover = re.compile(rf"\.{re.escape(path.name)}\.((?:{kinds})-[0-9a-f]+|[0-9a-f]{{32}}\.tmp)")
    with suppress(OSError):
        for sibling in path.parent.iterdir():
            if leftover.fullmatch(sibling.name):
                _remove_if_free(sibling)


def _remove_if_free(path: Path) -> None:
    with suppress(OSError):  # another process holds it or has removed it
        descriptor = os.open(path, os.O_RDONLY)
        try:
            if take_lock(descriptor):
                _remove(path)
        finally:
            os.close(descriptor)


def _remove(path: Path) -> None:
    with suppress(OSError):
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
