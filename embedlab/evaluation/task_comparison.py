"""Models compared on several tasks: every slice, with the marks and notes of the numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from embedlab.analysis.comparison import ComparedSlice
from embedlab.analysis.scores import ModelColumns
from embedlab.choices import Test
from embedlab.data.dataset import DatasetState
from embedlab.data.shared_text import Overlap

Facts = Mapping[str, str]  # pooling, max_tokens, precision, training_precision, truncated: those that apply to a member


@dataclass(frozen=True, kw_only=True)
class TaskComparison:
    """The rows of all tasks and averages, in order."""

    slices: Sequence[ComparedSlice]
    models: Sequence[ModelColumns]
    by: str = "dataset"  # the property of items by which their rows are grouped
    where: str = ""  # the expression that picked the items; all without one
    test: Test
    margin: float | None  # equivalence margin in units of the scores
    shared: Mapping[str, Mapping[str, Overlap]]  # by model, then by row
    counts: Mapping[str, Mapping[str, Overlap]]  # by model, then by slice, without averages
    facts: Mapping[str, Facts]  # by member, for members that were evaluated on a task
    marks: tuple[str, ...]
    notes: tuple[str, ...]
    signatures: Mapping[str, str]  # by model
    states: Sequence[DatasetState]  # of the data that was read
    is_whole: bool  # nothing was missing
