"""Columns separated by tabs, quotes taken literally, or by commas with quotes: by the names of a
header line or by position.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.schema import table
from embedlab.data.dataset import COLUMNS, DatasetKind, ParsedRows
from embedlab.data.definitions import of_split
from embedlab.data.reader import Reader, ReadSplit
from embedlab.data.text_file import (
    as_lines,
    bad_line,
    read_fields,
    read_lines,
    read_numbers,
)

SPLIT = "split"  # a column that says which split a row is in
_FULL = ("definitions", "triplets")  # kinds of rows without an empty text
_PAIR = ("sentence1", "sentence2")


@table
class DelimitedOptions:
    """What a corpus says of its columns."""

    columns: dict[
        str, str | int
    ]  # ours → theirs: names in the header line, or positions from 0 where there is none
    fields: tuple[int, ...] = ()  # how many fields a line may have where there is no header
    line: str = ""  # what a line holds, for errors
    header: tuple[
        str, ...
    ] = ()  # the names of the columns of a file that is written; "id" holds numbers from 1
    quoted: bool = False  # separated by commas, with quotes
    stripped: tuple[str, ...] = ()  # our columns without blanks at their ends
    labels: tuple[str, ...] = ()  # those that are known, where the counts of the split do not say
    unlabelled: str = ""  # the label of rows without one, which are skipped and counted
    # a blank number: the reason for which its row is skipped; absent: it is refused
    blank: str = ""
    source: str = ""  # of every row, where no column has it
    licences: bool = False  # addresses of licences may follow the columns
    by_word: bool = False  # the file holds all splits: a hash of the word says in which it is

    def __post_init__(self) -> None:
        """Refuse columns by name and by position at once, and positions without the number of
        fields.
        """
        has_positions = {isinstance(theirs, int) for theirs in self.columns.values()}
        if len(has_positions) != 1:
            raise ValueError(
                "columns must be names in a header line, or positions in files without one"
            )
        if has_positions == {True} and (not self.fields or self.quoted):
            raise ValueError(
                "columns by position need the numbers of fields that a line may have, and tabs"
            )

    def __hash__(self) -> int:
        """Return the hash by which rows of a file are cached."""
        return hash(repr(self))


def _read(paths: Sequence[Path], *, options: DelimitedOptions, split: ReadSplit) -> ParsedRows:
    """Return the rows of one file, or of several one after the other; a fault is an error at its
    line.
    """
    parts = [_read_file(path, options, split) for path in paths]
    skipped: dict[str, int] = {}
    for part in parts:
        for reason, count in part.skipped.items():
            skipped[reason] = skipped.get(reason, 0) + count
    return ParsedRows(frame=pl.concat([part.frame for part in parts]), skipped=skipped)


def _read_file(path: Path, options: DelimitedOptions, split: ReadSplit) -> ParsedRows:
    status = path.stat()
    titles = split.titles if SPLIT in options.columns else ()
    is_full = split.kind in _FULL
    # rows of several splits are kept: the splits are opened one after the other
    read = _all_rows if titles or options.by_word else _all_rows.__wrapped__
    rows = read(path, status.st_size, status.st_mtime_ns, options, titles, is_full)
    if titles and (rows := rows.filter(pl.col(SPLIT) == split.title)).is_empty():
        raise MissingError(
            f"{path} has no line of the split {split.title!r}", hint="get the file again"
        )
    rows, unlabelled = _labelled(path, rows, options, split)
    rows, blank = _with_numbers(path, rows, options, split)
    if options.by_word:
        rows = of_split(rows, split.name)
    return ParsedRows(frame=_columns_of(rows, options, split), skipped={**unlabelled, **blank})


@lru_cache(maxsize=1)
def _all_rows(
    path: Path,
    _size: int,
    _modified_ns: int,
    options: DelimitedOptions,
    titles: tuple[str, ...],
    is_full: bool,
) -> pl.DataFrame:
    """Return our columns of a file of that size, last modified at that time, as text, and the line
    of each row; one that is in none of the splits with TITLES is refused, and so is an empty text
    where the file IS_FULL.
    """
    wanted = tuple(options.columns.values())
    line = options.line or ", ".join(options.header or map(str, wanted))
    fields = read_fields(
        path, wanted, line_shape=line, fields=options.fields, is_quoted=options.quoted
    )
    least, most = min(options.fields, default=0), max(options.fields, default=0)
    for number, text in enumerate(read_lines(path) if options.licences else (), 1):
        # two tabs within sentences make as many fields
        if any("http" not in licence for licence in text.split("\t")[least:]):
            fault = f"its last two of {most} fields are not licences with their addresses"
            raise bad_line(path, number, fault)
    # One selection instead of a renaming: a file may call another column as we call this one.
    theirs = {ours: pl.col(str(name)) for ours, name in options.columns.items()}
    theirs |= {ours: theirs[ours].str.strip_chars() for ours in options.stripped}
    rows = fields.select("line", **theirs)
    for name in theirs if is_full else ():
        empty = rows.filter(pl.col(name).str.strip_chars() == "")
        if not empty.is_empty():
            raise bad_line(path, empty["line"][0], f"an empty {name}")
    wrong = rows.filter(~pl.col(SPLIT).is_in(titles)) if titles else rows.clear()
    if not wrong.is_empty():
        fault = f"split {wrong[SPLIT][0]!r} is not one of {', '.join(titles)}"
        raise bad_line(path, wrong["line"][0], fault)
    return rows


def _labelled(
    path: Path, rows: pl.DataFrame, options: DelimitedOptions, split: ReadSplit
) -> tuple[pl.DataFrame, Mapping[str, int]]:
    """Return the rows with a label, and how many have none; a label that is not known is
    refused.
    """
    labels, none = options.labels or split.classes, options.unlabelled
    is_text = COLUMNS[split.kind].get("label") == pl.String
    if "label" not in options.columns or not labels or not is_text:
        return rows, {}
    wrong = rows.filter(~pl.col("label").is_in([*labels, none or labels[0]]))
    if not wrong.is_empty():
        known = ", ".join(labels) + (f" and {none!r}" if none else "")
        raise bad_line(path, wrong["line"][0], f"label {wrong['label'][0]!r} is not one of {known}")
    return _counted(rows, rows["label"] != none if none else True, f"label {none!r}")


def _with_numbers(
    path: Path, rows: pl.DataFrame, options: DelimitedOptions, split: ReadSplit
) -> tuple[pl.DataFrame, Mapping[str, int]]:
    """Return the rows with their score or class as a number, and how many have a blank one."""
    numbers = {"gold": split.gold_range, "is_duplicate": (0.0, 1.0)}
    if split.kind == "sentiment":
        numbers["label"] = (0.0, 4.0)
    name = next((ours for ours in options.columns if ours in numbers), None)
    if name is None:
        return rows, {}
    is_class, theirs = name != "gold", options.columns[name]
    title = theirs if isinstance(theirs, str) else "gold score"
    values = read_numbers(path, rows[name], rows["line"], *numbers[name], title, is_class=is_class)
    if not options.blank and values.null_count():
        raise bad_line(path, rows["line"].filter(values.is_null())[0], f"no {title}")
    numbered = rows.with_columns(values.cast(pl.Int8 if is_class else pl.Float64).alias(name))
    return _counted(numbered, values.is_not_null(), options.blank)


def _counted(
    rows: pl.DataFrame, is_read: pl.Series | bool, reason: str
) -> tuple[pl.DataFrame, Mapping[str, int]]:
    """Return the ROWS that are read, and how many are not for a REASON."""
    read = rows.filter(is_read)
    count = rows.height - read.height
    return read, {reason: count} if count else {}


def _columns_of(rows: pl.DataFrame, options: DelimitedOptions, split: ReadSplit) -> pl.DataFrame:
    """Return the columns of the kind of rows: one that the file has not is blank, and both texts of
    pairs are sentences of their own.
    """
    if split.kind == "sentences" and "sentence" not in rows.columns:
        return rows.select(sentence=pl.concat_list(*_PAIR)).explode("sentence")
    given = {"source": options.source} if options.source else {}
    return rows.select(
        pl.col(name) if name in rows.columns else pl.lit(given.get(name), dtype).alias(name)
        for name, dtype in COLUMNS[split.kind].items()
    )


def _write(frame: pl.DataFrame, *, options: DelimitedOptions) -> tuple[str, ...]:
    """Return the text of a file that is read back as the same rows; columns of the file that we do
    not read are blank.
    """
    values = {theirs: pl.col(ours) for ours, theirs in options.columns.items()}
    values["id"] = pl.int_range(1, pl.len() + 1)
    names = options.header or range(min(options.fields))
    columns = [values.get(name, pl.lit("", pl.String)).alias(str(name)) for name in names]
    return (as_lines(frame.select(columns), header=bool(options.header)),)


def _columns(kind: DatasetKind) -> Mapping[str, bool]:
    """Return the columns that a corpus of a KIND may name, and whether it must."""
    if kind == "sentences":
        return dict.fromkeys(("sentence", *_PAIR, "gold", "is_duplicate", SPLIT), False)
    needed = {name: name != "source" for name in COLUMNS[kind]}
    if COLUMNS[kind].get("label") == pl.String:
        needed["label"] = False
    return {**needed, SPLIT: False}


READER = Reader(options=DelimitedOptions, read=_read, write=_write, columns=_columns)
