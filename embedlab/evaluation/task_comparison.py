"""Models compared on several tasks at once: every slice, with what must be said beside the numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from embedlab.analysis.comparison import ComparedSlice
from embedlab.analysis.scores import ModelColumns
from embedlab.choices import Test
from embedlab.data.shared_text import Overlap

Facts = Mapping[str, str]  # pooling, max_tokens, precision, training_precision, truncated: those that a member has


@dataclass(frozen=True, kw_only=True)
class TaskComparison:
    """The rows of tasks and averages, one below the other."""

    slices: Sequence[ComparedSlice]
    models: Sequence[ModelColumns]
    test: Test
    margin: float | None  # of equivalence, in units of the scores
    shared: Mapping[str, Mapping[str, Overlap]]  # by model, then by row
    counts: Mapping[str, Mapping[str, Overlap]]  # by model, then by dataset
    facts: Mapping[str, Facts]  # by member, of those that could do a task
    marks: tuple[str, ...]
    notes: tuple[str, ...]
    signatures: Mapping[str, str]  # by model
    is_whole: bool  # whether nothing was missing
