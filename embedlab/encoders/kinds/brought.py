"""What another program computed: similarities of pairs, vectors of sentences, classes of items, and
documents that it found for queries.

`scores:FILE` or `scores:FILE#column`, matched by the text of the pairs: CSV, TSV, JSON lines or
parquet with the columns sentence1 and sentence2 and one of numbers for each model. `vectors:FILE`,
matched by the text of the sentences: parquet with the columns sentence and vector, or a NAME.npy of
shape (sentences, dim) beside a NAME.txt of one sentence a line. `items:FILE` or
`items:FILE#column`: such a table with the columns dataset, item and prediction (or one of another
name), where an item is the row of its dataset's scored split, counted from 0, as `embedlab data ls
DATASET --items` lists them. `trec:FILE` is in TREC's format: a line is `query Q0 document rank
score name`, and the scores decide the order, as in trec_eval, not the ranks.
"""

import re
from collections.abc import Sequence
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.errors import MissingError, UsageError, in_one_line
from embedlab.core.foreign_files import refuse_other_content
from embedlab.core.frame_files import read_foreign_parquet, read_npy
from embedlab.core.printable import count_text, first_few
from embedlab.data.column_names import is_opposite
from embedlab.data.dataset import SIDES
from embedlab.data.queries import read_run
from embedlab.data.table_file import (
    as_texts,
    number_of,
    read_rows,
    refuse_json_numbers,
    refuse_nested,
)
from embedlab.data.text_file import PLACE, read_text
from embedlab.encoders.encoder import RefusedTextsError, Vectors, no_similarities
from embedlab.models.encoder_kind import (
    EncoderKind,
    existing_column,
    existing_file,
    file_and_part,
    file_column,
)

PLUGINS = {"encoders": {"scores": "SCORES", "vectors": "VECTORS", "items": "ITEMS", "trec": "TREC"}}
_HALF = re.compile("[\ud800-\udfff]")
# what tables of pairs hold beside a model's numbers
_NOT_SCORES = {
    "gold",
    "score",
    "label",
    "pair",
    "pair_key",
    "index",
    "id",
}
_LARGEST = float(np.finfo(np.float32).max)
_SCORES_FORMAT = (
    "scores:FILE takes CSV, TSV, JSON lines or parquet with the columns sentence1, sentence2 "
    "and a column of numbers"
)


