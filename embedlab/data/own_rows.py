"""A user's own rows for training: the columns that an objective reads, under whichever names the
files have them.

TSV, CSV, JSONL and parquet files have named columns; a text file has one sentence a line. Errors
name the line, or a parquet file's row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.first_few import first_few
from embedlab.core.hints import Hint, RecipeValue
from embedlab.data.dataset import ParsedRows, Part
from embedlab.data.file_name import TEXT_FILE
from embedlab.data.readers.lines import read_whole_lines
from embedlab.data.row_file import (
    PLACE,
    TABLES,
    class_texts,
    number_of,
    read_rows,
    refuse_bad_texts,
    refuse_nested,
    refuse_rows,
)
from embedlab.data.topics import is_held_out

# Under these names the corpora that embedlab reads have the columns: the pair files, SNLI and
# SimCSE's triplets.
_PUBLISHED = {
    "gold": "score",
    "label": "gold_label",
    "premise": "sentence1",
    "hypothesis": "sentence2",
    "anchor": "sent0",
    "positive": "sent1",
    "negative": "hard_neg",
}


@dataclass(frozen=True, kw_only=True)
class RowShape:
    """The columns that are read, by what they hold."""

    texts: tuple[str, ...]
    labels: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # column → its classes; none: any text
    numbers: Mapping[str, float | None] = field(
        default_factory=dict
    )  # column → its largest absolute value; None: any

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of all columns."""
        return (*self.texts, *self.labels, *self.numbers)


@dataclass(frozen=True, kw_only=True)
class ColumnMap:
    """What a user says of the files: the names of their columns, and the meaning of their
    labels.
    """

    columns: Mapping[str, str] = field(default_factory=dict)  # ours → theirs
    labels: Mapping[str, str] = field(default_factory=dict)  # theirs → ours


def open_own_rows(
    path: Path, shape: RowShape, named: ColumnMap, held_out: float | None = None
) -> Part:
    """Return the rows of the file at PATH with the columns of SHAPE, found where NAMED says, or
    under their own or published names.

    The share of them that is HELD_OUT for evaluation, whole topics, is not among them; a share that
    gives no rows is refused.
    """
    named = replace(named, columns=_by_our_names(named.columns, shape))
    rows = _lines(path, shape) if path.suffix.lower() == TEXT_FILE else _rows(path, shape, named)
    return Part.of_file(
        path,
        rows if held_out is None else _without_held_out(path, rows, shape, held_out),
        name=path.name,
    )


def _without_held_out(path: Path, rows: ParsedRows, shape: RowShape, share: float) -> ParsedRows:
    is_left_out = is_held_out(rows.frame, shape.texts, share)
    if not is_left_out.any():
        message = (
            f"{path}: no {share:.0%} of its {rows.frame.height} rows can be held out without "
            f"parting rows that share a sentence"
        )
        raise UsageError(
            message,
            hint=Hint(
                "remove data.held_out, and name a dev file: ", RecipeValue("evaluate.dev", "FILE")
            ),
        )
    return replace(rows, frame=rows.frame.filter(~is_left_out))


def _by_our_names(columns: Mapping[str, str], shape: RowShape) -> Mapping[str, str]:
    """Return COLUMNS with the objective's own names as keys, where they may be those that published
    corpora have.
    """
    ours = {_PUBLISHED[name]: name for name in shape.columns if name in _PUBLISHED} | {
        name: name for name in shape.columns
    }
    if unread := next((name for name in columns if name not in ours), None):
        raise UsageError(
            f"data.columns names {unread!r}, which the objective does not read",
            hint=f"it reads {', '.join(shape.columns)}",
        )
    by_our_names: dict[str, str] = {}
    for name, theirs in columns.items():
        if by_our_names.setdefault(ours[name], theirs) != theirs:
            fault = (
                f"data.columns names both {by_our_names[ours[name]]!r} and {theirs!r} as "
                f"{ours[name]!r}"
            )
            raise UsageError(
                fault, hint=Hint("name one: ", RecipeValue(f"data.columns.{ours[name]}", theirs))
            )
    return by_our_names


