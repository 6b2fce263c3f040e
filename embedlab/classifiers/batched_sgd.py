"""Train all fits of a task by minibatches at once, over shared features.

Softmax regression without a hidden layer, trained as SentEval does (FACTS: Adam, batch 64, the L2
as the optimiser's weight decay on weights and bias; dev accuracy after every fourth pass; the best
weights win). Every fit starts from the same weights and goes through its rows in the order of one
shuffle of all rows of the task a pass. So the minibatches that a step needs are close together in
that shuffle: one window of rows, one matrix product for all fits, and a mask that leaves to each
fit its own minibatch. Rows are in the order of their files; SentEval sorts them by length first, so
that its folds, dealt in the same way, contain other rows.
"""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from embedlab.classifiers.fits import (
    Fits,
    Fitted,
    Problem,
    count_correct,
    fits_at_once,
    run_groups,
)
from embedlab.classifiers.folds import RowIndices
from embedlab.classifiers.settings import FitSchedule
from embedlab.core.session import ProgressCallback

# of a fit's weights: gradient, two moments, the best ones, and a copy while finished fits are
# dropped
_COPIES = 6


def fit_classifiers(
    problem: Problem,
    fits: Fits,
    schedule: FitSchedule,
    *,
    seed: int,
    progress: ProgressCallback | None = None,
) -> Fitted:
    """Return the weights of each fit at its best check, and their dev accuracy; PROGRESS receives
    the finished fits.

    Fits are trained in groups that need little memory together; the grouping changes no result.
    """
    features = problem.features
    with_ones = torch.cat([features, features.new_ones(len(features), 1)], dim=1)
    correct = np.empty(len(fits), np.intp)

    def train(numbers: RowIndices) -> Iterator[tuple[RowIndices, Tensor]]:
        training = _Training(problem, with_ones, fits.take(numbers), schedule, seed)
        yield from training.run()
        correct[numbers] = training.best_correct

    group_size = fits_at_once(problem, len(fits), _COPIES)
    groups = bunch_fits(fits, schedule.batch, group_size)
    weights = run_groups(train, groups, problem, fits, progress)
    return Fitted(weights=weights, dev=fits.dev_accuracy(correct))


def start_weights(dim: int, classes: int, seed: int) -> Tensor:
    """Return the initial weights of every fit, uniform as in torch's linear layer; (dim + 1,
    classes), the last row is the bias.
    """
    bound = dim**-0.5
    generator = torch.Generator().manual_seed(seed)
    return torch.empty(dim + 1, classes).uniform_(-bound, bound, generator=generator)


def shuffle_rows(rows: int, seed: int, number: int) -> RowIndices:
    """Return the order of all rows of a task in pass NUMBER, from 0; a fit visits its training rows
    in this order.
    """
    return np.random.default_rng([seed, number]).permutation(rows)


