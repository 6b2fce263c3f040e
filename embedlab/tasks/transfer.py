"""The task `transfer`: linear classifiers on frozen vectors, on SentEval's downstream tasks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.correlations import pearson, spearman
from embedlab.choices import SettingName
from embedlab.classifiers.folds import FOLD_SEED
from embedlab.core.errors import UsageError
from embedlab.core.nearest import unknown
from embedlab.core.progress import StartProgress
from embedlab.core.settings import Settings
from embedlab.data.source import Source, dataset
from embedlab.encoders.encoder import Encoder
from embedlab.models.catalog import ModelSpec
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import StoredOutcomes
from embedlab.tasks._labelled import (
    ClassificationResult,
    ClassificationTask,
    OpenedTasks,
    SuiteResult,
    accuracies,
    classify,
    drop_small_tasks,
    gold_items,
    mean_accuracy,
    open_tasks,
    suite_evaluation,
    task_features,
)
from embedlab.tasks.task import (
    GoldItems,
    Selection,
    Task,
    TaskResult,
    Texts,
    load_member,
    outcomes_of,
)

if TYPE_CHECKING:
    import torch


# The task sts scores the same pairs without training, so the supervised scores need names of their
# own.
RELATEDNESS: Mapping[str, str] = MappingProxyType(
    {"sick-r-supervised": "sick-r", "sts-benchmark-supervised": "sts-benchmark"}
)
TRANSFER_TASKS = (
    "mr",
    "cr",
    "subj",
    "mpqa",
    "sst2",
    "sst5",
    "trec",
    "mrpc",
    "sick-e",
    *RELATEDNESS,
)
TRANSFER_AVERAGES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "average of 8 (liao, with SST5)": (
            "mr",
            "cr",
            "subj",
            "mpqa",
            "sst2",
            "sst5",
            "trec",
            "mrpc",
        ),
        "average of 7 (tsukagoshi, without SST5)": (
            "mr",
            "cr",
            "subj",
            "mpqa",
            "sst2",
            "trec",
            "mrpc",
        ),
    }
)

_MEASURES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"mrpc": ("accuracy", "f1"), **dict.fromkeys(RELATEDNESS, ("pearson", "spearman"))}
)


def open_transfer(source: Source, names: Sequence[str] = TRANSFER_TASKS) -> OpenedTasks:
    """Open the transfer tasks in NAMES; missing ones are returned, or raised when all are
    missing.
    """
    for name in names:
        if name not in TRANSFER_TASKS:
            raise unknown("transfer task", name, TRANSFER_TASKS)
    if not names:
        raise UsageError("no transfer task was named", hint=f"known: {', '.join(TRANSFER_TASKS)}")
    return open_tasks(source, {name: dataset(RELATEDNESS.get(name, name)) for name in names})


def evaluate_transfer(
    encoder: Encoder,
    opened: OpenedTasks,
    setting: SettingName = "literature",
    *,
    seed: int = FOLD_SEED,
    device: "torch.device | None" = None,
    start_progress: StartProgress | None = None,
) -> SuiteResult:
    """Return every accuracy on the opened tasks, MRPC's F1, the published averages whose tasks were
    selected, and relatedness.
    """
    classified = [task for task in opened.tasks if task.name not in RELATEDNESS]
    results = tuple(
        classify(
            encoder, classified, setting, seed=seed, device=device, start_progress=start_progress
        )
    )
    related = [
        _relate(encoder, task, seed=seed, device=device, start_progress=start_progress)
        for task in opened.tasks
        if task.name in RELATEDNESS
    ]
    scores = [
        *_scores(results, opened, setting),
        *(score for each in related for score in each.scores()),
    ]
    read = [*(each.task for each in results), *(each.task for each in related)]
    evaluation = suite_evaluation("transfer", encoder, opened, setting, scores, read)
    return SuiteResult(
        evaluation=evaluation,
        results=results,
        scored=tuple(each.outcomes(evaluation) for each in related),
    )


def second_class_f1(result: ClassificationResult) -> float:
    """Harmonic mean of precision and recall of the second of two classes, 0–1."""
    predicted, real = result.outcome.predicted == 1, result.gold == 1
    together = predicted.sum() + real.sum()
    return float(2 * np.sum(predicted & real) / together) if together else 0.0


@dataclass(frozen=True, kw_only=True, eq=False)
class _Related:
    """The predicted relatedness of one task's test pairs."""

    task: ClassificationTask
    gold: NDArray[np.float64]  # (test pairs,)
    predicted: NDArray[np.float64]  # (test pairs,)
    dev: float  # Pearson on the dev pairs

    def scores(self) -> Iterator[StoredScore]:
        """Yield the correlations of the test pairs, then the one that stopped the training."""
        correlations = {
            ("pearson", "test"): pearson(self.gold, self.predicted),
            ("spearman", "test"): spearman(self.gold, self.predicted),
            ("pearson", "dev"): self.dev,
        }
        name = self.task.name
        for (metric, split), value in correlations.items():
            items = len(self.task.rows(split))
            yield StoredScore(
                by="dataset",
                slice=name,
                metric=metric,
                setting="supervised",
                value=value,
                items=items,
                split=split,
            )

    def outcomes(self, evaluation: Evaluation) -> StoredOutcomes:
        """Return what each test pair got."""
        return outcomes_of(
            evaluation,
            self.task.parts["test"],
            self.gold,
            self.predicted,
            is_class=False,
            states=[part.state for part in self.task.parts.values()],
            rows=self.task.items(self.task.rows("test")),
        )


