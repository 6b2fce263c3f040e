"""Threads that compute alone: all pieces are done, errors come out, and torch keeps its number of threads."""

from collections.abc import Iterator

import pytest
import torch

from embedlab.tasks.side_by_side import run_side_by_side


@pytest.fixture(autouse=True)
def _two_threads() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    yield
    torch.set_num_threads(before)


def test_every_piece_is_done_with_one_thread_and_told() -> None:
    seen: list[tuple[int, int]] = []
    told: list[int] = []

    def work(piece: int) -> Iterator[int]:
        seen.append((piece, torch.get_num_threads()))
        yield from range(piece)

    run_side_by_side(work, range(5), told.append)
    assert sorted(seen) == [(piece, 1) for piece in range(5)]
    assert sum(told) == 0 + 1 + 3 + 6
    assert torch.get_num_threads() == 2


def test_an_error_stops_the_other_pieces() -> None:
    def work(piece: int) -> Iterator[int]:
        if piece == 3:
            raise ValueError("broken")
        while True:
            yield piece

    with pytest.raises(ValueError, match="broken"):
        run_side_by_side(work, [1, 3, 2], lambda _: None)
    assert torch.get_num_threads() == 2
