"""What training asks of an encoder and its heads now and then, by the name that a recipe gives as `evaluate.dev`."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from embedlab.data.source import Source
from embedlab.tasks import multitask, sts

if TYPE_CHECKING:
    from embedlab.objectives.objective import Trained


def dev_score(source: Source, name: str) -> "Callable[[Trained], float]":
    """The score x 100 on the dev split of the dataset NAME, opened once; "multitask" is the mean over the task's three."""
    if name in {"multitask", *multitask.DATASETS}:
        return multitask.dev_score(source, name)
    score = sts.dev_score(source, name)
    return lambda trained: score(trained.encoder)
