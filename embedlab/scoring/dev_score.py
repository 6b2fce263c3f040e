"""The dev score that training computes at intervals, by the name that a recipe gives as
`evaluate.dev`.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from embedlab.core.names import DEFAULT_TASK
from embedlab.data.file_name import is_pair_file
from embedlab.data.source import Source
from embedlab.tasks.task import Task, all_tasks
from embedlab.tasks.task import task as find_task

if TYPE_CHECKING:
    from embedlab.objectives.objective import TrainedEncoder


def dev_score(source: Source, name: str) -> "Callable[[TrainedEncoder], float]":
    """Return a function that scores an encoder x 100 on the dev split of dataset NAME, or on the
    task NAME; data is opened once.
    """
    return _task(name).dev_score(source, name)


def dev_notes(source: Source, name: str) -> list[str]:
    """Return what the dev split of dataset NAME lacks of the published one; a task states that for
    data of its own.
    """
    return [f"dev score: {remark}" for remark in _task(name).dev_remarks(source, name)]


def _task(name: str) -> Task:
    tasks = all_tasks()
    matching = next(
        (
            task
            for task in tasks
            if name in task.dev_names or (is_pair_file(name) and task.has_dataset(name))
        ),
        None,
    )
    return matching or find_task(DEFAULT_TASK)  # any other name is a dataset of pairs