class FileScores:
    """The similarities of a file; pairs that it lacks in both orders have none."""

    def __init__(self, known: pl.DataFrame) -> None:
        # each pair once, by the hashes of its sentences: text is not needed again
        self._known = known

    def score(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
        """The similarity of each pair, nan where the file has none; (pairs,)."""
        pairs = pl.DataFrame({"sentence1": _series(first), "sentence2": _series(second)})
        return self.score_frame(pairs)

    def score_frame(self, pairs: pl.DataFrame) -> NDArray[np.float64]:
        """The similarity of each pair of a frame, nan where the file has none; (pairs,)."""
        hashes = _hashes(pairs)
        as_given = self._look_up(hashes, SIDES)
        swapped = self._look_up(hashes, SIDES[::-1])
        return as_given.fill_null(swapped).fill_null(np.nan).to_numpy()

    def _look_up(self, hashes: pl.DataFrame, columns: Sequence[str]) -> pl.Series:
        """The similarities of pairs whose sentences are in COLUMNS, null where there is
        none.
        """
        order: Any = {"how": "left", "maintain_order": "left", "nulls_equal": True}
        return hashes.join(self._known, left_on=columns, right_on=SIDES, **order)["value"]


def open_scores(location: str) -> FileScores:
    """The scores in a file; two rows that score one pair differently, or a value that is not a
    number, are a MissingError. A pair whose score is empty has none.
    """
    path, column = file_and_part(location)
    table = _rows(path, read_rows(path), SIDES, _SCORES_FORMAT)
    refuse_json_numbers(path, table, SIDES)
    table = as_texts(path, table, SIDES).with_columns(pl.col(SIDES).fill_null(""))
    score_column = _column(path, table, column)
    refuse_nested(path, table, [score_column])
    table = table.filter(pl.col(score_column).is_not_null())
    if table.is_empty():
        raise MissingError(
            f"{path}: {score_column!r} is empty in every row", hint=f"fill in {score_column}"
        )
    numbers = _numbers(table[score_column])
    unit = "row" if path.suffix.lower() == ".parquet" else "line"
    is_right = (numbers.abs() <= _LARGEST).fill_null(False)
    wrong_rows = table.select(pl.col(score_column), PLACE).filter(~is_right)
    for text, line_number in wrong_rows.head(1).iter_rows():
        raise MissingError(
            f"{path}, {unit} {line_number}: {score_column!r} is {text!r}, not a number up to "
            f"{_LARGEST:.2g}",
            hint=f"correct or remove the {unit}",
        )
    pairs = _hashes(table).with_columns(table[PLACE].alias("place"), value=numbers)
    del table  # its texts take more than all that follows
    first_scores = pairs.unique(SIDES, keep="first", maintain_order=True)
    if len(first_scores) < len(pairs):
        first_value = pl.col("value").first().over(SIDES)
        contradictions = pairs.filter(pl.col("value") != first_value)
        if len(contradictions):
            raise MissingError(
                f"{path}, {unit} {contradictions['place'][0]}: {score_column!r} gives a pair "
                f"a second, different score",
                hint="leave each pair in once",
            )
    return FileScores(first_scores.drop("place"))


def _hashes(pairs: pl.DataFrame) -> pl.DataFrame:
    """The numbers of the two sentences of each pair, equal ones of equal text."""
    return pairs.select(pl.col(SIDES).hash())


def _series(texts: Sequence[str]) -> pl.Series:
    """Texts as a column; a text with half of a surrogate pair, which no file can hold, is null."""
    return pl.Series([None if _HALF.search(text) else text for text in texts], dtype=pl.String)


def _rows(path: Path, table: pl.DataFrame, keys: Sequence[str], form: str) -> pl.DataFrame:
    """Return the TABLE of a file, which must have the columns KEYS, and rows."""
    if missing_columns := [name for name in keys if name not in table.columns]:
        columns = first_few(name for name in table.columns if name != PLACE)
        raise MissingError(f"{path}: no column {missing_columns[0]!r}; it has {columns}", hint=form)
    if table.is_empty():
        raise MissingError(f"{path}: no rows", hint=form)
    return table


def _column(path: Path, table: pl.DataFrame, typed_column: str | None) -> str:
    other_columns = [name for name in table.columns if name not in {*SIDES, PLACE}]
    if typed_column is not None:
        return file_column(path, typed_column, other_columns)
    readable, numbers = [], []
    for name in other_columns:
        values = table[name]
        if values.dtype.is_numeric() or values.dtype == pl.String:
            readable.append(name)
            if _numbers(values).null_count() == values.null_count() < len(values):
                numbers.append(name)
    candidates = [name for name in numbers if name not in _NOT_SCORES] or numbers or readable
    if len(candidates) != 1:
        problem = f"no column of numbers; it has {first_few(other_columns)}"
        if numbers:
            problem = f"several columns of numbers: {first_few(candidates)}"
        hint = f"name one: scores:{path}#{candidates[0]}" if candidates else _SCORES_FORMAT
        raise UsageError(f"{path}: {problem}", hint=hint)
    if is_opposite(candidates[0]):
        raise UsageError(
            f"{path}: {candidates[0]!r} may be the opposite of a similarity",
            hint=f"if a greater number means more similar: scores:{path}#{candidates[0]}",
        )
    return candidates[0]


def _numbers(values: pl.Series) -> pl.Series:
    """VALUES as numbers, null where they are none."""
    if values.dtype.is_numeric() or values.dtype == pl.Boolean:
        return values.cast(pl.Float64, strict=False)
    return values.to_frame().select(number_of(values.name)).to_series()


SCORES = EncoderKind(
    open=open_scores,
    locate=partial(existing_column, missing="no score file", hint=_SCORES_FORMAT),
    backend="file",
    has_vectors=False,
)


_PACKED = "packed bits, or whole numbers?"
_UNPACKED = (
    "store float32: of bits np.unpackbits(v.astype(np.uint8), axis=1), in int8 of "
    "v.astype(np.uint8) ^ 128; of numbers v.astype(np.float32)"
)
# numbers near their ends are no coordinates
_WIDE = ("uint16", "int32", "uint32", "int64", "uint64")
_VECTORS_FORMAT = (
    "vectors:FILE takes parquet with the columns sentence and vector, or NAME.npy with "
    "NAME.txt beside it"
)


class FileVectors:
    """The vectors of a file."""

    def __init__(self, path: Path, sentences: Sequence[str], vectors: Vectors) -> None:
        self._path = path
        is_finite = np.asarray(np.isfinite(vectors).all(axis=1))
        self._odd = {*compress(sentences, ~is_finite)}
        self._rows = {text: row for row, text in enumerate(sentences) if is_finite[row]}
        self._vectors = vectors

    @property
    def sentences(self) -> list[str]:
        """The sentences that have a vector."""
        return list(self._rows)

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self._vectors.shape[1])

    def encode(self, sentences: Sequence[str]) -> Vectors:
        """The vector of each sentence. Sentences that the file lacks are refused; if it lacks all,
        that is a MissingError.
        """
        unknown_texts = [text for text in sentences if text not in self._rows]
        if unknown_texts and len(unknown_texts) == len(sentences):
            raise MissingError(
                f"{self._path} has no vector for {sentences[0]!r} or any other sentence",
                hint="add them, or choose other sentences",
            )
        vectors = self._vectors[[self._rows[text] for text in sentences if text in self._rows]]
        if unknown_texts:
            reasons = ("it is not in the file", "its numbers are not all finite")
            refused = [(text, reasons[text in self._odd]) for text in unknown_texts]
            raise RefusedTextsError(str(self._path), refused, vectors)
        return vectors


