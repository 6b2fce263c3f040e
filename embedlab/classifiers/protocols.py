"""Protocols: which fits choose the L2, which one is scored, and on which rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

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

ScoredOn = Literal["cv", "test"]


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassifierOutcome:
    """The result of a task's classifiers."""

    scored: ScoredOn  # on the test folds of a cross-validation, or on a test split
    rows: RowIndices  # that were scored
    predicted: RowIndices  # the class index of each of them
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
        labels = self._labels
        outer_folds = stratified_folds(labels, self.setting.folds)
        inner_folds = [
            inner_fold for fold in outer_folds for inner_fold in self._folds_of(fold.train)
        ]
        fitted = self._fit(Fits.grid(inner_folds, self.setting.l2))
        dev = fitted.dev.reshape(len(outer_folds), self.setting.folds, -1).mean(1)  # (folds, l2)
        chosen = [_best(row) for row in dev]
        refitted = self._refit([fold.train for fold in outer_folds], chosen)
        predicted = np.empty(len(labels), np.intp)
        for number, fold in enumerate(outer_folds):
            predicted[fold.dev] = refitted.predict(self.problem, number, fold.dev)
        is_correct = predicted == labels
        return ClassifierOutcome(
            scored="cv",
            rows=np.arange(len(labels)),
            predicted=predicted,
            accuracy=float(np.mean([is_correct[fold.dev].mean() for fold in outer_folds])),
            dev=float(np.mean([row[best] for row, best in zip(dev, chosen, strict=True)])),
            l2=tuple(self.setting.l2[best] for best in chosen),
        )

    def tune_by_folds(self, train: RowIndices, test: RowIndices) -> ClassifierOutcome:
        """A cross-validation of the train rows chooses the L2; a last fit on all of them is scored
        on TEST.
        """
        fitted = self._fit(Fits.grid(self._folds_of(train), self.setting.l2))
        dev = fitted.dev.reshape(self.setting.folds, -1).mean(0)
        best = _best(dev)
        return self._test_outcome(
            self._refit([train], [best]), 0, test, dev=float(dev[best]), l2=self.setting.l2[best]
        )

    def tune_by_dev(
        self, train: RowIndices, dev: RowIndices, test: RowIndices
    ) -> ClassifierOutcome:
        """The fit with the best accuracy on DEV is scored on TEST."""
        fitted = self._fit(Fits.grid([Fold(train=train, dev=dev)], self.setting.l2))
        best = _best(fitted.dev)
        return self._test_outcome(
            fitted, best, test, dev=float(fitted.dev[best]), l2=self.setting.l2[best]
        )

    @property
    def _labels(self) -> RowIndices:
        labels: RowIndices = self.problem.labels.cpu().numpy()
        return labels

    def _folds_of(self, rows: RowIndices) -> list[Fold]:
        """Return the stratified folds of some ROWS."""
        folds = stratified_folds(self._labels[rows], self.setting.folds)
        return [Fold(train=rows[fold.train], dev=rows[fold.dev]) for fold in folds]

    def _test_outcome(
        self, fitted: Fitted, fit: int, test: RowIndices, *, dev: float, l2: float
    ) -> ClassifierOutcome:
        predicted = fitted.predict(self.problem, fit, test)
        accuracy = float((predicted == self._labels[test]).mean())
        return ClassifierOutcome(
            scored="test", rows=test, predicted=predicted, accuracy=accuracy, dev=dev, l2=(l2,)
        )

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
