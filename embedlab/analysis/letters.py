"""Compact letter display: letters that show which models of a row do not differ."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def compact_letters(scores: Sequence[float], differs: NDArray[np.bool_]) -> list[str]:
    """Letters of each model: two models share a letter exactly if they do not differ; "a" belongs
    to the best.

    differs: (models, models), symmetric. By insertion and absorption (Piepho 2004): one set of all
    models; each two models that differ split the sets that hold both; sets inside others are
    dropped. A model without a score (nan) has no letter.
    """
    order = [
        int(index)
        for index in np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable")
        if not np.isnan(scores[index])
    ]
    sets = [frozenset(order)] if order else []
    for start, first in enumerate(order):
        for second in order[start + 1 :]:
            if differs[first, second]:
                sets = _split(sets, first, second)
    rank = {index: position for position, index in enumerate(order)}
    letters = [""] * len(scores)
    for number, members in enumerate(
        sorted(sets, key=lambda members: sorted(rank[index] for index in members))
    ):
        for index in members:
            letters[index] += _letter(number)
    return letters


def _split(sets: Sequence[frozenset[int]], first: int, second: int) -> list[frozenset[int]]:
    """The sets without any that holds both models; those inside another are dropped."""
    parts = [
        part
        for group in sets
        for part in ([group - {first}, group - {second}] if {first, second} <= group else [group])
    ]
    distinct = list(dict.fromkeys(parts))
    return [group for group in distinct if not any(group < other for other in distinct)]


def _letter(number: int) -> str:
    """Give a … z, then a2 … z2, and so on."""
    return chr(ord("a") + number % 26) + (str(number // 26 + 1) if number >= 26 else "")
