"""What differences on several datasets say of another dataset of their kind: random effects with a
prediction interval.

The true difference varies between datasets with a variance τ², about which few datasets say little.
Q(τ²) = Σ w (d − μ)² with weights w = 1 / (v + τ²) and their weighted mean μ is a χ² of K − 1
degrees of freedom at the true τ² (Viechtbauer 2007). So each of its quantiles gives a τ² (0 where Q
is below it already), and the mean and a new dataset's difference are mixtures of normals over
these: with no variance v inside datasets exactly Student's t of K − 1 degrees of freedom
(Nagashima, Noma & Furukawa 2019; Higgins, Thompson & Spiegelhalter 2009 take t with one fewer and
one τ² alone). What the seeds of recipes vary is common to all datasets, and is added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isnan
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.evidence import Evidence
from embedlab.analysis.uncertainty import LEVEL, normal_noise, seed_noise
from embedlab.analysis.weighing import Weighed

if TYPE_CHECKING:
    from embedlab.analysis.comparison import ComparedSlice
    from embedlab.analysis.evidence import ModelColumns
    from embedlab.analysis.influence import Floats

FEWEST_DATASETS = 5
# of the pairs of the smaller of two datasets: their errors then correlate by less than this
MOST_SHARED = 0.02
_QUANTILES = 250
_STEPS = 88  # at most; of halves alone so many are enough
_PRECISE = 1e-14  # of a step, as a share of where it leads
_SMALLEST = 1e-100  # of a variance: its square is a number, too
_FARTHEST = 38.0  # standard deviations, where a normal density is still above 0
_MOST_TRIED = 16  # datasets of which all sets are tried


@dataclass(frozen=True, kw_only=True)
class NewDatasetEffect:
    """A model's difference from the reference over datasets of one kind, and on another one."""

    task: str
    metric: str
    model: str
    reference: str
    datasets: tuple[str, ...]
    shared_pairs: int  # that several of these have
    mean: float  # over datasets of the kind
    low: float  # its 95% interval
    high: float
    new_low: float  # 95% prediction interval of the true difference on another dataset
    new_high: float


def predict_new_dataset(
    slices: Sequence[ComparedSlice], models: Sequence[ModelColumns]
) -> tuple[NewDatasetEffect, ...]:
    """Return what the differences from the first of MODELS on whole datasets say of another one.

    Of each task and metric those datasets are counted, as many as possible, that share hardly any
    pairs; nothing where they are fewer than five.
    """
    kinds: dict[tuple[str, str], list[ComparedSlice]] = {}
    for row in slices:
        if row.tests and not row.averaged_keys:
            kinds.setdefault((row.task, row.metric), []).append(row)
    effects = []
    for kind, rows in kinds.items():
        if len(rows) < FEWEST_DATASETS:
            continue
        texts = [row.rows.texts for row in rows if row.rows is not None]
        places, shared_pairs = independent_datasets(texts)
        if len(places) < FEWEST_DATASETS:
            continue
        chosen = [rows[place] for place in places]
        averages = [
            row
            for row in slices
            if (row.task, row.metric) == kind
            and {*row.averaged_keys} >= {own.key for own in chosen}
        ]
        for model in models[1:]:
            effect = _effect(chosen, averages, models, model.name, shared_pairs)
            effects += [effect] if effect is not None else []
    return tuple(effects)


