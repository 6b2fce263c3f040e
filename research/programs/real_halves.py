"""Two halves of real scores: a difference of two models on one half and on the other should agree
within their intervals.

Halves are split by components (chains of shared sentences), which checks the variance that is
claimed, and by topics (k-means of sentence vectors within each source), which checks whether pairs
of one topic depend beyond what intervals join.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from simulated_comparisons import normal_reach
from simulated_scores import DATASETS, Floats

from embedlab.analysis import topics as joining

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from pair_frames import evidence_of_pairs, near_pairs

from embedlab.analysis.evidence import Evidence, ModelColumns, average_evidence
from embedlab.analysis.near_duplicates import LEAST_COSINE, Links, NearDuplicates, find_near_links
from embedlab.analysis.weighing import Weighed

PAIRS_OF_A_TOPIC = 20
METHODS = ("normal", "flips")
Setting = tuple[
    float, float, float
]  # of joined topics: the least cosine, the most rows, and the largest share that is joined
USUAL: Setting = (LEAST_COSINE, joining.MOST_ROWS, joining.LARGEST_SHARE)


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How often halves agree, a row a method of METHODS; (methods, comparisons)."""

    shares: Floats
    # (comparisons,) of the whole set: the length of the interval by flips over that of a normal one
    widths: Floats

    def cell(self, method: int) -> str:
        """The mean and the worst comparison, in percent."""
        return f"{100 * self.shares[method].mean():.1f} / {100 * self.shares[method].min():.0f}"


@dataclass(frozen=True, kw_only=True, eq=False)
class RealSet:
    """The pairs of one dataset, or of several that are averaged, with a column of scores a
    model.
    """

    key: str
    pairs: pl.DataFrame
    names: Sequence[str]
    near: dict[str, NearDuplicates]
    setting: Setting

    @classmethod
    def of(cls, key: str, pairs: pl.DataFrame, names: Sequence[str], setting: Setting) -> "RealSet":
        """Find which sentences of each dataset are nearly the same."""
        near = {
            name: near_pairs(own, partial(links_above, setting[0]))
            for (name,), own in pairs.group_by("dataset", maintain_order=True)
        }
        return cls(key=key, pairs=pairs, names=names, near=near, setting=setting)

    def evidence(self, pairs: pl.DataFrame) -> Evidence:
        """The evidence of some of its pairs."""
        parts = [
            evidence_of_pairs(name, own, self.names, near=self.near[name])
            for (name,), own in pairs.group_by("dataset", maintain_order=True)
        ]
        return parts[0] if len(parts) == 1 else average_evidence(self.key, parts)

    def agreement(self, groups: NDArray[np.intp], runs: int) -> Agreement:
        """How often random halves of GROUPS, (pairs,) numbers, agree."""
        rng, agreed = np.random.default_rng(0), []
        for _ in range(runs):
            side = rng.integers(0, 2, groups.max() + 1)[groups]
            (first, near_first), (second, near_second) = (
                differences(self.evidence(self.pairs.filter(side == number)), self.names)
                for number in (0, 1)
            )
            apart = first - second
            # The first's lower and the second's upper end face each other where the first is
            # larger.
            lower, upper = (
                np.hypot(near_first[:, 0], near_second[:, 1]),
                np.hypot(near_first[:, 1], near_second[:, 0]),
            )
            facing = np.where(apart > 0, lower, upper)
            agreed.append(np.abs(apart) < facing)
        _, whole = differences(self.evidence(self.pairs), self.names)
        return Agreement(
            shares=np.mean(agreed, axis=0), widths=whole[1].sum(axis=0) / whole[0].sum(axis=0)
        )

    def components(self) -> NDArray[np.intp]:
        """The number of each pair's component."""
        rows = self.evidence(self.pairs).rows
        assert rows is not None
        return rows.shared.components


def links_above(cosine: float, sentences: pl.Series) -> Links:
    """Return the links of SENTENCES with at least this COSINE."""
    found = find_near_links(sentences)
    near = found.cosine >= np.float32(cosine)
    return Links(first=found.first[near], second=found.second[near], cosine=found.cosine[near])


def differences(one: Evidence, names: Sequence[str]) -> tuple[Floats, Floats]:
    """The differences of each two models, (comparisons,), and how far their intervals reach;
    (methods, 2, comparisons).
    """
    weighed = Weighed(one, [ModelColumns(name=name, members=(name,)) for name in names])
    found = [weighed.means[first] - weighed.means[second] for first, second in weighed.pairs]
    reaches = [
        [(normal_reach(own),) * 2, own.reach()] for own in weighed.pair_uncertainties.values()
    ]
    return np.array(found), np.array(reaches).transpose(1, 2, 0)


def topics(pairs: pl.DataFrame, vectors: NDArray[np.float32], seed: int = 0) -> NDArray[np.intp]:
    """Topics within each source of each dataset: k-means, from SEED on, of the means of both
    sentences' VECTORS, (pairs, dim).
    """
    from sklearn.cluster import KMeans

    sources = pairs.select(pl.struct("dataset", "source").rank("dense")).to_series().to_numpy()
    found, start = np.zeros(pairs.height, np.intp), 0
    for source in np.unique(sources):
        own = np.flatnonzero(sources == source)
        count = max(2, len(own) // PAIRS_OF_A_TOPIC)
        found[own] = start + KMeans(n_clusters=count, n_init=1, random_state=seed).fit_predict(
            vectors[own]
        )
        start += count
    return found


def vectors_of(model: str, pairs: pl.DataFrame) -> NDArray[np.float32]:
    """The mean of the unit vectors of each pair's sentences by an encoder; (pairs, dim)."""
    import embedlab

    sentences = [*pairs["sentence1"].to_list(), *pairs["sentence2"].to_list()]
    vectors = np.asarray(embedlab.encode(model, sentences), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors[: pairs.height] + vectors[pairs.height :]) / 2


def real_sets(table: pl.DataFrame, names: Sequence[str], setting: Setting) -> list[RealSet]:
    """Each dataset, and their average."""
    sets = [
        RealSet.of(name, own, names, setting)
        for (name,), own in table.group_by("dataset", maintain_order=True)
    ]
    return (
        [*sets, RealSet.of("average of seven", table, names, setting)]
        if len(sets) == len(DATASETS)
        else sets
    )


def agreement_of(job: tuple[RealSet, NDArray[np.intp]], runs: int) -> Agreement:
    """How often halves of the groups of a set agree; for a process of its own."""
    one, groups = job
    _, joining.MOST_ROWS, joining.LARGEST_SHARE = one.setting
    found = one.agreement(groups, runs)
    print(
        f"{one.key}, {len(np.unique(groups))} groups: {found.cell(0)}, {found.cell(1)}",
        file=sys.stderr,
        flush=True,
    )
    return found
