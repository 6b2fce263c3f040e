"""Pairs that repeat and vary as those of SNLI and MultiNLI do, of sentences that are only
lengths.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl

from embedlab.encoders.tokens import TokenRows

WORDS = 30_522


@dataclass(frozen=True, kw_only=True)
class Corpus:
    """What was measured of one, its sentences in BERT's word pieces without [CLS] and [SEP]."""

    premises_by_pairs: Mapping[
        int, int
    ]  # how many premises have so many pairs: of dev, as the training part at hand has no whole groups
    repeated: int  # so many hypotheses of train come more than once …
    repeated_share: float  # … together in this share of its pairs
    premise_length: tuple[
        float, float
    ]  # of train: geometric mean and the logarithm's standard deviation
    hypothesis_length: tuple[float, float]


CORPORA = {
    # 500 premises of dev, 31,979 pairs of train.
    "snli": Corpus(
        premises_by_pairs={1: 1, 2: 17, 3: 479, 5: 1, 6: 2},
        repeated=675,
        repeated_share=0.057,
        premise_length=(13.5, 0.40),
        hypothesis_length=(8.05, 0.37),
    ),
    # 3,334 premises of dev matched, 12,808 pairs of train.
    "multinli": Corpus(
        premises_by_pairs={1: 8, 2: 174, 3: 3_151, 6: 1},
        repeated=1,
        repeated_share=0.0002,
        premise_length=(19.0, 0.71),
        hypothesis_length=(10.5, 0.45),
    ),
}


def nli_pairs(counts: Mapping[str, int]) -> pl.DataFrame:
    """So many pairs of each corpus with their labels, premise after premise; sentences are
    names.
    """
    return pl.concat([_pairs(name, count) for name, count in counts.items()])


def _pairs(name: str, count: int) -> pl.DataFrame:
    corpus, rng, pairs = CORPORA[name], np.random.default_rng(0), np.arange(count)
    weights = np.array(list(corpus.premises_by_pairs.values()))
    sizes = rng.choice(list(corpus.premises_by_pairs), size=count, p=weights / weights.sum())
    premises = np.repeat(pairs, sizes)[:count]
    is_repeated = rng.random(count) < corpus.repeated_share
    hypotheses = np.where(
        is_repeated, rng.integers(corpus.repeated, size=count), corpus.repeated + pairs
    )
    return pl.DataFrame(
        {
            "premise": [f"{name} premise {number}" for number in premises],
            "hypothesis": [f"{name} hypothesis {number}" for number in hypotheses],
            "label": np.array(["entailment", "neutral", "contradiction"])[pairs % 3],
        }
    )


def random_tokens(sentences: pl.Series) -> TokenRows:
    """Random tokens for the names of premises and hypotheses, as many as their corpus' sentences
    have.
    """
    rng, logarithms = np.random.default_rng(0), np.zeros(len(sentences))
    for name, corpus in CORPORA.items():
        for column, (typical, spread) in (
            ("premise", corpus.premise_length),
            ("hypothesis", corpus.hypothesis_length),
        ):
            places = np.flatnonzero(sentences.str.starts_with(f"{name} {column} "))
            logarithms[places] = rng.normal(np.log(typical), spread, size=len(places))
    lengths = np.clip(2 + np.rint(np.exp(logarithms)), 4, 128).astype(np.int64)
    offsets = np.append(0, np.cumsum(lengths))
    flat = rng.integers(1_000, WORDS, size=int(offsets[-1]), dtype=np.int32)
    return TokenRows(flat=flat, offsets=offsets, truncated=np.zeros(len(lengths), np.bool_))