def _effect(
    datasets: Sequence[ComparedSlice],
    averages: Sequence[ComparedSlice],
    models: Sequence[ModelColumns],
    name: str,
    shared_pairs: int,
) -> NewDatasetEffect | None:
    """Return what a model's differences on DATASETS say of another one, at least as wide as the
    AVERAGES over these.
    """
    reference = models[0].name
    differences = [dataset.differences[name] for dataset in datasets]
    deltas = np.array([difference.delta for difference in differences])
    variances = np.array([each.uncertainty.variance_of_rows for each in differences])
    if not np.isfinite([deltas, variances]).all():
        return None
    points = np.mean([dataset.points for dataset in datasets], axis=0)
    mean_evidence = Evidence(key="", title="", items=0, points=points)
    seeds = seed_noise(Weighed(mean_evidence, models).spreads(name, reference))
    mean, (low, high), (new_low, new_high) = predict_difference(deltas, variances, *seeds)
    for average in averages:
        difference = average.differences[name]
        if not isnan(difference.low):
            low = min(low, mean - (difference.delta - difference.low))
            high = max(high, mean + (difference.high - difference.delta))
    return NewDatasetEffect(
        task=datasets[0].task,
        metric=datasets[0].metric,
        model=name,
        reference=reference,
        datasets=tuple(dataset.key for dataset in datasets),
        shared_pairs=shared_pairs,
        mean=mean,
        low=low,
        high=high,
        new_low=min(low, new_low),
        new_high=max(high, new_high),
    )


def independent_datasets(texts: Sequence[NDArray[np.uint64]]) -> tuple[list[int], int]:
    """Return the places of as many datasets as possible that share hardly any pairs, and how many
    pairs several of them have.

    TEXTS: of each dataset the numbers of the sentences of its pairs, (pairs, 2); a pair in the
    other order is the same. Of equally many datasets those with the most pairs are taken.
    """
    numbers = np.unique(np.concatenate(texts), return_inverse=True)[1].reshape(-1, 2)
    keys = numbers.min(axis=1) * (numbers.max(initial=0) + 1) + numbers.max(axis=1)
    distinct, pair = np.unique(keys, return_inverse=True)
    has_pair = np.zeros((len(texts), len(distinct)), dtype=bool)
    has_pair[np.repeat(np.arange(len(texts)), [len(text) for text in texts]), pair] = True
    chosen = _largest_disjoint(has_pair)
    return chosen, int(has_pair[chosen].sum() - has_pair[chosen].any(axis=0).sum())


def _largest_disjoint(has_pair: NDArray[np.bool_]) -> list[int]:
    sizes = has_pair.sum(axis=1)
    common = has_pair.astype(np.float32) @ has_pair.T.astype(np.float32)
    clashes = common > MOST_SHARED * np.minimum(sizes[:, None], sizes)
    np.fill_diagonal(clashes, val=False)
    count = len(has_pair)
    chosen: list[int] = []
    if count > _MOST_TRIED:  # then one by one, those that share with the fewest first
        for place in np.lexsort((-sizes, clashes.sum(axis=1))).tolist():
            if not clashes[place, chosen].any():
                chosen.append(place)
        return sorted(chosen)
    for size in range(count, 0, -1):
        subsets = [[*subset] for subset in combinations(range(count), size)]
        fitting = [subset for subset in subsets if not clashes[np.ix_(subset, subset)].any()]
        if fitting:
            return max(fitting, key=lambda subset: sizes[subset].sum())
    return chosen


def predict_difference(
    differences: Floats, variances: Floats, noise: float = 0.0, freedom: float = np.inf
) -> tuple[float, tuple[float, float], tuple[float, float]]:
    """Return the mean over datasets with its 95% interval, and the 95% interval of the true
    difference on another dataset.

    DIFFERENCES and VARIANCES, over rows, are those of each dataset; NOISE is a variance that is
    common to all, as of seeds, with its degrees of FREEDOM.
    """
    from scipy.special import chdtri

    tail = (1 - LEVEL) / 2
    noise = float(normal_noise(1 - LEVEL, noise, freedom))
    quantiles = chdtri(len(differences) - 1, (np.arange(_QUANTILES) + 0.5) / _QUANTILES)
    variance_between = _variances_between(differences, variances, quantiles)
    means, variance_of_mean = _weighted(differences, variances, variance_between)
    deviations = np.sqrt(
        variance_of_mean + noise + np.stack([np.zeros_like(variance_between), variance_between])
    )
    bounds = _quantiles(means, deviations, np.array([tail, 1 - tail])).tolist()
    return float(means.mean()), (bounds[0][0], bounds[0][1]), (bounds[1][0], bounds[1][1])


