"""Relatedness as in SentEval (after Tai 2015): a softmax regression from pair features to
distributions over the scores 1 to 5.

A score y between two grades becomes y − ⌊y⌋ on the upper and the rest on the lower one; the
prediction is the expected grade. Trained on the squared error by Adam, batch 64, without L2; every
fiftieth pass is a check of dev Pearson, the fourth that does not improve stops, and the best
weights win. STS-B goes down to 0, so that its scores below 1 are incomplete distributions, as in
SentEval.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan, nan

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from embedlab.analysis.correlations import pearson
from embedlab.classifiers.batched_sgd import shuffle_rows, start_weights
from embedlab.classifiers.folds import RowIndices
from embedlab.core.session import ProgressCallback

GRADES = 5
BATCH = 64
PASSES_PER_CHECK = 50
MAX_CHECKS = 21  # a check begins as long as no more than 1,000 passes are done
TENACITY = 3  # non-improving checks, counted in total, that are endured


@dataclass(frozen=True, kw_only=True, eq=False)
class Regression:
    """The regression at its best check."""

    weights: Tensor  # (dim + 1, grades), the last row is the bias
    dev: float  # Pearson; nan where no check had one, of constant predictions

    def predict(self, features: Tensor) -> NDArray[np.float64]:
        """The expected grade of each row, 1–5."""
        logits = torch.addmm(self.weights[-1], features, self.weights[:-1])
        shares = torch.softmax(logits, dim=1).double().cpu().numpy()
        grades: NDArray[np.float64] = shares @ np.arange(1, GRADES + 1)
        return grades


def score_distributions(gold: Sequence[float] | NDArray[np.floating]) -> NDArray[np.float32]:
    """Return the distribution over the grades 1 to 5 that represents each score; (rows, grades)."""
    scores = np.asarray(gold, np.float64)[:, None]
    # Each neighbouring grade weighs as much as the score is near to it; there is no grade below the
    # lowest.
    distances = np.abs(scores - np.arange(1, GRADES + 1))
    shares: NDArray[np.float32] = np.clip(1 - distances, 0, 1).astype(np.float32)
    return shares


def fit_relatedness(
    features: Tensor,
    gold: NDArray[np.float64],
    train: RowIndices,
    dev: RowIndices,
    *,
    seed: int,
    progress: ProgressCallback | None = None,
) -> Regression:
    """Fit the regression on TRAIN, stopped early by DEV, of FEATURES (rows, dim) and GOLD of all
    rows; PROGRESS receives the checks.
    """
    train_features = features[_index(train, features)]
    dev_features = features[_index(dev, features)]
    with_ones = torch.cat([train_features, train_features.new_ones(len(train_features), 1)], dim=1)
    goals = torch.from_numpy(score_distributions(gold[train])).to(train_features)
    weights = start_weights(features.shape[1], GRADES, seed).to(train_features)
    optimiser = torch.optim.Adam([weights], lr=1e-3, fused=True)
    best = Regression(weights=weights.clone(), dev=nan)
    checks_without_gain = 0
    for check in range(MAX_CHECKS):
        for number in range(check * PASSES_PER_CHECK, (check + 1) * PASSES_PER_CHECK):
            order = _index(shuffle_rows(len(train), seed, number), train_features)
            for rows in order.split(BATCH):
                weights.grad = _gradient(with_ones[rows], goals[rows], weights)
                optimiser.step()
        current = Regression(weights=weights.clone(), dev=0.0)
        correlation = pearson(gold[dev], current.predict(dev_features))
        if progress is not None:
            progress(check + 1, MAX_CHECKS)
        if correlation > best.dev or (isnan(best.dev) and not isnan(correlation)):
            best = Regression(weights=current.weights, dev=correlation)
        else:
            checks_without_gain += 1
            if checks_without_gain > TENACITY:
                break
    return best


def _gradient(features: Tensor, goals: Tensor, weights: Tensor) -> Tensor:
    """Return the gradient of the mean squared error of the softmax."""
    shares = torch.softmax(features @ weights, dim=1)
    errors = (shares - goals) * (2 / goals.numel())
    return features.T @ (shares * (errors - (errors * shares).sum(1, keepdim=True)))


def _index(rows: RowIndices, tensor: Tensor) -> Tensor:
    return torch.from_numpy(rows).to(tensor.device)
