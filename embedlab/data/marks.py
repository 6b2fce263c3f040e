"""Marks of numbers made from data that is partial or generated."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # showing stored numbers needs no polars
    from embedlab.data.dataset import DatasetState

PARTIAL, GENERATED = "partial", "generated"
UNKNOWN_TEXT = "training text unknown"  # of models that embedlab did not train


def data_marks(states: "Iterable[DatasetState]") -> tuple[str, ...]:
    """Return the marks of every number made from data in these STATES."""
    states = list(states)
    return marks_of(
        is_partial=any(state.partial for state in states),
        is_generated=any(state.origin == "tiny" for state in states),
    )


def marks_of(*, is_partial: bool, is_generated: bool) -> tuple[str, ...]:
    """Return the marks of partial or generated data."""
    return tuple(
        mark for mark, holds in ((PARTIAL, is_partial), (GENERATED, is_generated)) if holds
    )
