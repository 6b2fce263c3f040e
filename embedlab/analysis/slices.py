"""Parts of datasets: fifths of word overlap, splits that are one, and the rows that all members
score.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from embedlab.core.note import Note

FIFTHS = 5
ALL_SPLITS = " (all splits)"  # after the name of a dataset whose train, dev and test pairs are one


@dataclass(frozen=True, kw_only=True)
class Fifths:
    """Pairs cut into five equal parts by Dice, from the least to the most overlap."""

    fifth: NDArray[np.int8]  # 1–5 for each pair, in the order given
    sizes: tuple[int, ...]  # five
    cuts: tuple[float, ...]  # the Dice value of the first pair above each of the four cuts
    ties: tuple[
        int, ...
    ]  # pairs that share the value a cut runs through; 0 when the cut separates two values


def has_all(members: Sequence[str], over: str = "dataset") -> pl.Expr:
    """Whether a row has a score of each member that scores any row of its dataset, which the column
    OVER names.
    """
    scored = [
        pl.col(name).is_not_null() & pl.col(name).is_not_nan() for name in dict.fromkeys(members)
    ]
    return pl.all_horizontal(expression | ~expression.any().over(over) for expression in scored)


def dice_fifths(values: ArrayLike) -> Fifths:
    """Cut pairs into fifths of their Dice value: stable sort, so pairs that tie at a cut are split
    by their order.

    The first n mod 5 fifths get one pair more.
    """
    dice = np.asarray(values, dtype=np.float64)
    order = np.argsort(dice, kind="stable")
    sizes = [len(dice) // FIFTHS + (number < len(dice) % FIFTHS) for number in range(FIFTHS)]
    fifth = np.empty(len(dice), dtype=np.int8)
    fifth[order] = np.repeat(np.arange(1, FIFTHS + 1), sizes)
    ends = [end for end in np.cumsum(sizes)[:-1] if 0 < end < len(dice)]
    below, above = dice[order][[end - 1 for end in ends]], dice[order][ends]
    ties = [
        int((dice == high).sum()) if low == high else 0
        for low, high in zip(below, above, strict=True)
    ]
    return Fifths(fifth=fifth, sizes=tuple(sizes), cuts=tuple(above.tolist()), ties=tuple(ties))


def tie_notes(fifths: Fifths, number: int, title: str = "Dice") -> tuple[str, ...]:
    """Return a remark if a tie is split between this fifth and the one above it."""
    cut = number - 1
    if cut >= len(fifths.cuts) or not fifths.ties[cut]:
        return ()
    tied = (
        f"{fifths.ties[cut]} pairs tie at {title} {fifths.cuts[cut]:.3f}, the cut above "
        f"fifth {number}"
    )
    return (Note(f"{tied}; they are split by their order"),)