def _lines(path: Path, shape: RowShape) -> ParsedRows:
    if len(shape.columns) != 1:
        raise MissingError(
            f"{path}: a text file has sentences alone, but the objective reads "
            f"{', '.join(shape.columns)}",
            hint=f"give a file that ends in {', '.join(TABLES)}",
        )
    if not path.is_file():
        raise MissingError(
            f"no file {str(path)!r}", hint="give the path of a file with one sentence a line"
        )
    rows = read_whole_lines(path)
    return ParsedRows(frame=rows.frame.rename({"sentence": shape.texts[0]}), skipped=rows.skipped)


def _rows(path: Path, shape: RowShape, named: ColumnMap) -> ParsedRows:
    places = _Places(path, named)
    frame = read_rows(path, needed=[*named.columns.values(), *shape.columns])
    theirs = {
        ours: places.of(ours, [name for name in frame.columns if name != PLACE])
        for ours in shape.columns
    }
    if frame.is_empty():
        raise MissingError(f"{path} has no rows below its header", hint="give one example a row")
    refuse_bad_texts(path, frame, [theirs[name] for name in shape.texts])
    refuse_nested(path, frame, [theirs[name] for name in shape.columns if name not in shape.texts])
    labels = [
        _labels(path, frame, theirs[name], classes, named.labels).alias(name)
        for name, classes in shape.labels.items()
    ]
    numbers = [
        _numbers(path, frame, theirs[name], largest).alias(name)
        for name, largest in shape.numbers.items()
    ]
    texts = [frame[theirs[name]].cast(pl.String).alias(name) for name in shape.texts]
    return ParsedRows(frame=pl.DataFrame([*texts, *labels, *numbers]))


@dataclass(frozen=True)
class _Places:
    """Where the columns of a file are."""

    path: Path
    named: ColumnMap

    def of(self, ours: str, columns: Sequence[str]) -> str:
        """Return the column that holds OURS among COLUMNS, those of the file."""
        said = self.named.columns.get(ours)
        choices = (said,) if said is not None else (ours, _PUBLISHED.get(ours, ours))
        theirs = next((name for name in choices if name in columns), None)
        if theirs is None:
            what = f"{said!r}" if said is not None else f"{ours!r}"
            raise MissingError(
                f"{self.path} has no column {what}: found {first_few(columns)}",
                hint=Hint("say which holds it: ", RecipeValue(f"data.columns.{ours}", "NAME")),
            )
        return theirs


def _labels(
    path: Path, frame: pl.DataFrame, column: str, classes: Sequence[str], meaning: Mapping[str, str]
) -> pl.Series:
    """Return a column of labels as classes."""
    label = class_texts(frame[column]).replace(dict(meaning))
    rows = frame.with_columns(label.alias(column))
    refuse_rows(path, rows, pl.col(column).fill_null("") == "", f"{column} is empty", column)
    known = list(classes)
    if known:
        hint = Hint(
            "correct it, or say what it means: ", RecipeValue("data.labels.LABEL", known[0])
        )
        refuse_rows(
            path,
            rows,
            ~pl.col(column).is_in(known),
            f"{column} is none of {', '.join(known)}",
            column,
            hint=hint,
        )
    return label


def _numbers(path: Path, frame: pl.DataFrame, column: str, largest: float | None) -> pl.Series:
    number = number_of(column)
    refuse_rows(
        path, frame, ~number.is_finite().fill_null(False), f"{column} is not a number", column
    )
    if largest is not None:
        hint = "correct it, or state the scale of the scores in the objective's options"
        refuse_rows(
            path,
            frame,
            number.abs() > largest,
            f"{column} is not from {-largest:g} to {largest:g}",
            column,
            hint=hint,
        )
    return frame.select(number).to_series()
