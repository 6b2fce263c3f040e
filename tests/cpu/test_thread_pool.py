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
    seen: set[tuple[int, int]] = set()
    reported: list[tuple[int, int]] = []

    def work(piece: int) -> Iterator[int]:
        together.wait()
        seen.add((get_ident(), torch.get_num_threads()))
        yield piece
        yield 100

    pieces = range(2 * at_once)
    run_in_threads(work, pieces, lambda done: reported.append((done, get_ident())), most=most)
    assert sorted(done for done, _ in reported) == [*pieces, *[100] * len(pieces)]
    assert {reporter for _, reporter in reported} == {get_ident()}
    assert len(seen) == at_once
    assert {own for _, own in seen} == {each}
    assert torch.get_num_threads() == threads
