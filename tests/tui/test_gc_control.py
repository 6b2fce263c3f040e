"""Full garbage collections of the dashboard wait until no key is pressed."""

import gc
from collections.abc import Iterator

import pytest

from embedlab.tui import gc_control


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


def many_objects() -> list[list[int]]:
    """Objects that survive enough young collections for a full one to be worth its time."""
    while gc.get_count()[2] < 20:
        made = [[number] for number in range(100_000)]
    return made


def test_a_full_collection_waits_while_keys_are_pressed_and_frees_what_is_old_after_them() -> None:
    gc_control.pause_collection()
    assert not gc.isenabled()
    gc_control.resume_collection()
    assert gc.isenabled()
    gc.collect()
    before, Node.freed = full_collections(), 0
    node = Node()
    gc.collect(1)  # it is old now
    made = many_objects()
    del node
    assert full_collections() == before, "no full collection comes by itself"
    gc_control.collect_old(is_idle=False)
    assert (full_collections(), Node.freed) == (before, 0)
    gc_control.collect_old(is_idle=True)
    assert (full_collections(), Node.freed) == (before + 1, 1)
    assert made[-1] == [99_999]


def test_nothing_is_collected_by_hand_in_a_process_that_never_paused() -> None:
    before = full_collections()
    gc_control.collect_old(is_idle=True)
    assert full_collections() == before
