"""Memory of the dashboard: when it is collected, and when it goes back to the system.

A full collection visits every object and blocks the keys, for 0.1 s after the imports.

The first paint of 26,099 pairs took 0.69 s of processor time more than that of an empty app with
this module and 0.81 s without it for two models, 0.73 s and 0.87 s for five (minima of 12 starts in
turns on a busy machine with 2 processors). Automatic full collections of newer objects took 20 to
57 ms, once in about 15 keys on Compare: they now wait until no key is pressed.
"""

import ctypes
import gc
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8  # of mallopt, as malloc.h has them
_DONT_NEED = 4  # of madvise, as Linux has it
_LARGE_BYTES = 1 << 20
_NEVER = 1_000_000_000  # middle collections between two automatic full ones
_OFTEN, _LATEST = (
    10,
    200,
)  # middle collections after which a full one is worth its time, and after which it waits no longer


def pause_collection() -> None:
    """Collect nothing while the dashboard starts: the objects of its start remain in use."""
    gc.disable()


def resume_collection() -> None:
    """Collect young objects again, and leave old ones to `collect_old`; does nothing unless the
    collection was paused.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.set_threshold(*gc.get_threshold()[:2], _NEVER)
        gc.enable()


def collect_old(*, is_idle: bool) -> None:
    """Visit all objects that are newer than the start if enough came since the last time; while
    keys are pressed, later.

    What is free then goes back to the system where no key waits for it;
    benchmarks/dashboard_hour.py measures the memory of each minute.
    """
    if gc.get_threshold()[2] == _NEVER and gc.get_count()[2] >= (_OFTEN if is_idle else _LATEST):
        gc.collect()
        if is_idle:
            give_memory_back()


def keep_memory_together() -> None:
    """Give each large array pages of its own, which go back to the system with it, and all threads
    two heaps; glibc alone knows how.

    By itself glibc puts arrays of up to 32 MiB into heaps as soon as one was freed, and has eight
    heaps a processor for the threads that work beside the screen: small things that stay then hold
    whole heaps.
    """
    if (set_option := _of_glibc("mallopt")) is not None:
        set_option(_MMAP_THRESHOLD, _LARGE_BYTES)
        set_option(_ARENA_MAX, 2)


def give_memory_back() -> None:
    """Return unused memory to the system after work that needed much, in the thread of that work;
    only glibc has a way to.

    What Why needs for its comparisons of 26,099 pairs, 350 of 530 MiB, stayed with the process
    before. Pages of stored arrays that are mapped into memory are left to the system too: the
    vectors of each model that was searched for neighbours, 60 MiB of 41,000 sentences, would count
    as the dashboard's; the system holds the file's pages all the same, and the next search has them
    at once.
    """
    if (trim := _of_glibc("malloc_trim")) is not None:
        trim(0)
    if (advise := _of_glibc("madvise")) is not None:
        for first, last in _mapped_arrays():
            advise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), _DONT_NEED)


def _mapped_arrays() -> Iterator[tuple[int, int]]:
    """Yield the first address of each array file that is mapped to be read alone, and the address
    behind it.
    """
    for line in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines():
        addresses, access, *_ = line.split(maxsplit=2)
        if access.startswith("r--") and line.endswith(".npy"):
            first, _, last = addresses.partition("-")
            yield int(first, 16), int(last, 16)


def _of_glibc(name: str) -> Callable[..., int] | None:
    """Return a function of the C library where it is glibc."""
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    return getattr(library, name) if hasattr(library, "gnu_get_libc_version") else None
