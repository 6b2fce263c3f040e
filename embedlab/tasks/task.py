"""The contract of an evaluation task: its name, what it reads and refuses, and its result for one
model.

Every file of this folder except this one and those that begin with an underscore is a task and
defines one `TASK`. A task with outcomes by item gets scores, slices, intervals, tests, marks, and a
place in comparisons, pages and the dashboard from the contract alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from embedlab.analysis.correlations import spearman
from embedlab.core import plugins
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.names import code_version
from embedlab.core.printable import OVERLAP
from embedlab.data.marks import data_marks
from embedlab.data.published import state_remarks
from embedlab.data.source import Source, open_available, open_scored
from embedlab.encoders.encoder import DescribedModel, Encoder, EncoderFacts
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import (
    SENTENCES,
    StoredOutcomes,
    class_indices,
    items_frame,
    outcomes_name,
)
from embedlab.tasks._similarities import (
    AGGREGATES,
    BYS,
    dataset_of,
    is_scored_row,
    pair_notes,
    similarities,
)
from embedlab.tasks._similarities import (
    FilePredictions as FilePredictions,
)

if TYPE_CHECKING:
    import torch

    from embedlab.choices import Aggregate, SettingName, TableScale
    from embedlab.core.plugins import Plugin
    from embedlab.core.recipe import Recipe
    from embedlab.core.session import StartProgress
    from embedlab.core.settings import Settings
    from embedlab.data.dataset import DatasetState, Part
    from embedlab.data.marks import Overlap
    from embedlab.models.catalog import ModelSpec
    from embedlab.objectives.objective import TrainedEncoder
    from embedlab.runs.environment import StoredPart


# of pairs whose gold has two values
BINARY = ("average precision", "roc auc", "f1", "accuracy")


@dataclass(frozen=True, kw_only=True, eq=False)
class Texts:
    """The sentences that a task reads."""

    columns: tuple[Sequence[str] | pl.Series, ...]
    states: tuple[DatasetState, ...]
    missing: tuple[MissingError, ...] = ()  # what could not be read
    datasets: tuple[str, ...] = ()  # of the outcomes; none: the names of the states
    notes: tuple[str, ...] = ()  # on the data, whatever the model
    is_encoded_at_once: bool = False  # its evaluation encodes all of them in one pass itself
    parts: tuple[Part, ...] = ()  # where its evaluation need not read them again

    @property
    def names(self) -> tuple[str, ...]:
        """The datasets of the outcomes."""
        return self.datasets or tuple(state.name for state in self.states)

    def of(self, names: Sequence[str]) -> Texts:
        """Return the texts of the datasets NAMES, without the sentences."""
        states = zip(self.states, self.names, strict=True)
        parts = zip(self.parts, self.datasets, strict=False)
        return replace(
            self,
            columns=(),
            states=tuple(state for state, name in states if name in names),
            datasets=tuple(names) if self.datasets else (),
            parts=tuple(part for part, name in parts if name in names),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class GoldItems:
    """The items of a dataset that a task scores, each by the row of its split, counted from 0."""

    dataset: str
    split: str  # as outcomes have it: "test", "cv" or a validation split
    part: Part  # the scored split: one row an item
    rows: NDArray[np.intp]  # the number of each item in outcomes, among the rows of all splits
    labels: tuple[str, ...]
    classes: tuple[str, ...]
    states: tuple[DatasetState, ...]  # of all splits

    @property
    def name(self) -> str:
        """Return the dataset, with the split if several are scored."""
        return outcomes_name(self.dataset, self.split)


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """What one member model got on one task, without the data that was missing."""

    # of a task the scores that its outcomes do not give; then all, unless only some of what the
    # task reads was evaluated
    evaluation: Evaluation
    outcomes: tuple[StoredOutcomes, ...] = ()  # of the datasets that are tested item by item
    missing: tuple[MissingError, ...] = ()
    tested: tuple[Part, ...] = ()  # with scored rows, to compare with the model's training text
    # datasets of each average, by the beginning of its name
    averages: Mapping[str, Sequence[str]] = field(default_factory=dict)
    by: tuple[str, ...] = ()  # properties by whose values there are scores too
    setting: str = ""  # of the scores that follow from outcomes

    @cached_property
    def _results(self) -> Sequence[StoredScore]:
        """The scores of datasets. One that chose a setting is no result where a test score exists;
        some test splits have no labels.
        """
        dataset_scores = [score for score in self.evaluation.scores if score.by == "dataset"]
        tested_slices = {score.slice for score in dataset_scores if score.split != "dev"}
        return [
            score
            for score in dataset_scores
            if score.split != "dev" or score.slice not in tested_slices
        ]

    @cached_property
    def figures(self) -> tuple[StoredScore, ...]:
        """The scores of datasets that are not tested item by item."""
        itemised = {outcomes.dataset for outcomes in self.outcomes}
        return tuple(score for score in self._results if score.slice not in itemised)

    @property
    def settings(self) -> tuple[str, ...]:
        """How the scores were made: those of outcomes first, as far as the evaluation says it."""
        figures = {*self.figures}
        ordered = sorted(self._results, key=lambda score: score in figures)
        return tuple(dict.fromkeys(score.setting for score in ordered if score.setting))

    @cached_property
    def overlaps(self) -> Mapping[str, Overlap]:
        """The text that is shared with the training data, by dataset."""
        slices, all_overlaps = {score.slice for score in self.figures}, self.evaluation.overlaps
        return {
            **{outcomes.name: outcomes.overlap for outcomes in self.outcomes if outcomes.overlap},
            **{name: overlap for name, overlap in all_overlaps.items() if name in slices},
        }

    @property
    def marks(self) -> set[str]:
        """The marks of all numbers."""
        marks = {mark for outcomes in self.outcomes for mark in outcomes.marks}
        if self.figures:
            marks |= {*self.evaluation.marks} - {OVERLAP}
        return marks | ({OVERLAP} if self.overlaps else set())

    @property
    def data(self) -> tuple[StoredPart, ...]:
        """The state of every part that was read, each once."""
        state_lists = [*(outcomes.data for outcomes in self.outcomes), self.evaluation.data]
        return tuple(
            {
                (state["name"], state.get("split")): state
                for states in state_lists
                for state in states
            }.values()
        )

    def save(self, folder: Path, name: str | None = None) -> None:
        """Write the outcomes, then the evaluation under its task's name or NAME, to a member's
        FOLDER of evaluations.
        """
        for outcomes in self.outcomes:
            outcomes.save(folder)
        self.evaluation.save(folder, name)


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The part of a task to evaluate: some of its datasets (none named: all), and how its
    classifiers are trained.
    """

    names: tuple[str, ...] = ()
    setting: SettingName = "literature"
    opened: tuple[Part, ...] = ()  # the parts of `Texts`, where they are read already


