"""Full garbage collections of the dashboard wait until no key is pressed, and large arrays have
pages of their own.
"""

import ctypes
import gc
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from embedlab.store.arrays import map_array
from embedlab.tui.terminal import process_memory


@pytest.fixture(autouse=True)
def collection_as_before() -> Iterator[None]:
    """Give the test process the collection that it had."""
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()
    gc.enable()


class Node:
    """An object that refers to itself, so that only a collection frees it."""

    freed = 0

    def __init__(self) -> None:
        self.own = self

    def __del__(self) -> None:
        Node.freed += 1


def full_collections() -> int:
    return gc.get_stats()[2]["collections"]


def many_objects(collections: int) -> list[list[int]]:
    """Objects that stay, until there were so many middle collections since the last full one."""
    made: list[list[int]] = []
    while gc.get_count()[2] < collections and len(made) < 1_000_000:
        made.append([len(made)])
    return made


def collect_the_young_often() -> None:
    gc.set_threshold(50, 2, gc.get_threshold()[2])


def test_a_full_collection_waits_while_keys_are_pressed_and_frees_what_is_old_after_them() -> None:
    process_memory.pause_collection()
    assert not gc.isenabled()
    process_memory.resume_collection()
    assert gc.isenabled()
    collect_the_young_often()
    gc.collect()
    before, Node.freed = full_collections(), 0
    node = Node()
    gc.collect(1)  # it is old now
    made = many_objects(20)
    del node
    assert full_collections() == before, "no full collection comes by itself"
    process_memory.collect_old(is_idle=False)
    assert (full_collections(), Node.freed) == (before, 0)
    process_memory.collect_old(is_idle=True)
    assert (full_collections(), Node.freed) == (before + 1, 1)
    assert made[-1] == [len(made) - 1]


def test_free_memory_goes_back_to_the_system_while_no_key_is_pressed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: list[bool] = []
    monkeypatch.setattr(process_memory, "give_memory_back", lambda: given.append(True))
    process_memory.pause_collection()
    process_memory.resume_collection()
    collect_the_young_often()
    for is_idle, collections, times in ((False, 250, 0), (True, 20, 1), (True, 0, 1)):
        gc.collect()
        made = many_objects(collections)
        process_memory.collect_old(is_idle=is_idle)
        assert len(given) == times, (is_idle, len(made))


def test_who_never_pauses_gets_one_after_many_young_ones() -> None:
    process_memory.pause_collection()
    process_memory.resume_collection()
    collect_the_young_often()
    gc.collect()
    before, made = full_collections(), many_objects(250)
    process_memory.collect_old(is_idle=False)
    assert full_collections() == before + 1
    assert made[-1] == [len(made) - 1]


def test_nothing_is_collected_by_hand_in_a_process_that_never_paused() -> None:
    gc.collect()
    gc.set_threshold(50, 2, 1_000_000)
    before, made = full_collections(), many_objects(20)
    process_memory.collect_old(is_idle=True)
    assert full_collections() == before
    assert made[-1] == [len(made) - 1]


ARRAYS = """
import sys
import numpy as np
from embedlab.tui.terminal import process_memory

def is_of_the_heap(address):
    with open("/proc/self/maps") as maps:
        spans = [line.split()[0].split("-") for line in maps if line.rstrip().endswith("[heap]")]
    return any(int(low, 16) <= address < int(high, 16) for low, high in spans)

if sys.argv[1] == "together":
    process_memory.keep_memory_together()
freed = np.ones(2_000_000)
del freed  # from here on glibc would put arrays of this size into its heap
print(is_of_the_heap(np.ones(500_000).ctypes.data))
"""


needs_glibc = pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"),
    reason="another C library than glibc",
)


def resident_kib(file: Path) -> int:
    """How much of FILE this process has in memory."""
    lines = Path("/proc/self/smaps").read_text().splitlines()
    start = next(index for index, line in enumerate(lines) if line.endswith(str(file)))
    return next(int(line.split()[1]) for line in lines[start:] if line.startswith("Rss:"))


@needs_glibc
def test_pages_of_mapped_arrays_go_back_and_are_there_again_when_they_are_read(
    tmp_path: Path,
) -> None:
    written = np.random.default_rng(0).normal(size=(4_000, 96)).astype(np.float32)
    np.save(tmp_path / "vectors.npy", written)
    vectors = map_array(tmp_path / "vectors.npy")
    total = float(vectors.sum())
    assert resident_kib(tmp_path / "vectors.npy") > 1_000
    process_memory.give_memory_back()
    assert resident_kib(tmp_path / "vectors.npy") == 0
    assert float(vectors.sum()) == total
    assert np.array_equal(vectors, written)


@needs_glibc
@pytest.mark.parametrize(("how", "is_of_the_heap"), [("as glibc does", True), ("together", False)])
def test_large_arrays_have_pages_of_their_own_after_others_were_freed(
    how: str, is_of_the_heap: bool
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ARRAYS, how], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(is_of_the_heap)]
