"""Protocols: which fits choose the L2, which one is scored, and on which rows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from embedlab.classifiers.batched_sgd import fit_classifiers
from embedlab.classifiers.fits import Fits, Fitted, Problem
from embedlab.classifiers.folds import (
    FOLD_SEED,
    HELD_BACK,
    Fold,
    RowIndices,
    hold_back,
    stratified_folds,
)
from embedlab.classifiers.logistic import fit_exactly
from embedlab.classifiers.settings import Setting
from embedlab.core.session import ProgressCallback


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassifierOutcome:
    """The result of a task's classifiers."""

    predicted: RowIndices  # the class index of each scored row, in the order of the rows
    accuracy: float  # 0–1; of a cross-validation the mean over its folds
    dev: float  # 0–1: the accuracy that chose the L2, of a cross-validation the mean over its folds
    l2: tuple[float, ...]  # chosen, one a fold of a cross-validation


@dataclass(frozen=True, kw_only=True, eq=False)
class Protocol:
    """The classifiers of a task in a setting."""

    problem: Problem
    setting: Setting
    # of start weights, orders and what is held back; the folds are always the same
    seed: int = FOLD_SEED
    progress: ProgressCallback | None = None

    def cross_validate(self) -> ClassifierOutcome:
        """Nested cross-validation: for each outer fold, an inner cross-validation chooses the L2,
        and a last fit is scored.
        """
        return self._tune(stratified_folds(self._labels, self.setting.folds))

    def tune_by_folds(self, train: RowIndices, test: RowIndices) -> ClassifierOutcome:
        """A cross-validation of the train rows chooses the L2; a last fit on all of them is scored
        on TEST.
        """
        return self._tune([Fold(train=train, dev=test)])

    def tune_by_dev(
        self, train: RowIndices, dev: RowIndices, test: RowIndices
    ) -> ClassifierOutcome:
        """The fit with the best accuracy on DEV is scored on TEST."""
        fitted = self._fit(Fits.grid([Fold(train=train, dev=dev)], self.setting.l2))
        best = _best(fitted.dev)
        predicted = fitted.predict(self.problem, best, test)
        return self._outcome([test], [predicted], [best], fitted.dev[None])

    def _tune(self, folds: Sequence[Fold]) -> ClassifierOutcome:
        """Choose the L2 of each fold by a cross-validation of its train rows, and score a last fit
        on its other rows.
        """
        inner_folds = [inner_fold for fold in folds for inner_fold in self._folds_of(fold.train)]
        fitted = self._fit(Fits.grid(inner_folds, self.setting.l2))
        dev = fitted.dev.reshape(len(folds), self.setting.folds, -1).mean(1)  # (folds, l2)
        chosen = [_best(row) for row in dev]
        refitted = self._refit([fold.train for fold in folds], chosen)
        rows = [fold.dev for fold in folds]
        predicted = [refitted.predict(self.problem, *scored) for scored in enumerate(rows)]
        return self._outcome(rows, predicted, chosen, dev)

    def _outcome(
        self,
        rows: Sequence[RowIndices],
        predicted: Sequence[RowIndices],
        chosen: Sequence[int],
        dev: NDArray[np.float64],
    ) -> ClassifierOutcome:
        """Return what was PREDICTED of the ROWS of each fold, with the CHOSEN of its L2 values; DEV
        is the accuracy of each value, (folds, l2).
        """
        accuracies = [
            (classes == self._labels[scored]).mean()
            for classes, scored in zip(predicted, rows, strict=True)
        ]
        return ClassifierOutcome(
            predicted=np.concatenate(predicted)[np.argsort(np.concatenate(rows))],
            accuracy=float(np.mean(accuracies)),
            dev=float(np.mean(dev[np.arange(len(dev)), chosen])),
            l2=tuple(self.setting.l2[best] for best in chosen),
        )

    @property
    def _labels(self) -> RowIndices:
        labels: RowIndices = self.problem.labels.cpu().numpy()
        return labels

    def _folds_of(self, rows: RowIndices) -> list[Fold]:
        """Return the stratified folds of some ROWS."""
        folds = stratified_folds(self._labels[rows], self.setting.folds)
        return [Fold(train=rows[fold.train], dev=rows[fold.dev]) for fold in folds]

    def _fit(self, fits: Fits) -> Fitted:
        if self.setting.schedule is None:
            return fit_exactly(self.problem, fits, progress=self.progress)
        return fit_classifiers(
            self.problem, fits, self.setting.schedule, seed=self.seed, progress=self.progress
        )

    def _refit(self, rows: Sequence[RowIndices], l2: Sequence[int]) -> Fitted:
        """Fit a classifier for each of ROWS, with the L2 of its index; exact fits need no rows to
        stop early.
        """
        share = HELD_BACK if self.setting.schedule is not None else 0.0
        folds = tuple(hold_back(row, share, self.seed) for row in rows)
        values = np.array(self.setting.l2)[list(l2)]
        return self._fit(Fits(folds=folds, fold=np.arange(len(folds)), l2=values))


def _best(dev: NDArray[np.float64]) -> int:
    """The weakest L2 among those of the best accuracy, to the hundredth of a point as SentEval
    rounds it.
    """
    return int(np.argmax(np.round(dev, 4)))