class Task(ABC):
    """An evaluation task: a subclass with an object of it, found by its name.

    What a subclass does not write is the answer of a task that fits every model and measures the
    accuracy of classes and Spearman's correlation of scores.
    """

    name: str
    summary: str
    has_items: bool = True  # whether it has outcomes item by item
    # ways to put the sources of a dataset together: of correlations of similarities
    aggregates: tuple[Aggregate, ...] = ()
    datasets: tuple[str, ...] = ()  # those of its suite, in order; each can be evaluated by itself
    item_datasets: tuple[str, ...] = ()  # those whose predictions may come from a file
    # allowed in a recipe's `evaluate.dev`, besides datasets of pairs
    dev_names: tuple[str, ...] = ()
    is_each_alone: bool = False  # each of its datasets is evaluated and stored by itself
    # whether a text without a vector costs the items that have it alone
    has_lone_items: bool = False
    # puts documents in order for queries, which models can do that have no similarity of two texts
    searches: bool = False
    trains_classifiers: bool = False  # in one of several settings
    mixed_metric: str = "mean"  # of an average over datasets with different measures

    def __new__(cls, *_: object, **fields: object) -> Self:
        """Refuse a task that is written in the old way, with its fields as arguments."""
        if cls is Task:
            raise UsageError(
                f"the task {fields.get('name')!r} is written with Task(…): write class "
                f"MyTask(Task), its fields as attributes and methods,"
                " and TASK = MyTask()",
                hint="docs/plugins.md shows a whole one",
            )
        return super().__new__(cls)

    def has_dataset(self, name: str) -> bool:
        """Return whether NAME is one of its datasets."""
        return name in self.datasets

    def set_of(self, name: str) -> str | None:
        """Return the set that the dataset NAME is or belongs to, which is evaluated and stored
        together; None for a dataset of the suite.
        """
        return None

    def evaluation_name(self, names: Sequence[str]) -> str:
        """Return the name of the task in evaluations of the datasets NAMES, which belong to one
        set.
        """
        return self.name

    def members(self, suite: str) -> Sequence[str]:
        """Return its datasets in a suite that is not a task, such as a benchmark."""
        return ()

    def in_all(self, folder: Path | None) -> Sequence[tuple[str, ...]]:
        """Return the evaluations of this task that "all" runs, each as names of datasets, none for
        the whole task; FOLDER holds the data.
        """
        return ((),)

    def texts(self, source: Source, selection: Selection) -> Texts | None:
        """Return the sentences that it reads, so that those of several tasks are encoded at once;
        None where the model decides that.
        """
        return None

    def items(self, source: Source, names: Sequence[str]) -> Sequence[GoldItems]:
        """Return the items of those of its `item_datasets` that NAMES lists, for predictions that
        a file brings.
        """
        return ()

    @abstractmethod
    def evaluate(
        self,
        spec: ModelSpec,
        settings: Settings,
        start_progress: StartProgress,
        selection: Selection,
    ) -> TaskResult:
        """Evaluate one member of a model."""

    def measures(self, dataset: str) -> tuple[str, ...]:
        """Return the measures of DATASET, the one that enters averages first; none: accuracy, or of
        scores Spearman's correlation.
        """
        return ()

    def scale_of(self, metric: str) -> TableScale:
        """Return 100 where numbers of METRIC are shares, which tables show x 100, the highest as
        the best; 1 where it has its own unit.
        """
        return 100

    def averages(self, datasets: Sequence[str], name: str) -> Mapping[str, Sequence[str]]:
        """Return the averages that are shown where these DATASETS are available, by title; the
        evaluation has NAME.
        """
        return {}

    def check(self, spec: ModelSpec, settings: Settings) -> None:  # noqa: B027 - every model fits
        """Raise where it does not apply to a model, or where data of the model's own is missing;
        nothing is loaded.
        """

    def cost(self, spec: ModelSpec, source: Source, names: Sequence[str]) -> tuple[str, ...]:
        """Return what takes long in evaluating a member on the datasets NAMES (empty: all), so that
        it can be announced before.
        """
        return ()

    def check_recipe(self, recipe: Recipe, source: Source) -> None:  # noqa: B027 - every model fits
        """Raise the same for the model that RECIPE would train."""

    def dev_score(self, source: Source, name: str) -> Callable[[TrainedEncoder], float]:
        """Return the dev score x 100 on one of its `dev_names` as a function; its data is opened
        once.
        """
        raise UsageError(
            f"the task {self.name!r} has no dev score",
            hint="name a dataset of pairs as `evaluate.dev`",
        )

    def dev_remarks(self, source: Source, name: str) -> list[str]:
        """Return what the data of the dev score on NAME lacks of the published data, where its own
        tables do not say that.
        """
        return []

    def submission(self) -> Any:
        """Return how predictions of its test splits are written, where their labels are not public
        and a server scores them.
        """
        return None

    def setting(self, setting: SettingName) -> SettingName:
        """Return SETTING, or "literature" for a task that trains no classifiers."""
        return setting if self.trains_classifiers else "literature"


