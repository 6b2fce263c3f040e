"""Scores of models simulated on the real sentence graphs, with true correlations that are known."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import pi, sin
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.dependence import SharedSentences

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from pair_frames import near_pairs, sentence_numbers

from embedlab.analysis.evidence import SliceRows
from embedlab.analysis.near_duplicates import NearDuplicates
from embedlab.analysis.overlap import WordSets
from embedlab.analysis.sign_flips import TopicSums
from embedlab.analysis.topics import largest_joined
from embedlab.analysis.uncertainty import SeedSpread, Uncertainty, seed_noise

Floats = NDArray[np.float64]

DATASETS = ("sts12", "sts13", "sts14", "sts15", "sts16", "sts-benchmark", "sick-r")
BEST = 0.75  # the true Spearman of the better model
SHARED_ERROR = 0.5  # correlation of two models' errors on a pair
LEAST_WEIGHT = 0.1  # of a word that all sentences have
STEADY = 0.8  # share of an error's variance that all seeds of a recipe have in common


@dataclass(frozen=True, kw_only=True, eq=False)
class Graph:
    """Which pairs of some datasets share sentences."""

    names: tuple[str, ...]
    dataset: NDArray[np.intp]  # (pairs,) number of each pair's dataset
    texts: NDArray[np.uint64]  # (pairs, 2)
    first: NDArray[np.intp]  # (pairs,) number of the first sentence
    second: NDArray[np.intp]
    sentences: int
    near: NearDuplicates
    source: NDArray[np.intp]  # (pairs,) number of each pair's source
    # (sentences, words) sparse, each row of length 1: the weights of each sentence's words
    words: Any = None

    @classmethod
    def read(cls, data: Path, names: Sequence[str]) -> "Graph":
        """The graph of the test pairs of NAMES in the folder DATA; a sentence of several datasets
        is one.
        """
        from pair_frames import pair_table

        from embedlab.data.source import Source, open_parts

        parts, _ = open_parts(Source(folder=data, offline=True), tuple(names))
        table = pair_table(parts)
        numbered = table.with_columns(sentence_numbers(table))
        texts = np.stack(
            [table[side].hash().to_numpy() for side in ("sentence1", "sentence2")], axis=1
        )
        distinct, places_of_text, numbers = np.unique(texts, return_index=True, return_inverse=True)
        sentences = pl.Series(
            table.select("sentence1", "sentence2").to_numpy().ravel()[places_of_text]
        )
        places = table.select(
            pl.col("dataset").replace_strict(
                {name: place for place, name in enumerate(names)}, return_dtype=pl.Int64
            )
        )
        first, second = numbers.reshape(-1, 2).T
        return cls(
            names=tuple(names),
            dataset=places.to_series().to_numpy().astype(np.intp),
            texts=texts,
            first=first,
            second=second,
            sentences=len(distinct),
            near=NearDuplicates.joined(
                [near_pairs(own) for _, own in numbered.group_by("dataset", maintain_order=True)]
            ),
            source=table.select(pl.struct("dataset", "source").rank("dense"))
            .to_series()
            .to_numpy()
            .astype(np.intp)
            - 1,
            words=_words(sentences),
        )

    @cached_property
    def averages(self) -> dict[tuple[str, ...], SliceRows]:
        """Which pairs are of one topic in averages over several datasets; filled as they are
        needed.
        """
        return {}

    @cached_property
    def datasets(self) -> list[tuple[str, NDArray[np.intp], SliceRows]]:
        """Of each dataset its name, its pairs, and rows without contributions that know which of
        them are of one topic.
        """
        found = []
        for number, name in enumerate(self.names):
            own = np.flatnonzero(self.dataset == number)
            rows = SliceRows(
                contributions=np.zeros((0, len(own))),
                texts=self.texts[own],
                groups=np.zeros(len(own), np.intp),
                row_shares=np.full(len(own), 1 / len(own)),
                largest_joined=largest_joined(len(own)),
                near=self.near,
            )
            assert rows.row_topics.size == len(own)  # found once
            found.append((name, own, rows))
        return found

    @cached_property
    def components(self) -> NDArray[np.intp]:
        """The number of each pair's component; (pairs,)."""
        return SharedSentences.of(self.first, self.second).components

    def part(self, rows: NDArray[np.intp]) -> "Graph":
        """Some of its pairs."""
        return Graph(
            names=self.names,
            dataset=self.dataset[rows],
            texts=self.texts[rows],
            first=self.first[rows],
            second=self.second[rows],
            sentences=self.sentences,
            near=self.near,
            source=self.source[rows],
            words=self.words,
        )


