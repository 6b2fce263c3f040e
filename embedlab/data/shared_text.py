"""How much text two sets share, as counts alone: what reads kept results needs no more."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Self


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """How much of an evaluation set occurs in a training set; sentences count as equal when their case-folded words are.

    A sentence without a word, such as "...", is equal to none.
    """

    sentences: int  # distinct sentences of the evaluation set, those without a word left out
    shared_sentences: int  # those that occur in training
    pairs: int  # rows of the evaluation set; 0 where it has single sentences
    shared_pairs: int  # those whose two sentences stand in one training row, in either order

    def __bool__(self) -> bool:
        """Whether anything is shared."""
        return bool(self.shared_sentences or self.shared_pairs)

    def __add__(self, other: Self) -> Self:
        """The counts of two evaluation sets together; a sentence that is in both counts twice."""
        return type(self)(**{name: count + getattr(other, name) for name, count in vars(self).items()})


NOTHING_SHARED = Overlap(sentences=0, shared_sentences=0, pairs=0, shared_pairs=0)


def total(counts: Iterable[Overlap]) -> Overlap:
    """The counts of several evaluation sets together."""
    return reduce(Overlap.__add__, counts, NOTHING_SHARED)
