"""Contrasts: whether the entailed sentence is closer to its anchor than the contradicted one, and
by how much.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def margins(entailed: ArrayLike, contradicted: ArrayLike) -> Floats:
    """Return by how much each entailed sentence is closer than the contradicted one, (items,), in
    units of the model's own spread.

    The spread is the standard deviation of all these similarities; where a model gives all pairs
    the same similarity, margins are 0.
    """
    first, second = np.asarray(entailed, np.float64), np.asarray(contradicted, np.float64)
    spread = float(np.std(np.concatenate([first, second]))) if len(first) else 0.0
    difference: Floats = first - second
    return difference / spread if spread > 0 else np.zeros_like(difference)


def is_closer(margin: Floats) -> Floats:
    """Return 1 where a margin is positive, ½ where it is 0, otherwise 0."""
    closer: Floats = (np.sign(margin) + 1) / 2
    return closer