def _words(sentences: pl.Series) -> Any:  # a sparse matrix
    """The words of SENTENCES, weighted as where families are found."""
    from scipy.sparse import csr_matrix

    words = WordSets.of(sentences)
    frequency = np.bincount(words.numbers, minlength=words.distinct)
    weights = (np.log(len(sentences) / frequency) + LEAST_WEIGHT)[words.numbers]
    row = np.repeat(np.arange(len(sentences)), words.sizes)
    weights /= np.sqrt(np.bincount(row, weights=weights**2, minlength=len(sentences)))[row]
    return csr_matrix(
        (weights, words.numbers, words.starts), shape=(len(sentences), words.distinct)
    )


@dataclass(frozen=True, kw_only=True)
class World:
    """What is true in a simulation."""

    share: float = 0.0  # of an error's variance that belongs to sentences
    gold_share: float = 0.0  # of the gold score's variance
    differences: tuple[float, ...] = (
        0.0,
        0.0,
    )  # true Spearman of each model, subtracted from the best
    seeds: tuple[int, ...] = (1, 1)  # of each model
    seed_sd: tuple[float, ...] = (0.0, 0.0)  # of a model's true Spearman over seeds
    has_hubs: bool = False  # whether a sentence's error grows with the number of its pairs
    # of an error's variance that belongs to components of connected pairs
    component_share: float = 0.0
    source_share: float = 0.0  # to sources
    word_share: float = 0.0  # of the variance of a sentence's effect that belongs to its words
    # whether errors have the tails of Student's t with three degrees of freedom
    is_heavy: bool = False

    def draw(self, graph: Graph, rng: np.random.Generator) -> tuple[Floats, list[Floats]]:
        """Gold scores, (pairs,), and each model's scores, (seeds, pairs)."""
        gold = self._field(graph, self.gold_share, rng, has_hubs=False)
        common = self._field(graph, self.share, rng)
        models = []
        for difference, seeds, seed_sd in zip(
            self.differences, self.seeds, self.seed_sd, strict=True
        ):
            own = np.sqrt(SHARED_ERROR) * common + np.sqrt(1 - SHARED_ERROR) * self._field(
                graph, self.share, rng
            )
            rows = []
            for _ in range(seeds):
                steady = STEADY if seeds > 1 else 1.0
                error = np.sqrt(steady) * own
                if steady < 1:
                    error = error + np.sqrt(1 - steady) * self._field(graph, self.share, rng)
                rho = pearson_of(BEST - difference + seed_sd * rng.normal())
                rows.append(rho * gold + np.sqrt(1 - rho**2) * error)
            models.append(np.array(rows))
        return gold, models

    def _field(
        self, graph: Graph, share: float, rng: np.random.Generator, *, has_hubs: bool | None = None
    ) -> Floats:
        """Normal values of variance 1, a SHARE of it from the two sentences of a pair; (pairs,)."""
        is_error = has_hubs is None
        draw = (
            (lambda size: rng.standard_t(3, size) / np.sqrt(3))
            if self.is_heavy and is_error
            else rng.standard_normal
        )
        others = (self.component_share + self.source_share) if is_error else 0.0
        values: Floats = draw(len(graph.first)) * np.sqrt(1 - share - others)
        if self.component_share and is_error:
            values += (
                np.sqrt(self.component_share) * draw(graph.components.max() + 1)[graph.components]
            )
        if self.source_share and is_error:
            values += np.sqrt(self.source_share) * draw(graph.source.max() + 1)[graph.source]
        if share:
            effects = draw(graph.sentences)
            if self.word_share and is_error:
                of_words = graph.words @ draw(graph.words.shape[1])
                effects = (
                    np.sqrt(1 - self.word_share) * effects + np.sqrt(self.word_share) * of_words
                )
            if self.has_hubs if has_hubs is None else has_hubs:
                degree = np.bincount(
                    np.concatenate([graph.first, graph.second]), minlength=graph.sentences
                )
                effects *= np.sqrt(degree)
            values += np.sqrt(share / 2) * (effects[graph.first] + effects[graph.second])
        return values


def pearson_of(spearman: float) -> float:
    """Pearson's correlation of normal variables with this Spearman correlation."""
    return 2 * sin(pi * min(max(spearman, -0.999), 0.999) / 6)


def nearly_normal(
    variance: float, spreads: Sequence[SeedSpread] = (), topics: int = 10_000
) -> Uncertainty:
    """An estimate over so many TOPICS that its error is nearly normal with this VARIANCE, and what
    the seeds of SPREADS add.
    """
    sums = np.sqrt(variance * (1 - 1 / topics) / topics) * np.resize([1.0, -1.0], (1, topics))
    of_topics = TopicSums(sums=sums, shares=np.full(topics, 1 / topics))
    seeds, freedom = seed_noise(spreads)
    return Uncertainty(topics=of_topics, independent=variance, seeds=seeds, seeds_freedom=freedom)
