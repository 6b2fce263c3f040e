"""The contract of an evaluation task: its name, what it reads and refuses, and its result for one model.

Every file of this folder except this one and those that begin with an underscore is a task and defines one `TASK`. A task with
outcomes by item gets slices, intervals, tests, marks, and a place in comparisons, pages and the dashboard from the contract alone.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.choices import SettingName
from embedlab.core import plugins
from embedlab.core.errors import MissingError
from embedlab.core.names import code_version
from embedlab.core.plugins import Plugin
from embedlab.core.progress import StartProgress
from embedlab.core.recipe import Recipe
from embedlab.core.settings import Settings
from embedlab.data.dataset import DatasetState, Part
from embedlab.data.marks import data_marks
from embedlab.data.overlaps import text_keys
from embedlab.data.pair_parts import open_parts
from embedlab.data.source import Source
from embedlab.encoders.encoder import Encoder, EncoderFacts, PairScorer
from embedlab.models.catalog import ModelSpec
from embedlab.models.fingerprint import spec_fingerprint
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import Outcomes, items_frame, outcomes_name

if TYPE_CHECKING:
    import torch

    from embedlab.objectives.objective import Trained


_OF_A_FILE = EncoderFacts()  # nothing here decided the predictions in it


@dataclass(frozen=True, kw_only=True, eq=False)
class Texts:
    """The sentences that a task reads."""

    columns: tuple[Sequence[str], ...]
    states: tuple[DatasetState, ...]
    missing: tuple[MissingError, ...] = ()  # what could not be read


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

    @property
    def texts(self) -> NDArray[np.uint64]:
        """Return the hashes of each item's sentences, (items, 2)."""
        return text_keys(self.part.frame)


@dataclass(frozen=True, kw_only=True)
class TaskResult:
    """An evaluation, without the data that was missing."""

    evaluation: Evaluation
    missing: tuple[MissingError, ...] = ()
    tested: tuple[Part, ...] = ()  # with scored rows, to compare with the model's training text
    outcomes: tuple[Outcomes, ...] = ()  # item by item
    averages: Mapping[str, Sequence[str]] = field(default_factory=dict)  # datasets of each average, by the beginning of its name

    def save(self, folder: Path, name: str | None = None) -> None:
        """Write the outcomes, then the evaluation under its task's name or NAME, to a member's FOLDER of evaluations."""
        for outcomes in self.outcomes:
            outcomes.save(folder)
        self.evaluation.save(folder, name)


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The part of a task to evaluate: some of its datasets (none named: all), and how its classifiers are trained."""

    names: tuple[str, ...] = ()
    setting: SettingName = "literature"


def _nothing(*_: object) -> None:
    """Refuse nothing."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """An evaluation task."""

    name: str
    summary: str
    evaluate: (
        Callable[[ModelSpec, Settings, StartProgress, Selection], TaskResult] | None
    )  # evaluates one member of a model; None for a task whose outcomes are pairs
    texts: Callable[[Source, Selection], Texts] | None  # None: depends on the model
    outcomes: Literal["pairs", "items", "none"]  # stored with the scores: similarities, predictions, or nothing
    has_dataset: Callable[[str], bool] = lambda _: False  # whether a name is one of its datasets
    members: Callable[[str], Sequence[str]] = lambda _: ()  # its datasets in the suite of a name, such as a benchmark
    items: Callable[[Source, Sequence[str]], Sequence[GoldItems]] | None = None  # those of its datasets, where they are classified
    item_datasets: tuple[str, ...] = ()  # that `items` knows
    is_in_all: bool = True  # whether "all" includes it
    is_each_alone: bool = False  # each of its datasets is evaluated and stored by itself
    datasets: tuple[str, ...] = ()  # those of its suite, in order
    trains_classifiers: bool = False  # in one of several settings
    has_own_units: bool = False  # its numbers are not percentages, and higher is not better
    metrics: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of datasets with others than accuracy or Spearman's
    averages: Callable[[Sequence[str], str], Mapping[str, Sequence[str]]] = lambda _datasets, _name: {}  # of the whole task, by title
    mixed_metric: str = "mean"  # of an average over datasets with different metrics
    check: Callable[[ModelSpec, Settings], None] = _nothing  # raises for a model that it does not apply to
    check_recipe: Callable[[Recipe, Source], None] = _nothing  # raises for a model that a recipe would train
    sets: Callable[[Path | None], Sequence[str]] = lambda _: ()  # other sets of such datasets in a data folder
    has_submission: bool = False  # a server scores its test splits, whose labels are not public
    dev_names: tuple[str, ...] = ()  # allowed in a recipe's `evaluate.dev`, besides datasets of pairs
    dev_score: "Callable[[Source, str], Callable[[Trained], float]] | None" = None

    @property
    def scores_pairs(self) -> bool:
        """Return whether its outcomes are similarities of pairs, which are stored once and shared by all uses."""
        return self.outcomes == "pairs"

    @property
    def is_divisible(self) -> bool:
        """Return whether some of its datasets can be evaluated alone."""
        return bool(self.datasets)

    def setting(self, setting: SettingName) -> SettingName:
        """Return SETTING, or "literature" for a task that trains no classifiers."""
        return setting if self.trains_classifiers else "literature"


def pair_task(
    name: str,
    summary: str,
    datasets: Sequence[str],
    *,
    averages: Mapping[str, Sequence[str]] | None = None,
    has_dataset: Callable[[str], bool] | None = None,
    dev_score: "Callable[[Source, str], Callable[[Trained], float]] | None" = None,
) -> Task:
    """Return the task of ranking the pairs of DATASETS by their similarity, as their gold scores do.

    AVERAGES name the datasets of each; one is shown where all of them are. HAS_DATASET says which names are among what it can score.
    """
    suite = tuple(datasets)
    return Task(
        name=name,
        summary=summary,
        evaluate=None,
        texts=lambda source, selection: pair_texts(source, selection.names or source.suite(suite), all_splits=not selection.names),
        outcomes="pairs",
        has_dataset=has_dataset or suite.__contains__,
        datasets=suite,
        averages=lambda shown, _: {title: own for title, own in (averages or {}).items() if {*own} <= {*shown}},
        dev_score=dev_score,
    )


def pair_texts(source: Source, datasets: Sequence[str], *, all_splits: bool = False) -> Texts:
    """Return the sentences of the pairs of DATASETS, and with ALL_SPLITS those of the other splits of STS-B."""
    parts, missing = open_parts(source, datasets, all_splits=all_splits)
    columns = tuple(part.frame[side].to_list() for part in parts for side in ("sentence1", "sentence2"))
    return Texts(columns=columns, states=tuple(part.state for part in parts), missing=tuple(missing))


def task(name: str) -> Task:
    """Return the task called NAME."""
    return _load(plugins.get("tasks", name))


def all_tasks() -> list[Task]:
    """Return every task: the shipped ones in alphabetical order, then those of plug-ins."""
    return list(plugins.loaded("tasks", _load).values())


def _load(plugin: Plugin) -> Task:
    return plugin.checked(plugin.load(), Task, named=True)


def evaluation_of(
    task: str, encoder: PairScorer, states: Sequence[DatasetState], scores: Sequence[StoredScore], notes: Sequence[str] = ()
) -> Evaluation:
    """Return the SCORES of a task with everything that decides them; NOTES come after the encoder's own."""
    return _evaluation(task, encoder.name, encoder.fingerprint, encoder.facts, states, scores, notes)