def bunch_fits(fits: Fits, batch: int, group_size: int) -> Iterator[RowIndices]:
    """Yield the numbers of at most GROUP SIZE fits that train together: they take equally many
    steps per pass.
    """
    steps = np.array([-(-len(fold.train) // batch) for fold in fits.folds])[fits.fold]
    for count in np.unique(steps):
        numbers = np.flatnonzero(steps == count)
        yield from np.array_split(numbers, -(-len(numbers) // group_size))


class _Training:
    """A group of fits in training: those still running, and the best weights of all."""

    def __init__(
        self, problem: Problem, with_ones: Tensor, fits: Fits, schedule: FitSchedule, seed: int
    ) -> None:
        self.problem = problem
        self.with_ones = with_ones
        self.schedule = schedule
        self.seed = seed
        self.fits = fits
        self.running = np.arange(len(fits))
        self.checks_without_gain = np.zeros(len(fits), np.intp)
        self.best_correct = np.full(len(fits), -1, np.intp)
        start = start_weights(problem.features.shape[1], problem.classes, seed).to(with_ones)
        self.weights = start[:, :, None].repeat(1, 1, len(fits))  # (dim + 1, classes, running fits)
        self.best_weights = self.weights.clone()
        self.optimiser = self._make_optimiser()
        self.members = fits.members(len(with_ones))

    def run(self) -> Iterator[tuple[RowIndices, Tensor]]:
        """Train to the end; yield after each check which fits finished with it, and their best
        weights.
        """
        for number in range(self.schedule.max_passes):
            self._pass(number)
            if (number + 1) % self.schedule.passes_per_check == 0:
                yield self._finished(self._check())
            if not len(self.running):
                return
        yield self._finished(self.running)

    def _finished(self, fits: RowIndices) -> tuple[RowIndices, Tensor]:
        return fits, self.best_weights[..., fits]

    def _pass(self, number: int) -> None:
        used_folds, fold_numbers = np.unique(self.fits.fold, return_inverse=True)
        order = shuffle_rows(len(self.members), self.seed, number)
        minibatches, sizes, windows = plan_pass(
            self.members[np.ix_(order, used_folds)], self.schedule.batch
        )
        fold = self._index(fold_numbers)
        minibatch = self._index(minibatches)[:, fold]  # (rows, fits)
        size = torch.from_numpy(sizes).to(self.weights)[:, fold]  # (steps, fits)
        l2 = torch.from_numpy(self.fits.l2).to(self.weights)
        rows = self._index(order)
        for step, (start, end) in enumerate(windows):
            share = (minibatch[start:end] == step) / size[step]
            self._step(rows[start:end], share, l2)

    def _step(self, rows: Tensor, share: Tensor, l2: Tensor) -> None:
        """One minibatch of every fit; SHARE (window, fits) is a row's part in the mean loss of a
        fit, 0 outside its minibatch.
        """
        features = self.with_ones.index_select(0, rows)
        logits = features @ self.weights.flatten(1)
        errors = torch.softmax(logits.view(len(rows), *self.weights.shape[1:]), dim=1)
        errors[torch.arange(len(rows), device=rows.device), self.problem.labels[rows]] -= 1
        errors *= share[:, None]
        gradient = (features.T @ errors.flatten(1)).view_as(self.weights)
        self.weights.grad = gradient.addcmul_(self.weights, l2)
        self.optimiser.step()

    def _check(self) -> RowIndices:
        """Return the fits that are finished, of which nothing is kept but the best weights."""
        correct = count_correct(self.problem, self.weights, self.fits)
        improved = correct > self.best_correct[self.running]
        better_fits = self.running[improved]
        self.best_correct[better_fits] = correct[improved]
        self.best_weights[..., better_fits] = self.weights[..., np.flatnonzero(improved)]
        self.checks_without_gain[self.running] += ~improved
        is_running = self.checks_without_gain[self.running] <= self.schedule.tenacity
        finished = self.running[~is_running]
        if len(finished):
            self._restrict(np.flatnonzero(is_running))
        return finished

    def _restrict(self, indices: RowIndices) -> None:
        """Continue with some of the running fits, their moments included."""
        self.running = self.running[indices]
        self.fits = self.fits.take(indices)
        state = self.optimiser.state[self.weights]
        self.weights = self.weights[..., indices]
        self.optimiser = self._make_optimiser()
        self.optimiser.state[self.weights] = {
            name: value[..., indices] if value.ndim == 3 else value for name, value in state.items()
        }

    def _make_optimiser(self) -> torch.optim.Optimizer:
        # The decay differs between fits, so it is added to the gradient, as these optimisers do.
        if self.schedule.optimiser == "adam":
            return torch.optim.Adam([self.weights], lr=self.schedule.lr, fused=True)
        return torch.optim.RMSprop([self.weights], lr=self.schedule.lr)

    def _index(self, numbers: NDArray[np.integer]) -> Tensor:
        return torch.from_numpy(numbers).to(self.weights.device)


def plan_pass(
    members: NDArray[np.bool_], batch: int
) -> tuple[NDArray[np.int32], NDArray[np.intp], list[tuple[int, int]]]:
    """Return the minibatches of folds with rows MEMBERS (rows, folds) in the order of a pass, of
    which all take equally many: the one that a row is in, (rows, folds), −1 for none; their sizes,
    (minibatches, folds); and the slice of the order that holds the rows of each in all folds.
    """
    seen = np.cumsum(members, axis=0, dtype=np.int32)
    minibatch = np.where(members, (seen - 1) // batch, -1).astype(np.int32)
    starts = np.arange(0, seen[-1].max(), batch)
    ends = np.minimum(starts[:, None] + batch, seen[-1])
    # The first row of a minibatch is where the count passes that of the rows before, the last where
    # the count reaches the minibatch's end.
    firsts = [np.searchsorted(column, starts, side="right") for column in seen.T]
    lasts = [np.searchsorted(*columns) for columns in zip(seen.T, ends.T, strict=True)]
    windows = zip(np.min(firsts, 0).tolist(), (np.max(lasts, 0) + 1).tolist(), strict=True)
    return minibatch, ends - starts[:, None], list(windows)
