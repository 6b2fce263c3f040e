"""The evaluations that a user selects by the names of tasks and datasets."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import get_args

from embedlab.choices import SettingName
from embedlab.core import plugins
from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.names import DEFAULT_TASK, task_names
from embedlab.core.nearest import unknown_name_error
from embedlab.data.published import canonical_names, shipped_aliases
from embedlab.data.source import dataset
from embedlab.data.table_file import refuse_file
from embedlab.tasks.task import Task, all_tasks
from embedlab.tasks.task import task as find_task

ALL = "all"
LONGEST_NAME = 100  # of a file named after datasets; file systems allow 255 bytes


@dataclass(frozen=True, kw_only=True)
class SelectedTask:
    """One evaluation: a whole task, or some of its datasets."""

    task: str  # a file in embedlab/tasks
    names: tuple[str, ...] = ()

    @property
    def is_whole(self) -> bool:
        """Return whether it is a whole task, or a whole set of its datasets."""
        return not self.names or any(name == self.definition.set_of(name) for name in self.names)

    @property
    def definition(self) -> Task:
        """Return its task."""
        return find_task(self.task)

    def evaluation_name(self, setting: str = "literature") -> str:
        """Return the task name of its evaluation: a set of datasets has its own name, and another
        SETTING is appended.
        """
        name = self.definition.evaluation_name(self.names)
        return name if setting == "literature" else f"{name}-{setting}"

    def stored_name(self, setting: str = "literature") -> str:
        """Return the name under which a member's folder stores its evaluation; some of a task's
        datasets are in the task's own folder.
        """
        name = self.evaluation_name(setting)
        if self.is_whole:
            return name
        names = "+".join(sorted(name.rpartition("/")[2] for name in self.names))
        return f"{name}/{names if len(names) <= LONGEST_NAME else sha256(names.encode()).hexdigest()[:16]}"

    def averages(self, datasets: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return the averages of a whole task by title, each over those of DATASETS that are
        available.
        """
        return self.definition.averages(datasets, self.evaluation_name()) if self.is_whole else {}


def select_tasks(
    suite: str | None, names: Sequence[str], folder: Path | None
) -> list[SelectedTask]:
    """Return the evaluations of SUITE (a task, a benchmark, or "all") or of the datasets in NAMES;
    without either it is sts.

    "all" is every task, and every set of probing files in the data FOLDER. A name is a dataset, a
    file of the user's own pairs, a set of probing files (`gum-probing`, `probing:DIR`), or a whole
    task.
    """
    names = canonical_names(names)
    if suite is not None and suite not in {ALL, *task_names()}:
        if not (members := [name for task in all_tasks() for name in task.members(suite)]):
            raise unknown_name_error("task", suite, [ALL, *task_names()])
        suite = None
        names = [*members, *names]
    if not names and suite == ALL:
        return [
            SelectedTask(task=task.name, names=datasets)
            for task in all_tasks()
            for datasets in task.in_all(folder)
        ]
    if not names:
        return [SelectedTask(task=suite or DEFAULT_TASK)]
    by_task: dict[tuple[str, str | None], list[str]] = {}
    for name in dict.fromkeys(names):
        task = _task_of(name)
        if suite not in {None, ALL, task}:
            raise UsageError(
                f"{name!r} belongs to {task!r}, not to {suite!r}", hint="remove --suite"
            )
        set_name = name if find_task(task).is_each_alone else find_task(task).set_of(name)
        by_task.setdefault((task, set_name), []).append(name)
    selected = []
    for (task, set_name), datasets in by_task.items():
        # A whole task, or set of probing files, includes those of its datasets that are also named.
        if task in datasets:
            datasets = []
        elif set_name in datasets:
            datasets = [set_name]
        selected.append(SelectedTask(task=task, names=tuple(datasets)))
    return selected


def is_selectable(name: str) -> bool:
    """Return whether NAME selects a task or a dataset."""
    with suppress(EmbedlabError):
        return bool(select_tasks(None, [name], None))
    return False


def select_from(
    suites: Sequence[str], names: Sequence[str], folder: Path | None
) -> list[SelectedTask]:
    """Return the evaluations of several SUITES in order, each once; see `select_tasks`."""
    return list(
        dict.fromkeys(
            task for suite in suites or (None,) for task in select_tasks(suite, names, folder)
        )
    )


def recipe_evaluations(
    tasks: Sequence[str], location: str = "evaluate.tasks"
) -> dict[str, SelectedTask]:
    """Return the evaluations of a recipe's TASKS, which are tasks and datasets as `select_tasks`
    takes them, by the names under which they are stored; errors name the LOCATION of the list.
    """
    try:
        selected = select_tasks(None, tasks, None) if tasks else []
    except UsageError as error:
        raise UsageError(f"{location}: {error.message}", hint=error.hint) from error
    return {selected_task.stored_name(): selected_task for selected_task in selected}


def stored_selection(name: str) -> SelectedTask | None:
    """Return the selection whose stored evaluation has this NAME, the reverse of `evaluation_name`;
    None for a task that is gone.
    """
    settings = (f"-{setting}" for setting in get_args(SettingName))
    base_name = next(
        (name.removesuffix(suffix) for suffix in settings if name.endswith(suffix)), name
    )
    if base_name in task_names():
        return SelectedTask(task=base_name)
    task = _task_with(base_name)
    return SelectedTask(task=task.name, names=(base_name,)) if task is not None else None


def _task_with(name: str) -> Task | None:
    """Return the task that scores the dataset NAME; if several do, the task of its kind."""
    kind = dataset(name).kind if plugins.find("datasets", name) is not None else ""
    if kind in task_names() and (kind_task := find_task(kind)).has_dataset(name):
        return kind_task
    return next((task for task in all_tasks() if task.has_dataset(name)), None)


def _task_of(name: str) -> str:
    if name in task_names():
        return name
    if (task := _task_with(name)) is not None:
        return task.name
    if (plugin := plugins.find("tasks", name)) is not None:
        plugin.load()  # says why it cannot be used
    for other in all_tasks():
        if name in other.item_datasets:
            message = (
                f"{name!r} is not selected by itself: the task {other.name!r} scores it for models "
                f"that were trained on it"
            )
            raise UsageError(message, hint=f"--task {other.name}")
    if plugins.find("datasets", name) is not None:
        kind = dataset(name).kind  # or an error that says why it cannot be used
        raise UsageError(
            f"no task scores {name!r}: it holds {kind}",
            hint="train on it with --set data.datasets, or see `embedlab data ls`",
        )
    refuse_file(name)
    if "," in name:
        options = " ".join(f"--task {text.strip()}" for text in name.split(",") if text.strip())
        raise UsageError(
            f"no task or dataset named {name!r}", hint=f"name them one by one: {options}"
        )
    candidates = [
        *task_names(),
        *(dataset_name for task in all_tasks() for dataset_name in task.datasets),
        *shipped_aliases(),
    ]
    raise unknown_name_error(
        "task or dataset",
        name,
        candidates,
        listing="`embedlab data ls` lists all; for your own pairs give the path of their file",
    )
