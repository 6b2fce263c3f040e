"""The literature protocol written once more: one fit at a time, with torch's own layer, loss and
optimisers.
"""

import copy

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from embedlab.classifiers.batched_sgd import shuffle_rows, start_weights
from embedlab.classifiers.folds import Fold
from embedlab.classifiers.settings import FitSchedule


def slow_fit(
    features: Tensor,
    labels: Tensor,
    classes: int,
    fold: Fold,
    l2: float,
    schedule: FitSchedule,
    seed: int,
) -> tuple[nn.Linear, float]:
    """The layer at its best check and its dev accuracy."""
    layer = linear_layer(features, classes, seed)
    make = {"adam": torch.optim.Adam, "rmsprop": torch.optim.RMSprop}[schedule.optimiser]
    optimiser = make(layer.parameters(), lr=schedule.lr, weight_decay=l2)
    dev = torch.from_numpy(fold.dev)
    best, best_accuracy, strikes, passes = copy.deepcopy(layer), -1.0, 0, 0
    while passes < schedule.max_passes:
        for _ in range(schedule.passes_per_check):
            order = shuffle_rows(len(features), seed, passes)
            rows = torch.from_numpy(order[np.isin(order, fold.train)])
            for batch in rows.split(schedule.batch):
                optimiser.zero_grad()
                F.cross_entropy(layer(features[batch]), labels[batch]).backward()
                optimiser.step()
            passes += 1
        accuracy = (layer(features[dev]).argmax(1) == labels[dev]).double().mean().item()
        if accuracy > best_accuracy:
            best, best_accuracy = copy.deepcopy(layer), accuracy
        else:
            strikes += 1
            if strikes > schedule.tenacity:
                break
    return best, best_accuracy


def linear_layer(features: Tensor, classes: int, seed: int) -> nn.Linear:
    """The layer before its first step."""
    layer = nn.Linear(features.shape[1], classes, dtype=features.dtype)
    start = start_weights(features.shape[1], classes, seed).to(features.dtype)
    with torch.no_grad():
        layer.weight.copy_(start[:-1].T)
        layer.bias.copy_(start[-1])
    return layer
