"""The task `sts`: how well similarities rank sentence pairs by human scores."""

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import polars as pl

from embedlab.analysis.correlations import correlate, spearman
from embedlab.analysis.evidence import STS_AVERAGES
from embedlab.analysis.slices import Slice, slices
from embedlab.choices import Aggregate, By, Correlation
from embedlab.core.errors import MissingError
from embedlab.data.dataset import Part
from embedlab.data.pair_file import is_pair_file
from embedlab.data.probing import set_of
from embedlab.data.source import Source, dataset, dataset_names
from embedlab.encoders.encoder import PairScorer
from embedlab.runs.evaluations import StoredScore
from embedlab.tasks.task import Task, Texts

if TYPE_CHECKING:
    from embedlab.objectives.objective import Trained

STS_DATASETS = ("sts12", "sts13", "sts14", "sts15", "sts16", "sts-benchmark", "sick-r")
FIFTHS_OF = "sts-benchmark"  # tsukagoshi divides all its pairs (train, dev and test) into fifths by Dice
OTHER_SPLITS = ("train", "dev")
AGGREGATES: tuple[Aggregate, ...] = ("all", "mean", "wmean")
METHODS: tuple[Correlation, ...] = ("spearman", "pearson")
BYS: tuple[By, ...] = ("dataset", "source", "dice")


def open_parts(source: Source, datasets: Sequence[str] = STS_DATASETS, *, fifths: bool = False) -> tuple[list[Part], list[MissingError]]:
    """Open the test pairs of DATASETS, and with FIFTHS the other splits of STS-B; missing ones are returned, not raised.

    Raises the first error when nothing could be opened.
    """
    wanted: list[tuple[str, str | None]] = [(name, None) for name in datasets]
    if fifths and FIFTHS_OF in datasets:
        wanted += [(FIFTHS_OF, split) for split in OTHER_SPLITS]
    parts, missing = [], []
    for name, split in wanted:
        try:
            parts.append(source.open(name, split))
        except MissingError as error:
            missing.append(error)
    if not parts:
        raise missing[0]
    return parts, missing


def texts(source: Source, names: Sequence[str] = STS_DATASETS) -> Texts:
    """Return the sentences of the datasets in NAMES; the whole suite includes the other splits of STS-B for the fifths."""
    parts, missing = open_parts(source, names, fifths=names == STS_DATASETS)
    columns = tuple(part.frame[side].to_list() for part in parts for side in ("sentence1", "sentence2"))
    return Texts(columns=columns, states=tuple(part.state for part in parts), missing=tuple(missing))


def suite_slices(table: pl.DataFrame, by: By) -> list[Slice]:
    """Return the slices that the task reports; the other splits of STS-B are used for its fifths only."""
    others = [f"{FIFTHS_OF}:{split}" for split in OTHER_SPLITS]  # as the pair table names them
    return slices(table if by == "dice" else table.filter(~pl.col("dataset").is_in(others)), by)


def sts_dev_score(source: Source, dataset: str) -> Callable[[PairScorer], float]:
    """Return a function that computes the dev score, Spearman x100 on the dev split of DATASET, which is opened once."""
    frame = source.open(dataset, "dev").frame
    first, second, gold = (frame[name].to_list() for name in ("sentence1", "sentence2", "gold"))
    return lambda scorer: 100 * spearman(gold, scorer.score(first, second))


def scores_of(table: pl.DataFrame, member: str) -> tuple[StoredScore, ...]:
    """Return every number of one member's column: by dataset in three aggregations, by source and by Dice fifth, Spearman and Pearson."""
    return (*_dataset_scores(table, member), *_slice_scores(table, member))


def _dataset_scores(table: pl.DataFrame, member: str) -> Iterator[StoredScore]:
    parts = suite_slices(table, "dataset")
    for aggregate in AGGREGATES:
        for method in METHODS:
            values = {part.key: correlate(part.pairs, member, aggregate, method) for part in parts}
            for part in parts:
                yield _score("dataset", part.key, method, aggregate, values[part.key], part.pairs.height)
            for name, keys in STS_AVERAGES.items():
                if values.keys() >= set(keys):
                    items = sum(part.pairs.height for part in parts if part.key in keys)
                    yield _score("average", name, method, aggregate, sum(values[key] for key in keys) / len(keys), items)


def _slice_scores(table: pl.DataFrame, member: str) -> Iterator[StoredScore]:
    for by in ("source", "dice"):
        for part in suite_slices(table, by):
            for method in METHODS:
                value = correlate(part.pairs, member, "all", method)
                yield _score(by, part.key, method, "all", value, part.pairs.height, title=part.title if by == "dice" else None)


def _score(by: str, key: str, method: Correlation, aggregate: Aggregate, value: float, items: int, title: str | None = None) -> StoredScore:
    return StoredScore(by=by, slice=key, metric=method, setting=aggregate, value=value, items=items, title=title)


def _has_dataset(name: str) -> bool:
    """Return whether a name is a dataset of scored pairs with a test split, or one split alone, or the user's own pairs or the hub's."""
    if name in dataset_names("sts"):
        splits = dataset(name).splits
        return "test" in splits or len(splits) == 1
    return is_pair_file(name) and set_of(name) is None


def _trained_dev_score(source: Source, name: str) -> "Callable[[Trained], float]":
    score = sts_dev_score(source, name)
    return lambda trained: score(trained.encoder)


TASK = Task(
    name="sts",
    summary="Spearman and Pearson of similarity with human scores: STS12–16, STS-B, SICK-R",
    evaluate=None,
    texts=lambda source, chosen: texts(source, chosen.names or STS_DATASETS),
    outcomes="pairs",
    has_dataset=_has_dataset,
    datasets=STS_DATASETS,
    dev_score=_trained_dev_score,
)
