"""Shared by the tasks that train classifiers: labelled sentences become features once, and a
classifier is scored on each task.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.choices import SettingName
from embedlab.classifiers.folds import FOLD_SEED, HELD_BACK, RowIndices
from embedlab.classifiers.settings import SETTINGS, Setting
from embedlab.core.errors import MissingError
from embedlab.core.printable import count_text
from embedlab.core.session import StartProgress, unseen
from embedlab.core.settings import Settings
from embedlab.data.dataset import Dataset, DatasetState, Part
from embedlab.data.source import Source
from embedlab.encoders.encoder import Encoder, Vectors, distinct_texts
from embedlab.models.catalog import ModelSpec
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import SENTENCES, StoredOutcomes
from embedlab.tasks.task import (
    GoldItems,
    Selection,
    Task,
    TaskResult,
    Texts,
    evaluation_of,
    load_member,
    outcomes_of,
    score,
)

if TYPE_CHECKING:
    import torch

_ROW, _SPLIT = "row of the task", "split of the row"  # columns that we add to those of a task


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassificationTask:
    """The rows of one classification task, those of its splits one after the other."""

    name: str
    states: Mapping[str, DatasetState]  # by split
    frame: pl.DataFrame  # the rows that are read, each with its split and its number among all

    @classmethod
    def of(cls, name: str, parts: Mapping[str, Part]) -> Self:
        """Return the task called NAME of the PARTS that are its splits."""
        states = {split: replace(part.state, name=name) for split, part in parts.items()}
        frames = [
            part.frame.with_columns(pl.lit(split).alias(_SPLIT)) for split, part in parts.items()
        ]
        return cls(name=name, states=states, frame=pl.concat(frames).with_row_index(_ROW))

    @property
    def sides(self) -> tuple[str, ...]:
        """Return the columns that hold sentences: one, or two for pairs."""
        return ("sentence",) if "sentence" in self.frame.columns else SENTENCES

    @property
    def gold(self) -> pl.Series:
        """Return the label, or where items have no classes the score, of each row."""
        return self.frame["label" if "label" in self.frame.columns else "gold"]

    @property
    def classes(self) -> tuple[str, ...]:
        """Return the labels in their order; none of scores."""
        return tuple(self.gold.unique().sort()) if self.gold.dtype == pl.String else ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return a note on the rows that are left out."""
        rows = sum(state.rows for state in self.states.values())
        left_out = rows - self.frame.height
        note = f"{self.name}: {left_out} of {rows} rows left out, without a vector"
        return (note,) if left_out else ()

    @property
    def first(self) -> DatasetState:
        """Return the first split: that for training, or the only one in a cross-validation."""
        return next(iter(self.states.values()))

    def rows(self, split: str) -> RowIndices:
        """Return the indices of the rows of a split."""
        return np.flatnonzero(self.frame[_SPLIT] == split)

    @property
    def items(self) -> GoldItems:
        """Return the items that are scored: those of the test split, or of the only one."""
        state = self.states.get("test", self.first)
        rows = self.rows(state.split)
        return GoldItems(
            dataset=self.name,
            split="test" if "test" in self.states else "cv",
            part=Part(frame=self.frame[rows].select(*self.sides), state=state),
            rows=self.frame[rows][_ROW].to_numpy(),
            labels=tuple(self.gold[rows]),
            classes=self.classes,
            states=tuple(self.states.values()),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenedTasks:
    """The tasks of a suite whose data is available, and the errors of the others."""

    tasks: tuple[ClassificationTask, ...]
    missing: Mapping[str, MissingError]

    @property
    def texts(self) -> Texts:
        """Return the sentences to encode for them."""
        return Texts(
            columns=tuple(task.frame[side] for task in self.tasks for side in task.sides),
            states=tuple(state for task in self.tasks for state in task.states.values()),
            missing=tuple(self.missing.values()),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassificationResult:
    """What was predicted on one task, item by item."""

    task: ClassificationTask
    predicted: NDArray[Any]  # the label, or score, of each scored item
    scores: tuple[StoredScore, ...]  # that of the items first

    def outcomes(self, evaluation: Evaluation) -> StoredOutcomes:
        """Return the stored outcomes of every scored item."""
        items = self.task.items
        stored = outcomes_of(
            evaluation,
            items.part,
            items.labels,
            self.predicted.tolist(),
            is_class=bool(items.classes),
            classes=items.classes,
            split=items.split,
            states=items.states,
            rows=items.rows,
        )
        return replace(stored, notes=self.task.notes)


class ClassifierTask(Task):
    """A suite of tasks that each train a classifier or regression on frozen vectors."""

    trains_classifiers = True

    @abstractmethod
    def opened(self, source: Source, names: Sequence[str]) -> OpenedTasks:
        """Open the tasks in NAMES, all without; missing ones are returned, or raised when all are
        missing.
        """

    @abstractmethod
    def means(self, opened: OpenedTasks) -> Mapping[str, Sequence[str]]:
        """Return the tasks of each average of accuracies, by its title where all are available."""

    def suite(self, opened: OpenedTasks) -> str:
        """Return what the suite of the opened tasks is called."""
        return self.name

    def result(
        self, encoder: Encoder, task: ClassificationTask, setting: SettingName, **options: Any
    ) -> ClassificationResult:
        """Return the result of one task; OPTIONS are those of `classify`."""
        return classify(encoder, task, setting, **options)

    def evaluated(
        self,
        encoder: Encoder,
        opened: OpenedTasks,
        setting: SettingName = "literature",
        **options: Any,
    ) -> TaskResult:
        """Evaluate an encoder on the opened tasks, with everything that decides the scores; a
        setting other than "literature" is in the name of the task. OPTIONS are those of `classify`.
        """
        results = [self.result(encoder, task, setting, **options) for task in opened.tasks]
        classified = [result for result in results if result.task.classes]
        others = [result for result in results if not result.task.classes]
        averages = self.means(opened)
        scores = [score for result in classified for score in result.scores]
        for title, members in averages.items():
            scores += mean_accuracy(title, members, classified)
        scores += [score for result in others for score in result.scores]
        results = [*classified, *others]
        name = self.suite(opened)
        notes = [
            f"{task} skipped: {error.message} ({error.hint})"
            for task, error in opened.missing.items()
        ]
        notes += [note for result in results for note in result.task.notes]
        evaluation = evaluation_of(
            name if setting == "literature" else f"{name}-{setting}",
            encoder,
            opened.texts.states,
            scores,
            notes,
        )
        return TaskResult(
            evaluation=evaluation,
            missing=opened.texts.missing,
            tested=tuple(result.task.items.part for result in results),
            outcomes=tuple(result.outcomes(evaluation) for result in results),
            averages=averages,
        )

    def texts(self, source: Source, selection: Selection) -> Texts:
        """Return the sentences of the selected tasks that are large enough for the setting."""
        return self._selected(source, selection).texts

    def items(self, source: Source, names: Sequence[str]) -> Sequence[GoldItems]:
        """Return the items of the tasks in NAMES that are scored."""
        return [task.items for task in self.opened(source, names).tasks]

    def evaluate(
        self,
        spec: ModelSpec,
        settings: Settings,
        start_progress: StartProgress,
        selection: Selection,
    ) -> TaskResult:
        """Evaluate the selected tasks that are available."""
        opened = self._selected(Source.from_settings(settings), selection)
        encoder, device = load_member(spec, settings)
        return self.evaluated(
            encoder, opened, selection.setting, device=device, start_progress=start_progress
        )

    def _selected(self, source: Source, selection: Selection) -> OpenedTasks:
        return drop_small_tasks(self.opened(source, selection.names), selection.setting)


def open_tasks(source: Source, datasets: Mapping[str, Dataset]) -> OpenedTasks:
    """Open all splits of DATASETS, by task; a missing or refused dataset is reported as missing.

    When all are missing, the first error is raised with the names of the others.
    """
    tasks: list[ClassificationTask] = []
    missing_errors: dict[str, MissingError] = {}
    for name, dataset in datasets.items():
        try:
            parts = {split: source.open_split(dataset, split) for split in dataset.splits}
            tasks.append(ClassificationTask.of(name, parts))
        except MissingError as error:
            missing_errors[name] = error
    if not tasks:
        first_name, *other_names = missing_errors
        first_error = missing_errors[first_name]
        message = first_error.message
        if other_names:
            message += f", and {', '.join(other_names)} cannot be read either"
        # a reason that is not the message says that the dataset was refused
        reason = first_error.reason if first_error.reason != first_error.message else ""
        raise MissingError(message, hint=first_error.hint, reason=reason)
    return OpenedTasks(tasks=tuple(tasks), missing=missing_errors)


def drop_small_tasks(opened: OpenedTasks, setting: SettingName) -> OpenedTasks:
    """Return OPENED without the tasks that are too small for SETTING, which become missing; raises
    their error when all are too small.
    """
    size_errors = {
        task.name: error
        for task in opened.tasks
        if (error := _too_small(task, SETTINGS[setting])) is not None
    }
    tasks = tuple(task for task in opened.tasks if task.name not in size_errors)
    if not tasks:
        raise next(iter(size_errors.values()))
    return replace(opened, tasks=tasks, missing={**opened.missing, **size_errors})


def classify(
    encoder: Encoder,
    full_task: ClassificationTask,
    setting: SettingName,
    *,
    seed: int = FOLD_SEED,
    device: "torch.device | None" = None,
    start_progress: StartProgress = unseen,
) -> ClassificationResult:
    """Return the result of a task.

    START_PROGRESS returns the progress callback for "sentences" and for the task's name, which
    counts finished fits.
    """
    from embedlab.classifiers.fits import Problem
    from embedlab.classifiers.protocols import Protocol

    features, task = task_features(encoder, full_task, start_progress)
    classes, labels = np.unique(task.gold.to_numpy().astype(str), return_inverse=True)
    protocol = Protocol(
        problem=Problem.of(features, labels, device),
        setting=SETTINGS[setting],
        seed=seed,
        progress=start_progress(task.name),
    )
    if "dev" in task.states:
        outcome = protocol.tune_by_dev(*(task.rows(split) for split in ("train", "dev", "test")))
    elif "test" in task.states:
        outcome = protocol.tune_by_folds(task.rows("train"), task.rows("test"))
    else:
        outcome = protocol.cross_validate()
    predicted = classes[outcome.predicted]
    dev_rows = len(task.rows(task.states.get("dev", task.first).split))
    counts = ((outcome.accuracy, len(predicted), task.items.split), (outcome.dev, dev_rows, "dev"))
    scores = [score(task.name, "accuracy", *facts, setting=setting) for facts in counts]
    return ClassificationResult(task=task, predicted=predicted, scores=tuple(scores))


def task_features(
    encoder: Encoder, task: ClassificationTask, start_progress: StartProgress = unseen
) -> tuple[Vectors, ClassificationTask]:
    """Return a classifier's features: the sentence vector, or [|u − v| ; u · v] for a pair; one row
    for each row of all splits. Rows with a text that the encoder refuses are left out of both.
    """
    texts = pl.concat([task.frame[side] for side in task.sides])
    sentences, index = distinct_texts(texts.to_list())
    vectors, is_accepted = encoder.encode_accepted(sentences, start_progress("sentences"))
    sides = index.reshape(len(task.sides), -1)  # (sides, rows)
    is_readable = is_accepted[sides].all(axis=0)
    readable_task = replace(task, frame=task.frame.filter(pl.Series(is_readable)))
    features = [vectors[side[is_readable]] for side in sides]
    if len(features) == 1:
        return features[0], readable_task
    first, second = features
    return np.concatenate([np.abs(first - second), first * second], axis=1), readable_task


def average_title(name: str, available: int, members: int) -> str:
    """Return the title of an average, with how many of its MEMBERS are available if not all are."""
    return name if available == members else f"{name}, {available} of {members}"


def mean_accuracy(
    name: str, members: Sequence[str], results: Sequence[ClassificationResult]
) -> Iterator[StoredScore]:
    """Yield the plain mean of the accuracies of MEMBERS; if some are missing, its title says how
    many are available.
    """
    accuracies = [result.scores[0] for result in results if result.task.name in members]
    if accuracies:
        title = average_title(name, len(accuracies), len(members))
        value = float(np.mean([accuracy.value for accuracy in accuracies]))
        items = sum(accuracy.items for accuracy in accuracies)
        # "cv and test": each task as it is scored
        split = " and ".join(sorted({str(accuracy.split) for accuracy in accuracies}))
        setting = accuracies[0].setting
        yield score(title, "accuracy", value, items, split, setting=setting, by="average")


def _too_small(task: ClassificationTask, setting: Setting) -> MissingError | None:
    """Return the error for a task where a fold, or the held-out part of a last fit, would be
    empty.
    """
    if "dev" in task.states:
        return None
    rows = task.first.rows
    # A last fit uses all train rows, or those outside the largest fold; the folds that choose the
    # L2 penalty are cut from them too.
    fit_rows = rows if "test" in task.states else rows - -(-rows // setting.folds)
    if fit_rows < setting.folds:
        purpose = f"{setting.folds} folds"
    elif setting.schedule is not None and not int(HELD_BACK * fit_rows):
        purpose = f"{HELD_BACK:.0%} to hold out"
    else:
        return None
    return MissingError(
        f"{task.name} has {count_text(rows, 'rows')}: too few for {purpose}",
        hint="`embedlab data check` shows how many the corpus has",
    )
