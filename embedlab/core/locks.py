"""Locks between processes; a lock is released when its process ends, however it ends."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def sole_holder(path: Path) -> Iterator[bool]:
    """Yield whether this process holds the lock of the file PATH until the block ends; an absent file is created.

    The holder may delete the file and its folder: the lock of a deleted file is void, so the new file is locked instead.
    """
    while True:
        path.parent.mkdir(exist_ok=True)
        try:
            file = path.open("ab")
        except FileNotFoundError:  # the folder was deleted just now
            continue
        with file:
            if not _take(file):
                yield False
                return
            if is_same_file(file.fileno(), path):
                yield True
                return


def is_locked(path: Path) -> bool:
    """Return whether a process holds the lock of the file PATH; an absent file is unlocked."""
    try:
        with path.open("rb") as file:
            fcntl.flock(file.fileno(), fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False


def is_same_file(descriptor: int, path: Path) -> bool:
    """Return whether PATH still names the file that DESCRIPTOR has open."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def _take(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
