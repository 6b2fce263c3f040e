"""Temporary files and folders beside what they will become, each locked by the process that writes it.

Their names carry more than a process id, which another machine or a later process may have too. The lock says that the writer
lives; what a killed one left behind is free, and the next write of the same path removes it.
"""

import errno
import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from embedlab.core.locks import is_same_file


@contextmanager
def temporary_file(path: Path) -> Iterator[Path]:
    """Yield an empty file beside PATH; it is gone after the block, unless it was moved."""
    # Made like any other file, so that a colleague may read what the umask allows; mkstemp's are private.
    with _temporary(path, lambda place: place.open("xb").close()) as place:
        yield place


@contextmanager
def temporary_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder beside PATH; it is gone after the block, unless it was moved."""
    with _temporary(path, Path.mkdir) as place:
        yield place


def take_place(folder: Path, path: Path, *, is_new: bool = False) -> None:
    """Move FOLDER to PATH; what is there goes, whoever else does the same at this moment.

    With IS_NEW what is there stays, unless it is an empty folder, and is a FileExistsError.
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
    """Whether FOLDER could be moved to PATH, where no other folder with files is."""
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
    place, descriptor = _locked(path, make)
    try:
        yield place
    finally:
        _remove(place)
        os.close(descriptor)


def _locked(path: Path, make: Callable[[Path], object]) -> tuple[Path, int]:
    while True:
        place = _name(path, "tmp")
        make(place)
        with suppress(FileNotFoundError):  # another process took it for a leftover before it was locked
            descriptor = os.open(place, os.O_RDONLY)
            with suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            if is_same_file(descriptor, place):
                return place, descriptor
            os.close(descriptor)


def _name(path: Path, kind: str) -> Path:
    return path.with_name(f".{path.name}.{kind}-{uuid4().hex}")


def _remove_leftovers(path: Path) -> None:
    """Remove what killed processes left beside PATH, by this version's names and those of earlier ones."""
    kinds = "tmp|old" if path.exists() else "tmp"  # the old one may be all there is
    leftover = re.compile(rf"\.{re.escape(path.name)}\.((?:{kinds})-[0-9a-f]+|[0-9a-f]{{32}}\.tmp)")
    with suppress(OSError):
        for place in path.parent.iterdir():
            if leftover.fullmatch(place.name):
                _remove_if_free(place)


def _remove_if_free(place: Path) -> None:
    with suppress(OSError):  # somebody holds it, or has removed it
        descriptor = os.open(place, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _remove(place)
        finally:
            os.close(descriptor)


def _remove(place: Path) -> None:
    with suppress(OSError):
        shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
