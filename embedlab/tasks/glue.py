"""The task `glue`: a classifier trained on a GLUE task, scored on the task's validation split; its
predictions for the test splits, whose labels are not public, in the files that GLUE's server takes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from types import MappingProxyType
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.measures import MEASURES
from embedlab.core.disk import write_atomic
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.recipe import Recipe, Stage
from embedlab.core.session import ProgressCallback, StartProgress
from embedlab.core.settings import Settings
from embedlab.data.dataset import Part
from embedlab.data.published import state_remarks
from embedlab.data.source import Source, dataset
from embedlab.encoders.encoder import Encoder, Text, TextPair
from embedlab.models.catalog import ModelSpec
from embedlab.runs.evaluations import StoredScore
from embedlab.tasks._heads import run_of
from embedlab.tasks.task import (
    GoldItems,
    Selection,
    Task,
    TaskResult,
    evaluation_of,
    load_member,
    outcomes_of,
    part_items,
    score,
)

VALIDATION = "validation"  # reported with every number: GLUE does not publish its test labels
GLUE_SCORE = "glue"  # metric of every task: the score that GLUE defines for it
LOWEST, HIGHEST = 0.0, 5.0  # scores of STS-B

ItemValues = NDArray[Any]  # (items,) class indices, or scores


@dataclass(frozen=True, kw_only=True)
class GlueTask:
    """One of GLUE's tasks."""

    metrics: tuple[str, ...]
    counted: int  # of them, the first: their mean is GLUE's score of the task
    files: Mapping[str, str]  # test split → the file of its predictions


def _task(file: str, *counted: str, shown: tuple[str, ...] = ()) -> GlueTask:
    files = {"test": f"{file}.tsv"}
    if file == "MNLI":
        files = {"test-matched": "MNLI-m.tsv", "test-mismatched": "MNLI-mm.tsv"}
    return GlueTask(metrics=(*counted, *shown), counted=len(counted), files=files)


