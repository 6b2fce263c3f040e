"""The task `transfer`: how well a linear classifier on frozen vectors does on SentEval's downstream tasks."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np
import torch

from embedlab.data.source import Source, dataset
from embedlab.encoders.catalog import ModelSpec
from embedlab.encoders.device import machine
from embedlab.encoders.encoder import Encoder
from embedlab.encoders.loading import load_encoder
from embedlab.errors import UsageError
from embedlab.names import unknown
from embedlab.runs.evaluations import Score
from embedlab.settings import Settings
from embedlab.tasks.classification import Evaluated, Opened, Result, Watches, accuracies, average, classify, evaluation, open_tasks
from embedlab.tasks.folds import FOLD_SEED
from embedlab.tasks.judged import Judged
from embedlab.tasks.protocols import SettingName

SUMMARY = "accuracy of linear classifiers on frozen vectors: MR, CR, SUBJ, MPQA, SST2, SST5, TREC, MRPC, SICK-E"

DATASETS = ("mr", "cr", "subj", "mpqa", "sst2", "sst5", "trec", "mrpc", "sick-e")
AVERAGES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "average of 8 (liao, with SST5)": ("mr", "cr", "subj", "mpqa", "sst2", "sst5", "trec", "mrpc"),
        "average of 7 (tsukagoshi, without SST5)": ("mr", "cr", "subj", "mpqa", "sst2", "trec", "mrpc"),
    }
)


def open_transfer(source: Source, names: Sequence[str] = DATASETS) -> Opened:
    """The transfer tasks called NAMES; what is missing is given back, not raised, unless it is all."""
    for name in names:
        if name not in DATASETS:
            raise unknown("transfer task", name, DATASETS)
    if not names:
        raise UsageError("no transfer task was named", hint=f"known: {', '.join(DATASETS)}")
    return open_tasks(source, [dataset(name) for name in names])


def evaluate_transfer(
    encoder: Encoder,
    opened: Opened,
    setting: SettingName = "literature",
    *,
    seed: int = FOLD_SEED,
    device: torch.device | None = None,
    watches: Watches | None = None,
) -> Evaluated:
    """Every accuracy of an encoder on the opened tasks, MRPC's F1, and both published averages where they were asked for."""
    results = tuple(classify(encoder, opened.tasks, setting, seed=seed, device=device, watches=watches))
    scores = list(_scores(results, opened, setting))
    return Evaluated(evaluation=evaluation("transfer", encoder, opened, results, setting, scores), results=results)


def f1(result: Result) -> float:
    """Harmonic mean of precision and recall of the second of two classes, 0–1."""
    found, real = result.outcome.predicted == 1, result.gold == 1
    return float(2 * np.sum(found & real) / max(1, found.sum() + real.sum()))


def judge(spec: ModelSpec, settings: Settings, watches: Watches) -> Judged:
    """All transfer tasks that are there, in the literature's setting."""
    opened = open_transfer(Source.from_settings(settings))
    computer = machine(settings)
    encoder = load_encoder(spec, computer, cache=settings.cache, cache_gib=settings.cache_gib, offline=settings.offline)
    found = evaluate_transfer(encoder, opened, device=computer.device, watches=watches)
    return Judged(evaluation=found.evaluation, missing=tuple(opened.missing.values()))


def _scores(results: Sequence[Result], opened: Opened, setting: SettingName) -> Iterator[Score]:
    for result in results:
        yield from accuracies(result, setting)
        if result.task.name == "mrpc":
            items = len(result.gold)
            yield Score(
                by="dataset", slice="mrpc", metric="f1", setting=setting, value=f1(result), items=items, split=result.outcome.scored
            )
    asked = {*(result.task.name for result in results), *opened.missing}
    for name, members in AVERAGES.items():
        if asked >= set(members):
            yield from average(name, members, results, setting)
