"""The task `probing`: linear classifiers on frozen vectors, for SentEval's probing tasks or any folder in their format."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from embedlab.choices import SettingName
from embedlab.classifiers.folds import FOLD_SEED
from embedlab.core.nearest import unknown
from embedlab.core.progress import StartProgress
from embedlab.core.settings import Settings
from embedlab.data.probing import DATASETS, SENTEVAL, set_of, suite, suite_folder, suite_names
from embedlab.data.source import Source
from embedlab.encoders.encoder import Encoder
from embedlab.models.catalog import ModelSpec
from embedlab.tasks._labelled import (
    OpenedTasks,
    SuiteResult,
    accuracies,
    classify,
    drop_small_tasks,
    gold_items,
    mean_accuracy,
    open_tasks,
    suite_evaluation,
)
from embedlab.tasks.task import FieldTask, TaskResult, Texts, load_member

if TYPE_CHECKING:
    import torch


_SENTEVAL_NAMES = tuple(sorted(dataset.name for dataset in DATASETS))


def open_probing(source: Source, name: str = SENTEVAL, tasks: tuple[str, ...] = ()) -> OpenedTasks:
    """Open the tasks of the probing suite NAME, or some of them; missing ones are returned, or raised when all are missing."""
    found = {dataset.name: dataset for dataset in suite(name, source.folder)}
    for task in tasks:
        if task not in found:
            raise unknown(f"task of {name!r}", task, found)
    place = suite_folder(name, source.folder)
    return open_tasks(
        replace(source, folder=place, sample=source.sample and name == SENTEVAL), {task: found[task] for task in tasks or found}
    )


def evaluate_probing(
    encoder: Encoder,
    opened: OpenedTasks,
    setting: SettingName = "literature",
    *,
    name: str = SENTEVAL,
    device: "torch.device | None" = None,
    start_progress: StartProgress | None = None,
) -> SuiteResult:
    """Return every accuracy of an encoder on the opened tasks of the suite NAME, and their average under that name."""
    results = tuple(classify(encoder, opened.tasks, setting, seed=FOLD_SEED, device=device, start_progress=start_progress))
    selected = [*(task.name for task in opened.tasks), *opened.missing]
    title = f"average of {len(selected)} ({'SentEval probing' if name == SENTEVAL else name})"
    scores = [score for result in results for score in accuracies(result, setting)]
    scores += mean_accuracy(title, selected, results, setting)
    return SuiteResult(evaluation=suite_evaluation(name, encoder, opened, setting, scores), results=results)


def open_selected(source: Source, names: Sequence[str] = ()) -> OpenedTasks:
    """Open SentEval's ten tasks, those of them in NAMES, or another suite or some of its tasks; all NAMES belong to one suite."""
    name = (set_of(names[0]) if names else None) or SENTEVAL
    return open_probing(source, name, tasks=tuple(task for task in names if task != name))


def texts(source: Source, names: Sequence[str] = (), setting: SettingName = "literature") -> Texts:
    """Return the sentences of the tasks in NAMES that are large enough for SETTING."""
    return drop_small_tasks(open_selected(source, names), setting).texts


def evaluate(
    spec: ModelSpec, settings: Settings, start_progress: StartProgress, names: Sequence[str] = (), setting: SettingName = "literature"
) -> TaskResult:
    """Evaluate the available tasks in NAMES."""
    opened = drop_small_tasks(open_selected(Source.from_settings(settings), names), setting)
    encoder, device = load_member(spec, settings)
    name = set_of(opened.tasks[0].name) or SENTEVAL
    found = evaluate_probing(encoder, opened, setting, name=name, device=device, start_progress=start_progress)
    averages = {"average of ": [task.name for task in opened.tasks]}
    missing = tuple(opened.missing.values())
    return TaskResult(evaluation=found.evaluation, missing=missing, tested=found.tested, outcomes=found.outcomes, averages=averages)


TASK = FieldTask(
    name="probing",
    summary="accuracy of linear classifiers that probe frozen vectors for properties of the sentence",
    evaluate=lambda spec, settings, start_progress, chosen: evaluate(spec, settings, start_progress, chosen.names, chosen.setting),
    texts=lambda source, chosen: texts(source, chosen.names, chosen.setting),
    outcomes="items",
    has_dataset=lambda name: name in _SENTEVAL_NAMES or set_of(name) is not None,
    datasets=_SENTEVAL_NAMES,
    trains_classifiers=True,
    items=lambda source, names: [gold_items(one) for one in open_selected(source, names).tasks],
    item_datasets=_SENTEVAL_NAMES,
    sets=lambda folder: [name for name in suite_names(folder) if name != SENTEVAL],
    averages=lambda datasets, name: {f"average of {len(datasets)} ({name})": list(datasets)},
)
