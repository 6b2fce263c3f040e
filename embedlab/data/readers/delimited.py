"""Columns separated by tabs, quotes taken literally, or by commas with quotes: by the names of a
header line or by position.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.schema import table
from embedlab.data.corpus_file import Reader, ReadSplit, rows_of_split
from embedlab.data.dataset import COLUMNS, SIDES, DatasetKind, ParsedRows, rows_of_kind
from embedlab.data.table_file import as_numbers, number_of, refuse_rows
from embedlab.data.text_file import PLACE, as_lines, bad_line, read_fields, read_lines

SPLIT = "split"  # a column that says which split a row is in
_FULL = ("definitions", "triplets")  # kinds of rows without an empty text


@table
class Delimited(Reader):
    """What a corpus says of its columns."""

    # ours → theirs: names in the header line, or positions from 0 where there is none
    columns: dict[str, str | int]
    fields: tuple[int, ...] = ()  # how many fields a line may have where there is no header
    line: str = ""  # what a line holds, for errors
    # the names of the columns of a file that is written; "id" holds numbers from 1
    header: tuple[str, ...] = ()
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
        has_positions = {isinstance(column, int) for column in self.columns.values()}
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

    def read(self, paths: Sequence[Path], split: ReadSplit) -> ParsedRows:
        """Return the rows of one file, or of several one after the other."""
        skipped: dict[str, int] = {}
        frames = [self._read_file(path, split, skipped) for path in paths]
        return ParsedRows(frame=pl.concat(frames), skipped=skipped)

    def _read_file(self, path: Path, split: ReadSplit, skipped: dict[str, int]) -> pl.DataFrame:
        status = path.stat()
        titles = split.titles if SPLIT in self.columns else ()
        # rows of several splits are kept: the splits are opened one after the other
        read_all = _all_rows if titles or self.by_word else _all_rows.__wrapped__
        is_full = split.kind in _FULL
        rows = read_all(path, status.st_size, status.st_mtime_ns, self, titles, is_full)
        if titles and (rows := rows.filter(pl.col(SPLIT) == split.title)).is_empty():
            raise MissingError(
                f"{path} has no line of the split {split.title!r}", hint="get the file again"
            )
        rows = self._labelled(path, rows, split, skipped)
        rows = self._with_numbers(path, rows, split, skipped)
        if self.by_word:
            rows = rows_of_split(rows, split.name)
        # A column that the file has not is blank, and both texts of pairs are sentences.
        if split.kind == "sentences" and "sentence" not in rows.columns:
            return rows.select(sentence=pl.concat_list(*SIDES)).explode("sentence")
        if self.source:
            rows = rows.with_columns(source=pl.lit(self.source))
        return rows_of_kind(rows, split.kind)

    def read_columns(self, path: Path) -> pl.DataFrame:
        """Return our columns of a file as text, and the line of each row in PLACE."""
        columns = tuple(self.columns.values())
        line = self.line or ", ".join(self.header or map(str, columns))
        fields = read_fields(
            path, columns, line_shape=line, fields=self.fields, is_quoted=self.quoted
        )
        for number, text in enumerate(read_lines(path) if self.licences else (), 1):
            # two tabs within sentences make as many fields
            licences = text.split("\t")[min(self.fields, default=0) :]
            if any("http" not in licence for licence in licences):
                count = max(self.fields, default=0)
                fault = f"its last two of {count} fields are not licences with their addresses"
                raise bad_line(path, number, fault)
        # One selection instead of a renaming: a file may call another column as we call this one.
        expressions = {our_name: pl.col(str(name)) for our_name, name in self.columns.items()}
        for our_name in self.stripped:
            expressions[our_name] = expressions[our_name].str.strip_chars()
        return fields.select(PLACE, **expressions)

    def _labelled(
        self, path: Path, rows: pl.DataFrame, split: ReadSplit, skipped: dict[str, int]
    ) -> pl.DataFrame:
        """Return the rows with a label, and count the others; an unknown label is refused."""
        labels = [*(self.labels or split.classes)]
        is_text = COLUMNS[split.kind].get("label") == pl.String
        if "label" not in self.columns or not labels or not is_text:
            return rows
        if self.unlabelled:
            labels.append(self.unlabelled)
        is_other = ~pl.col("label").is_in(labels)
        refuse_rows(path, rows, is_other, f"label is not one of {', '.join(labels)}", "label")
        if not self.unlabelled:
            return rows
        is_unlabelled = rows["label"] == self.unlabelled
        return _without(rows, is_unlabelled, f"label {self.unlabelled!r}", skipped)

    def _with_numbers(
        self, path: Path, rows: pl.DataFrame, split: ReadSplit, skipped: dict[str, int]
    ) -> pl.DataFrame:
        """Return the rows with their score or class as a number, and count those with a blank
        one.
        """
        numbers = {"gold": split.gold_range, "is_duplicate": (0.0, 1.0)}
        if split.kind == "sentiment":
            numbers["label"] = (0.0, 4.0)
        name = next((column for column in self.columns if column in numbers), None)
        if name is None:
            return rows
        called = str(self.columns[name]) if isinstance(self.columns[name], str) else name
        if self.blank:
            rows = _without(rows, rows[name].str.strip_chars() == "", self.blank, skipped)
        if name != "gold":
            is_whole = number_of(name) == number_of(name).round()
            refuse_rows(path, rows, ~is_whole, f"{called} is not a whole number", name)
        return as_numbers(path, rows, name, numbers[name], called=called)

    def write(self, frame: pl.DataFrame) -> tuple[str, ...]:
        """Return the text of a file that is read back as the same rows; columns of the file that we
        do not read are blank.
        """
        values = {column: pl.col(our_name) for our_name, column in self.columns.items()}
        values["id"] = pl.int_range(1, pl.len() + 1)
        blank = pl.lit("", pl.String)
        names = self.header or range(min(self.fields))
        columns = [values.get(name, blank).alias(str(name)) for name in names]
        return (as_lines(frame.select(columns), header=bool(self.header)),)

    @staticmethod
    def named_columns(kind: DatasetKind) -> Mapping[str, bool]:
        """Return the columns that a corpus of a KIND may name, and whether it must."""
        if kind == "sentences":
            return dict.fromkeys(("sentence", *SIDES, "gold", "is_duplicate", SPLIT), False)
        is_needed = {name: name != "source" for name in COLUMNS[kind]}
        if COLUMNS[kind].get("label") == pl.String:
            is_needed["label"] = False
        return {**is_needed, SPLIT: False}


@lru_cache(maxsize=1)
def _all_rows(
    path: Path,
    _size: int,
    _modified_ns: int,
    reader: Delimited,
    titles: tuple[str, ...],
    is_full: bool,
) -> pl.DataFrame:
    """Return our columns of a file as text, and the line of each row. Rows of a split that is none
    of TITLES are refused, and so is an empty text where the file IS_FULL.
    """
    rows = reader.read_columns(path)
    if is_full:
        for name in reader.columns:
            refuse_rows(path, rows, pl.col(name).str.strip_chars() == "", f"an empty {name}", name)
    if titles:
        is_other = ~pl.col(SPLIT).is_in(titles)
        refuse_rows(path, rows, is_other, f"split is not one of {', '.join(titles)}", SPLIT)
    return rows


def _without(
    rows: pl.DataFrame, is_skipped: pl.Series, reason: str, skipped: dict[str, int]
) -> pl.DataFrame:
    """Return the ROWS that are not skipped, and count the others in SKIPPED under a REASON."""
    if count := int(is_skipped.sum()):
        skipped[reason] = skipped.get(reason, 0) + count
    return rows.filter(~is_skipped)
