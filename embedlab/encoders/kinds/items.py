"""Classes that another program predicted, item by item: `items:FILE` or `items:FILE#column`.

The file is CSV, TSV, JSON lines or parquet with the columns dataset, item and prediction (or one of another name). An item is the row of
its dataset's scored split, counted from 0, as `embedlab data items` lists them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import polars as pl

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.nearest import nearest_name
from embedlab.data.row_file import PLACE, read_rows
from embedlab.encoders.encoder import EncoderFacts
from embedlab.models.encoder_kind import EncoderKind, existing_file

_FORMAT = "items:FILE takes CSV, TSV, JSON lines or parquet with the columns dataset, item and prediction"
_KEYS = ("dataset", "item")


class ItemsOnly:
    """What predicted classes can say of similarity: nothing."""

    facts = EncoderFacts()

    def __init__(self, location: str) -> None:
        self._location = location

    def score(self, first: Sequence[str], second: Sequence[str]) -> NoReturn:
        """Refuse pairs of text."""
        raise UsageError(
            f"'items:{self._location}' holds classes of items, not similarities", hint="compare it with --suite transfer, probing or glue"
        )


def read_items(location: str) -> pl.DataFrame:
    """Return the columns dataset, item, prediction and `place`, the line of the file; an item that is not a number is a MissingError."""
    path, column = _parts(location)
    table = read_rows(path, _KEYS)
    others = [name for name in table.columns if name not in {*_KEYS, PLACE}]
    if absent := [name for name in _KEYS if name not in table.columns]:
        raise MissingError(f"{path}: no column {absent[0]!r}; it has {', '.join(set(table.columns) - {PLACE})}", hint=_FORMAT)
    wanted = column or ("prediction" if "prediction" in others or len(others) != 1 else others[0])
    if wanted not in others:
        guess = nearest_name(wanted, others)
        raise UsageError(f"{path}: no column {wanted!r}", hint=f"did you mean {guess!r}?" if guess else f"columns: {', '.join(others)}")
    if table.is_empty():
        raise MissingError(f"{path}: no rows", hint=_FORMAT)
    found = table.select("dataset", "item", prediction=wanted, place=PLACE).cast({"dataset": pl.String, "prediction": pl.String})
    numbers = found["item"].cast(pl.String).str.strip_chars().cast(pl.UInt32, strict=False)
    if (wrong := found.filter(numbers.is_null())).height:
        item, place = wrong["item"][0], wrong["place"][0]
        raise MissingError(f"{path}, line {place}: item {str(item)!r} is not a row number", hint="count rows from 0: `embedlab data items`")
    return found.with_columns(item=numbers)


def _parts(location: str) -> tuple[Path, str | None]:
    if Path(location).expanduser().is_file():
        return Path(location).expanduser(), None
    file, _, column = location.rpartition("#")
    return (Path(file).expanduser(), column) if file else (Path(location).expanduser(), None)


def _locate(rest: str) -> str:
    path, column = _parts(rest)
    file = existing_file(str(path), missing="no file of predicted items", hint=_FORMAT)
    return file if column is None else f"{file}#{column}"


ENCODER = EncoderKind(open=ItemsOnly, locate=_locate, backend="file", is_cached=False, has_vectors=False, items=read_items)
