"""Classes that another program predicted, item by item: `items:FILE` or `items:FILE#column`.

The file is CSV, TSV, JSON lines or parquet with the columns dataset, item and prediction (or one of
another name). An item is the row of its dataset's scored split, counted from 0, as `embedlab data
items` lists them.
"""

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.first_few import first_few
from embedlab.data.table_file import PLACE, as_texts, read_rows, refuse_json_numbers
from embedlab.encoders.encoder import no_similarities
from embedlab.models.encoder_kind import EncoderKind, existing_file, file_and_part, file_column

_FORMAT = (
    "items:FILE takes CSV, TSV, JSON lines or parquet with the columns dataset, item and prediction"
)
_KEYS = ("dataset", "item")


def read_items(location: str) -> pl.DataFrame:
    """Return the columns dataset, item, prediction and `place`, the line of the file; an item that
    is not a number is a MissingError.
    """
    path, column = file_and_part(location)
    table = read_rows(path, _KEYS)
    columns = [name for name in table.columns if name != PLACE]
    others = [name for name in columns if name not in _KEYS]
    if absent := [name for name in _KEYS if name not in table.columns]:
        raise MissingError(
            f"{path}: no column {absent[0]!r}; it has {first_few(columns)}", hint=_FORMAT
        )
    wanted = file_column(
        path,
        column or ("prediction" if "prediction" in others or len(others) != 1 else others[0]),
        others,
    )
    if table.is_empty():
        raise MissingError(f"{path}: no rows", hint=_FORMAT)
    refuse_json_numbers(path, table, ["dataset"])
    frame = as_texts(path, table, (*_KEYS, wanted)).select(
        "dataset", "item", prediction=wanted, place=PLACE
    )
    numbers = frame["item"].str.strip_chars().cast(pl.UInt32, strict=False)
    if (wrong := frame.filter(numbers.is_null())).height:
        item, place = wrong["item"][0], wrong["place"][0]
        raise MissingError(
            f"{path}, line {place}: item {str(item)!r} is not a row number",
            hint="count rows from 0: `embedlab data ls DATASET --items`",
        )
    return frame.with_columns(item=numbers)


def _locate(rest: str) -> str:
    path, column = file_and_part(rest)
    file = existing_file(str(path), missing="no file of predicted items", hint=_FORMAT)
    return file if column is None else f"{file}#{column}"


ENCODER = EncoderKind(
    open=no_similarities(
        "'items:{}' holds classes of items, not similarities",
        hint="compare it with --suite transfer, probing or glue",
    ),
    locate=_locate,
    backend="file",
    is_cached=False,
    has_vectors=False,
    items=read_items,
)
