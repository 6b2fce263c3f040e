"""Shared by the tasks that train classifiers: labelled sentences become features once, and a
classifier is scored on each task.
"""

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from typing import TYPE_CHECKING, Any

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
from embedlab.data.dataset import Dataset, Part
from embedlab.data.source import Source
from embedlab.encoders.encoder import Encoder, Vectors, distinct_texts, encode_accepted
from embedlab.models.catalog import ModelSpec
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import StoredOutcomes
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


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassificationTask:
    """All splits of one classification task."""

    name: str
    parts: Mapping[str, Part]  # by split
    # (rows,) the number of each row among those of the whole task, of which some are left out
    numbers: RowIndices | None = None
    notes: tuple[str, ...] = ()  # on what is left out

    @property
    def sides(self) -> tuple[str, ...]:
        """Return the columns that hold sentences: one, or two for pairs."""
        frame = next(iter(self.parts.values())).frame
        return ("sentence",) if "sentence" in frame.columns else ("sentence1", "sentence2")

    def column(self, name: str) -> list[str]:
        """Return a column over all splits, one split after the other."""
        return [value for part in self.parts.values() for value in part.frame[name].to_list()]

    def of_rows(self, is_read: NDArray[np.bool_]) -> "ClassificationTask":
        """Return the task of the rows that a model can read, all splits one after the other."""
        if is_read.all():
            return self
        parts = {
            split: replace(part, frame=part.frame.filter(is_read[self.rows(split)]))
            for split, part in self.parts.items()
        }
        numbers = np.flatnonzero(is_read)
        note = f"{len(is_read) - len(numbers)} of {len(is_read)} rows left out, without a vector"
        return replace(self, parts=parts, numbers=numbers, notes=(f"{self.name}: {note}",))

    def items(self, rows: RowIndices) -> RowIndices:
        """Return the numbers of ROWS among those of the whole task."""
        return rows if self.numbers is None else self.numbers[rows]

    def rows(self, split: str) -> RowIndices:
        """Return the numbers of a split's rows among the rows of all splits."""
        sizes = [len(part.frame) for part in self.parts.values()]
        ends = dict(zip(self.parts, np.cumsum(sizes), strict=True))
        return np.arange(ends[split] - len(self.parts[split].frame), ends[split])


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenedTasks:
    """The tasks of a suite whose data is available, and the errors of the others."""

    tasks: tuple[ClassificationTask, ...]
    missing: Mapping[str, MissingError]

    @property
    def texts(self) -> Texts:
        """Return the sentences to encode for them."""
        parts = [part for task in self.tasks for part in task.parts.values()]
        columns = [task.column(side) for task in self.tasks for side in task.sides]
        return Texts(
            columns=tuple(columns),
            states=tuple(part.state for part in parts),
            missing=tuple(self.missing.values()),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassificationResult:
    """What was predicted on one task, item by item."""

    task: ClassificationTask
    classes: tuple[str, ...]  # none of scores
    gold: NDArray[Any]  # class index, or score, of each scored item
    predicted: NDArray[Any]
    rows: RowIndices  # that were scored
    scored: str  # "cv", on the test folds of a cross-validation, or "test"
    accuracy: float = nan
    dev: float  # what chose the L2 penalty, or stopped the training

    @property
    def part(self) -> Part:
        """Return the part whose items were scored: the only part in a cross-validation."""
        parts = self.task.parts
        return parts.get("test") or next(iter(parts.values()))

    def outcomes(self, evaluation: Evaluation) -> StoredOutcomes:
        """Return the stored outcomes of every scored item."""
        task = self.task
        frame = pl.concat([part.frame.select(*task.sides) for part in task.parts.values()])
        gold, predicted = self.gold, self.predicted
        if self.classes:
            names = np.array(self.classes)
            gold, predicted = names[gold], names[predicted]
        stored = outcomes_of(
            evaluation,
            replace(self.part, frame=frame[self.rows]),
            gold.tolist(),
            predicted.tolist(),
            is_class=bool(self.classes),
            classes=self.classes,
            split=self.scored,
            states=[part.state for part in task.parts.values()],
            rows=task.items(self.rows),
        )
        return replace(stored, notes=task.notes)


class ClassifierTask(Task):
    """A suite of tasks that each train a classifier or regression on frozen vectors."""

    trains_classifiers = True

    @abstractmethod
    def opened(self, source: Source, names: Sequence[str]) -> OpenedTasks:
        """Open the tasks in NAMES, all without; missing ones are returned, or raised when all are
        missing.
        """

    @abstractmethod
    def scores(
        self, results: Sequence[ClassificationResult], opened: OpenedTasks, setting: SettingName
    ) -> Iterator[StoredScore]:
        """Yield every number of the RESULTS on the opened tasks."""

    @abstractmethod
    def means(self, opened: OpenedTasks) -> Mapping[str, Sequence[str]]:
        """Return the tasks of each average, by the beginning of its name."""

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
        *,
        seed: int = FOLD_SEED,
        device: "torch.device | None" = None,
        start_progress: StartProgress = unseen,
    ) -> TaskResult:
        """Evaluate an encoder on the opened tasks, with everything that decides the scores; a
        setting other than "literature" is in the name of the task.
        """
        options: Any = {"seed": seed, "device": device, "start_progress": start_progress}
        results = [self.result(encoder, task, setting, **options) for task in opened.tasks]
        results.sort(key=lambda result: not result.classes)
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
            [*self.scores(results, opened, setting)],
            notes,
        )
        return TaskResult(
            evaluation=evaluation,
            missing=tuple(opened.missing.values()),
            tested=tuple(result.part for result in results),
            outcomes=tuple(result.outcomes(evaluation) for result in results),
            averages=self.means(opened),
        )

    def texts(self, source: Source, selection: Selection) -> Texts:
        """Return the sentences of the selected tasks that are large enough for the setting."""
        return self._selected(source, selection).texts

    def items(self, source: Source, names: Sequence[str]) -> Sequence[GoldItems]:
        """Return the items of the tasks in NAMES that are scored."""
        return [gold_items(task) for task in self.opened(source, names).tasks]

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
            parts = {  # under the name of the task, which may be another one
                split: replace(part, state=replace(part.state, name=name))
                for split, part in parts.items()
            }
            tasks.append(ClassificationTask(name=name, parts=parts))
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