def open_vectors(location: str) -> FileVectors:
    """The vectors in a file; rows of different lengths or a missing text file are a MissingError.
    A sentence whose numbers are not all finite, or whose row has none, has no vector.
    """
    path = Path(location)
    if path.suffix == ".npy" and not _sentences_of(path).is_file():
        raise MissingError(
            f"no file {str(_sentences_of(path))!r} with the sentences of {path.name!r}",
            hint=_VECTORS_FORMAT,
        )
    sentences, vectors = read_vectors(path)
    if len(vectors) != len(sentences) or vectors.shape[1] == 0:
        raise MissingError(
            f"{path}: {count_text(len(sentences), 'sentences')}, but an array of shape "
            f"{vectors.shape}",
            hint=_VECTORS_FORMAT,
        )
    _refuse_two_vectors(path, sentences, vectors)
    return FileVectors(path, sentences, vectors)


def read_vectors(path: Path, *, has_text: bool = True) -> tuple[list[str], Vectors]:
    """Return the sentences of a .npy or .parquet file, none unless it HAS TEXT, and its vectors,
    (n, width) float32.
    """
    inner: Any = None
    try:
        refuse_other_content(path)
        if path.suffix == ".npy":
            numbers = read_npy(path)
            text = read_text(_sentences_of(path)) if has_text else ""
            sentences = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
        else:
            table = read_foreign_parquet(path)
            table = table.filter(table["vector"].is_not_null())
            sentences = table["sentence"].cast(pl.String).to_list() if has_text else []
            inner = getattr(table["vector"].dtype, "inner", None)
            if table["vector"].dtype == pl.Binary:
                raise UsageError(f"{path}: vector holds bytes: {_PACKED}", hint=_UNPACKED)
            is_integer = inner is not None and inner.is_integer()
            kind = f"{'i' if inner.is_signed_integer() else 'u'}8" if is_integer else np.float64
            numbers = np.array(table["vector"].to_list(), kind)
        vectors = _as_float32(numbers, path, str(inner or numbers.dtype).lower())
    except (OSError, ValueError, TypeError, pl.exceptions.PolarsError) as error:
        raise MissingError(f"{path}: {in_one_line(error)}", hint=_VECTORS_FORMAT) from error
    if vectors.ndim != 2:
        hint = "give (n, width) numbers"
        raise MissingError(f"{path}: an array of shape {vectors.shape}", hint=hint)
    non_finite_rows = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(non_finite_rows) and (len(non_finite_rows) == len(vectors) or not has_text):
        rows = first_few([str(row + 1) for row in non_finite_rows], 3)
        raise MissingError(
            f"{path}: numbers that are not finite in row {rows}", hint="compute these vectors again"
        )
    return sentences, vectors


