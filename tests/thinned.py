"""Generated data with fewer pairs, also for processes that must not load more than the package."""

import functools
from typing import Any

from embedlab.data import source


@functools.cache
def thinned(every: int, chosen: Any, split: str) -> Any:
    """The frame of a dataset of `--data tiny`; one of STS has one in so many of its pairs, of
    every source.
    """
    from embedlab.data.tiny import tiny_rows

    frame = tiny_rows(chosen, split)
    return frame.gather_every(every) if chosen.kind == "sts" else frame


def thin_out_for_good() -> None:
    """Give the rest of this process the pairs of the fixture `small_world`."""
    source._tiny_frame = functools.partial(thinned, 10)
