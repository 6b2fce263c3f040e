"""Fits: linear classifiers on shared features, each on its own rows with its own L2."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from embedlab.classifiers.folds import Fold, RowIndices
from embedlab.core.session import ProgressCallback
from embedlab.cpu.engine import run_in_threads

MEMORY_BYTES = 512 << 20  # memory of fits that are solved together, without the features
# rows whose logits are held at once: 65 MB for four fits of a thousand classes
FIT_LOGIT_ROWS = 4_096

_FEWEST_COLUMNS = 64  # of a matrix product that is worth a thread of its own: classes times fits


@dataclass(frozen=True, kw_only=True, eq=False)
class Problem:
    """The features and classes of all rows of a task, whatever split they are of."""

    features: Tensor  # (rows, dim)
    labels: Tensor  # (rows,): class indices
    classes: int

    @classmethod
    def of(
        cls,
        features: NDArray[np.floating],
        labels: NDArray[np.integer],
        device: torch.device | None = None,
    ) -> Self:
        """The problem of numpy features and class indices, on a device."""
        return cls(
            features=torch.from_numpy(np.ascontiguousarray(features)).to(device),
            labels=torch.from_numpy(labels.astype(np.int64)).to(device),
            classes=int(labels.max()) + 1,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Fits:
    """Fits of a problem: fit i is trained on fold `fold[i]` with the L2 `l2[i]`."""

    folds: tuple[Fold, ...]
    fold: RowIndices  # (fits,)
    l2: NDArray[np.float64]  # (fits,)

    @classmethod
    def grid(cls, folds: Sequence[Fold], l2: Sequence[float]) -> Self:
        """Every fold with every L2: fold after fold, in each the L2 values in their order."""
        return cls(
            folds=tuple(folds),
            fold=np.repeat(np.arange(len(folds)), len(l2)),
            l2=np.tile(np.asarray(l2, np.float64), len(folds)),
        )

    def __len__(self) -> int:
        return len(self.fold)

    def take(self, chosen: RowIndices) -> "Fits":
        """Some of the fits; the folds keep their numbers."""
        return Fits(folds=self.folds, fold=self.fold[chosen], l2=self.l2[chosen])

    def members(self, rows: int) -> NDArray[np.bool_]:
        """Return which of so many rows each fold is trained on; (rows, folds)."""
        members = np.zeros((rows, len(self.folds)), np.bool_)
        for number, fold in enumerate(self.folds):
            members[fold.train, number] = True
        return members

    def dev_accuracy(self, correct: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the accuracy of each fit, nan without dev rows, from how many are CORRECT."""
        sizes = np.array([len(self.folds[fold].dev) or np.nan for fold in self.fold])
        accuracy: NDArray[np.float64] = correct / sizes
        return accuracy

    def by_fold(self) -> Iterator[tuple[Fold, RowIndices]]:
        """Each fold that has fits, with their numbers."""
        for number in np.unique(self.fold):
            yield self.folds[number], np.flatnonzero(self.fold == number)


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitted:
    """The classifiers of some fits."""

    weights: Tensor  # (dim + 1, classes, fits), the last row is the bias
    dev: NDArray[np.float64]  # (fits,): accuracy on the fold's dev rows, nan where it has none

    def predict(self, problem: Problem, fit: int, rows: RowIndices) -> RowIndices:
        """Return the class that one fit predicts for each of ROWS."""
        return predict_classes(problem, self.weights[:, :, fit : fit + 1], rows)[:, 0].cpu().numpy()


def fits_at_once(problem: Problem, fits: int, copies: int) -> int:
    """Return how many of a problem's FITS to solve together if each takes COPIES of its weights and
    a number for each row.

    On a CPU each thread gets a share, unless that is too few for a matrix product.
    """
    rows, dim = problem.features.shape
    workers = torch.get_num_threads() if problem.features.device.type == "cpu" else 1
    bytes_per_fit = (
        copies * (dim + 1) * problem.classes * problem.features.element_size() + 4 * rows
    )
    share = max(-(-fits // workers), _FEWEST_COLUMNS // problem.classes)
    return max(1, min(MEMORY_BYTES // workers // bytes_per_fit, share))


def run_groups(
    train: Callable[[RowIndices], Iterator[tuple[RowIndices, Tensor]]],
    groups: Iterable[RowIndices],
    problem: Problem,
    fits: Fits,
    progress: ProgressCallback | None,
) -> Tensor:
    """Return the weights of FITS, (dim + 1, classes, fits), which are trained in threads by groups
    of their numbers; PROGRESS receives the finished fits.

    TRAIN yields which of a group finished since, and their weights.
    """
    dim = problem.features.shape[1]
    weights = problem.features.new_empty(dim + 1, problem.classes, len(fits))
    done = 0

    def run(group: RowIndices) -> Iterator[int]:
        for finished, final_weights in train(group):
            weights[:, :, group[finished]] = final_weights
            yield len(finished)

    def count(finished: int) -> None:
        nonlocal done
        done += finished
        if progress is not None:
            progress(done, len(fits))

    run_in_threads(run, list(groups), count, weights.device)
    return weights


def predict_classes(problem: Problem, weights: Tensor, rows: RowIndices) -> Tensor:
    """Return the class that each fit of WEIGHTS predicts for each of ROWS; (rows, fits)."""
    flat = weights.reshape(len(weights), -1)
    predictions = [
        torch.addmm(flat[-1], problem.features[block], flat[:-1])
        .view(len(block), *weights.shape[1:])
        .argmax(1)
        for block in torch.from_numpy(rows).to(weights.device).split(FIT_LOGIT_ROWS)
    ]
    return torch.cat(predictions)


def count_correct(problem: Problem, weights: Tensor, fits: Fits) -> RowIndices:
    """Return the number of correct dev rows of each fit's fold; (fits,)."""
    correct = np.zeros(len(fits), np.intp)
    for fold, numbers in fits.by_fold():
        if len(fold.dev):
            gold = problem.labels[torch.from_numpy(fold.dev).to(problem.labels.device)]
            predicted = predict_classes(
                problem, weights[:, :, torch.from_numpy(numbers).to(weights.device)], fold.dev
            )
            correct[numbers] = (predicted == gold[:, None]).sum(0).cpu().numpy()
    return correct