def _refuse_two_vectors(path: Path, sentences: Sequence[str], vectors: Vectors) -> None:
    """Refuse a sentence that occurs again with another vector."""
    row_of_sentence: dict[str, int] = {}
    for row, sentence in enumerate(sentences):
        first_row = row_of_sentence.setdefault(sentence, row)
        if first_row != row and (vectors[first_row] != vectors[row]).any():
            raise MissingError(
                f"{path}: {sentence!r} has two different vectors, rows {first_row + 1} and "
                f"{row + 1}",
                hint="keep one of them",
            )


def _as_float32(numbers: NDArray[Any], path: Path, stored_dtype: str) -> Vectors:
    """Return NUMBERS, stored as STORED_DTYPE in the file; numbers that may be packed bits are
    refused.
    """
    if np.iscomplexobj(numbers):
        raise ValueError("complex numbers")
    if numbers.dtype.kind in "ui" and numbers.size:
        low, high = int(numbers.min()), int(numbers.max())
        is_byte = low >= -128 and high < 256 and (numbers.itemsize == 1 or max(-low, high) > 1)
        is_wide = stored_dtype in _WIDE and high > np.iinfo(stored_dtype).max // 2
        if is_byte or is_wide:
            raise UsageError(f"{path} holds {stored_dtype}: {_PACKED}", hint=_UNPACKED)
    with np.errstate(over="ignore"):  # numbers that are too large are refused as not finite
        return np.asarray(numbers, np.float32)


def _further_files(location: str) -> list[Path]:
    """Return the file with the sentences of the vectors."""
    path = Path(location)
    return [_sentences_of(path)] if path.suffix == ".npy" else []


def _sentences_of(array: Path) -> Path:
    return array.with_suffix(".txt")


VECTORS = EncoderKind(
    open=open_vectors,
    locate=partial(existing_file, missing="no file of vectors", hint=_VECTORS_FORMAT),
    backend="file",
    is_cached=False,
    further=_further_files,
)


_ITEMS_FORMAT = (
    "items:FILE takes CSV, TSV, JSON lines or parquet with the columns dataset, item and prediction"
)
_KEYS = ("dataset", "item")


def read_items(location: str) -> pl.DataFrame:
    """Return the columns dataset, item, prediction and `place`, the line of the file; an item that
    is not a number is a MissingError.
    """
    path, column = file_and_part(location)
    table = _rows(path, read_rows(path, _KEYS), _KEYS, _ITEMS_FORMAT)
    other_columns = [name for name in table.columns if name not in {*_KEYS, PLACE}]
    default_column = other_columns[0] if len(other_columns) == 1 else "prediction"
    prediction_column = file_column(path, column or default_column, other_columns)
    refuse_json_numbers(path, table, ["dataset"])
    frame = as_texts(path, table, (*_KEYS, prediction_column)).select(
        "dataset", "item", prediction=prediction_column, place=PLACE
    )
    number = number_of("item")  # 1.0 is the item 1, as pandas writes whole numbers beside blanks
    whole = pl.when(number == number.floor()).then(number).cast(pl.UInt32, strict=False)
    numbers = frame.select(whole).to_series()
    for item, line_number in frame.filter(numbers.is_null()).select("item", "place").iter_rows():
        raise MissingError(
            f"{path}, line {line_number}: item {str(item)!r} is not a row number",
            hint="count rows from 0: `embedlab data ls DATASET --items`",
        )
    return frame.with_columns(item=numbers)


ITEMS = EncoderKind(
    open=no_similarities(
        "'items:{}' holds classes of items, not similarities",
        hint="compare it with --suite transfer, probing or glue",
    ),
    locate=partial(existing_column, missing="no file of predicted items", hint=_ITEMS_FORMAT),
    backend="file",
    has_vectors=False,
    items=read_items,
)


_RUN_FORMAT = "trec:FILE takes a run of TREC: query Q0 document rank score name"


TREC = EncoderKind(
    open=no_similarities(
        "'trec:{}' holds retrieved documents, not similarities",
        hint="compare it with --task retrieval:FOLDER",
    ),
    locate=partial(existing_file, missing="no run", hint=_RUN_FORMAT),
    backend="file",
    has_vectors=False,
    options=(),
    found=lambda location: read_run(Path(location)),
)
