"""The dev score that training computes at intervals, by the name that a recipe gives as `evaluate.dev`."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

from embedlab.data.pair_file import is_pair_file
from embedlab.data.published import remarks
from embedlab.data.source import Source
from embedlab.tasks.task import Task, all_tasks

if TYPE_CHECKING:
    from embedlab.objectives.objective import Trained


def dev_score(source: Source, name: str) -> "Callable[[Trained], float]":
    """Return a function that scores an encoder x 100 on the dev split of dataset NAME, or on the task NAME; data is opened once."""
    return _task(name).dev_score(source, name)


def dev_notes(source: Source, name: str) -> list[str]:
    """Return what the dev split of dataset NAME lacks of the published one; a task says that of its own data."""
    if not _task(name).scores_pairs:
        return []
    return [f"dev score: {remark}" for remark in remarks(asdict(source.open(name, "dev").state))]


def _task(name: str) -> Task:
    tasks = all_tasks()
    named = next((one for one in tasks if name in one.dev_names or (is_pair_file(name) and one.has_dataset(name))), None)
    return named or next(one for one in tasks if one.scores_pairs)  # any other name is a dataset of pairs