def gold_items(task: ClassificationTask) -> GoldItems:
    """Return the items of TASK that are scored: those of its test split, or of its only one in a
    cross-validation.
    """
    split = "test" if "test" in task.parts else next(iter(task.parts))
    labels, rows = task.column("label"), task.rows(split)
    return GoldItems(
        dataset=task.name,
        split="test" if split == "test" else "cv",
        part=task.parts[split],
        rows=rows,
        labels=tuple(labels[row] for row in rows),
        classes=tuple(np.unique(np.array(labels)).tolist()),
        states=tuple(part.state for part in task.parts.values()),
    )


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
    classes, labels = np.unique(np.array(task.column("label")), return_inverse=True)
    protocol = Protocol(
        problem=Problem.of(features, labels, device),
        setting=SETTINGS[setting],
        seed=seed,
        progress=start_progress(task.name),
    )
    if "dev" in task.parts:
        outcome = protocol.tune_by_dev(*(task.rows(split) for split in ("train", "dev", "test")))
    elif "test" in task.parts:
        outcome = protocol.tune_by_folds(task.rows("train"), task.rows("test"))
    else:
        outcome = protocol.cross_validate()
    return ClassificationResult(
        task=task,
        classes=tuple(classes.tolist()),
        gold=labels[outcome.rows],
        predicted=outcome.predicted,
        rows=outcome.rows,
        scored=outcome.scored,
        accuracy=outcome.accuracy,
        dev=outcome.dev,
    )


def task_features(
    encoder: Encoder, task: ClassificationTask, start_progress: StartProgress = unseen
) -> tuple[Vectors, ClassificationTask]:
    """Return a classifier's features: the sentence vector, or [|u − v| ; u · v] for a pair; one row
    for each row of all splits. Rows with a text that the encoder refuses are left out of both.
    """
    columns = [task.column(side) for side in task.sides]
    sentences, index = distinct_texts([sentence for column in columns for sentence in column])
    vectors, is_accepted = encode_accepted(encoder, sentences, start_progress("sentences"))
    is_readable = np.logical_and.reduce(is_accepted[index].reshape(len(columns), -1))
    readable_task = task.of_rows(is_readable)
    if len(columns) == 1:
        return vectors[index[is_readable]], readable_task
    first, second = (vectors[side[is_readable]] for side in np.split(index, 2))
    return np.concatenate([np.abs(first - second), first * second], axis=1), readable_task


def accuracies(
    result: ClassificationResult, setting: SettingName
) -> tuple[StoredScore, StoredScore]:
    """Return the accuracy to report and the one that chose the L2 penalty."""
    task = result.task
    dev_part = task.parts.get("dev") or next(iter(task.parts.values()))
    dev_rows, rows = len(dev_part.frame), len(result.rows)
    return (
        score(task.name, "accuracy", result.accuracy, rows, result.scored, setting=setting),
        score(task.name, "accuracy", result.dev, dev_rows, "dev", setting=setting),
    )


def average_title(name: str, available: int, members: int) -> str:
    """Return the title of an average, with how many of its MEMBERS are available if not all are."""
    return name if available == members else f"{name}, {available} of {members}"


def mean_accuracy(
    name: str, members: Sequence[str], results: Sequence[ClassificationResult], setting: SettingName
) -> Iterator[StoredScore]:
    """Yield the plain mean of the accuracies of MEMBERS; if some are missing, its title says how
    many are available.
    """
    available = [result for result in results if result.task.name in members]
    if available:
        title = average_title(name, len(available), len(members))
        value = float(np.mean([result.accuracy for result in available]))
        items = sum(len(result.rows) for result in available)
        # "cv and test": each task as it is scored
        split = " and ".join(sorted({result.scored for result in available}))
        yield score(title, "accuracy", value, items, split, setting=setting, by="average")


def _too_small(task: ClassificationTask, setting: Setting) -> MissingError | None:
    """Return the error for a task where a fold, or the held-out part of a last fit, would be
    empty.
    """
    if "dev" in task.parts:
        return None
    rows = len(next(iter(task.parts.values())).frame)
    # A last fit uses all train rows, or those outside the largest fold; the folds that choose the
    # L2 penalty are cut from them too.
    fit_rows = rows if "test" in task.parts else rows - -(-rows // setting.folds)
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
