"""The dev score that training computes at intervals, by the name that a recipe gives as `evaluate.dev`."""

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING

from embedlab.data.published import remarks
from embedlab.data.source import Source
from embedlab.tasks.task import Task, all_tasks

if TYPE_CHECKING:
    from embedlab.objectives.objective import Trained


def dev_score(source: Source, name: str) -> "Callable[[Trained], float]":
    """Return a function that scores an encoder x 100 on the dev split of dataset NAME, or on the task NAME; data is opened once."""
    chosen = _task(name)
    assert chosen.dev_score is not None
    return chosen.dev_score(source, name)


def dev_notes(source: Source, name: str) -> list[str]:
    """Return what the dev split of dataset NAME lacks of the published one; a task says that of its own data."""
    if not _task(name).scores_pairs:
        return []
    return [f"dev score: {remark}" for remark in remarks(asdict(source.open(name, "dev").state))]


def _task(name: str) -> Task:
    there = [one for one in all_tasks() if one.dev_score is not None]
    named = [one for one in there if name in one.dev_names]
    return (named or [one for one in there if one.outcomes == "pairs"])[0]  # any other name is a dataset of pairs
