"""The frame of outcomes: every item that a task scores, of any kind, with what each member model
got on it.

A pair is an item whose prediction is a similarity; a classified sentence is one whose prediction is
a class. What is the same for all items of a dataset is in a block and not repeated a row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.measures import MEASURES
from embedlab.core.errors import UsageError
from embedlab.runs.outcomes import CONTRADICTED, SENTENCES, TEXT_IDS

if TYPE_CHECKING:
    from embedlab.analysis.near_duplicates import NearDuplicates
    from embedlab.choices import Correlation

# which columns of a file are which: nothing that decides what a number is of
_COLUMNS = re.compile(r"\?((s1|s2|score|label|labels|scale|source|anchor|positive)=[^&]*(&|$))+$")
DATASET = "dataset"  # the property that every item has: a slice is the whole dataset

ALL_SPLITS = " (all splits)"  # after the name of a dataset whose train, dev and test pairs are one
KEYS = ("text_key0", "text_key1")  # as `with_text_keys` calls them
ROWS = {
    "block": pl.UInt16(),  # the place of its block
    "item": pl.UInt32(),  # the row in its dataset's split
    "gold": pl.Float64(),  # a score, the index of a class, or the number of a query
    "first_text": pl.UInt64(),  # which sentence it has; null where the item's text is unknown
    "second_text": pl.UInt64(),  # the same as the first of a single sentence
    "source": pl.String(),  # null: none named
}


@dataclass(frozen=True, kw_only=True)
class Block:
    """What is the same for all items of one dataset that a task scores."""

    task: str
    suite: str  # whose averages it enters: its task, or a set of the task's datasets
    dataset: str  # with its split where that is not the scored one
    measures: tuple[str, ...]  # the first of them enters averages
    classes: tuple[str, ...] = ()  # in the order of their indices; empty where items have scores
    # whether the scores of its sources are put together in one of several ways, which numbers then
    # name
    is_aggregated: bool = False
    left_out: int = 0  # items that some member cannot read, so that they are here for none
    near: Callable[[], NearDuplicates] | None = field(
        default=None, compare=False
    )  # similar sentences; None where words are not at hand

    @property
    def has_scores(self) -> bool:
        """Whether gold and predictions are scores, and not classes or queries."""
        return not self.classes and not MEASURES[self.measures[0]].is_of_queries


@dataclass(frozen=True, kw_only=True, eq=False)
class Outcomes:
    """Items of one or more tasks, and the predictions of member models."""

    rows: pl.DataFrame  # ROWS
    predictions: (
        pl.DataFrame
    )  # a Float64 column a member, in the order of the rows; null where it has none
    blocks: tuple[Block, ...]
    # SENTENCES of each row, of contrasts CONTRADICTED too; null where unknown, and what it lacks
    sentences: pl.DataFrame
    # the models that were trained on text of the row, null for none
    trained: Callable[[Outcomes], pl.Series] | None = None
    averages: Mapping[str, Mapping[str, Sequence[str]]] = field(
        default_factory=dict
    )  # the datasets of each, by suite and title
    computed: dict[str, pl.Series] = field(
        default_factory=dict, init=False, repr=False
    )  # the values of properties that were used, by name
    mixed_metrics: Mapping[str, str] = field(
        default_factory=dict
    )  # by suite, of averages over datasets with different measures

    @cached_property
    def text_keys(self) -> pl.DataFrame:
        """KEYS of each row, and one of what a contrast's row contradicts: the hashes of the words
        of its sentences, by which they are found in training text; null where these are unknown,
        and of the first where it has no other.
        """
        from embedlab.data.overlaps import with_text_keys

        texts = self.sentences.select(pl.all().fill_null(pl.col("sentence1")))
        texts = texts.rename({CONTRADICTED: "negative"}, strict=False)
        keys = with_text_keys(texts.fill_null("")).drop(texts.columns)
        return keys.select(pl.when(texts["sentence1"].is_not_null()).then(pl.all()))

    @cached_property
    def labels(self) -> pl.Series:
        """The gold class of each row; null where items have scores."""
        return self.class_names(self.rows["gold"]).alias("label")

    def class_names(self, numbers: pl.Series) -> pl.Series:
        """Return the classes whose indices are NUMBERS of all rows; null where items have scores,
        and where a number is the index of none.
        """
        column = self._nulls()
        for index, block in enumerate(self.blocks):
            if block.classes:
                rows = self.rows_of(index)
                indices = list(range(len(block.classes)))
                names = numbers.gather(rows).replace_strict(
                    indices, list(block.classes), default=None, return_dtype=pl.String
                )
                column = column.scatter(rows, names)
        return column

    @cached_property
    def trained_models(self) -> pl.Series:
        """The models that were trained on text of each row, with their signs; null for none."""
        column = self.trained(self) if self.trained is not None else self._nulls()
        return column.alias("trained")

    def _nulls(self) -> pl.Series:
        return pl.Series([None], dtype=pl.String).new_from_index(0, self.rows.height)

    @cached_property
    def block_of_rows(self) -> NDArray[np.uint16]:
        """The place of each row's block; (rows,)."""
        return self.rows["block"].to_numpy()

    @property
    def has_scores(self) -> bool:
        """Whether gold and predictions of all items are scores, and not classes or queries."""
        return all(block.has_scores for block in self.blocks)

    def rows_of(self, index: int) -> NDArray[np.intp]:
        """Return the rows of a block, in order."""
        return np.flatnonzero(self.block_of_rows == index)

    def count_by_block(self, holds: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Return how many rows of each block something HOLDS of, (rows,); (blocks,)."""
        return np.bincount(self.block_of_rows[holds], minlength=len(self.blocks))

    def column(self, name: str) -> pl.Series:
        """Return a column of facts: of the rows, their sentences, their dataset or label, or who
        was trained on their text.
        """
        if name in {*SENTENCES, CONTRADICTED}:
            return (
                self.sentences[name]
                if name in self.sentences.columns
                else self._nulls().alias(name)
            )
        if name == "dataset":
            names = pl.Series([block.dataset for block in self.blocks], dtype=pl.String)
            return names.gather(self.rows["block"].cast(pl.UInt32)).alias(name)
        if name == "label":
            return self.labels
        if name == "trained":
            return self.trained_models
        if name == "gold":
            return self.only_scores(self.rows[name])
        return self.rows[name]

    def mean_prediction(self, members: Sequence[str]) -> pl.Series:
        """Return the mean prediction of MEMBERS, null where one has none; of a classified item the
        class that all predict, nan where they differ: the mean of two classes is another one.
        """
        columns = self.predictions.select(
            mean=pl.mean_horizontal(members, ignore_nulls=False),
            differ=pl.max_horizontal(members) != pl.min_horizontal(members),
        )
        mean = columns["mean"]
        is_class = self.without_classes(mean).is_null() & mean.is_not_null()
        return mean.set(columns["differ"] & is_class, float("nan"))

    def without_classes(self, numbers: pl.Series) -> pl.Series:
        """Return NUMBERS of all rows, null for classified items: the index of a class is not a
        number to compare.
        """
        return self._in_blocks(numbers, [not block.classes for block in self.blocks])

    def only_scores(self, numbers: pl.Series) -> pl.Series:
        """Return NUMBERS of all rows, null for items whose gold and predictions are no scores."""
        return self._in_blocks(numbers, [block.has_scores for block in self.blocks])

    def _in_blocks(self, numbers: pl.Series, stays: Sequence[bool]) -> pl.Series:
        """Return NUMBERS of all rows, null but in the blocks where they STAY."""
        block_stays = pl.Series(stays, dtype=pl.Boolean)
        return numbers.set(~block_stays.gather(self.rows["block"].cast(pl.UInt32)), None)


_GROUPED = re.compile(r"[\w-]*(:\d+)?(,[\w-]+(:\d+)?)*")


def is_expression(by: str) -> bool:
    """Whether what items are grouped BY is an expression, such as dice>0.5 or @mine, and not the
    names of properties.
    """
    return bool(by.strip()) and _GROUPED.fullmatch(by) is None


def join_splits(outcomes: Outcomes) -> Outcomes:
    """Return OUTCOMES with each dataset whose three splits are all there as one, train, dev, test:
    the pairs and the order of published fifths.
    """
    places = {block.dataset: index for index, block in enumerate(outcomes.blocks)}
    all_splits = {name: [f"{name}:train", f"{name}:dev", name] for name in places}
    joined = {name: splits for name, splits in all_splits.items() if {*splits} <= {*places}}
    is_part = {split for splits in joined.values() for split in splits}
    groups = {
        f"{name}{ALL_SPLITS}" if name in joined else name: joined.get(name, [name])
        for name in places
        if name in joined or name not in is_part
    }
    order = [places[split] for splits in groups.values() for split in splits]
    numbers = {
        places[split]: number for number, splits in enumerate(groups.values()) for split in splits
    }
    blocks = [
        replace(outcomes.blocks[places[splits[-1]]], dataset=name)
        for name, splits in groups.items()
    ]
    rows = np.concatenate([outcomes.rows_of(index) for index in order])
    new_block = pl.col("block").replace_strict(numbers, return_dtype=pl.UInt16)
    return replace(
        outcomes,
        rows=outcomes.rows[rows].with_columns(new_block),
        predictions=outcomes.predictions[rows],
        sentences=outcomes.sentences[rows],
        blocks=tuple(blocks),
    )


def choose_items(outcomes: Outcomes, holds: pl.Series) -> Outcomes:
    """Return the items of OUTCOMES that HOLDS is true of."""
    return replace(
        outcomes,
        rows=outcomes.rows.filter(holds),
        predictions=outcomes.predictions.filter(holds),
        sentences=outcomes.sentences.filter(holds),
    )


def text_numbers(outcomes: Outcomes) -> NDArray[np.uint64]:
    """Return the numbers of each row's two sentences, (rows, 2); a row of unknown text has one of
    its own.
    """
    ids = outcomes.rows.select(TEXT_IDS)
    if ids["first_text"].null_count():
        ids = ids.with_columns(own=pl.int_range(pl.len(), dtype=pl.UInt64)).select(
            pl.col(TEXT_IDS).fill_null(pl.col("own"))
        )
    return ids.to_numpy()


def with_measures(outcomes: Outcomes, *measures: str) -> Outcomes:
    """Return OUTCOMES whose scores are of other MEASURES."""
    measured = replace(
        outcomes, blocks=tuple(replace(block, measures=measures) for block in outcomes.blocks)
    )
    measured.computed.update(outcomes.computed)
    return measured


def with_correlation(outcomes: Outcomes, metric: Correlation) -> Outcomes:
    """Return OUTCOMES of similarities measured by the correlation METRIC; other items have none but
    the usual measures, and any METRIC but the usual one is a UsageError.
    """
    if metric == "spearman":
        return outcomes
    for block in outcomes.blocks:
        if block.measures != ("spearman",):
            raise UsageError(
                f"option metric {metric!r} is for scored pairs: {block.dataset} is measured by "
                f"{block.measures[0]}",
                hint="remove it, or select the task sts",
            )
    return with_measures(outcomes, metric)


def join_outcomes(parts: Sequence[Outcomes]) -> Outcomes:
    """Return the items of several tasks in one frame; a member without predictions of a task has
    none there.
    """
    starts = np.cumsum([0, *(len(part.blocks) for part in parts)])
    rows = [
        outcomes.rows.with_columns((pl.col("block") + int(start)).cast(pl.UInt16))
        for outcomes, start in zip(parts, starts, strict=False)
    ]
    return Outcomes(
        rows=pl.concat(rows),
        predictions=pl.concat([part.predictions for part in parts], how="diagonal"),
        blocks=tuple(block for part in parts for block in part.blocks),
        sentences=pl.concat([part.sentences for part in parts], how="diagonal"),
        trained=lambda _: pl.concat([part.column("trained") for part in parts]),
        averages={suite: averages for part in parts for suite, averages in part.averages.items()},
        mixed_metrics={
            suite: metric for part in parts for suite, metric in part.mixed_metrics.items()
        },
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemSlice:
    """Items of one block with one value of a property."""

    block: int
    key: str  # stable: "sts12", "sts12/MSRpar", "sts-benchmark/fifth-1", "mr/negation=one"
    title: str
    rows: NDArray[np.intp]  # of the frame
    # what the key says behind the dataset: "MSRpar", "fifth-1"; empty for all items, and those
    # without a value
    value_key: str = ""
    value_title: str = ""  # the same of the title
    # whether it is its dataset, or what a selection leaves of it: averages are over these
    is_whole: bool = False
    notes: tuple[str, ...] = ()


def plain_name(dataset: str) -> str:
    """Return the name of a DATASET without what a user said of its columns."""
    return _COLUMNS.sub("", dataset)


def whole_blocks(outcomes: Outcomes) -> Iterator[ItemSlice]:
    """Yield each dataset as one slice; a file is shown by its name alone, where no other has it."""
    names = [plain_name(block.dataset) for block in outcomes.blocks]
    titles = [name.rpartition("/")[2] if name.startswith("/") else name for name in names]
    for index, block in enumerate(outcomes.blocks):
        yield ItemSlice(
            block=index,
            key=block.dataset,
            title=titles[index] if titles.count(titles[index]) == 1 else block.dataset,
            rows=outcomes.rows_of(index),
            is_whole=True,
        )
