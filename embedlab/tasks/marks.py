"""What must be said beside a number: partial or generated data, in what was evaluated or in what the model learnt from."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from embedlab.data.dataset import State
from embedlab.encoders.catalog import ModelSpec
from embedlab.runs.environment import Environment
from embedlab.runs.store import RunFolder

PARTIAL, SAMPLE = "partial", "sample"


def evaluation_marks(states: Sequence[State]) -> tuple[str, ...]:
    """The marks of every number made from data in these STATES."""
    return _marks(is_partial=any(state.partial for state in states), is_sample=any(state.sample for state in states))


def training_marks(spec: ModelSpec) -> tuple[str, ...]:
    """The marks of every number of a run, or of a combination with a run in it: those of the data it learnt from."""
    learnt = list(_environments(spec))
    return _marks(is_partial=any(one.is_partial for one in learnt), is_sample=any(one.is_sample for one in learnt))


def training_notes(spec: ModelSpec) -> tuple[str, ...]:
    """What the marks mean: which training data was incomplete, and by how much."""
    parts = [part for one in _environments(spec) for part in one.data if part.get("partial")]
    told = (f"trained on partial {part['name']} {part['split']}: {part['rows']} of {part['expected_rows']} rows" for part in parts)
    return tuple(dict.fromkeys(told))


def _marks(*, is_partial: bool, is_sample: bool) -> tuple[str, ...]:
    return tuple(mark for mark, holds in ((PARTIAL, is_partial), (SAMPLE, is_sample)) if holds)


def _environments(spec: ModelSpec) -> Iterator[Environment]:
    for part in spec.parts:
        yield from _environments(part)
    if spec.kind == "run":
        yield RunFolder(Path(spec.location).parent).environment()
