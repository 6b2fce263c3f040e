"""Made evidence: models whose scores follow gold scores, or whose classes follow labels."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from embedlab.analysis.evidence import Evidence, ModelColumns, evidence_of
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.sign_flips import TopicSums
from embedlab.analysis.uncertainty import Uncertainty


def single(names: Sequence[str]) -> list[ModelColumns]:
    """Models of one member each, that has their name."""
    return [ModelColumns(name=name, members=(name,)) for name in names]


def recipe(name: str, seeds: int) -> ModelColumns:
    """A recipe of so many seeds."""
    numbers = tuple(range(1, seeds + 1))
    members = tuple(f"{name}@{seed}" for seed in numbers)
    return ModelColumns(name=name, members=members, seeds=numbers)


def scored(
    rows: int,
    noises: Sequence[float] | Mapping[int, float],
    *,
    measure: str = "spearman",
    key: str = "s",
    seed: int = 0,
    **rows_as: Any,
) -> Evidence:
    """Evidence on so many ROWS of members with these NOISES, or of those at some places; a class is
    wrong as often as its noise says.
    """
    rng = np.random.default_rng(seed)
    noise_of = noises if isinstance(noises, Mapping) else dict(enumerate(noises))
    if MEASURES[measure].is_of_classes:
        gold = rng.integers(0, 2, rows)
        predicted = {
            place: np.where(rng.random(rows) < noise, 1 - gold, gold)
            for place, noise in noise_of.items()
        }
    else:
        gold = rng.normal(size=rows)
        predicted = {
            place: gold + rng.normal(scale=noise, size=rows) for place, noise in noise_of.items()
        }
    members = max(noise_of, default=0) + 1
    own = MEASURES[measure]
    return evidence_of("sts", key, gold, predicted, members, measure=own, **rows_as)


RUNS = tuple(frozenset({f"run@{seed}"}) for seed in (1, 2, 3))  # behind three members


def texts_of(first: np.ndarray) -> np.ndarray:
    """The numbers of the texts of rows, of which the FIRST may be shared and the second is not."""
    return np.stack([first, 1_000 + np.arange(len(first))], axis=1).astype(np.uint64)


def drawn_topics(topics: int, estimates: int = 1, seed: int = 0) -> TopicSums:
    """Sums of topics of different shares."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(topics, 4.0))
    sums = rng.standard_t(4, (estimates, topics)) * shares
    return TopicSums(sums=sums - shares * sums.sum(axis=1, keepdims=True), shares=shares)


def nearly_normal(variance: float, **fields: float) -> Uncertainty:
    """An estimate over so many topics that its error is nearly normal, with this VARIANCE."""
    topics = 100_000
    sums = np.sqrt(variance * (1 - 1 / topics) / topics) * np.resize([1.0, -1.0], (1, topics))
    found = TopicSums(sums=sums, shares=np.full(topics, 1 / topics))
    return Uncertainty(topics=found, independent=variance, **fields)  # type: ignore[arg-type]
