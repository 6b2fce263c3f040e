"""Ranges of values as text of the filter language: a selection in a plot becomes a filter of
exactly the same rows.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.expressions import OPERATOR, WrittenTerm, written_terms

_DIGITS = 17  # are enough to write any double


@dataclass(frozen=True, kw_only=True)
class FieldRange:
    """A field of the filter language with the limits of its values, both included, as they are
    written.
    """

    field: str
    low: str
    high: str

    def __str__(self) -> str:
        name = f'"{self.field}"' if re.search(rf'{OPERATOR}|[\s:"/]', self.field) else self.field
        return f"{self.low}<={name}<={self.high}"


def selecting_ranges(
    table: pl.DataFrame, rows: NDArray[np.intp], fields: Sequence[str]
) -> list[FieldRange]:
    """The ranges of FIELDS from the smallest to the largest value of ROWS, in the fewest digits
    that add no other value of TABLE.
    """
    return [_range_of(table[field], rows, field) for field in fields]


def narrowed(text: str, ranges: Sequence[FieldRange]) -> str:
    """The filter TEXT with RANGES added to each of its groups.

    Without "or", they replace the earlier limits of their fields, which they must lie within.
    """
    fields = {range_.field.lower() for range_ in ranges}
    return _joined(
        text,
        " ".join(map(str, ranges)),
        lambda term, is_only: is_only and (term.field or "").lower() in fields,
    )


def with_name(text: str, field: str, name: str) -> str:
    """The filter TEXT with "FIELD:NAME" in each of its groups in place of another name; an empty
    NAME removes it.
    """
    return _joined(
        text,
        f"{field}:{name}" if name else "",
        lambda term, _: term.text.lower().startswith(f"{field}:"),
    )


def _joined(text: str, added: str, is_replaced: Callable[[WrittenTerm, bool], bool]) -> str:
    """Each group of TEXT without the terms that are replaced, and with ADDED; the second argument:
    whether it is the only group.
    """
    groups: list[list[str]] = [[]]
    terms = written_terms(text)
    is_only = not any(term.is_or for term in terms)
    for term in terms:
        if term.is_or:
            groups.append([])
        elif not is_replaced(term, is_only):
            groups[-1].append(term.text)
    return " or ".join(" ".join([*group, added]).strip() for group in groups)


def _range_of(column: pl.Series, rows: NDArray[np.intp], field: str) -> FieldRange:
    values = column.drop_nulls().to_numpy()
    chosen = column[rows].drop_nulls().to_numpy()
    low, high = chosen.min(), chosen.max()
    below, above = values[values < low], values[values > high]
    return FieldRange(
        field=field,
        low=_written(low, below.max() if len(below) else None, upwards=False),
        high=_written(high, above.min() if len(above) else None, upwards=True),
    )


def _written(value: np.floating[Any], beyond: np.floating[Any] | None, *, upwards: bool) -> str:
    """The shortest number at VALUE or between it and the next value BEYOND, as the type of the
    column compares it.
    """
    kind = value.dtype.type
    exact = float(value)
    step = 1 if upwards else -1
    for digits in range(_DIGITS):
        scale = 10.0**digits
        # without the sign of a negative zero
        text = f"{step * np.ceil(step * exact * scale) / scale + 0.0:.{digits}f}"
        read = kind(float(text))
        if step * (read - value) >= 0 and (beyond is None or step * (beyond - read) > 0):
            return text
    return repr(exact)