class PairTask(Task):
    """The task of ranking pairs by their similarity, as their gold scores do.

    AVERAGES name the datasets of each, which is shown where all of them are.
    """

    aggregates = AGGREGATES
    has_lone_items = True

    def __init__(
        self,
        name: str,
        summary: str,
        datasets: Sequence[str],
        averages: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.name, self.summary, self.datasets = name, summary, tuple(datasets)
        self._averages = averages or {}

    def _open(self, source: Source, names: Sequence[str]) -> tuple[list[Part], list[MissingError]]:
        """Open the pairs of the datasets in NAMES, of all without; NAME:SPLIT is another split."""
        dataset_splits = []
        for name in names or source.suite(self.datasets):
            base, _, split = name.rpartition(":")
            dataset_splits.append((base, split) if base in self.datasets else (name, None))
        return open_available(dataset_splits, lambda pair: open_scored(source, *pair))

    def texts(self, source: Source, selection: Selection) -> Texts:
        """Return the sentences of its pairs."""
        parts, missing_errors = self._open(source, selection.names)
        return replace(
            part_texts(parts, missing_errors),
            datasets=tuple(dataset_of(part.state) for part in parts),
            notes=tuple(pair_notes(parts)),
            is_encoded_at_once=True,
            parts=tuple(parts),
        )

    def evaluate(
        self,
        spec: ModelSpec,
        settings: Settings,
        start_progress: StartProgress,
        selection: Selection,
    ) -> TaskResult:
        """Return the similarity of each pair, and every score that follows from them."""
        parts, missing_errors = list(selection.opened), list[MissingError]()
        if not parts:
            parts, missing_errors = self._open(Source.from_settings(settings), selection.names)
        similar, scorer, notes = similarities(spec, parts, settings, start_progress)
        states = [part.state for part in parts]
        evaluation = evaluation_of(self.name, scorer, states, notes=notes)
        evaluation = replace(evaluation, model=spec.name)
        outcomes = []
        for part, column in zip(parts, similar, strict=True):
            is_scored = is_scored_row(spec, column)
            scored_part = replace(part, frame=part.frame.filter(is_scored))
            gold, measures = scored_part.frame["gold"], self.measures("")
            if (low_high := two_values(gold)) is not None:
                gold, measures = (gold == low_high[1]).cast(pl.Float64), BINARY
            stored = outcomes_of(
                evaluation,
                scored_part,
                gold,
                column.filter(is_scored),
                is_class=False,
                split="test",
                rows=is_scored.arg_true().to_numpy(),
            )
            outcomes.append(
                replace(
                    stored,
                    dataset=dataset_of(part.state),
                    measures=measures,
                    notes=tuple(notes),
                )
            )
        averages: Mapping[str, Sequence[str]] = {}
        if not selection.names:
            averages = self.averages([stored.name for stored in outcomes], self.name)
        return TaskResult(
            evaluation=evaluation,
            missing=tuple(missing_errors),
            tested=tuple(parts),
            outcomes=tuple(outcomes),
            averages=averages,
            by=BYS[1:],
        )

    def averages(self, datasets: Sequence[str], name: str) -> Mapping[str, Sequence[str]]:
        """Return the averages whose datasets are all available."""
        return {
            title: average for title, average in self._averages.items() if {*average} <= {*datasets}
        }

    def measures(self, dataset: str) -> tuple[str, ...]:
        """Return Spearman's correlation, which is tested; evaluations also show Pearson's."""
        return ("spearman",)

    def dev_score(self, source: Source, name: str) -> Callable[[TrainedEncoder], float]:
        """Return Spearman's correlation x 100 on the dev split of the dataset NAME as a function;
        the data is opened once.
        """
        frame = open_scored(source, name, "dev").frame
        first, second, gold = (
            frame[column].to_list() for column in ("sentence1", "sentence2", "gold")
        )
        return lambda trained: 100 * spearman(gold, trained.encoder.score(first, second))

    def dev_remarks(self, source: Source, name: str) -> list[str]:
        """Return what the dev split of the dataset NAME lacks of the published one."""
        return list(state_remarks(asdict(source.open(name, "dev").state)))


def two_values(gold: pl.Series) -> tuple[float, float] | None:
    """Return the lower and the higher value of GOLD scores that have two alone, such as duplicate
    or not; else None.
    """
    values = gold.drop_nulls().unique().sort().to_list()
    return (values[0], values[1]) if len(values) == 2 else None


def is_binary(source: Source, name: str) -> bool:
    """Return whether the gold scores of the pairs of a dataset have two values; False if it is not
    at hand.
    """
    try:
        return two_values(open_scored(source, name).frame["gold"]) is not None
    except (MissingError, UsageError):
        return False


pair_task = PairTask  # its name in earlier plug-ins


def pair_texts(source: Source, datasets: Sequence[str]) -> Texts:
    """Return the sentences of the pairs of DATASETS."""
    return part_texts(*open_available(datasets, lambda name: open_scored(source, name)))


def part_texts(
    parts: Sequence[Part], missing: Sequence[MissingError] = (), sides: Sequence[str] = SENTENCES
) -> Texts:
    """Return the sentences of PARTS in those of the columns SIDES that they have."""
    columns = [part.frame[side] for part in parts for side in sides if side in part.frame.columns]
    states = tuple(part.state for part in parts)
    return Texts(columns=tuple(columns), states=states, missing=tuple(missing))


def task(name: str) -> Task:
    """Return the task called NAME."""
    return _load(plugins.require("tasks", name))


def all_tasks() -> list[Task]:
    """Return every task: the shipped ones in alphabetical order, then those of plug-ins."""
    return list(plugins.load_all("tasks", _load).values())


def scale_of(name: str, metric: str) -> TableScale:
    """Return the factor by which tables multiply the METRIC of the task called NAME; the numbers of
    a task that is gone are shares.
    """
    plugin = plugins.find("tasks", name)
    task = (
        _load(plugin)
        if plugin is not None and plugin.fault is None and plugins.can_load(plugin)
        else None
    )
    return task.scale_of(metric) if task is not None else 100


def _load(plugin: Plugin) -> Task:
    task = plugin.load()
    if isinstance(task, type) and issubclass(task, Task):
        raise MissingError(
            f"{plugin.title} is a class, not an object of it", hint=f"TASK = {task.__name__}()"
        )
    return plugin.check_instance(task, Task, named=True)  # type: ignore[type-abstract]


def evaluation_of(
    task: str,
    encoder: DescribedModel,
    states: Sequence[DatasetState],
    scores: Sequence[StoredScore] = (),
    notes: Sequence[str] = (),
) -> Evaluation:
    """Return what decides the numbers of a task, with the SCORES that its outcomes do not give;
    NOTES come after the encoder's own.
    """
    data = [asdict(state) for state in states]
    facts = encoder.facts
    return replace(
        evaluation_without_scores(task, encoder.name, encoder.fingerprint, facts, data),
        marks=data_marks(states),
        scores=tuple(scores),
        notes=(*facts.notes, *facts.odd_texts, *notes),
    )


def evaluation_without_scores(
    task: str, model: str, fingerprint: str, facts: EncoderFacts, data: Sequence[StoredPart] = ()
) -> Evaluation:
    """Return an evaluation without scores: a model, how it was used, and the DATA that was read."""
    return Evaluation(
        task=task,
        model=model,
        fingerprint=fingerprint,
        precision=facts.precision,
        pooling=facts.pooling,
        max_tokens=facts.max_tokens,
        truncated=facts.truncated,
        refused=facts.refused,
        data=tuple(data),
        marks=(),
        scores=(),
        embedlab=code_version(task),
    )


def score(
    name: str,
    metric: str,
    value: float,
    items: int,
    split: str | None = None,
    *,
    setting: str = "",
    by: str = "dataset",
) -> StoredScore:
    """Return the VALUE of a METRIC on the dataset or other slice called NAME, of so many ITEMS."""
    return StoredScore(
        by=by, slice=name, metric=metric, setting=setting, value=value, items=items, split=split
    )


def skipped_notes(missing: Sequence[MissingError]) -> list[str]:
    """Return a note on each dataset that could not be read."""
    return [f"skipped: {error.message} ({error.hint})" for error in missing]


def part_items(part: Part, labels: Sequence[str] | pl.Series, split: str = "") -> GoldItems:
    """Return the items of PART with these LABELS; SPLIT is by default that of the part."""
    labels = pl.Series(labels).cast(pl.String).to_list()
    return GoldItems(
        dataset=part.state.name,
        split=split or part.state.split,
        part=part,
        rows=np.arange(len(labels)),
        labels=tuple(labels),
        classes=tuple(sorted({*labels})),
        states=(part.state,),
    )


def outcomes_of(
    evaluation: Evaluation,
    part: Part,
    gold: Sequence[object] | ArrayLike,
    predicted: Sequence[object] | ArrayLike,
    *,
    is_class: bool = True,
    classes: Sequence[str] = (),
    split: str = "",
    states: Sequence[DatasetState] = (),
    rows: ArrayLike | None = None,
    text_ids: ArrayLike | None = None,
) -> StoredOutcomes:
    """Return what the rows of PART have and what a model predicted for each: labels of classes, or
    numbers that are compared with gold.

    CLASSES are all labels in order, by default those that occur; SPLIT and STATES are by default
    those of the part. ROWS (items,) count among all STATES, and must be given if PART lacks rows of
    its split. text_ids: (items, 2), ids of the sentences that PART has no columns for.
    """
    if is_class:
        labels = [[str(value) for value in column] for column in (gold, predicted)]  # type: ignore[union-attr]
        classes = tuple(classes) or tuple(sorted({*labels[0], *labels[1]}))
        gold, predicted = (class_indices(column, classes) for column in labels)
    states = states or [part.state]
    all_rows = sum(state.rows for state in states)
    if rows is None and part.frame.height < all_rows:
        raise MissingError(
            f"{part.frame.height} of the {all_rows} rows of {part.state.name!r} have outcomes, and "
            "nothing says which",
            hint="give outcomes_of() their numbers in the whole split as rows=",
        )
    return StoredOutcomes(
        task=evaluation.task,
        dataset=part.state.name,
        split=split or part.state.split,
        model=evaluation.model,
        fingerprint=evaluation.fingerprint,
        data=tuple(asdict(state) for state in states),
        marks=data_marks(states),
        classes=tuple(classes),
        embedlab=evaluation.embedlab,
        items=items_frame(
            np.arange(len(gold)) if rows is None else rows,  # type: ignore[arg-type]
            gold,  # type: ignore[arg-type]
            predicted,  # type: ignore[arg-type]
            part.frame,
            text_ids=text_ids,
        ),
    )


def load_member(spec: ModelSpec, settings: Settings) -> tuple[Encoder, torch.device]:
    """Load the encoder of a member model with the cache and machine of SETTINGS; return it and the
    machine's device.
    """
    # torch is imported only here: what a task reads and stores is shown without it.
    from embedlab.encoders.device import machine
    from embedlab.encoders.loading import load_encoder

    encoder = load_encoder(spec, settings, cache=settings.cache)
    encoder.refused_texts = frozenset(spec.refused_texts)
    return encoder, machine(settings).device
