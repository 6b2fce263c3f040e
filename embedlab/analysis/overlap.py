"""Word overlap of sentence pairs: the Dice coefficient."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from embedlab.data.words import distinct_words


def dice(first: str, second: str) -> float:
    """Return the word overlap of two sentences, 2|A∩B| / (|A|+|B|), from 0 to 1; without any words it is 0."""
    return _dice(distinct_words(first), distinct_words(second))


def dice_column(first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
    """Return the Dice coefficient of each pair; a sentence in several pairs is split into words once."""
    known = {sentence: distinct_words(sentence) for sentence in {*first, *second}}
    pairs = zip(first, second, strict=True)
    return np.fromiter((_dice(known[a], known[b]) for a, b in pairs), dtype=np.float64, count=len(first))


def _dice(first: frozenset[str], second: frozenset[str]) -> float:
    total = len(first) + len(second)
    return 2 * len(first & second) / total if total else 0.0
