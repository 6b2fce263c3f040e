"""The task `glue`: what a classifier that was trained on a GLUE task says of its validation split."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file

from embedlab.data.dataset import Part
from embedlab.data.source import Source, dataset
from embedlab.encoders.catalog import ModelSpec
from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine, machine
from embedlab.encoders.encoder import JOINT
from embedlab.encoders.transformer import TransformerEncoder
from embedlab.errors import MissingError, UsageError
from embedlab.runs.evaluations import Evaluation, Score
from embedlab.runs.outcomes import Outcomes, items_frame
from embedlab.runs.store import RunFolder
from embedlab.settings import Settings
from embedlab.tasks.judged import Judged, Watches
from embedlab.tasks.marks import evaluation_marks

SUMMARY = "GLUE on its validation splits: Matthews correlation, F1 and accuracy of a trained classifier"

Labels = NDArray[np.int64]
DEV = "validation"  # said beside every number: test labels are GLUE's own


def accuracy(gold: Labels, predicted: Labels) -> float:
    """Share of equal labels."""
    return float((gold == predicted).mean())


def matthews(gold: Labels, predicted: Labels) -> float:
    """Matthews correlation of two binary columns; 0 where either is constant."""
    table = np.array([[np.sum((gold == a) & (predicted == b)) for b in (0, 1)] for a in (0, 1)], dtype=np.float64)
    spread = np.sqrt(table.sum(0).prod() * table.sum(1).prod())
    return float(np.linalg.det(table) / spread) if spread else 0.0


def f1(gold: Labels, predicted: Labels) -> float:
    """Harmonic mean of precision and recall of the second of two classes."""
    return float(2 * np.sum((gold == 1) & (predicted == 1)) / max(1, np.sum(gold == 1) + np.sum(predicted == 1)))


Metric = Callable[[Labels, Labels], float]
METRICS: Mapping[str, Mapping[str, Metric]] = MappingProxyType(
    {
        "glue-cola": {"matthews": matthews, "accuracy": accuracy},
        "glue-mrpc": {"f1": f1, "accuracy": accuracy},
        "glue-qqp": {"f1": f1, "accuracy": accuracy},
    }
)  # accuracy alone for the others


def evaluate_glue(run: RunFolder, source: Source, machine: Machine) -> Evaluation:
    """The metrics of a finished run on the validation splits of the GLUE task that its last classifier learnt.

    A run without such a classifier is a UsageError; MNLI has two validation splits, matched and mismatched.
    """
    return _judged(run, source, machine).evaluation


def _judged(run: RunFolder, source: Source, machine: Machine) -> Judged:
    index, options, name = _classifier(run)
    encoder = load_transformer(str(run.model), machine, name=run.id)
    head = load_file(run.path / "heads.safetensors")
    parts = [source.open(name, split) for split in dataset(name).splits if split.startswith("dev")]
    scores: list[Score] = []
    outcomes: list[Outcomes] = []
    for part in parts:
        logits = _vectors(encoder, part, joint=options.joint) @ head[f"{index}.head.weight"].T + head[f"{index}.head.bias"]
        gold = np.array([options.classes.index(label) for label in part.frame["label"]])
        predicted = logits.argmax(dim=1).numpy()
        scores += _scores(name, part, gold, predicted)
        outcomes.append(_outcomes(encoder, part, predicted, options.classes))
    return Judged(evaluation=_evaluation(encoder, parts, scores), tested=tuple(parts), outcomes=tuple(outcomes))


def judge(spec: ModelSpec, settings: Settings, watches: Watches) -> Judged:
    """The GLUE task that a run has learnt; any other model has no classifier to judge."""
    if spec.kind != "run":
        raise UsageError(f"{spec.name!r} is no run: GLUE judges trained classifiers", hint="train one: embedlab train glue-finetune")
    run = RunFolder(Path(spec.location).parent)
    return _judged(run, Source.from_settings(settings), machine(settings))


def _classifier(run: RunFolder) -> tuple[int, Any, str]:
    """The stage that trained a run's last classifier, its options, and the dataset it learnt from."""
    if not run.model.is_dir():
        raise MissingError(f"run {run.id!r} is not finished", hint="`embedlab runs ls` shows all runs")
    for index, stage in reversed(list(enumerate(run.recipe().stages))):
        if stage.objective.name == "classification" and stage.data.datasets[0].startswith("glue-"):
            return index, stage.objective.options, stage.data.datasets[0]
    raise UsageError(f"run {run.id!r} has no classifier of a GLUE task", hint="train one, for example: embedlab train glue-finetune")


def _vectors(encoder: TransformerEncoder, part: Part, *, joint: bool) -> torch.Tensor:
    frame = part.frame
    columns = (frame["sentence1"], frame["sentence2"]) if joint else (frame["sentence"],)
    return torch.from_numpy(encoder.encode([JOINT.join(texts) for texts in zip(*columns, strict=True)]))


def _scores(name: str, part: Part, gold: Labels, predicted: Labels) -> list[Score]:
    metrics = METRICS.get(name, {"accuracy": accuracy})
    return [
        Score(
            by="dataset",
            slice=name,
            metric=metric,
            setting=DEV,
            value=measure(gold, predicted),
            items=len(gold),
            split=part.state.split,
        )
        for metric, measure in metrics.items()
    ]


def _outcomes(encoder: TransformerEncoder, part: Part, predicted: Labels, classes: Sequence[str]) -> Outcomes:
    return Outcomes(
        task="glue",
        dataset=part.state.name,
        split=part.state.split,
        fingerprint=encoder.fingerprint,
        data=(asdict(part.state),),
        marks=evaluation_marks((part.state,)),
        classes=tuple(classes),
        items=items_frame(np.arange(len(predicted)), part.frame["label"].to_list(), np.array(classes, dtype=np.str_)[predicted]),
    )


def _evaluation(encoder: TransformerEncoder, parts: Sequence[Part], scores: Sequence[Score]) -> Evaluation:
    facts, states = encoder.facts, [part.state for part in parts]
    return Evaluation(
        task="glue",
        model=encoder.name,
        fingerprint=encoder.fingerprint,
        precision=facts.precision,
        pooling=facts.pooling,
        max_tokens=facts.max_tokens,
        truncated=facts.truncated,
        data=tuple(asdict(state) for state in states),
        marks=evaluation_marks(states),
        notes=facts.notes,
        scores=tuple(scores),
    )
