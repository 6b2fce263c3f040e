"""The three ways in which an accuracy comes about, written once more with one slow fit after the
other.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from embedlab.classifiers.folds import Fold, RowIndices, hold_back, stratified_folds
from embedlab.classifiers.settings import Setting
from tests.tasks.slow_classifier import slow_fit

# FACTS: 5 % of the rows of a last fit; a literal, so that the real one can be wrong
HELD_BACK = 0.05


@dataclass(frozen=True, kw_only=True, eq=False)
class SlowOutcome:
    """What one fit after the other reached."""

    predicted: RowIndices  # the class of each scored row, in their order
    right: int  # how many of them
    l2: tuple[float, ...]  # chosen


@dataclass(frozen=True, eq=False)
class SlowProtocol:
    """The ways are those of the real one."""

    features: Tensor
    labels: RowIndices
    setting: Setting
    seed: int

    def cross_validate(self) -> SlowOutcome:
        predicted, chosen = np.empty_like(self.labels), []
        for fold in stratified_folds(self.labels, self.setting.folds):
            predicted[fold.dev], l2 = self.refit(fold.train, fold.dev)
            chosen.append(l2)
        return self.outcome(predicted, np.arange(len(self.labels)), *chosen)

    def tune_by_folds(self, train: RowIndices, test: RowIndices) -> SlowOutcome:
        predicted, l2 = self.refit(train, test)
        return self.outcome(predicted, test, l2)

    def tune_by_dev(self, train: RowIndices, dev: RowIndices, test: RowIndices) -> SlowOutcome:
        fits = [self.fit(Fold(train=train, dev=dev), l2) for l2 in self.setting.l2]
        chosen = best([accuracy for _, accuracy in fits])
        return self.outcome(self.predict(fits[chosen][0], test), test, self.setting.l2[chosen])

    def refit(self, train: RowIndices, test: RowIndices) -> tuple[RowIndices, float]:
        """The classes of TEST by a last fit on TRAIN, and the L2 of the best mean accuracy over the
        folds of TRAIN.
        """
        parts = stratified_folds(self.labels[train], self.setting.folds)
        folds = [Fold(train=train[part.train], dev=train[part.dev]) for part in parts]
        accuracies = []
        for l2 in self.setting.l2:
            found = [self.fit(fold, l2)[1] for fold in folds]
            accuracies.append(float(np.mean(found)))
        l2 = self.setting.l2[best(accuracies)]
        layer, _ = self.fit(hold_back(train, HELD_BACK, self.seed), l2)
        return self.predict(layer, test), l2

    def fit(self, fold: Fold, l2: float) -> tuple[nn.Linear, float]:
        schedule, classes = self.setting.schedule, int(self.labels.max()) + 1
        assert schedule is not None
        labels = torch.from_numpy(self.labels)
        return slow_fit(self.features, labels, classes, fold, l2, schedule, self.seed)

    def predict(self, layer: nn.Linear, rows: RowIndices) -> RowIndices:
        found: RowIndices = layer(self.features[torch.from_numpy(rows)]).argmax(1).numpy()
        return found

    def outcome(self, predicted: RowIndices, rows: RowIndices, *l2: float) -> SlowOutcome:
        right = int((predicted == self.labels[rows]).sum())
        return SlowOutcome(predicted=predicted, right=right, l2=l2)


def best(accuracies: Sequence[float]) -> int:
    """The first of the best, to the hundredth of a point."""
    rounded = [round(100 * accuracy, 2) for accuracy in accuracies]
    return rounded.index(max(rounded))
