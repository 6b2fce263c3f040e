"""The exact-optimum setting: L2-regularised softmax regression solved to convergence, all fits of a task at once.

Minimises for each fit: mean cross-entropy over its rows + l2/2 · |W|², the bias being free. That is scikit-learn's LogisticRegression
with C = 1 / (rows · l2), for two classes 2 / (rows · l2), since it then keeps one column where we keep two.

The features are rotated to their principal axes, which leaves the penalty as it is. There the curvature has a diagonal upper bound
(Böhning 1992: half the Gram matrix), so accelerated gradient descent with a step per axis needs no line search.
"""

import numpy as np
import torch
from torch import Tensor

from embedlab.encoders.encoder import Watch
from embedlab.tasks.fits import MEMORY_BYTES, ROWS_AT_ONCE, Fits, Fitted, Problem, bytes_per_fit, count_correct

TOLERANCE = 1e-7  # of the mean loss: where the next step of a fit promises a smaller gain
MAX_STEPS = 5_000


def fit_exactly(
    problem: Problem, fits: Fits, *, tolerance: float = TOLERANCE, memory_bytes: int = MEMORY_BYTES, watch: Watch | None = None
) -> Fitted:
    """The optimum of each fit and its dev accuracy; WATCH is told the finished fits."""
    axes, mean, scales = _principal_axes(problem.features)
    rotated = torch.cat([(problem.features - mean) @ axes, torch.ones_like(problem.features[:, :1])], dim=1)
    at_once = max(1, memory_bytes // bytes_per_fit(problem))
    parts = np.split(np.arange(len(fits)), range(at_once, len(fits), at_once))
    solved = torch.cat([_Descent(problem, rotated, scales, fits.take(part)).run(tolerance, watch) for part in parts], dim=2)
    slopes = torch.einsum("da,acf->dcf", axes, solved[:-1])
    weights = torch.cat([slopes, (solved[-1] - torch.einsum("d,dcf->cf", mean, slopes))[None]])
    scored = np.array([len(fits.folds[fold].dev) for fold in fits.fold])
    correct = count_correct(problem, weights, fits)
    return Fitted(weights=weights, dev=np.divide(correct, scored, out=np.full(len(fits), np.nan), where=scored > 0))


def _principal_axes(features: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The axes (dim, dim) of the centred features, their mean, and the sum of squares along each axis and along the constant."""
    mean = features.mean(0)
    gram = features.T @ features
    centred = gram.double() - len(features) * torch.outer(mean.double(), mean.double())
    scales, axes = torch.linalg.eigh(centred)
    return axes.to(features), mean, torch.cat([scales.clamp_min(0), scales.new_tensor([len(features)])]).to(features)


class _Descent:
    """Nesterov's accelerated gradient descent of some fits, each restarted where its own steps turn uphill."""

    def __init__(self, problem: Problem, rotated: Tensor, scales: Tensor, fits: Fits) -> None:
        self.problem, self.rotated, self.fits = problem, rotated, fits
        sizes = rotated.new_tensor([len(fits.folds[fold].train) for fold in fits.fold])
        self.decay = rotated.new_tensor(fits.l2).expand(len(scales), -1).clone()  # (dim + 1, fits)
        self.decay[-1] = 0
        self.curvature = scales[:, None] / (2 * sizes) + self.decay
        self.members = torch.zeros(len(rotated), len(fits.folds), dtype=torch.bool)
        for number, fold in enumerate(fits.folds):
            self.members[torch.from_numpy(fold.train), number] = True
        self.members = self.members.to(rotated.device)
        self.share = 1 / sizes
        self.fold = torch.from_numpy(fits.fold).to(rotated.device)

    def run(self, tolerance: float, watch: Watch | None) -> Tensor:
        """The optima; (dim + 1, classes, fits)."""
        shape = (self.rotated.shape[1], self.problem.classes, len(self.fits))
        solved = self.rotated.new_zeros(shape)
        running = torch.arange(len(self.fits), device=self.rotated.device)
        here, ahead, speed = solved.clone(), solved.clone(), self.rotated.new_ones(len(self.fits))
        for _ in range(MAX_STEPS):
            gradient = self._gradient(ahead, running)
            step = gradient / self.curvature[:, None, running]
            gain = (gradient * step).sum((0, 1))
            there = ahead - step
            uphill = (gradient * (there - here)).sum((0, 1)) > 0
            speed = torch.where(uphill, torch.ones_like(speed), speed)
            faster = (1 + (1 + 4 * speed**2).sqrt()) / 2
            ahead = there + torch.where(uphill, torch.zeros_like(speed), (speed - 1) / faster) * (there - here)
            here, speed = there, faster
            keep = gain > tolerance
            if not keep.all():
                solved[:, :, running] = here
                running, here, ahead, speed = running[keep], here[:, :, keep], ahead[:, :, keep], speed[keep]
                if watch is not None:
                    watch(len(self.fits) - len(running), len(self.fits))
            if not len(running):
                break
        solved[:, :, running] = here
        return solved

    def _gradient(self, weights: Tensor, running: Tensor) -> Tensor:
        gradient = weights * self.decay[:, None, running]
        flat = gradient.view(len(weights), -1)
        for start in range(0, len(self.rotated), ROWS_AT_ONCE):
            rows = slice(start, start + ROWS_AT_ONCE)
            features = self.rotated[rows]
            errors = torch.softmax((features @ weights.flatten(1)).view(len(features), *weights.shape[1:]), dim=1)
            errors[torch.arange(len(features), device=features.device), self.problem.labels[rows]] -= 1
            errors *= (self.members[rows][:, self.fold[running]] * self.share[running])[:, None]
            flat.addmm_(features.T, errors.flatten(1))
        return gradient
