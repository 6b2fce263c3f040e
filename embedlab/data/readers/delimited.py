"""Columns separated by tabs, quotes taken literally, or by commas with quotes: by the names of a
header line or by position.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.first_few import first_few
from embedlab.core.schema import table
from embedlab.data.dataset import COLUMNS, DatasetKind, ParsedRows
from embedlab.data.definitions import of_split
from embedlab.data.reader import Reader, ReadSplit
from embedlab.data.text_file import (
    as_lines,
    bad_line,
    empty_file,
    read_csv_rows,
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
    if SPLIT in options.columns or options.by_word:
        status = path.stat()
        rows = _shared_rows(
            path, status.st_size, status.st_mtime_ns, options, split.kind, split.titles
        )
    else:
        rows = _all_rows(path, options, split.kind)
    if SPLIT in options.columns:
        rows = _of_split(path, rows, split)
    rows, unlabelled = _labelled(path, rows, options, split)
    rows, blank = _with_numbers(path, rows, options, split)
    if options.by_word:
        rows = of_split(rows, split.name)
    return ParsedRows(frame=_columns_of(rows, options, split), skipped={**unlabelled, **blank})


@lru_cache(
    maxsize=1
)  # the splits of a file are opened one after the other, and again for each model
def _shared_rows(
    path: Path,
    size: int,
    modified_ns: int,
    options: DelimitedOptions,
    kind: DatasetKind,
    titles: tuple[str, ...],
) -> pl.DataFrame:
    """Return the rows of all splits in a file of that size, last modified at that time; one that is
    in none of TITLES is refused.
    """
    rows = _all_rows(path, options, kind)
    if SPLIT in options.columns:
        wrong = rows.filter(~pl.col(SPLIT).is_in(titles))
        if not wrong.is_empty():
            raise bad_line(
                path,
                wrong["line"][0],
                f"split {wrong[SPLIT][0]!r} is not one of {', '.join(titles)}",
            )
    return rows


def _all_rows(path: Path, options: DelimitedOptions, kind: DatasetKind) -> pl.DataFrame:
    """Return our columns of a file as text, and the line of each row."""
    if options.quoted:
        fields = _quoted_fields(path, options)
    else:
        wanted = tuple(options.columns.values())
        line = options.line or ", ".join(options.header or map(str, wanted))
        fields = read_fields(path, wanted, line_shape=line, fields=options.fields)
    if options.licences:
        _refuse_other_fields(path, options)
    # One selection instead of a renaming: a file may call another column as we call this one.
    rows = fields.select(
        "line", *(_text(ours, theirs, options) for ours, theirs in options.columns.items())
    )
    if kind in _FULL:
        _refuse_empty(path, rows, quoted=options.quoted)
    return rows


def _text(ours: str, theirs: str | int, options: DelimitedOptions) -> pl.Expr:
    column = pl.col(str(theirs))
    return (column.str.strip_chars() if ours in options.stripped else column).alias(ours)


def _quoted_fields(path: Path, options: DelimitedOptions) -> pl.DataFrame:
    """Return the columns of a file with a header and quoted fields; blank lines are ignored."""
    (_, header), *rows = read_csv_rows(path)
    wanted = [str(theirs) for theirs in options.columns.values()]
    if absent := [name for name in wanted if name not in header]:
        raise bad_line(path, 1, f"no column {absent[0]!r}: found {first_few(header)}")
    positions = [header.index(name) for name in wanted]
    values = []
    for line, row in rows:
        if not row:
            continue
        if len(row) != len(header):
            raise bad_line(
                path, line, f"{len(row)} field{'s' * (len(row) != 1)}: the header has {len(header)}"
            )
        values.append([line, *(row[at] for at in positions)])
    if not values:
        raise empty_file(path)
    return pl.DataFrame(
        values, schema={"line": pl.UInt32, **dict.fromkeys(wanted, pl.String)}, orient="row"
    )


def _refuse_other_fields(path: Path, options: DelimitedOptions) -> None:
    """Refuse fields behind the columns that are not addresses: two tabs within sentences make as
    many.
    """
    least, most = min(options.fields), max(options.fields)
    for number, line in enumerate(read_lines(path), 1):
        if any("http" not in licence for licence in line.split("\t")[least:]):
            raise bad_line(
                path, number, f"its last two of {most} fields are not licences with their addresses"
            )


def _of_split(path: Path, rows: pl.DataFrame, split: ReadSplit) -> pl.DataFrame:
    """Return the rows that are said to be in SPLIT; a file without one is refused."""
    found = rows.filter(pl.col(SPLIT) == split.title)
    if found.is_empty():
        raise MissingError(
            f"{path} has no line of the split {split.title!r}", hint="get the file again"
        )
    return found


def _refuse_empty(path: Path, rows: pl.DataFrame, *, quoted: bool) -> None:
    texts = [name for name in rows.columns if name != "line"]
    is_empty = [(pl.col(name).str.strip_chars() == "").alias(name) for name in texts]
    if quoted:  # the first row, and in it the first text
        empty = rows.filter(pl.any_horizontal(is_empty))
        if not empty.is_empty():
            raise bad_line(path, empty["line"][0], "an empty sentence")
    for name in texts:
        empty = rows.filter(pl.col(name).str.strip_chars() == "")
        if not empty.is_empty():
            raise bad_line(path, empty["line"][0], f"an empty {name}")


def _labelled(
    path: Path, rows: pl.DataFrame, options: DelimitedOptions, split: ReadSplit
) -> tuple[pl.DataFrame, Mapping[str, int]]:
    """Return the rows with a label, and how many have none; a label that is not known is
    refused.
    """
    labels = options.labels or split.classes
    if (
        "label" not in options.columns
        or not labels
        or COLUMNS[split.kind].get("label") != pl.String
    ):
        return rows, {}
    wrong = rows.filter(
        ~pl.col("label").is_in([*labels, *([options.unlabelled] if options.unlabelled else [])])
    )
    if not wrong.is_empty():
        known = ", ".join(labels) + (f" and {options.unlabelled!r}" if options.unlabelled else "")
        raise bad_line(path, wrong["line"][0], f"label {wrong['label'][0]!r} is not one of {known}")
    if not options.unlabelled:
        return rows, {}
    found = rows.filter(pl.col("label") != options.unlabelled)
    return found, _counted(f"label {options.unlabelled!r}", len(rows) - len(found))


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
    title = str(theirs) if is_class else _score_title(theirs)
    values = read_numbers(path, rows[name], rows["line"], *numbers[name], title, is_class=is_class)
    if not options.blank and (blank := rows["line"].filter(values.is_null())).len():
        raise bad_line(path, blank[0], f"no {title}")
    found = rows.with_columns(
        values.cast(pl.Int8 if is_class else pl.Float64).alias(name)
    ).drop_nulls(name)
    return found, _counted(options.blank, len(rows) - len(found))


def _score_title(column: str | int) -> str:
    """Return what errors call a score: as its COLUMN, where that says more than a score."""
    return (
        "gold score" if isinstance(column, int) or column == "score" else column.replace("_", " ")
    )


def _counted(reason: str, count: int) -> Mapping[str, int]:
    return {reason: count} if count else {}


def _columns_of(rows: pl.DataFrame, options: DelimitedOptions, split: ReadSplit) -> pl.DataFrame:
    """Return the columns of the kind of rows: one that the file has not is blank, and both texts of
    pairs are sentences of their own.
    """
    if split.kind == "sentences" and "sentence" not in rows.columns:
        return both_sentences(rows)
    given = {"source": options.source} if options.source else {}
    return rows.select(
        pl.col(name) if name in rows.columns else pl.lit(given.get(name), dtype).alias(name)
        for name, dtype in COLUMNS[split.kind].items()
    )


def both_sentences(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return the sentences of PAIRS as rows: each pair's first, then its second."""
    return pairs.select(sentence=pl.concat_list(*_PAIR)).explode("sentence")


def _write(frame: pl.DataFrame, *, options: DelimitedOptions) -> tuple[str, ...]:
    """Return the text of a file that is read back as the same rows; columns of the file that we do
    not read are blank.
    """
    theirs = {name: ours for ours, name in options.columns.items()}
    names = options.header or range(min(options.fields))
    blank = pl.lit("", pl.String)
    columns = [
        (pl.col(theirs[name]) if name in theirs else _NUMBER if name == "id" else blank).alias(
            str(name)
        )
        for name in names
    ]
    return (as_lines(frame.select(columns), header=bool(options.header)),)


_NUMBER = pl.int_range(1, pl.len() + 1)


def _columns(kind: DatasetKind) -> Mapping[str, bool]:
    """Return the columns that a corpus of a KIND may name, and whether it must."""
    if kind == "sentences":
        return dict.fromkeys(("sentence", *_PAIR, "gold", "is_duplicate", SPLIT), False)
    optional = (
        "source",
        *(name for name, dtype in COLUMNS[kind].items() if name == "label" and dtype == pl.String),
    )
    return {**{name: name not in optional for name in COLUMNS[kind]}, SPLIT: False}


READER = Reader(options=DelimitedOptions, read=_read, write=_write, columns=_columns)
