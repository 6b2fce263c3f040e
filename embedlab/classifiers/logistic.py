"""The exact-optimum setting: L2-regularised softmax regression solved to convergence, all fits of a
task at once.

Minimises for each fit: mean cross-entropy over its rows + l2/2 · |W|², the bias being free. That is
scikit-learn's LogisticRegression with C = 1 / (rows · l2), for two classes 2 / (rows · l2), since
it then keeps one column where we keep two.

The features are rotated to their principal axes, which leaves the penalty as it is. There the
curvature has a diagonal upper bound (Böhning 1992: half the Gram matrix), from which limited-memory
BFGS starts, for all fits in parallel.
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from embedlab.classifiers.fits import (
    FIT_LOGIT_ROWS,
    Fits,
    Fitted,
    Problem,
    count_correct,
    fits_at_once,
    run_groups,
)
from embedlab.classifiers.folds import RowIndices
from embedlab.core.session import ProgressCallback

MIN_GAIN = 1e-7  # of the mean loss: a fit is done when its next step promises a smaller gain
MAX_FIT_STEPS = 2_000

_REMEMBERED = 10  # steps from which L-BFGS estimates the curvature
_COPIES = 2 * _REMEMBERED + 8  # of a fit's weights
_SUFFICIENT = 1e-4  # share of the promised gain that a step must bring (Armijo)
_SHORTEST = 2.0**-12  # a shorter step means that the loss is minimal in this precision


def fit_exactly(
    problem: Problem,
    fits: Fits,
    *,
    progress: ProgressCallback | None = None,
) -> Fitted:
    """Return the optimum of each fit and its dev accuracy; PROGRESS receives the finished fits."""
    axes, mean, scales = _principal_axes(problem.features)
    ones = torch.ones_like(problem.features[:, :1])
    rotated = torch.cat([(problem.features - mean) @ axes, ones], dim=1)

    def solve(numbers: RowIndices) -> Iterator[tuple[RowIndices, Tensor]]:
        return _Descent(problem, rotated, scales, fits.take(numbers)).run()

    group_size = fits_at_once(problem, len(fits), _COPIES)
    groups = np.array_split(np.arange(len(fits)), -(-len(fits) // group_size))
    solved = run_groups(solve, groups, problem, fits, progress)
    slopes = torch.einsum("da,acf->dcf", axes, solved[:-1])
    bias = solved[-1] - torch.einsum("d,dcf->cf", mean, slopes)
    weights = torch.cat([slopes, bias[None]])
    return Fitted(weights=weights, dev=fits.dev_accuracy(count_correct(problem, weights, fits)))


def _principal_axes(features: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The axes (dim, dim) of the centred features, their mean, and the sum of squares along each
    axis and along the constant.
    """
    mean = features.mean(0)
    gram = features.T @ features
    centred = gram.double() - len(features) * torch.outer(mean.double(), mean.double())
    squares, axes = torch.linalg.eigh(centred)
    scales = torch.cat([squares.clamp_min(0), squares.new_tensor([len(features)])])
    return axes.to(features), mean, scales.to(features)


