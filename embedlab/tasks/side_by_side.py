"""Pieces of CPU work in threads of their own, each of which computes with one thread."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event, Lock
from typing import TypeVar

import torch

Piece = TypeVar("Piece")


def run_side_by_side(
    work: Callable[[Piece], Iterator[int]], pieces: Sequence[Piece], tell: Callable[[int], None], device: torch.device | None = None
) -> None:
    """Do WORK on all PIECES in as many threads as torch is set to use; TELL is called with what it yields, by one thread at a time.

    Many small matrix products are faster apart than by threads that wait for one another at each of them. An interrupt or an
    error stops the other pieces the next time they yield. On another DEVICE than a CPU one piece follows the other.
    """
    if device is not None and device.type != "cpu":
        for piece in pieces:
            for done in work(piece):
                tell(done)
        return
    _run_in_threads(work, pieces, tell)


def _run_in_threads(work: Callable[[Piece], Iterator[int]], pieces: Sequence[Piece], tell: Callable[[int], None]) -> None:
    threads, stop, telling = torch.get_num_threads(), Event(), Lock()

    def run(piece: Piece) -> None:
        torch.set_num_threads(1)  # of this thread; new threads start with what was set last, so it is set back below
        for done in work(piece):
            if stop.is_set():
                return
            with telling:
                tell(done)

    with ThreadPoolExecutor(threads) as pool:
        try:
            for running in as_completed([pool.submit(run, piece) for piece in pieces]):
                running.result()
        except BaseException:
            stop.set()
            pool.shutdown(cancel_futures=True)
            raise
        finally:
            torch.set_num_threads(threads)
