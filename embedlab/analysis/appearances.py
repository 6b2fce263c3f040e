"""The other places of a pair and of its sentences in a pair table."""

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True, kw_only=True)
class Appearances:
    """The rows of a pair table that have the same text as one pair."""

    of_pair: tuple[int, ...]  # rows with both sentences, in either order
    of_sentences: tuple[
        tuple[int, ...], tuple[int, ...]
    ]  # rows with the first, and with the second, in another pair


def appearances(table: pl.DataFrame, row: int) -> Appearances:
    """Return where the pair in ROW of TABLE and its sentences appear besides; texts are equal if
    all their characters are.
    """
    first, second = table["sentence1"], table["sentence2"]
    one, other = first[row], second[row]
    has_one, has_other = (first == one) | (second == one), (first == other) | (second == other)
    is_pair = ((first == one) & (second == other)) | ((first == other) & (second == one))
    return Appearances(
        of_pair=tuple(other_row for other_row in is_pair.arg_true().to_list() if other_row != row),
        of_sentences=(
            _rows(has_one & ~is_pair),
            _rows(has_other & ~is_pair) if one != other else (),
        ),
    )


def _rows(holds: pl.Series) -> tuple[int, ...]:
    return tuple(holds.arg_true().to_list())
