"""Threads that compute alone: all pieces are done, errors come out, and torch keeps its number of
threads.
"""

from collections.abc import Iterator
from threading import Barrier, get_ident

import pytest
import torch

from embedlab.cpu.engine import run_in_threads


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_every_piece_is_done_with_one_thread_and_reported() -> None:
    seen: list[tuple[int, int]] = []
    reported: list[int] = []

    def work(piece: int) -> Iterator[int]:
        seen.append((piece, torch.get_num_threads()))
        yield from range(piece)

    run_in_threads(work, range(5), reported.append)
    assert sorted(seen) == [(piece, 1) for piece in range(5)]
    assert sum(reported) == 0 + 1 + 3 + 6
    assert torch.get_num_threads() == 2


def test_two_pieces_are_under_way_at_once_and_reported_in_the_thread_that_started_them() -> None:
    both = Barrier(2, timeout=60)
    workers: set[int] = set()
    reporters: set[int] = set()

    def work(piece: int) -> Iterator[int]:
        workers.add(get_ident())
        both.wait()
        yield piece

    run_in_threads(work, range(2), lambda _: reporters.add(get_ident()))
    assert len(workers) == 2
    assert reporters == {get_ident()}


@pytest.mark.parametrize("broken", [0, 1])
def test_an_error_in_one_piece_stops_the_others(broken: int) -> None:
    both = Barrier(2, timeout=60)

    def work(piece: int) -> Iterator[int]:
        both.wait()
        if piece == broken:
            raise ValueError("broken")
        while True:
            yield piece

    with pytest.raises(ValueError, match="broken"):
        run_in_threads(work, range(2), lambda _: None)
    assert torch.get_num_threads() == 2


def test_progress_can_stop_all_pieces() -> None:
    started: list[int] = []

    def work(piece: int) -> Iterator[int]:
        started.append(piece)
        while True:
            yield piece

    def stop(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_in_threads(work, range(9), stop)
    assert len(started) <= 2
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize(
    ("threads", "most", "at_once", "each"),
    [(1, None, 1, 1), (2, 1, 1, 2), (5, 2, 2, 2), (3, None, 3, 1)],
)
def test_the_threads_are_divided_among_the_pieces_at_once(
    threads: int, most: int | None, at_once: int, each: int
) -> None:
    torch.set_num_threads(threads)
    together = Barrier(at_once, timeout=60)
    seen: list[tuple[int, int]] = []

    def work(piece: int) -> Iterator[int]:
        together.wait()
        seen.append((get_ident(), torch.get_num_threads()))
        yield piece

    reported: list[int] = []
    run_in_threads(work, range(2 * at_once), reported.append, most=most)
    assert sorted(reported) == list(range(2 * at_once))
    assert len({worker for worker, _ in seen}) == at_once
    assert {own for _, own in seen} == {each}
    assert torch.get_num_threads() == threads
