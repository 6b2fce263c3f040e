"""Folds of a task's rows: stratified and shuffled, and the share held out for early stopping."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RowIndices = NDArray[np.intp]

FOLD_SEED = 1111  # SentEval's: the folds are the same whatever the seed of the fits
HELD_BACK = 0.05  # of the rows of a last fit, to stop it early


@dataclass(frozen=True, kw_only=True, eq=False)
class Fold:
    """The rows that a fit is trained on, and the dev rows, which may be empty."""

    train: RowIndices
    dev: RowIndices


def stratified_folds(labels: NDArray[np.integer], folds: int) -> list[Fold]:
    """Return folds with equal shares of each class, the rows of each in ascending order.

    They are the folds of scikit-learn's StratifiedKFold(folds, shuffle=True,
    random_state=FOLD_SEED): classes count in the order in which they appear, and the rows of a
    class are dealt so that the sizes of all folds differ by one at most.
    """
    # scikit-learn's generator, so that folds can be compared with those of others
    rng = np.random.RandomState(FOLD_SEED)
    _, first_rows, inverse = np.unique(labels, return_index=True, return_inverse=True)
    # each row's class, numbered by first appearance
    appearance = np.argsort(np.argsort(first_rows))[inverse]
    ordered = np.sort(appearance)
    fold_of = np.empty(len(labels), np.intp)
    for number in range(len(first_rows)):
        shares = [int((ordered[fold::folds] == number).sum()) for fold in range(folds)]
        class_folds = np.repeat(np.arange(folds), shares)
        rng.shuffle(class_folds)
        fold_of[appearance == number] = class_folds
    return [
        Fold(train=np.flatnonzero(fold_of != fold), dev=np.flatnonzero(fold_of == fold))
        for fold in range(folds)
    ]


def hold_back(rows: RowIndices, share: float, seed: int) -> Fold:
    """A fold whose dev rows are a random SHARE of ROWS, rounded down."""
    shuffled = np.random.default_rng(seed).permutation(rows)
    dev_size = int(share * len(rows))
    return Fold(train=np.sort(shuffled[dev_size:]), dev=np.sort(shuffled[:dev_size]))
