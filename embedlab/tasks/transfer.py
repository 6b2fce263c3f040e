"""The task `transfer`: linear classifiers on frozen vectors, on SentEval's downstream tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from embedlab.analysis.correlations import pearson, spearman
from embedlab.analysis.measures import MEASURES
from embedlab.choices import SettingName
from embedlab.classifiers.folds import FOLD_SEED
from embedlab.core.session import StartProgress, unseen
from embedlab.data.source import Source, dataset
from embedlab.encoders.encoder import Encoder
from embedlab.tasks._labelled import (
    ClassificationResult,
    ClassificationTask,
    ClassifierTask,
    OpenedTasks,
    average_title,
    classify,
    open_tasks,
    task_features,
)
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
    seed: int = FOLD_SEED,
    device: "torch.device | None" = None,
    start_progress: StartProgress = unseen,
) -> ClassificationResult:
    """Fit the regression of a task on its train split and predict its test pairs."""
    import torch

    from embedlab.classifiers.relatedness import fit_relatedness

    vectors, task = task_features(encoder, task, start_progress)
    features = torch.from_numpy(vectors).to(device)
    gold = task.gold.to_numpy()
    train, dev, test = (task.rows(split) for split in ("train", "dev", "test"))
    progress = start_progress(task.name)
    fitted = fit_relatedness(features, gold, train, dev, seed=seed, progress=progress)
    predicted = fitted.predict(features[torch.from_numpy(test).to(features.device)])
    counts = [
        ("pearson", pearson(gold[test], predicted), len(test), "test"),
        ("spearman", spearman(gold[test], predicted), len(test), "test"),
        ("pearson", fitted.dev, len(dev), "dev"),  # that stopped the training
    ]
    scores = [score(task.name, *facts, setting="supervised") for facts in counts]
    return ClassificationResult(task=task, predicted=predicted, scores=tuple(scores))


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
        result = classify(encoder, task, setting, **options)
        if task.name != "mrpc":
            return result
        gold = np.array(result.task.items.labels)
        value = MEASURES["f1"].value(gold == "1", result.predicted == "1")
        f1 = score("mrpc", "f1", value, len(gold), "test", setting=setting)
        return replace(result, scores=(*result.scores, f1))

    def means(self, opened: OpenedTasks) -> Mapping[str, Sequence[str]]:
        """Return the published ones whose tasks were selected."""
        selected = {*(task.name for task in opened.tasks), *opened.missing}
        return {
            title: members
            for title, members in TRANSFER_AVERAGES.items()
            if selected.issuperset(members)
        }

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
