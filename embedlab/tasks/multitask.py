"""The task `multitask`: sentiment, paraphrases and graded similarity, predicted by the heads of a
trained run (chen).

Sentiment accuracy, paraphrase accuracy, STS Pearson and their mean, on the dev files of the CS224N
course: its test files have no labels. Where a run has no head for paraphrases or similarity, the
cosine of the sentence vectors is used, as in the paper's baseline; the threshold for paraphrases,
which the paper does not state, is chosen on training pairs.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.correlations import pearson
from embedlab.core.printable import count_text
from embedlab.core.recipe import Recipe
from embedlab.core.session import StartProgress
from embedlab.core.settings import Settings
from embedlab.data.dataset import Part
from embedlab.data.published import datasets_of
from embedlab.data.source import Source
from embedlab.models.catalog import ModelSpec
from embedlab.models.location import spec_fingerprint
from embedlab.objectives.losses.sentiment_head import SENTIMENT_CLASSES
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.outcomes import SENTENCES, StoredOutcomes
from embedlab.tasks import _heads
from embedlab.tasks._heads import THRESHOLD_DATA, Prediction, heads_of, heads_of_recipe, no_heads
from embedlab.tasks.task import (
    GoldItems,
    Selection,
    Task,
    TaskResult,
    Texts,
    evaluation_of,
    outcomes_of,
    part_items,
    part_texts,
    score,
)

if TYPE_CHECKING:
    from embedlab.objectives.objective import TrainedEncoder


METRICS: Mapping[str, str] = {
    "sentiment": "accuracy",
    "paraphrases": "accuracy",
    "sts-course": "pearson",
}
MULTITASK_DATASETS = datasets_of("multitask")
MEAN, OF_THREE = "mean", "of the three"  # the slice and metric of the mean of their scores
_LABELS = {"sentiment": "label", "paraphrases": "is_duplicate"}  # of those with classes


def _classes(dataset: str, prediction: Prediction) -> NDArray[np.int64]:
    """Return the predicted class of each row."""
    values = prediction.values
    classes = values.argmax(axis=1) if dataset == "sentiment" else values > prediction.threshold
    return classes.astype(np.int64)


def dataset_metric(dataset: str, prediction: Prediction, frame: pl.DataFrame) -> float:
    """Return the metric of a dataset, 0–1 or −1–1."""
    if dataset not in _LABELS:
        return pearson(frame["gold"].to_numpy(), prediction.values)
    return float((_classes(dataset, prediction) == frame[_LABELS[dataset]].to_numpy()).mean())


def mean_metric(predictions: Mapping[str, Prediction], parts: Mapping[str, Part]) -> float:
    """Return the mean of the metrics of the datasets that are predicted."""
    return fmean(
        dataset_metric(name, prediction, parts[name].frame)
        for name, prediction in predictions.items()
    )


def _outcomes(evaluation: Evaluation, part: Part, prediction: Prediction) -> StoredOutcomes:
    """Return each row's gold and predicted class or similarity, so that two models can be compared
    on the same rows.
    """
    dataset, frame = part.state.name, part.frame
    if dataset not in _LABELS:
        return outcomes_of(evaluation, part, frame["gold"], prediction.values, is_class=False)
    gold, predicted = frame[_LABELS[dataset]].to_list(), _classes(dataset, prediction).tolist()
    classes = SENTIMENT_CLASSES if dataset == "sentiment" else ("0", "1")
    return outcomes_of(evaluation, part, gold, predicted, classes=classes)


def _notes(predictions: Mapping[str, Prediction], parts: Mapping[str, Part]) -> Iterator[str]:
    """Yield how each number was computed, and what was left out."""
    for name, prediction in predictions.items():
        yield f"{name}: {prediction.by}"
    for name in MULTITASK_DATASETS:
        if name not in predictions:
            yield f"{name}: no head"
    for name, part in parts.items():
        for reason, rows in part.state.skipped.items():
            yield f"{name}: {count_text(rows, 'rows')} left out, {reason}"


class Multitask(Task):
    """The three datasets of the course on their dev splits, evaluated together."""

    name = "multitask"
    summary = (
        "sentiment accuracy, paraphrase accuracy and STS Pearson by the heads of a run, and "
        "their mean, on dev (chen)"
    )
    item_datasets = tuple(_LABELS)
    mixed_metric = OF_THREE
    dev_names = ("multitask", *MULTITASK_DATASETS)

    def texts(self, source: Source, selection: Selection) -> Texts:
        """Return the sentences of the three datasets."""
        parts = [source.open(name, "dev") for name in MULTITASK_DATASETS]
        return part_texts(parts, sides=("sentence", *SENTENCES))

    def items(self, source: Source, names: Sequence[str]) -> Sequence[GoldItems]:
        """Return the items of the two datasets with classes that NAMES lists."""
        parts = [source.open(name, "dev") for name in names]
        return [part_items(part, part.frame[_LABELS[part.state.name]]) for part in parts]

    def check(self, spec: ModelSpec, settings: Settings) -> None:
        """Refuse an ensemble without heads, and unreadable training pairs where a threshold is
        chosen on them.
        """
        if spec.kind == "ensemble":
            if not any(heads_of(part) for part in spec.parts):
                raise no_heads(spec)
        elif "paraphrase_head" not in heads_of(spec):
            Source.from_settings(settings).open(*THRESHOLD_DATA)

    def check_recipe(self, recipe: Recipe, source: Source) -> None:
        """Refuse unreadable training pairs where a threshold is chosen on them for the model that
        RECIPE would train.
        """
        if "paraphrase_head" not in heads_of_recipe(recipe):
            source.open(*THRESHOLD_DATA)

    def evaluate(
        self,
        spec: ModelSpec,
        settings: Settings,
        start_progress: StartProgress,
        selection: Selection,
    ) -> TaskResult:
        """Score the three datasets, or those that the model can predict; an ensemble averages its
        members' predictions.
        """
        source = Source.from_settings(settings)
        parts = {name: source.open(name, "dev") for name in MULTITASK_DATASETS}
        members = {
            member.name: _heads.load_trained(member, settings) for member in spec.parts or (spec,)
        }
        is_ensemble = spec.kind == "ensemble"
        predictions = _heads.predict_all(
            members, parts, None if is_ensemble else source, start_progress
        )
        if not predictions:
            raise no_heads(spec)
        encoder = next(iter(members.values())).encoder
        states = [part.state for part in parts.values()]
        scores = []
        if len(predictions) == len(parts):
            items = sum(len(part.frame) for part in parts.values())
            value = mean_metric(predictions, parts)
            mean = score(MEAN, OF_THREE, value, items, "dev", setting="all", by="average")
            scores.append(mean)
        notes = list(_notes(predictions, parts))
        evaluation = replace(
            evaluation_of(self.name, encoder, states, scores, notes),
            model=spec.name,
            fingerprint=spec_fingerprint(spec, precision=encoder.facts.precision),
            truncated=max(member.encoder.facts.truncated for member in members.values()),
        )
        outcomes = [
            _outcomes(evaluation, parts[name], prediction)
            for name, prediction in predictions.items()
        ]
        return TaskResult(
            evaluation=evaluation,
            tested=tuple(parts[name] for name in predictions),
            outcomes=tuple(outcomes),
            averages={MEAN: MULTITASK_DATASETS},
            setting="all",
        )

    def measures(self, dataset: str) -> tuple[str, ...]:
        """Return the one of each of the three."""
        return (METRICS[dataset],) if dataset in METRICS else ()

    def averages(self, datasets: Sequence[str], name: str) -> Mapping[str, Sequence[str]]:
        """Return the mean of the three where all of them are available."""
        is_complete = {*MULTITASK_DATASETS} <= {*datasets}
        return {f"{MEAN} {OF_THREE}": MULTITASK_DATASETS} if is_complete else {}

    def dev_score(self, source: Source, name: str) -> "Callable[[TrainedEncoder], float]":
        """Return the dev score x 100 as a function: of one dataset, or for "multitask" the mean
        over those that a model can predict.
        """
        names = MULTITASK_DATASETS if name == self.name else (name,)
        parts = {dataset_name: source.open(dataset_name, "dev") for dataset_name in names}

        def score(trained: "TrainedEncoder") -> float:
            return 100 * mean_metric(_heads.predict_all({"": trained}, parts, source), parts)

        return score


TASK = Multitask()
