"""Locks between processes; a lock is released when its process ends, however it ends."""

import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from embedlab.core.foreign_files import open_own


@contextmanager
def sole_writer(path: Path) -> Iterator[None]:
    """Hold the lock of the entry at PATH until the block ends; other writers wait. The lock is a
    file beside it.
    """
    lock = path.with_name(f".{path.name}.lock")
    while True:
        with open_own(lock) as file:
            with suppress(OSError):  # a file system without locks
                wait_for_lock(file.fileno())
            if is_same_file(file.fileno(), lock):  # `cache clear` may have deleted it meanwhile
                yield
                return


@contextmanager
def sole_holder(path: Path) -> Iterator[bool]:
    """Yield whether this process holds the lock of the file PATH until the block ends; an absent
    file is created.

    The holder may delete the file and its folder: the lock of a deleted file is void, so the new
    file is locked instead.
    """
    while True:
        path.parent.mkdir(exist_ok=True)
        try:
            file = open_own(path)
        except FileNotFoundError:  # the folder was deleted just now
            continue
        with file:
            if not take_lock(file.fileno()):
                yield False
                return
            if is_same_file(file.fileno(), path):
                yield True
                return


def take_lock(descriptor: int, *, patience_s: Sequence[float] = ()) -> bool:
    """Lock an open file and return True, or return False where another process holds it, also after
    each of the pauses.
    """
    for pause_s in (*patience_s, None):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if pause_s is not None:
                time.sleep(pause_s)
        else:
            return True
    return False


def wait_for_lock(descriptor: int) -> None:
    """Lock an open file when no other process holds it."""
    fcntl.flock(descriptor, fcntl.LOCK_EX)


def is_locked(path: Path) -> bool:
    """Return whether a process holds the lock of the file PATH; an absent file is unlocked."""
    try:
        with open_own(path, "rb") as file:
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
