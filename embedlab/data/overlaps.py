"""What a training set shares with an evaluation set, so that no report hides it."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from embedlab.analysis.overlap import normalise
from embedlab.data.dataset import Part


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """How much of an evaluation set occurs in a training set; sentences count as equal when their case-folded words are."""

    sentences: int  # distinct sentences of the evaluation set
    shared_sentences: int  # those that occur in training
    pairs: int  # rows of the evaluation set; 0 where it has single sentences
    shared_pairs: int  # those whose two sentences stand in one training row, in either order


def overlap(training: Part, evaluation: Part) -> Overlap:
    """What the evaluation set shares with the training set, by whole sentences and by pairs."""
    known, tested = _keys(training.frame), _keys(evaluation.frame)
    distinct = _distinct(tested)
    return Overlap(
        sentences=len(distinct),
        shared_sentences=int(distinct.is_in(_distinct(known).implode()).sum()),
        pairs=len(tested) if tested.width == 2 else 0,
        shared_pairs=_shared_pairs(known, tested),
    )


def sentence_columns(frame: pl.DataFrame) -> list[str]:
    """The columns that hold sentences, in order."""
    names = ("premise", "hypothesis", "sentence1", "sentence2", "sentence", "definition", "anchor", "positive", "negative")
    return [name for name in names if name in frame.columns]


def _keys(frame: pl.DataFrame) -> pl.DataFrame:
    """The sentence columns as comparable numbers; each distinct sentence is normalised once."""
    columns = sentence_columns(frame)
    distinct = pl.concat([frame[name].rename("text") for name in columns]).unique()
    key = pl.Series("key", [normalise(text) for text in distinct.to_list()], dtype=pl.String).hash(seed=0)
    return frame.select(pl.col(name).replace_strict(distinct, key, return_dtype=pl.UInt64) for name in columns)


def _distinct(keys: pl.DataFrame) -> pl.Series:
    return pl.concat([keys[name].rename("key") for name in keys.columns]).unique()


def _shared_pairs(known: pl.DataFrame, tested: pl.DataFrame) -> int:
    if tested.width != 2 or known.width < 2:
        return 0
    # Of a triplet, anchor and positive are a pair, and so are anchor and negative.
    pairs = pl.concat([_unordered(known.select(known.columns[0], other)) for other in known.columns[1:]]).unique()
    return len(_unordered(tested).join(pairs, on=["low", "high"], how="semi"))


def _unordered(keys: pl.DataFrame) -> pl.DataFrame:
    return keys.select(low=pl.min_horizontal(pl.all()), high=pl.max_horizontal(pl.all()))


def overlaps(training: Sequence[Part], evaluations: Sequence[Part]) -> pl.DataFrame:
    """Every training set against every evaluation set.

    Columns: training, evaluation (each "name:split"), sentences, shared_sentences, pairs, shared_pairs.
    """
    rows = [
        {"training": _label(known), "evaluation": _label(tested), **vars(overlap(known, tested))}
        for known in training
        for tested in evaluations
    ]
    return pl.DataFrame(rows)


def _label(part: Part) -> str:
    return f"{part.state.name}:{part.state.split}"
