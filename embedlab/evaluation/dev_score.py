"""The dev score that training computes at intervals, by the name that a recipe gives as `evaluate.dev`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from embedlab.data.pair_file import is_pair_file
from embedlab.data.source import Source
from embedlab.tasks.task import all_tasks

if TYPE_CHECKING:
    from embedlab.objectives.objective import Trained


def dev_score(source: Source, name: str) -> "Callable[[Trained], float]":
    """Return a function that scores an encoder x 100 on the dev split of dataset NAME, or on the task NAME; data is opened once."""
    tasks = all_tasks()
    named = next((one for one in tasks if name in one.dev_names or (is_pair_file(name) and one.has_dataset(name))), None)
    of_pairs = next(one for one in tasks if one.scores_pairs)  # any other name is a dataset of pairs
    return (named or of_pairs).dev_score(source, name)
