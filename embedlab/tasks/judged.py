"""What a task's `judge` gives: one member model's evaluation, and the errors of what was missing for it.

Every task file but sts, whose scores of pairs are kept and shared, has `judge(spec, settings, watches)`; it is found by the file's name.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass

from embedlab.encoders.catalog import ModelSpec
from embedlab.encoders.encoder import Watch
from embedlab.errors import MissingError
from embedlab.runs.evaluations import Evaluation
from embedlab.settings import Settings

Watches = Callable[[str], Watch]


@dataclass(frozen=True, kw_only=True)
class Judged:
    """An evaluation; what was missing was left out of it."""

    evaluation: Evaluation
    missing: tuple[MissingError, ...] = ()


def judge(task: str, spec: ModelSpec, settings: Settings, watches: Watches) -> Judged:
    """Evaluate one member model on the task in the file of that name."""
    judged = importlib.import_module(f"embedlab.tasks.{task}").judge(spec, settings, watches)
    assert isinstance(judged, Judged)
    return judged
