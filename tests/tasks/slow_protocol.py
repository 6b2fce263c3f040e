"""The three ways in which an accuracy comes about, written once more with one slow fit after the other."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from embedlab.tasks.classifier_settings import Setting
from embedlab.tasks.folds import Fold, Rows, hold_back, stratified_folds
from embedlab.tasks.protocols import HELD_BACK
from tests.tasks.slow_classifier import slow_fit


class SlowProtocol:
    """Counts of correct predictions; the arguments are those of the real one."""

    def __init__(self, features: Tensor, labels: Rows, setting: Setting, seed: int) -> None:
        self.features, self.labels, self.setting, self.seed = features, labels, setting, seed

    def cross_validate(self) -> list[int]:
        """Right answers in each test fold."""
        counts = []
        for fold in stratified_folds(self.labels, self.setting.folds):
            l2 = self.choose(fold.train)
            counts.append(self.right(self.fit(hold_back(fold.train, HELD_BACK, self.seed), l2)[0], fold.dev))
        return counts

    def tune_by_folds(self, train: Rows, test: Rows) -> int:
        return self.right(self.fit(hold_back(train, HELD_BACK, self.seed), self.choose(train))[0], test)

    def tune_by_dev(self, train: Rows, dev: Rows, test: Rows) -> int:
        fits = [self.fit(Fold(train=train, dev=dev), l2) for l2 in self.setting.l2]
        return self.right(fits[best([accuracy for _, accuracy in fits])][0], test)

    def choose(self, rows: Rows) -> float:
        """The L2 of the best mean accuracy over the folds of ROWS."""
        parts = stratified_folds(self.labels[rows], self.setting.folds)
        folds = [Fold(train=rows[part.train], dev=rows[part.dev]) for part in parts]
        return self.setting.l2[best([float(np.mean([self.fit(fold, l2)[1] for fold in folds])) for l2 in self.setting.l2])]

    def fit(self, fold: Fold, l2: float) -> tuple[nn.Linear, float]:
        assert self.setting.schedule is not None
        classes = int(self.labels.max()) + 1
        return slow_fit(self.features, torch.from_numpy(self.labels), classes, fold, l2, self.setting.schedule, self.seed)

    def right(self, layer: nn.Linear, rows: Rows) -> int:
        with torch.no_grad():
            return int((layer(self.features[torch.from_numpy(rows)]).argmax(1).numpy() == self.labels[rows]).sum())


def best(accuracies: Sequence[float]) -> int:
    """The first of the best, to the hundredth of a point."""
    rounded = [round(100 * accuracy, 2) for accuracy in accuracies]
    return rounded.index(max(rounded))
