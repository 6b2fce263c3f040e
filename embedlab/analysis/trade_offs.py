"""Which of several choices no other one beats: at least as good in everything, and better in
something.
"""

from collections.abc import Sequence

import numpy as np

from embedlab.analysis.influence import Floats


def find_undominated(scores: Sequence[float], costs: Sequence[Sequence[float]]) -> list[bool]:
    """Return whether each choice is undominated: no other has a SCORE as high and COSTS as low,
    with one of them better; (choices,).

    A choice with an unknown number (nan) is neither undominated nor beats another.
    """
    if not scores:
        return []
    lower: Floats = np.column_stack(
        [-np.asarray(scores, np.float64), np.asarray(costs, np.float64)]
    )
    completeness = [bool(np.isfinite(figures).all()) for figures in lower]
    is_undominated = []
    for row, is_complete in zip(lower, completeness, strict=True):
        is_better = np.array(completeness) & (lower <= row).all(axis=1) & (lower < row).any(axis=1)
        is_undominated.append(is_complete and not is_better.any())
    return is_undominated
