"""Run pieces of CPU work in threads that share the processor."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from threading import Event
from typing import TypeVar

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
    heard: SimpleQueue[int | None] = SimpleQueue()  # each piece puts None at its end
    stop = Event()

    def run(piece: Piece) -> None:
        try:
            for done in work(piece):
                heard.put(done)
                if stop.is_set():
                    return
        except BaseException:
            stop.set()
            raise
        finally:
            heard.put(None)

    # New threads inherit the last number that was set, so that it is restored.
    share = (threads // at_once,)
    try:
        with ThreadPoolExecutor(at_once, "piece", torch.set_num_threads, share) as pool:
            jobs = [pool.submit(run, piece) for piece in pieces]
            try:
                for _ in jobs:
                    while (news := heard.get()) is not None:
                        count(news)
                    if stop.is_set():
                        break
            finally:
                stop.set()
                pool.shutdown(cancel_futures=True)
        for job in jobs:
            job.result()
    finally:
        torch.set_num_threads(threads)
