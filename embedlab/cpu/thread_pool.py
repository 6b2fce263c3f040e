"""Run pieces of CPU work in threads that share the processor."""

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import chain
from queue import Empty, SimpleQueue
from threading import Event
from typing import Generic, TypeVar

import torch

Piece = TypeVar("Piece")


def run_in_threads(
    work: Callable[[Piece], Iterator[int]],
    pieces: Sequence[Piece],
    count: Callable[[int], None],
    device: torch.device | None = None,
    most: int | None = None,
) -> None:
    """Run WORK on all PIECES, as many at once as torch has threads, or MOST; COUNT receives, in the
    caller's thread, what it yields.

    Many small matrix products are faster in separate threads than split among threads that
    synchronise at each. An interrupt or an error stops the other pieces when they next yield. On
    other DEVICEs than a CPU the pieces run one after the other.
    """
    threads = torch.get_num_threads()
    at_once = threads if most is None else min(threads, most)
    if at_once <= 1 or (device is not None and device.type != "cpu"):
        for piece in pieces:
            for done in work(piece):
                count(done)
        return
    try:
        with closing(_Crew(work, pieces, threads // at_once).run(at_once)) as news:
            for done in news:
                count(done)
    finally:
        torch.set_num_threads(threads)


class _Crew(Generic[Piece]):
    """Workers that process pieces from a queue, each with THREADS torch threads."""

    def __init__(
        self, work: Callable[[Piece], Iterator[int]], pieces: Sequence[Piece], threads: int
    ) -> None:
        self.work = work
        self.threads = threads
        self.left: SimpleQueue[Piece] = SimpleQueue()
        for piece in pieces:
            self.left.put(piece)
        self.heard: SimpleQueue[int | None] = (
            SimpleQueue()
        )  # from the helpers; each sends None at its end
        self.stop = Event()

    def run(self, workers: int) -> Generator[int, None, None]:
        """Yield what all workers yield; the caller is one of them, as the C library reserves memory
        for each further thread.
        """
        with ThreadPoolExecutor(workers - 1) as pool:
            try:
                helpers = [pool.submit(self._help) for _ in range(workers - 1)]
                yield from self._news(len(helpers))
                for helper in helpers:
                    helper.result()
            finally:
                self.stop.set()

    def _steps(self) -> Iterator[int]:
        torch.set_num_threads(
            self.threads
        )  # per thread; new threads inherit the last value, so the caller must restore it
        while not self.stop.is_set():
            try:
                piece = self.left.get_nowait()
            except Empty:
                return
            for done in self.work(piece):
                yield done
                if self.stop.is_set():
                    return

    def _help(self) -> None:
        try:
            for done in self._steps():
                self.heard.put(done)
        except BaseException:
            self.stop.set()
            raise
        finally:
            self.heard.put(None)

    def _news(self, helpers: int) -> Iterator[int]:
        """Yield the caller's own steps and, between and after them, the helpers' until each has
        ended.
        """
        for done in chain(self._steps(), [None]):
            if done is not None:
                yield done
            while helpers and (done is None or not self.heard.empty()):
                done_now = self.heard.get()
                if done_now is None:
                    helpers -= 1
                else:
                    yield done_now