# by the name of the dataset
GLUE_TASKS: Mapping[str, GlueTask] = MappingProxyType(
    {
        "glue-cola": _task("CoLA", "matthews", shown=("accuracy",)),
        "glue-sst2": _task("SST-2", "accuracy"),
        "glue-mrpc": _task("MRPC", "f1", "accuracy"),
        "sts-benchmark": _task("STS-B", "pearson", "spearman"),
        "glue-qqp": _task("QQP", "f1", "accuracy"),
        "glue-mnli": _task("MNLI", "accuracy"),
        "glue-qnli": _task("QNLI", "accuracy"),
        "glue-rte": _task("RTE", "accuracy"),
        "glue-wnli": _task("WNLI", "accuracy"),
    }
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Classifier:
    """A run's trained classifier: its encoder and the linear layer of its last stage."""

    encoder: Encoder
    dataset: str
    options: Any  # embedlab.objectives.losses.classification.Options
    head: Any  # the same module's objective, with its weights

    @classmethod
    def of(cls, spec: ModelSpec, settings: Settings) -> "Classifier":
        """Load the last classifier that a finished run trained on a GLUE task; a model without one
        is a UsageError.
        """
        # imports torch, which stored results do not need
        from embedlab.objectives.objective import load_objectives

        index, stage = classifier_stage(spec)
        encoder, _ = load_member(spec, settings)
        head = load_objectives(run_of(spec), encoder.dim)[index]
        options = stage.objective.options
        return cls(encoder=encoder, dataset=stage.data.datasets[0], options=options, head=head)

    @property
    def classes(self) -> tuple[str, ...]:
        """Return the labels that it distinguishes; none for a regression."""
        return () if self.options.classes == "score" else self.options.classes

    def answers(self, frame: pl.DataFrame, progress: ProgressCallback | None = None) -> ItemValues:
        """Return the predicted class index, or score, of each row."""
        texts: Sequence[Text]
        if self.options.joint:
            pairs = zip(frame["sentence1"], frame["sentence2"], strict=True)
            texts = [TextPair(first=first, second=second) for first, second in pairs]
        else:
            texts = frame["sentence"].to_list()
        vectors = self.encoder.encode(texts, progress)
        weight, bias = (tensor.numpy() for tensor in self.head.linear())
        logits = vectors @ weight.T + bias  # (rows, classes), or (rows, 1)
        values: ItemValues = logits.argmax(axis=1) if self.classes else logits[:, 0]
        return values

    def gold(self, frame: pl.DataFrame) -> ItemValues:
        """Return the gold class index, or score, of each row."""
        if not self.classes:
            return frame["gold"].cast(pl.Float64).to_numpy()
        return np.array([self.classes.index(label) for label in frame["label"]])


def classifier_stage(spec: ModelSpec) -> tuple[int, Stage]:
    """Return the last stage of a finished run that trained a classifier on a GLUE task, and its
    number; nothing is loaded. Any other model is refused.
    """
    if spec.kind != "run":
        raise UsageError(
            f"{spec.name!r} is not a run: GLUE scores trained classifiers",
            hint="train one: embedlab train glue-finetune",
        )
    run = run_of(spec)
    if not run.model.is_dir():
        raise MissingError(
            f"run {run.id!r} is not finished", hint="`embedlab runs ls` shows all runs"
        )
    return _last_classifier(run.recipe(), f"run {run.id!r}")


def _last_classifier(recipe: Recipe, title: str) -> tuple[int, Stage]:
    for index, stage in reversed(list(enumerate(recipe.stages))):
        if stage.objective.name == "classification" and stage.data.names[0] in GLUE_TASKS:
            return index, stage
    raise UsageError(
        f"{title} has no classifier of a GLUE task",
        hint="train one, for example: embedlab train glue-finetune",
    )


def _validation_parts(name: str, source: Source) -> list[Part]:
    return [source.open(name, split) for split in dataset(name).splits if split.startswith("dev")]


class GlueSubmission:
    """A file for each test split of the GLUE tasks that runs were trained on."""

    def check(self, specs: Sequence[ModelSpec], settings: Settings) -> None:
        """Refuse unreadable test splits and two runs for one task; no model is loaded."""
        source = Source.from_settings(settings)
        authors: dict[str, str] = {}
        for spec in specs:
            name = classifier_stage(spec)[1].data.datasets[0]
            for split, file in GLUE_TASKS[name].files.items():
                if file in authors:
                    raise UsageError(
                        f"{authors[file]!r} and {spec.name!r} both predict {file}",
                        hint="name one run for each GLUE task",
                    )
                source.open(name, split)
                authors[file] = spec.name

    def write(self, folder: Path, specs: Sequence[ModelSpec], settings: Settings) -> list[str]:
        """Write the predictions of each run for the test splits of its task (two files for MNLI)
        into FOLDER; return a note on each file, with what its split lacks of the published data.

        What `check` refuses is refused before anything is written.
        """
        self.check(specs, settings)
        source = Source.from_settings(settings)
        texts: dict[Path, str] = {}
        notes = []
        for spec in specs:
            classifier = Classifier.of(spec, settings)
            for split, file in GLUE_TASKS[classifier.dataset].files.items():
                part, path = source.open(classifier.dataset, split), folder / file
                texts[path] = predictions_text(classifier.answers(part.frame), classifier.classes)
                written = f"{spec.name}: predictions for GLUE's server in {path}"
                notes.append("; ".join([written, *state_remarks(asdict(part.state))]))
        for path, text in texts.items():
            write_atomic(path, text, hint="choose another folder with --submission")
        return notes


def predictions_text(answers: ItemValues, classes: Sequence[str]) -> str:
    """Return the text of a file of predictions: the row of each item from 0, and its label or,
    without CLASSES, its score from 0 to 5.
    """
    if classes:
        predictions = [classes[answer] for answer in answers]
    else:
        predictions = [f"{number:.3f}" for number in answers.clip(LOWEST, HIGHEST)]
    lines = [f"{index}\t{prediction}\n" for index, prediction in enumerate(predictions)]
    return "".join(["index\tprediction\n", *lines])


class Glue(Task):
    """The GLUE task that the last classifier of a run was trained on; any other model has no
    classifier.
    """

    name = "glue"
    summary = (
        "GLUE on its validation splits: Matthews, F1, accuracy, Pearson and Spearman of a "
        "trained classifier"
    )
    item_datasets = tuple(name for name in GLUE_TASKS if name.startswith("glue-"))

    def items(self, source: Source, names: Sequence[str]) -> Sequence[GoldItems]:
        """Return the items of the validation splits of the datasets in NAMES."""
        return [
            part_items(part, part.frame["label"])
            for name in names
            for part in _validation_parts(name, source)
        ]

    def check(self, spec: ModelSpec, settings: Settings) -> None:
        """Refuse a model without a classifier, and validation splits that cannot be read, before
        anything is loaded.
        """
        _, stage = classifier_stage(spec)
        _validation_parts(stage.data.datasets[0], Source.from_settings(settings))

    def check_recipe(self, recipe: Recipe, source: Source) -> None:
        """Refuse the same for the model that RECIPE would train."""
        _, stage = _last_classifier(recipe, f"recipe {recipe.name!r}")
        _validation_parts(stage.data.datasets[0], source)

    def evaluate(
        self,
        spec: ModelSpec,
        settings: Settings,
        start_progress: StartProgress,
        selection: Selection,
    ) -> TaskResult:
        """Score a run on the validation splits of the GLUE task that it was trained on (two for
        MNLI), with GLUE's own score.
        """
        classifier = Classifier.of(spec, settings)
        name, classes = classifier.dataset, classifier.classes
        parts = _validation_parts(name, Source.from_settings(settings))
        columns = []
        for part in parts:
            progress = start_progress(f"{name} {part.state.split}")
            gold = classifier.gold(part.frame)
            columns.append((gold, classifier.answers(part.frame, progress)))
        states = [part.state for part in parts]
        scores = [_glue_score(name, columns)]
        evaluation = evaluation_of("glue", classifier.encoder, states, scores)
        is_class = bool(classes)
        outcomes = []
        for part, values in zip(parts, columns, strict=True):
            gold, answers = (np.array(classes)[column] if classes else column for column in values)
            outcomes.append(
                outcomes_of(evaluation, part, gold, answers, is_class=is_class, classes=classes)
            )
        return TaskResult(
            evaluation=evaluation,
            tested=tuple(parts),
            outcomes=tuple(outcomes),
            setting=VALIDATION,
        )

    def submission(self) -> GlueSubmission:
        """Return the predictions of its test splits as GLUE's server takes them."""
        return GlueSubmission()

    def measures(self, dataset: str) -> tuple[str, ...]:
        """Return the measures that GLUE has for a dataset, its own first."""
        return GLUE_TASKS[dataset].metrics if dataset in GLUE_TASKS else ()


def _glue_score(name: str, columns: Sequence[tuple[ItemValues, ItemValues]]) -> StoredScore:
    """Return GLUE's score: the mean over validation splits, (gold, answers) each, of the mean of
    the measures that count.
    """
    glue_task = GLUE_TASKS[name]
    counted = glue_task.metrics[: glue_task.counted]
    values = [fmean(MEASURES[metric].value(*column) for metric in counted) for column in columns]
    items = sum(len(gold) for gold, _ in columns)
    return score(name, GLUE_SCORE, fmean(values), items, "dev", setting=VALIDATION, by="average")


TASK = Glue()
