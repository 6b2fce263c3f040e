"""The task `transfer`: linear classifiers on frozen vectors, on SentEval's downstream tasks."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from embedlab.analysis.correlations import pearson, spearman
from embedlab.choices import SettingName
from embedlab.core.session import StartProgress
from embedlab.data.source import Source, dataset
from embedlab.encoders.encoder import Encoder
from embedlab.runs.evaluations import StoredScore
from embedlab.tasks._labelled import (
    ClassificationResult,
    ClassificationTask,
    ClassifierTask,
    OpenedTasks,
    accuracies,
    average_title,
    classify,
    mean_accuracy,
    open_tasks,
    task_features,
)
from embedlab.tasks.glue import glue_f1
from embedlab.tasks.task import score

if TYPE_CHECKING:
    import torch


# The task sts scores the same pairs without training, so the supervised scores need names of their
# own.
RELATEDNESS: Mapping[str, str] = MappingProxyType(
    {"sick-r-supervised": "sick-r", "sts-benchmark-supervised": "sts-benchmark"}
)
_OF_EIGHT = ("mr", "cr", "subj", "mpqa", "sst2", "sst5", "trec", "mrpc")
TRANSFER_TASKS = (*_OF_EIGHT, "sick-e", *RELATEDNESS)
TRANSFER_AVERAGES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "average of 8 (liao, with SST5)": _OF_EIGHT,
        "average of 7 (tsukagoshi, without SST5)": tuple(
            name for name in _OF_EIGHT if name != "sst5"
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
    return open_tasks(source, {name: dataset(RELATEDNESS.get(name, name)) for name in names})


def _relate(
    encoder: Encoder,
    task: ClassificationTask,
    *,
    seed: int,
    device: "torch.device | None",
    start_progress: StartProgress,
) -> ClassificationResult:
    """Fit the regression of a task on its train split and predict its test pairs."""
    import torch

    from embedlab.classifiers.relatedness import fit_relatedness

    vectors, task = task_features(encoder, task, start_progress)
    features = torch.from_numpy(vectors).to(device)
    gold = np.array(task.column("gold"))
    train, dev, test = (task.rows(split) for split in ("train", "dev", "test"))
    progress = start_progress(task.name)
    fitted = fit_relatedness(features, gold, train, dev, seed=seed, progress=progress)
    return ClassificationResult(
        task=task,
        classes=(),
        gold=gold[test].astype(np.float64),
        predicted=fitted.predict(features[torch.from_numpy(test).to(features.device)]),
        rows=test,
        scored="test",
        dev=fitted.dev,
    )


def _relatedness(result: ClassificationResult) -> Iterator[StoredScore]:
    """Yield the correlations of the test pairs, then the one that stopped the training."""
    name, count = result.task.name, len(result.rows)
    for metric, measure in (("pearson", pearson), ("spearman", spearman)):
        value = measure(result.gold, result.predicted)
        yield score(name, metric, value, count, "test", setting="supervised")
    count = len(result.task.rows("dev"))
    yield score(name, "pearson", result.dev, count, "dev", setting="supervised")


class Transfer(ClassifierTask):
    """SentEval's downstream tasks: classification, and the relatedness of pairs."""

    name = "transfer"
    summary = (
        "accuracy of linear classifiers on frozen vectors: MR, CR, SUBJ, MPQA, SST2, SST5, "
        "TREC, MRPC, SICK-E; supervised SICK-R, STS-B"
    )
    datasets = TRANSFER_TASKS
    item_datasets = tuple(name for name in TRANSFER_TASKS if name not in RELATEDNESS)

    def opened(self, source: Source, names: Sequence[str]) -> OpenedTasks:
        """Open the tasks in NAMES, all without."""
        return open_transfer(source, names or self.datasets)

    def result(
        self, encoder: Encoder, task: ClassificationTask, setting: SettingName, **options: Any
    ) -> ClassificationResult:
        """Return the classes of the items of a task, or the relatedness of its pairs."""
        if task.name in RELATEDNESS:
            return _relate(encoder, task, **options)
        return classify(encoder, task, setting, **options)

    def scores(
        self, results: Sequence[ClassificationResult], opened: OpenedTasks, setting: SettingName
    ) -> Iterator[StoredScore]:
        """Yield every accuracy, MRPC's F1, the published averages whose tasks were selected, and
        relatedness.
        """
        for result in (candidate for candidate in results if candidate.classes):
            yield from accuracies(result, setting)
            if result.task.name == "mrpc":
                value, count = glue_f1(result.gold, result.predicted), len(result.gold)
                yield score("mrpc", "f1", value, count, result.scored, setting=setting)
        selected = {*(result.task.name for result in results), *opened.missing}
        for name, members in TRANSFER_AVERAGES.items():
            if selected >= set(members):
                yield from mean_accuracy(name, members, results, setting)
        for result in (candidate for candidate in results if not candidate.classes):
            yield from _relatedness(result)

    def means(self, opened: OpenedTasks) -> Mapping[str, Sequence[str]]:
        """Return the published ones."""
        return TRANSFER_AVERAGES

    def measures(self, dataset: str) -> tuple[str, ...]:
        """Return F1 too for MRPC, and both correlations for relatedness."""
        return _MEASURES.get(dataset, ())

    def averages(self, datasets: Sequence[str], name: str) -> Mapping[str, Sequence[str]]:
        """Return the published averages over their available DATASETS; a title gives the number of
        datasets where some are missing.
        """
        available = {
            name: [dataset for dataset in members if dataset in datasets]
            for name, members in TRANSFER_AVERAGES.items()
        }
        return {
            average_title(name, len(members), len(TRANSFER_AVERAGES[name])): members
            for name, members in available.items()
        }


TASK = Transfer()