def _relate(
    encoder: Encoder,
    task: ClassificationTask,
    *,
    seed: int,
    device: "torch.device | None",
    start_progress: StartProgress | None,
) -> _Related:
    """Fit the regression of a task on its train split and predict its test pairs."""
    import torch

    from embedlab.classifiers.relatedness import fit_relatedness

    vectors, task = task_features(encoder, task, start_progress)
    features = torch.from_numpy(vectors).to(device)
    gold = np.array(task.column("gold"))
    train, dev, test = (task.rows(split) for split in ("train", "dev", "test"))
    fitted = fit_relatedness(
        features,
        gold,
        train,
        dev,
        seed=seed,
        progress=start_progress(task.name) if start_progress else None,
    )
    predicted = fitted.predict(features[torch.from_numpy(test).to(features.device)])
    return _Related(
        task=task, gold=gold[test].astype(np.float64), predicted=predicted, dev=fitted.dev
    )


def _scores(
    results: Sequence[ClassificationResult], opened: OpenedTasks, setting: SettingName
) -> Iterator[StoredScore]:
    for result in results:
        yield from accuracies(result, setting)
        if result.task.name == "mrpc":
            items = len(result.gold)
            yield StoredScore(
                by="dataset",
                slice="mrpc",
                metric="f1",
                setting=setting,
                value=second_class_f1(result),
                items=items,
                split=result.outcome.scored,
            )
    selected = {*(result.task.name for result in results), *opened.missing}
    for name, members in TRANSFER_AVERAGES.items():
        if selected >= set(members):
            yield from mean_accuracy(name, members, results, setting)


class Transfer(Task):
    """SentEval's downstream tasks: classification, and the relatedness of pairs."""

    name = "transfer"
    summary = (
        "accuracy of linear classifiers on frozen vectors: MR, CR, SUBJ, MPQA, SST2, SST5, "
        "TREC, MRPC, SICK-E; supervised SICK-R, STS-B"
    )
    datasets = TRANSFER_TASKS
    item_datasets = tuple(name for name in TRANSFER_TASKS if name not in RELATEDNESS)
    trains_classifiers = True

    def texts(self, source: Source, selection: Selection) -> Texts:
        """Return the sentences of the selected tasks that are large enough for the setting."""
        return self._open(source, selection).texts

    def items(self, source: Source, names: Sequence[str]) -> Sequence[GoldItems]:
        """Return the items of the tasks in NAMES that are scored."""
        return [gold_items(task) for task in open_transfer(source, names).tasks]

    def evaluate(
        self,
        spec: ModelSpec,
        settings: Settings,
        start_progress: StartProgress,
        selection: Selection,
    ) -> TaskResult:
        """Evaluate the selected tasks that are available."""
        opened = self._open(Source.from_settings(settings), selection)
        encoder, device = load_member(spec, settings)
        result = evaluate_transfer(
            encoder, opened, selection.setting, device=device, start_progress=start_progress
        )
        related = (task.parts["test"] for task in opened.tasks if task.name in RELATEDNESS)
        return TaskResult(
            evaluation=result.evaluation,
            missing=tuple(opened.missing.values()),
            tested=(*result.tested, *related),
            outcomes=result.outcomes,
            averages=TRANSFER_AVERAGES,
        )

    def measures(self, dataset: str) -> tuple[str, ...]:
        """Return F1 too for MRPC, and both correlations for relatedness."""
        return _MEASURES.get(dataset, ())

    def averages(self, datasets: Sequence[str], name: str) -> Mapping[str, Sequence[str]]:
        """Return the published averages over their available DATASETS; a title gives the number of
        datasets where some are missing.
        """
        available = {}
        for title, members in TRANSFER_AVERAGES.items():
            there = [dataset for dataset in members if dataset in datasets]
            available[
                title + (f", {len(there)} of {len(members)}" if len(there) < len(members) else "")
            ] = there
        return available

    def _open(self, source: Source, selection: Selection) -> OpenedTasks:
        return drop_small_tasks(
            open_transfer(source, selection.names or self.datasets), selection.setting
        )


TASK = Transfer()
