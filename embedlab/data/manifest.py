"""Whether the rows that were found are the whole corpus: counts, class balance and hashes of the files."""

from collections.abc import Mapping

import polars as pl

from embedlab.data.dataset import CLASS_COLUMN, Expected, Kind
from embedlab.errors import MissingError


def class_counts(kind: Kind, frame: pl.DataFrame) -> dict[str, int] | None:
    """Rows per class (per source for STS), or None where the kind has no classes or none is known."""
    column = CLASS_COLUMN.get(kind)
    if column is None or frame[column].null_count():
        return None
    counts = frame.group_by(column).len().sort(column)
    return {str(name): rows for name, rows in counts.iter_rows()}


def differences(kind: Kind, frame: pl.DataFrame, expected: Expected) -> list[str]:
    """What is odd about FRAME, in words with the expected and the found counts; empty when it is the whole corpus."""
    found = class_counts(kind, frame)
    odd = [] if len(frame) == expected.rows else [f"{len(frame):,} rows instead of {expected.rows:,}"]
    if expected.classes and found is not None and found != expected.classes:
        odd.append(f"classes {_listed(found)} instead of {_listed(expected.classes)}")
    return odd


def is_partial(label: str, kind: Kind, frame: pl.DataFrame, expected: Expected | None, *, allow_partial: bool) -> bool:
    """Whether FRAME is something else than the whole corpus; refused with the counts unless that is allowed."""
    odd = differences(kind, frame, expected) if expected else []
    if odd and not allow_partial:
        raise MissingError(
            f"{label} is truncated or odd: it has {', '.join(odd)}",
            hint="get the whole corpus, or use what is here with --allow-partial: every number made from it is marked partial",
        )
    return bool(odd)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {rows:,}" for name, rows in sorted(counts.items()))
