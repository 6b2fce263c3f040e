"""Ranges of values as text of the filter language: a selection in a plot becomes a filter of exactly the same rows."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.expressions import OPERATOR, term_spans

_DIGITS = 17  # are enough to write any double


@dataclass(frozen=True, kw_only=True)
class FieldRange:
    """A field of the filter language with the limits of its values, both included, as they are written."""

    field: str
    low: str
    high: str

    def __str__(self) -> str:
        name = f'"{self.field}"' if re.search(rf'{OPERATOR}|[\s:"/]', self.field) else self.field
        return f"{self.low}<={name}<={self.high}"


def selecting_ranges(table: pl.DataFrame, rows: NDArray[np.intp], fields: Sequence[str]) -> list[FieldRange]:
    """The ranges of FIELDS from the smallest to the largest value of ROWS, in the fewest digits that add no other value of TABLE."""
    return [_range_of(table[field], rows, field) for field in fields]


def narrowed(text: str, ranges: Sequence[FieldRange]) -> str:
    """The filter TEXT with RANGES added to each of its groups.

    Without "or", they replace the earlier limits of their fields, which they must lie within.
    """
    if not ranges:
        return text
    added = " ".join(str(one) for one in ranges)
    spans = term_spans(text)
    if any(span.is_or for span in spans):
        groups = [f"{group.strip()} {added}" for group in _between_ors(text)]
        return " or ".join(groups)
    fields = {one.field.lower() for one in ranges}
    left = [text[span.start : span.end] for span in spans if (span.field or "").lower() not in fields]
    return " ".join([*left, added])


def _between_ors(text: str) -> list[str]:
    ors = [span for span in term_spans(text) if span.is_or]
    starts, ends = [0, *(span.end for span in ors)], [*(span.start for span in ors), len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


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
    """The shortest number at VALUE or between it and the next value BEYOND, as the type of the column compares it."""
    kind = value.dtype.type
    exact = float(value)
    step = 1 if upwards else -1
    for digits in range(_DIGITS):
        scale = 10.0**digits
        text = f"{step * np.ceil(step * exact * scale) / scale + 0.0:.{digits}f}"  # without the sign of a negative zero
        read = kind(float(text))
        if step * (read - value) >= 0 and (beyond is None or step * (beyond - read) > 0):
            return text
    return repr(exact)
