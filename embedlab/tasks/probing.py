"""The task `probing`: linear classifiers on frozen vectors, for SentEval's probing tasks or any
folder in their format.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from embedlab.core.nearest import unknown_name_error
from embedlab.data.probing import (
    SENTEVAL,
    SENTEVAL_TASKS,
    set_of,
    suite,
    suite_folder,
    suite_names,
    suite_title,
)
from embedlab.data.source import Source
from embedlab.tasks._labelled import (
    ClassifierTask,
    OpenedTasks,
    open_tasks,
)


def open_probing(source: Source, name: str = SENTEVAL, tasks: tuple[str, ...] = ()) -> OpenedTasks:
    """Open the tasks of the probing suite NAME, or some of them; missing ones are returned, or
    raised when all are missing.
    """
    datasets = {dataset.name: dataset for dataset in suite(name, source.folder)}
    for task in tasks:
        if task not in datasets:
            raise unknown_name_error(f"task of {name!r}", task, datasets)
    path = suite_folder(name, source.folder)
    return open_tasks(
        replace(source, folder=path),
        {task: datasets[task] for task in tasks or datasets},
    )


class Probing(ClassifierTask):
    """SentEval's probing tasks, and those of every folder in their format."""

    name = "probing"
    summary = (
        "accuracy of linear classifiers that probe frozen vectors for properties of the sentence"
    )
    datasets = item_datasets = tuple(sorted(SENTEVAL_TASKS))

    def has_dataset(self, name: str) -> bool:
        """Return whether NAME is one of SentEval's tasks, another set of such files, or a task of
        one.
        """
        return name in self.datasets or set_of(name) is not None

    def set_of(self, name: str) -> str | None:
        """Return the set, other than SentEval's, that NAME is or belongs to."""
        return set_of(name)

    def evaluation_name(self, names: Sequence[str]) -> str:
        """Return the title of the set that NAMES are of."""
        suite_name = set_of(names[0]) if names else None
        return suite_title(suite_name) if suite_name else self.name

    def in_all(self, folder: Path | None) -> Sequence[tuple[str, ...]]:
        """Return the whole of SentEval's, then the other sets in FOLDER."""
        return [(), *((name,) for name in suite_names(folder) if name != SENTEVAL)]

    def opened(self, source: Source, names: Sequence[str]) -> OpenedTasks:
        """Open SentEval's ten tasks, those of them in NAMES, or another suite or some of its tasks;
        all NAMES belong to one suite.
        """
        name = (set_of(names[0]) if names else None) or SENTEVAL
        return open_probing(source, name, tasks=tuple(task for task in names if task != name))

    def suite(self, opened: OpenedTasks) -> str:
        """Return the one set that the opened tasks are of."""
        return set_of(opened.tasks[0].name) or SENTEVAL

    def means(self, opened: OpenedTasks) -> Mapping[str, Sequence[str]]:
        """Return the one of all selected tasks."""
        name, selected = (
            self.suite(opened),
            [*(task.name for task in opened.tasks), *opened.missing],
        )
        title = "SentEval probing" if name == SENTEVAL else name
        return {f"average of {len(selected)} ({title})": selected}

    def averages(self, datasets: Sequence[str], name: str) -> Mapping[str, Sequence[str]]:
        """Return the average over all DATASETS of a set, which has NAME."""
        return {f"average of {len(datasets)} ({name})": list(datasets)}


TASK = Probing()