class _Descent:
    """L-BFGS of some fits, each with its own steps; a step that gains too little is halved while
    the other fits go on.
    """

    def __init__(self, problem: Problem, rotated: Tensor, scales: Tensor, fits: Fits) -> None:
        self.problem = problem
        self.rotated = rotated
        members = fits.members(len(rotated))
        sizes = rotated.new_tensor(members.sum(axis=0)[fits.fold])
        self.members = torch.from_numpy(members).to(rotated.device)
        # of each running fit
        self.fold = torch.from_numpy(fits.fold).to(rotated.device)
        self.share = 1 / sizes
        self.decay = rotated.new_tensor(fits.l2).expand(len(scales), -1).clone()  # (dim + 1, fits)
        self.decay[-1] = 0
        self.memory = _Memory(scales[:, None] / (2 * sizes) + self.decay)

    def run(self) -> Iterator[tuple[RowIndices, Tensor]]:
        """Descend to the optima; yield after each step which fits finished with it, and their
        weights.
        """
        running = np.arange(len(self.fold))
        weights = self.rotated.new_zeros(len(self.decay), self.problem.classes, len(running))
        length = weights.new_ones(len(running))
        loss, gradient = self._evaluate(weights)
        for _ in range(MAX_FIT_STEPS):
            step = -length * self.memory.multiply(gradient)
            gain = -_dot(gradient, step)  # that is expected
            is_going = (gain > 2 * MIN_GAIN * length) & (length > _SHORTEST)
            is_done = ~is_going
            yield running[is_done.cpu().numpy()], weights[..., is_done]
            if is_done.all():
                return
            if is_done.any():
                running = running[is_going.cpu().numpy()]
                weights, length, loss, gradient, step, gain = (
                    values[..., is_going]
                    for values in (weights, length, loss, gradient, step, gain)
                )
                self.fold, self.share, self.decay = (
                    values[..., is_going] for values in (self.fold, self.share, self.decay)
                )
                self.memory.restrict(is_going)
            new_loss, new_gradient = self._evaluate(weights + step)
            noise = 8 * torch.finfo(loss.dtype).eps * loss
            is_gain = new_loss <= loss - _SUFFICIENT * gain + noise
            self.memory.add(step * is_gain, (new_gradient - gradient) * is_gain)
            weights = weights + step * is_gain
            loss = torch.where(is_gain, new_loss, loss)
            gradient = torch.where(is_gain, new_gradient, gradient)
            length = torch.where(is_gain, torch.ones_like(length), length / 2)
        yield running, weights

    def _evaluate(self, weights: Tensor) -> tuple[Tensor, Tensor]:
        """The loss of each fit, and its gradient."""
        penalty_gradient = weights * self.decay[:, None]
        loss = _dot(weights, penalty_gradient) / 2
        gradient = penalty_gradient.clone()
        flat = gradient.view(len(weights), -1)
        for start in range(0, len(self.rotated), FIT_LOGIT_ROWS):
            rows = slice(start, start + FIT_LOGIT_ROWS)
            features = self.rotated[rows]
            labels = self.problem.labels[rows]
            numbers = torch.arange(len(features), device=features.device)
            share = self.members[rows][:, self.fold] * self.share
            logits = features @ weights.flatten(1)
            logs = torch.log_softmax(logits.view(len(features), *weights.shape[1:]), dim=1)
            loss -= (logs[numbers, labels] * share).sum(0)
            errors = logs.exp_()
            errors[numbers, labels] -= 1
            errors *= share[:, None]
            flat.addmm_(features.T, errors.flatten(1))
        return loss, gradient


class _Memory:
    """The estimate of the inverse curvature from the last steps of some fits (Nocedal 1980)."""

    def __init__(self, bound: Tensor) -> None:
        self.bound = bound[:, None]  # of the curvature, before anything is known
        self.scale = torch.ones_like(bound[0])
        # step, change of the gradient, 1 / their product; all 0 for a fit that did not step
        self.steps: list[tuple[Tensor, Tensor, Tensor]] = []

    def add(self, step: Tensor, change: Tensor) -> None:
        """Store a step of each fit; a step of zeros is ignored."""
        product = _dot(step, change)
        is_known = product > 0
        inverse = torch.where(is_known, 1 / product, torch.zeros_like(product))
        self.scale = torch.where(is_known, product / _dot(change, change / self.bound), self.scale)
        self.steps = [*self.steps, (step, change, inverse)][-_REMEMBERED:]

    def multiply(self, gradient: Tensor) -> Tensor:
        """The gradient times the inverse curvature."""
        product = gradient.clone()
        step_weights = []
        for step, change, inverse in reversed(self.steps):
            weight = inverse * _dot(step, product)
            product -= weight * change
            step_weights.append(weight)
        product *= self.scale / self.bound
        for (step, change, inverse), weight in zip(self.steps, reversed(step_weights), strict=True):
            product += (weight - inverse * _dot(change, product)) * step
        return product

    def restrict(self, is_running: Tensor) -> None:
        """Forget the other fits."""
        self.bound = self.bound[..., is_running]
        self.scale = self.scale[is_running]
        self.steps = [
            (step[..., is_running], change[..., is_running], inverse[is_running])
            for step, change, inverse in self.steps
        ]


def _dot(first: Tensor, second: Tensor) -> Tensor:
    """The product of each fit's weights; (fits,)."""
    return torch.einsum("dcf,dcf->f", first, second)
