"""Similarities of pairs that another program computed: `scores:FILE` or `scores:FILE#column`,
matched by the text of the pairs.

The file is CSV, TSV, JSON lines or parquet with the columns sentence1 and sentence2 and one of
numbers for each model.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.first_few import first_few
from embedlab.data.table_file import PLACE, as_texts, read_rows, refuse_json_numbers, refuse_nested
from embedlab.encoders.encoder import EncoderFacts
from embedlab.models.encoder_kind import EncoderKind, existing_file, file_and_part, file_column

SENTENCES = ("sentence1", "sentence2")
_HALF = re.compile("[\ud800-\udfff]")
_NOT_SCORES = {
    "gold",
    "score",
    "label",
    "pair",
    "pair_key",
    "index",
    "id",
}  # what tables of pairs hold beside a model's numbers
_Hashes = NDArray[np.uint64]
_LARGEST = float(np.finfo(np.float32).max)
_FORMAT = (
    "scores:FILE takes CSV, TSV, JSON lines or parquet with the columns sentence1, sentence2 "
    "and a column of numbers"
)


class FileScores:
    """The similarities of a file; a pair that it does not hold, in either order, has none."""

    facts = EncoderFacts()

    def __init__(self, pairs: "_PairIndex", values: NDArray[np.float64]) -> None:
        self._pairs, self._values = (
            pairs,
            values,
        )  # the similarities of the pairs in the order of the index: text is not needed again

    def score(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float32]:
        """The similarity of each pair, nan where the file has none; (pairs,)."""
        return self.score_frame(
            pl.DataFrame({"sentence1": _series(first), "sentence2": _series(second)})
        )

    def score_frame(self, pairs: pl.DataFrame) -> NDArray[np.float32]:
        """The same of the pairs of a frame."""
        first, second = _hashes(pairs)
        places = self._pairs.places(first, second)
        absent = np.flatnonzero(places < 0)
        places[absent] = self._pairs.places(second[absent], first[absent])
        return np.where(places < 0, np.nan, self._values[places]).astype(np.float32)


def open_scores(location: str) -> FileScores:
    """The scores in a file; two rows that score one pair differently, or a value that is not a
    number, are a MissingError.
    """
    path, column = file_and_part(location)
    table = _read(path)
    chosen = _column(path, table, column)
    refuse_nested(path, table, [chosen])
    numbers, unit = _numbers(table[chosen]), "row" if path.suffix.lower() == ".parquet" else "line"
    is_wrong = ~(numbers.abs() <= _LARGEST).fill_null(False)
    if (wrong := is_wrong.arg_max()) is not None and is_wrong[wrong]:
        text, number = table[chosen][wrong], numbers[wrong]
        is_large = number is not None and np.isfinite(number)
        fault = (
            "empty"
            if text is None
            else f"{text!r}, {f'larger than {_LARGEST:.2g}' if is_large else 'not a number'}"
        )
        raise MissingError(
            f"{path}, {unit} {table[PLACE][wrong]}: {chosen!r} is {fault}",
            hint=f"correct or remove the {unit}",
        )
    pairs, values, rows = _hashes(table), numbers.to_numpy(), table[PLACE]
    del table  # its texts take more than all that follows
    index, order = _PairIndex.of(*pairs)
    if index.has_twins:
        others = np.flatnonzero(values != values[order][index.places(*pairs)])
        if len(others):
            raise MissingError(
                f"{path}, {unit} {rows[int(others[0])]}: {chosen!r} scores a pair again with "
                f"another number",
                hint="leave each pair in once",
            )
    return FileScores(index, values[order])


def _hashes(pairs: pl.DataFrame) -> tuple[_Hashes, _Hashes]:
    """The numbers of the two sentences of each pair, equal ones of equal text."""
    first, second = (pairs[name].hash().to_numpy() for name in SENTENCES)
    return first, second


@dataclass(frozen=True, kw_only=True, eq=False)
class _PairIndex:
    """Pairs of hashes in the order of a number made of both; of very many it takes a few bytes
    each.
    """

    mixed: _Hashes  # ascending
    first: _Hashes
    second: _Hashes

    @classmethod
    def of(cls, first: _Hashes, second: _Hashes) -> tuple[Self, NDArray[np.intp]]:
        """Return the index of some pairs, and their places in its order; of equal pairs the first
        stays first.
        """
        mixed = _mixed(first, second)
        order = np.argsort(mixed, kind="stable")
        return cls(mixed=mixed[order], first=first[order], second=second[order]), order

    @property
    def has_twins(self) -> bool:
        """Whether a pair may be there twice."""
        return bool((self.mixed[1:] == self.mixed[:-1]).any())

    def places(self, first: _Hashes, second: _Hashes) -> NDArray[np.intp]:
        """Return where in the index each pair is, the first of equal ones; -1 where it is
        absent.
        """
        wanted = _mixed(first, second)
        places = np.searchsorted(self.mixed, wanted)
        found, rows = np.full(len(wanted), -1), np.arange(len(wanted))
        while len(rows):
            inside = places[rows] < len(self.mixed)
            rows = rows[inside]
            rows = rows[self.mixed[places[rows]] == wanted[rows]]
            at = places[rows]
            is_own = (self.first[at] == first[rows]) & (self.second[at] == second[rows])
            found[rows[is_own]] = at[is_own]
            rows = rows[~is_own]  # other pairs with the same number come next
            places[rows] += 1
        return found


def _mixed(first: _Hashes, second: _Hashes) -> _Hashes:
    return first * np.uint64(0x9E3779B97F4A7C15) + second


def _series(texts: Sequence[str]) -> pl.Series:
    """Texts as a column; one that no file can hold, because it has half of a surrogate pair, is
    null.
    """
    return pl.Series([None if _HALF.search(text) else text for text in texts], dtype=pl.String)


def _locate(rest: str) -> str:
    path, column = file_and_part(rest)
    file = existing_file(str(path), missing="no score file", hint=_FORMAT)
    return file if column is None else f"{file}#{column}"


def _read(path: Path) -> pl.DataFrame:
    table = read_rows(path)
    if missing := [name for name in SENTENCES if name not in table.columns]:
        columns = [name for name in table.columns if name != PLACE]
        raise MissingError(
            f"{path}: no column {missing[0]!r}; it has {first_few(columns)}", hint=_FORMAT
        )
    if table.is_empty():
        raise MissingError(f"{path}: no rows", hint=_FORMAT)
    refuse_json_numbers(path, table, SENTENCES)
    return as_texts(path, table, SENTENCES).with_columns(pl.col(SENTENCES).fill_null(""))


def _column(path: Path, table: pl.DataFrame, wanted: str | None) -> str:
    others = [name for name in table.columns if name not in {*SENTENCES, PLACE}]
    if wanted is not None:
        return file_column(path, wanted, others)
    numbers = [name for name in others if _is_of_numbers(table[name])]
    candidates = [name for name in numbers if name not in _NOT_SCORES] or numbers
    candidates = candidates or [
        name for name in others if table[name].dtype == pl.String or table[name].dtype.is_numeric()
    ]
    if len(candidates) != 1:
        what = (
            f"several columns of numbers: {first_few(candidates)}"
            if numbers
            else f"no column of numbers; it has {first_few(others)}"
        )
        example = candidates[0] if candidates else "column"
        raise UsageError(f"{path}: {what}", hint=f"name one: scores:{path}#{example}")
    return candidates[0]


def _is_of_numbers(values: pl.Series) -> bool:
    is_readable = values.dtype.is_numeric() or values.dtype == pl.String
    return is_readable and _numbers(values).null_count() == values.null_count() < len(values)


def _numbers(values: pl.Series) -> pl.Series:
    """VALUES as numbers, null where they are none."""
    texts = (
        values.cast(pl.String) if values.dtype.base_type() in {pl.Categorical, pl.Enum} else values
    )
    return (texts.str.strip_chars() if texts.dtype == pl.String else texts).cast(
        pl.Float64, strict=False
    )


ENCODER = EncoderKind(
    open=open_scores, locate=_locate, backend="file", is_cached=False, has_vectors=False
)
