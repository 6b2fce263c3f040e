"""Tags of sentence pairs: simple differences between the two sentences that may explain why a model
is wrong.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import polars as pl

from embedlab.data.words import NEGATING, NUMBERS

SENTENCES = ("sentence1", "sentence2")
_LARGE = ("hundred", "thousand", "million", "billion")
_NUMBER = rf"[0-9]+(?:[.,][0-9]+)*|\b(?:{'|'.join((*NUMBERS, *_LARGE))})\b"
_SIGNS = [*"0123456789", *NUMBERS, *_LARGE]
_DIGITS = {word: str(number) for number, word in enumerate(NUMBERS, start=2)}
_LONGER = 2  # times as many words


def numbers_in(sentences: pl.Series) -> pl.Series:
    """The numbers of each sentence, those up to twelve in digits, as lists."""
    column = sentences.str.to_lowercase().str.extract_all(_NUMBER)
    return column.list.eval(pl.element().str.replace_all(",", "", literal=True).replace(_DIGITS))


def word_counts(sentences: pl.Series) -> pl.Series:
    """The number of words of each sentence: of what blanks separate."""
    return sentences.str.count_matches(" ", literal=True) + 1


def _is_one_negated(first: pl.Series, second: pl.Series) -> pl.Series:
    return first.str.contains(NEGATING) != second.str.contains(NEGATING)


def _has_other_numbers(first: pl.Series, second: pl.Series) -> pl.Series:
    """Whether the numbers differ; comparing them is slow, and most sentences have none."""
    may_have_numbers = [
        side.str.contains_any(_SIGNS, ascii_case_insensitive=True) for side in (first, second)
    ]
    rows = (may_have_numbers[0] | may_have_numbers[1]).arg_true()
    return pl.zeros(len(first), pl.Boolean, eager=True).scatter(
        rows,
        numbers_in(first[rows]).list.set_symmetric_difference(numbers_in(second[rows])).list.len()
        > 0,
    )


def _is_one_longer(first: pl.Series, second: pl.Series) -> pl.Series:
    first_counts = word_counts(first)
    second_counts = word_counts(second)
    return (first_counts >= _LONGER * second_counts) | (second_counts >= _LONGER * first_counts)


# of the first and second sentences of pairs: which pairs have each tag
TAGS: Mapping[str, Callable[[pl.Series, pl.Series], pl.Series]] = MappingProxyType(
    {
        # one sentence has a negating word (not, no, never, without, n't …), the other has none
        "negation": _is_one_negated,
        # the sentences have different numbers, in digits or as words from two on
        "number": _has_other_numbers,
        # one sentence has at least twice as many words as the other
        "length": _is_one_longer,
    }
)


def has_any(names: Sequence[str]) -> pl.Expr:
    """Return the pairs of a table that have any of the tags NAMES; never null."""

    def have_tag(columns: Sequence[pl.Series]) -> pl.Series:
        first, second = columns
        holds = [TAGS[name](first, second) for name in names]
        return pl.select(pl.any_horizontal(holds)).to_series()

    return pl.map_batches(SENTENCES, have_tag, return_dtype=pl.Boolean)
