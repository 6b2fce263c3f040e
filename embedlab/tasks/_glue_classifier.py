"""The classifier that a run trained on one of GLUE's tasks, found by its recipe and loaded with its
encoder.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.progress import ProgressCallback
from embedlab.core.recipe import Recipe, Stage
from embedlab.core.settings import Settings
from embedlab.encoders.encoder import Encoder, Text, TextPair, Vectors
from embedlab.models.catalog import ModelSpec
from embedlab.runs.store import RunFolder
from embedlab.tasks._glue_metrics import GLUE_TASKS, ItemValues
from embedlab.tasks.task import load_member


@dataclass(frozen=True, kw_only=True, eq=False)
class Classifier:
    """A run's trained classifier: its encoder and the linear layer of its last stage."""

    encoder: Encoder
    dataset: str
    options: Any  # embedlab.objectives.classification.options.Options
    weight: Vectors  # (classes, dim), or (1, dim)
    bias: Vectors  # (classes,), or (1,)

    @property
    def classes(self) -> tuple[str, ...]:
        """Return the labels that it distinguishes; none for a regression."""
        return () if self.options.classes == "score" else self.options.classes

    def answers(self, frame: pl.DataFrame, progress: ProgressCallback | None = None) -> ItemValues:
        """Return the predicted class index, or score, of each row."""
        vectors = self.encoder.encode(self._texts(frame), progress)
        logits = vectors @ self.weight.T + self.bias  # (rows, classes), or (rows, 1)
        values: ItemValues = logits.argmax(axis=1) if self.classes else logits[:, 0]
        return values

    def _texts(self, frame: pl.DataFrame) -> list[Text]:
        if not self.options.joint:
            return frame["sentence"].to_list()
        return [
            TextPair(first=first, second=second)
            for first, second in zip(frame["sentence1"], frame["sentence2"], strict=True)
        ]

    def gold(self, frame: pl.DataFrame) -> ItemValues:
        """Return the gold class index, or score, of each row."""
        return (
            np.array([self.classes.index(label) for label in frame["label"]])
            if self.classes
            else frame["gold"].to_numpy()
        )


def run_of(spec: ModelSpec) -> RunFolder:
    """Return the run of a model; any other model has no classifier."""
    if spec.kind != "run":
        raise UsageError(
            f"{spec.name!r} is not a run: GLUE scores trained classifiers",
            hint="train one: embedlab train glue-finetune",
        )
    return RunFolder(Path(spec.location).parent)


def load_classifier(spec: ModelSpec, settings: Settings) -> Classifier:
    """Load the last classifier that a finished run trained on a GLUE task; a model without one is a
    UsageError.
    """
    from embedlab.objectives.classification.loss import (
        Classification,
    )  # imports torch, which stored results do not need
    from embedlab.objectives.objective import load_objectives

    run = run_of(spec)
    index, stage = _classifier_stage(run)
    encoder, _ = load_member(spec, settings)
    objective = load_objectives(run, encoder.dim)[index]
    assert isinstance(objective, Classification)
    weight, bias = objective.linear()
    return Classifier(
        encoder=encoder,
        dataset=stage.data.datasets[0],
        options=stage.objective.options,
        weight=weight.numpy(),
        bias=bias.numpy(),
    )


def task_of(spec: ModelSpec) -> str:
    """Return the GLUE task that a finished run's last classifier was trained on; nothing is
    loaded.
    """
    return _classifier_stage(run_of(spec))[1].data.datasets[0]


def _classifier_stage(run: RunFolder) -> tuple[int, Stage]:
    """Return the last stage of a finished run that trained a classifier on a GLUE task, and its
    number.
    """
    if not run.model.is_dir():
        raise MissingError(
            f"run {run.id!r} is not finished", hint="`embedlab runs ls` shows all runs"
        )
    return last_classifier(run.recipe(), f"run {run.id!r}")


def last_classifier(recipe: Recipe, title: str) -> tuple[int, Stage]:
    for index, stage in reversed(list(enumerate(recipe.stages))):
        if stage.objective.name == "classification" and stage.data.names[0] in GLUE_TASKS:
            return index, stage
    raise UsageError(
        f"{title} has no classifier of a GLUE task",
        hint="train one, for example: embedlab train glue-finetune",
    )
