"""Marks of numbers made from data that is partial or generated, and counts of text that two sets
share: all that readers of stored results need.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:  # showing stored numbers needs no polars
    from embedlab.data.dataset import DatasetState


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """How much of an evaluation set occurs in a training set; sentences are equal if their
    case-folded words are.

    A sentence without a word, such as "...", equals none.
    """

    sentences: int  # distinct sentences of the evaluation set that have a word
    shared_sentences: int  # those that occur in training
    pairs: int  # rows of the evaluation set; 0 for single sentences
    shared_pairs: int  # those whose two sentences form one training row, in either order
    declared: int = 0  # evaluation sets whose dataset is declared as training data, without counts

    @property
    def share(self) -> float | None:
        """The share of the sentences that occur in training; None where only a declaration is
        known.
        """
        return self.shared_sentences / self.sentences if self.sentences else None

    def __bool__(self) -> bool:
        """Whether anything is shared."""
        return bool(self.shared_sentences or self.shared_pairs or self.declared)

    def __add__(self, other: Self) -> Self:
        """Return the counts of two evaluation sets together; a sentence in both counts twice."""
        return type(self)(
            **{name: count + getattr(other, name) for name, count in vars(self).items()}
        )


NOTHING_SHARED = Overlap(sentences=0, shared_sentences=0, pairs=0, shared_pairs=0)


def total_overlap(counts: Iterable[Overlap]) -> Overlap:
    """Return the counts of several evaluation sets together."""
    return reduce(Overlap.__add__, counts, NOTHING_SHARED)


def what_is_shared(overlaps: Mapping[str, Overlap]) -> dict[str, Overlap]:
    """Return those of OVERLAPS in which anything is shared."""
    return {name: overlap for name, overlap in overlaps.items() if overlap}


PARTIAL, GENERATED = "partial", "generated"
GENERATED_NOTE = "generated: no number is about real language"
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
        mark for mark, applies in ((PARTIAL, is_partial), (GENERATED, is_generated)) if applies
    )
