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


class SlowProtocol:
    """The arguments are those of the real one."""

    def __init__(self, features: Tensor, labels: RowIndices, setting: Setting, seed: int) -> None:
        self.features, self.labels, self.setting, self.seed = features, labels, setting, seed

    def cross_validate(self) -> SlowOutcome:
        predicted = np.empty_like(self.labels)
        chosen = []
        for fold in stratified_folds(self.labels, self.setting.folds):
            l2 = self.choose(fold.train)
            predicted[fold.dev] = self.predict(
                self.fit(hold_back(fold.train, HELD_BACK, self.seed), l2)[0], fold.dev
            )
            chosen.append(l2)
        return self.outcome(predicted, np.arange(len(self.labels)), *chosen)

    def tune_by_folds(self, train: RowIndices, test: RowIndices) -> SlowOutcome:
        l2 = self.choose(train)
        return self.outcome(
            self.predict(self.fit(hold_back(train, HELD_BACK, self.seed), l2)[0], test), test, l2
        )

    def tune_by_dev(self, train: RowIndices, dev: RowIndices, test: RowIndices) -> SlowOutcome:
        fits = [self.fit(Fold(train=train, dev=dev), l2) for l2 in self.setting.l2]
        chosen = best([accuracy for _, accuracy in fits])
        return self.outcome(self.predict(fits[chosen][0], test), test, self.setting.l2[chosen])

    def choose(self, rows: RowIndices) -> float:
        """The L2 of the best mean accuracy over the folds of ROWS."""
        parts = stratified_folds(self.labels[rows], self.setting.folds)
        folds = [Fold(train=rows[part.train], dev=rows[part.dev]) for part in parts]
        return self.setting.l2[
            best(
                [
                    float(np.mean([self.fit(fold, l2)[1] for fold in folds]))
                    for l2 in self.setting.l2
                ]
            )
        ]

    def fit(self, fold: Fold, l2: float) -> tuple[nn.Linear, float]:
        assert self.setting.schedule is not None
        classes = int(self.labels.max()) + 1
        return slow_fit(
            self.features,
            torch.from_numpy(self.labels),
            classes,
            fold,
            l2,
            self.setting.schedule,
            self.seed,
        )

    def predict(self, layer: nn.Linear, rows: RowIndices) -> RowIndices:
        with torch.no_grad():
            found: RowIndices = layer(self.features[torch.from_numpy(rows)]).argmax(1).numpy()
        return found

    def outcome(self, predicted: RowIndices, rows: RowIndices, *l2: float) -> SlowOutcome:
        return SlowOutcome(
            predicted=predicted, right=int((predicted == self.labels[rows]).sum()), l2=l2
        )


def best(accuracies: Sequence[float]) -> int:
    """The first of the best, to the hundredth of a point."""
    rounded = [round(100 * accuracy, 2) for accuracy in accuracies]
    return rounded.index(max(rounded))