def brought_evaluation(
    task: str, spec: ModelSpec, states: Sequence[DatasetState], scores: Sequence[StoredScore], notes: Sequence[str] = ()
) -> Evaluation:
    """Return the SCORES of a model whose predictions another program wrote into a file, so that nothing is loaded."""
    return _evaluation(task, spec.name, spec_fingerprint(spec, precision=_OF_A_FILE.precision), _OF_A_FILE, states, scores, notes)


def _evaluation(
    task: str,
    model: str,
    fingerprint: str,
    facts: EncoderFacts,
    states: Sequence[DatasetState],
    scores: Sequence[StoredScore],
    notes: Sequence[str],
) -> Evaluation:
    return Evaluation(
        task=task,
        model=model,
        fingerprint=fingerprint,
        precision=facts.precision,
        pooling=facts.pooling,
        max_tokens=facts.max_tokens,
        truncated=facts.truncated,
        data=tuple(asdict(state) for state in states),
        marks=data_marks(states),
        notes=(*facts.notes, *notes),
        scores=tuple(scores),
        embedlab=code_version(task),
    )


def own_items(part: Part, column: str) -> GoldItems:
    """Return the rows of PART as items, whose labels are in COLUMN."""
    labels = tuple(part.frame[column].cast(pl.String).to_list())
    return GoldItems(
        dataset=part.state.name,
        split=part.state.split,
        part=part,
        rows=np.arange(len(labels)),
        labels=labels,
        classes=tuple(sorted(set(labels))),
        states=(part.state,),
    )


def outcomes_of(
    evaluation: Evaluation, part: Part, gold: Sequence[object], predicted: Sequence[object], *, is_class: bool = True
) -> Outcomes:
    """What the rows of PART have and what a model predicted of each: classes, or scores that are correlated."""
    texts = [[str(value) for value in column] for column in (gold, predicted)]
    return Outcomes.of(
        evaluation,
        dataset=part.state.name,
        split=part.state.split,
        states=[part.state],
        classes=sorted({*texts[0], *texts[1]}) if is_class else (),
        items=items_frame(np.arange(len(part.frame)), texts[0], texts[1], text_keys(part.frame)),
    )


def load_member(spec: ModelSpec, settings: Settings) -> tuple[Encoder, "torch.device"]:
    """Load the encoder of a member model with the cache and machine of SETTINGS; return it and the machine's device."""
    # torch is imported only here: what a task reads and stores is shown without it.
    from embedlab.encoders.device import machine
    from embedlab.encoders.loading import load_encoder

    here = machine(settings)
    return load_encoder(spec, here, cache=settings.cache, cache_gib=settings.cache_gib, offline=settings.offline), here.device