def _weighted(
    differences: Floats, variances: Floats, variance_between: Floats
) -> tuple[Floats, Floats]:
    """Return the weighted mean, and its variance, at each VARIANCE BETWEEN datasets."""
    weights = _weights(variances, variance_between)
    variance_of_mean: Floats = 1 / weights.sum(axis=1)
    return (weights @ differences) * variance_of_mean, variance_of_mean


def _weights(variances: Floats, variance_between: Floats) -> Floats:
    """Return the weight of each dataset at each VARIANCE BETWEEN them; (variances between,
    datasets).
    """
    return 1 / np.maximum(variances + variance_between[:, None], _SMALLEST)


def _variances_between(differences: Floats, variances: Floats, quantiles: Floats) -> Floats:
    """Return the variance between datasets at which Q is each of QUANTILES; 0 where it is below it
    at 0 already.
    """

    def excess(variance_between: Floats) -> tuple[Floats, Floats]:
        """1/Q - 1/quantile, which rises, and is straight where the variances inside datasets are
        equal; and its slope.
        """
        weights, (means, _) = (
            _weights(variances, variance_between),
            _weighted(differences, variances, variance_between),
        )
        distances = differences - means[:, None]
        q = np.maximum((weights * distances**2).sum(axis=1), _SMALLEST)
        return 1 / q - 1 / quantiles, ((weights * distances) ** 2).sum(axis=1) / q**2

    high = ((differences - differences.mean()) ** 2).sum() / quantiles  # there Q is smaller
    return _crossing(np.zeros_like(high), high, np.zeros_like(high), excess)


def _quantiles(means: Floats, deviations: Floats, levels: Floats) -> Floats:
    """Return the quantiles at LEVELS of mixtures of normal distributions of equal parts;
    deviations: (mixtures, parts).
    """
    from scipy.special import ndtr, ndtri

    scales = np.maximum(deviations, _SMALLEST)[:, None]

    def excess(points: Floats) -> tuple[Floats, Floats]:
        standard = (points[:, :, None] - means) / scales
        density = np.exp(-(np.minimum(np.abs(standard), _FARTHEST) ** 2) / 2) / (
            np.sqrt(2 * np.pi) * scales
        )
        return ndtr(standard).mean(axis=2) - levels, density.mean(axis=2)

    reach = 40 * deviations.max(axis=1)[:, None] + np.ptp(means)
    low, high = (
        means.min() - reach + 0 * levels,
        means.max() + reach + 0 * levels,
    )  # (mixtures, levels)
    start = means.mean() + np.sqrt(means.var() + (deviations**2).mean(axis=1))[:, None] * ndtri(
        levels
    )
    return _crossing(low, high, start, excess)


def _crossing(
    low: Floats, high: Floats, start: Floats, excess: Callable[[Floats], tuple[Floats, Floats]]
) -> Floats:
    """Return where a rising EXCESS, given with its slope, crosses 0 from LOW to HIGH; LOW where it
    is above 0 there already.

    Newton's steps, and halves where these lead out of what is left.
    """
    point = np.clip(start, low, high)
    for _ in range(_STEPS):
        value, slope = excess(point)
        low = np.where(value < 0, point, low)
        high = np.where(value < 0, high, point)
        step = np.divide(value, slope, out=np.full_like(point, np.inf), where=slope > 0)
        next_point = point - step
        next_point = np.where(
            (next_point >= low) & (next_point <= high), next_point, (low + high) / 2
        )
        is_near = np.abs(next_point - point) <= _PRECISE * np.maximum(
            np.abs(next_point), np.abs(point)
        )
        point = next_point
        if is_near.all():
            break
    return point
