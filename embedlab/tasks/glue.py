"""The task `glue`: a classifier trained on a GLUE task, scored on the task's validation split."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

import numpy as np
import polars as pl

from embedlab.core.progress import StartProgress
from embedlab.core.recipe import Recipe
from embedlab.core.settings import Settings
from embedlab.data.dataset import Part
from embedlab.data.source import Source, dataset
from embedlab.models.catalog import ModelSpec
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import StoredOutcomes
from embedlab.tasks._glue_classifier import Classifier, last_classifier, load_classifier, task_of
from embedlab.tasks._glue_metrics import GLUE_TASKS, ItemValues
from embedlab.tasks._glue_submission import GlueSubmission
from embedlab.tasks.task import (
    GoldItems,
    Selection,
    Task,
    TaskResult,
    evaluation_of,
    outcomes_of,
    own_items,
)

VALIDATION = "validation"  # reported with every number: GLUE does not publish its test labels
GLUE_SCORE = "glue"  # metric of every task: the score that GLUE defines for it


def evaluate_glue(
    classifier: Classifier, source: Source, start_progress: StartProgress | None = None
) -> TaskResult:
    """Score a classifier on the validation splits of its GLUE task (two for MNLI), with GLUE's own
    score.
    """
    name = classifier.dataset
    parts = _validation_parts(name, source)
    scores: list[StoredScore] = []
    answered: list[tuple[Part, ItemValues]] = []
    for part in parts:
        answers = classifier.answers(
            part.frame, start_progress(f"{name} {part.state.split}") if start_progress else None
        )
        scores += _scores(part, classifier.gold(part.frame), answers)
        answered.append((part, answers))
    overall = replace(
        scores[0],
        by="average",
        metric=GLUE_SCORE,
        value=_glue_score(name, scores),
        items=sum(len(part.frame) for part in parts),
        split="dev",
    )
    evaluation = evaluation_of(
        "glue", classifier.encoder, [part.state for part in parts], [*scores, overall]
    )
    outcomes = tuple(_outcomes(evaluation, classifier, part, answers) for part, answers in answered)
    return TaskResult(evaluation=evaluation, tested=tuple(parts), outcomes=outcomes)


def _validation_parts(name: str, source: Source) -> list[Part]:
    return [source.open(name, split) for split in dataset(name).splits if split.startswith("dev")]


def _scores(part: Part, gold: ItemValues, answers: ItemValues) -> list[StoredScore]:
    name, split = part.state.name, part.state.split
    return [
        StoredScore(
            by="dataset",
            slice=name,
            metric=metric,
            setting=VALIDATION,
            value=measure(gold, answers),
            items=len(gold),
            split=split,
        )
        for metric, measure in GLUE_TASKS[name].metrics.items()
    ]


def _glue_score(name: str, scores: Sequence[StoredScore]) -> float:
    """Return GLUE's score of a task: the mean over its validation splits."""
    splits = {score.split for score in scores}
    return fmean(
        GLUE_TASKS[name].score(
            {score.metric: score.value for score in scores if score.split == split}
        )
        for split in splits
    )


def _outcomes(
    evaluation: Evaluation, classifier: Classifier, part: Part, answers: ItemValues
) -> StoredOutcomes:
    if not classifier.classes:
        gold = part.frame["gold"].cast(pl.Float64)
        return outcomes_of(evaluation, part, gold, answers, is_class=False)
    named = np.array(classifier.classes)[answers].tolist()
    gold = part.frame["label"].cast(pl.String)
    return outcomes_of(evaluation, part, gold.to_list(), named, classes=classifier.classes)


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
            own_items(part, "label") for name in names for part in _validation_parts(name, source)
        ]

    def check(self, spec: ModelSpec, settings: Settings) -> None:
        """Refuse a model without a classifier, and validation splits that cannot be read, before
        anything is loaded.
        """
        _validation_parts(task_of(spec), Source.from_settings(settings))

    def check_recipe(self, recipe: Recipe, source: Source) -> None:
        """Refuse the same for the model that RECIPE would train."""
        _, stage = last_classifier(recipe, f"recipe {recipe.name!r}")
        _validation_parts(stage.data.datasets[0], source)

    def evaluate(
        self,
        spec: ModelSpec,
        settings: Settings,
        start_progress: StartProgress,
        selection: Selection,
    ) -> TaskResult:
        """Evaluate a run on the GLUE task that it was trained on."""
        return evaluate_glue(
            load_classifier(spec, settings), Source.from_settings(settings), start_progress
        )

    def submission(self) -> GlueSubmission:
        """Return the predictions of its test splits as GLUE's server takes them."""
        return GlueSubmission()

    def measures(self, dataset: str) -> tuple[str, ...]:
        """Return the measures that GLUE has for a dataset, its own first."""
        return tuple(GLUE_TASKS[dataset].metrics) if dataset in GLUE_TASKS else ()


TASK = Glue()
