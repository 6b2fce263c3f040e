"""A user's own table, a TSV, CSV, JSONL or parquet file: its rows, each with its place for errors,
or the sentences of a column as a stream.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice, zip_longest
from pathlib import Path

import polars as pl

from embedlab.core.errors import EmbedlabError, Hint, MissingError, UsageError
from embedlab.core.foreign_files import hint_of_content, refuse_foreign, refuse_other_content
from embedlab.core.frame_files import read_foreign_parquet
from embedlab.core.names import outside_quotes
from embedlab.core.printable import first_few
from embedlab.data.dataset import SIDES
from embedlab.data.text_file import (
    PLACE,
    bad_line,
    csv_rows,
    empty_file,
    is_seen,
    read_json_lines,
    read_lines,
    read_text,
    refuse_json_values,
    without_unseen_ends,
    wrong_field_count,
)

Row = tuple[int, list[str]]  # the line at which it begins, and its fields
TABLES = (".tsv", ".csv", ".jsonl", ".parquet")
SEPARATORS = (",", ";", "\t", "|")  # of a CSV file
_JSON = re.compile(r'\s*(\[\s*)?\{\s*"')  # an object, or a list of them
# a first line that Excel writes
_STATED_SEPARATOR = re.compile(r'"?(?i:sep)=(.)"?\r?(?=\n)')
_NO_SEPARATORS = frozenset("_-. '\"()/?!")  # signs that names of columns have
_ESCAPED = r"\""  # how R quotes a quote
_LATE_QUOTE = re.compile(r'[ ]+"')  # a field whose quote is not read as one
_QUOTED = r'(?s)^"((?:[^"]|"")*)"$'
_GAP = re.compile(r"\S {2,}\S")
_LOOKED_AT = 1000  # rows
_SHOWN_PLACES = 3
# how programs write that there is nothing
NOTHING = ("nan", "none", "null", "na", "n/a", "#n/a", "<na>", "–", "—", "-")
ROUNDING = 1e-4  # of the largest number of a scale: as far beyond its ends numbers are rounded
_WHOLE = 2.0**53  # from here on a float is no whole number that can be told from the next


def require_file(path: Path) -> None:
    """Refuse a PATH at which there is no file of rows."""
    if path.is_dir():
        raise MissingError(
            f"{str(path)!r} is a folder, not a file of rows", hint="give the path of a file in it"
        )
    refuse_foreign(path)
    if not path.is_file():
        raise MissingError(
            f"no file {str(path)!r}",
            hint="a dataset is a name from `embedlab data ls` or the path of a file",
        )


def read_rows(
    path: Path, needed: Sequence[str] = SIDES, *, is_corpus: bool = False
) -> pl.DataFrame:
    """Return all columns of a TSV, CSV, JSONL or parquet file, of text files as text, with the
    number of each row in PLACE.

    A row of a text file that ends before a NEEDED column is refused; missing fields after those are
    blank. Bytes that are UTF-8 are text. Quotes in TSV are literal where it IS_CORPUS or no program
    quoted the file or the column.
    """
    require_file(path)
    try:
        match path.suffix.lower():
            case ".parquet":
                return _read_parquet(path)
            case ".jsonl":
                return read_json_lines(path)
            case ".csv":
                return _table(path, _csv_rows(path), needed)
            case ".tsv":
                text_lines = read_lines(path)
                head = "\n".join(text_lines[:2])
                _refuse_json(path, head)
                if _STATED_SEPARATOR.match(head) and not is_corpus:
                    return _table(path, _csv_rows(path), needed)
                lines = [line.split("\t") for line in text_lines]
                if not is_corpus and (quoted := _quoted_lines(path, lines)):
                    return _table(path, quoted, needed)
                rows = _table(path, list(enumerate(lines, 1)), needed)
                return rows if is_corpus else _unquoted(rows)
    except pl.exceptions.PolarsError as error:
        raise MissingError(
            f"{path} is not a readable {path.suffix[1:]} file: {str(error).splitlines()[0]}",
            hint="correct the file",
        ) from error
    raise no_table(path)


def refuse_file(name: str) -> None:
    """Refuse a NAME of something else that is a file, which has no rows that can be read."""
    if os.path.isfile(name):  # noqa: PTH113 - a text that no path can be is none
        raise no_table(Path(name))


def no_table(path: Path) -> MissingError:
    """Return the error for a file whose ending says that it has no rows that can be read."""
    return MissingError(
        f"{path}: rows cannot be read from {path.suffix!r} files",
        hint=hint_of_content(path, f"give one that ends in {', '.join(TABLES)}"),
    )


def no_rows(path: Path) -> MissingError:
    """Return the error for a table without a row."""
    return MissingError(f"{path} has no rows below its header", hint="give one example a row")


def require_columns(
    title: Path | str,
    rows: pl.DataFrame,
    names: Iterable[str],
    *,
    hint: str | Hint = "name one of its columns",
    error: type[EmbedlabError] = MissingError,
) -> None:
    """Refuse ROWS of the file or dataset TITLE that lack one of the columns NAMES."""
    columns = [column for column in rows.columns if column != PLACE]
    for name in names:
        if name not in columns:
            raise error(f"{title} has no column {name!r}: found {first_few(columns)}", hint=hint)


def _read_parquet(path: Path) -> pl.DataFrame:
    refuse_other_content(path)
    rows = read_foreign_parquet(path)
    for name, dtype in rows.schema.items():
        if dtype == pl.Binary:  # as Spark and Impala wrote text; whoever reads another refuses it
            with suppress(pl.exceptions.PolarsError):
                rows = rows.with_columns(pl.col(name).cast(pl.String))
    return rows.with_row_index(PLACE, offset=1)


def _csv_rows(path: Path) -> list[Row]:
    """Return the rows of a CSV file, separated as its first line states, or as most of its rows
    agree.
    """
    text = read_text(path)
    _refuse_json(path, text)
    if stated := _STATED_SEPARATOR.match(text):
        return _quoted_rows(path, text[stated.end() :], stated[1])
    first_line = text.partition("\n")[0]
    marks = [mark for mark in SEPARATORS if len(outside_quotes(first_line, mark)) > 1]
    agreed = (mark for mark in marks if _is_consistent(path, text, mark))
    return _quoted_rows(path, text, next(agreed, (marks or SEPARATORS)[0]))


def _refuse_json(path: Path, text: str) -> None:
    """Refuse a TEXT of JSON in a file that is named as a table."""
    if _JSON.match(text):
        raise MissingError(
            f"{path} holds JSON", hint="write one object a line, and let its name end in .jsonl"
        )


def _quoted_rows(path: Path, text: str, separator: str) -> list[Row]:
    """Return the rows of a TEXT with quoted fields, also where blanks come before a quote; what
    cannot be read may have escaped quotes, as R writes them, or line ends of several kinds.
    """
    try:
        rows = list(csv_rows(path, text, separator))
    except MissingError:
        usual_text = re.sub(r"\r\n?", "\n", text.replace(_ESCAPED, '""'))
        return list(csv_rows(path, usual_text, separator))
    has_late_quotes = re.search(rf'{re.escape(separator)} +"', text) and any(
        _LATE_QUOTE.match(field) for _, row in rows for field in row
    )
    if has_late_quotes:
        with suppress(MissingError):
            return list(csv_rows(path, text, separator, skips_blanks=True))
    return rows


def _is_consistent(path: Path, text: str, separator: str) -> bool:
    """Return whether the first rows of a CSV file have as many fields as its header."""
    try:
        widths = {len(row) for _, row in islice(csv_rows(path, text, separator), _LOOKED_AT)}
    except MissingError:
        return False
    return len(widths) == 1


def _quoted_lines(path: Path, lines: Sequence[list[str]]) -> list[Row]:
    """Return the rows of a TSV file that a program quoted, and no rows of another file. In a quoted
    file all names are quoted, or rows are equally long only if fields may span several LINES.
    """
    lines = [line for line in lines if any(line)]
    has_quoted_names = all(re.fullmatch(_QUOTED, name) for name in lines[0])
    if not has_quoted_names and len({*map(len, lines)}) == 1:
        return []
    try:
        rows = _quoted_rows(path, read_text(path), "\t")
    except MissingError:
        return []
    is_even = len({len(row) for _, row in rows[1:]}) == 1
    return rows if is_even and (has_quoted_names or len(rows) < len(lines)) else []


def _table(path: Path, rows: Sequence[Row], needed: Sequence[str]) -> pl.DataFrame:
    """Return the ROWS below a header as text, each with its line; missing fields at the end of a
    row are blank.
    """
    lines = [line for line, _ in rows]
    names, *fields = [row for _, row in rows] or [[]]
    while fields and not any(fields[-1]):
        fields.pop()
    header = [name.strip() for name in names]
    # spreadsheets write columns that hold nothing
    while header and not header[-1] and not any(any(row[len(header) - 1 :]) for row in fields):
        header.pop()
        fields = [row[: len(header)] for row in fields]
    if not header:
        raise empty_file(path)
    if _has_row_names(header, fields):
        header = ["", *header]
    if len(header) < 2 + ("" in header):
        _refuse_other_separator(path, lines[0], [names, *fields])
    if repeated := [name for name, count in Counter(header).items() if count > 1]:
        hint = "begin with a line that gives each column its own name"
        raise bad_line(path, lines[0], f"column {repeated[0]!r} occurs twice", hint)
    fewest = max((header.index(name) + 1 for name in needed if name in header), default=0)
    for line, row in zip(lines[1:], fields, strict=False):
        if len(row) > len(header) or (any(row) and len(row) < fewest):
            raise wrong_field_count(path, line, row, f"the header has {len(header)}")
    columns = [column[:-1] for column in zip_longest(*fields, header)]  # the header is whole
    frame = pl.DataFrame(columns, schema=dict.fromkeys(header, pl.String), orient="col")
    line_numbers = pl.Series(PLACE, lines[1 : 1 + len(fields)], dtype=pl.UInt32)
    return frame.with_columns(pl.all().replace("", None), line_numbers)


def _has_row_names(header: Sequence[str], rows: Sequence[list[str]]) -> bool:
    """Return whether ROWS begin with their own numbers, which have no name in the HEADER, as R
    writes them.
    """
    if not rows or "id" in header[0].lower() or {*map(len, rows)} != {len(header) + 1}:
        return False
    names = [row[0] for row in rows]
    return all(map(str.isdecimal, names)) and len({*names}) == len(names)


def _unquoted(rows: pl.DataFrame) -> pl.DataFrame:
    """Return ROWS of tab-separated fields without the quotes of columns that a program quoted: all
    with a quote in them, or all with a comma as spreadsheets do, or all and the name.
    """
    names = [name for name in rows.columns if name != PLACE]
    has_quotes = rows.select(pl.col(names).str.contains(_QUOTED).any())  # a step for all columns
    for name in filter(lambda name: has_quotes[name].item(), names):
        values = rows[name].drop_nulls()
        is_quoted = values.str.contains(_QUOTED)
        if (values.str.contains('"', literal=True) & ~is_quoted).any():
            continue
        is_by_rule = (
            values.str.contains(r'(?s)^".*"".*"$').any()
            or (is_quoted == values.str.contains(",", literal=True)).all()
            or (is_quoted.all() and re.fullmatch(_QUOTED, name))
        )
        if is_by_rule:
            unquoted = pl.col(name).str.replace(_QUOTED, "${1}").str.replace_all('""', '"')
            rows = rows.with_columns(unquoted.replace("", None))
    return rows.rename({name: name[1:-1] for name in names if re.fullmatch(r'"[^"]+"', name)})


def _refuse_other_separator(path: Path, line: int, rows: Sequence[list[str]]) -> None:
    """Refuse ROWS of one column whose fields have another separator than the file's suffix says."""
    is_tsv = path.suffix.lower() == ".tsv"
    separators = ("\t",) if is_tsv else SEPARATORS
    lines = map(separators[0].join, rows)
    sign = _other_separator([*filter(None, lines)], separators)
    if sign is None:
        return
    marks = " ".join(map(repr, separators))
    hint = f"replace {sign!r} by tabs and call it {path.with_suffix('.tsv').name}"
    if is_tsv and sign in SEPARATORS and 2 * sign not in "".join(rows[0]):
        hint = f"call it {path.with_suffix('.csv').name}"
    fault = f"its columns are separated by {sign!r}, those of a {path.suffix} file by {marks}"
    raise MissingError(f"{path}, line {line}: {fault}", hint=hint)


def _other_separator(lines: Sequence[str], separators: Sequence[str]) -> str | None:
    """Return a sign between the names of columns in the first of LINES that all others have too,
    and that is none of the SEPARATORS of such a file.
    """
    header, *rows = lines[:_LOOKED_AT]
    if all(map(_GAP.search, (header, *rows))):
        return "  "
    if header.count(" ") and all(line.count(" ") == header.count(" ") for line in rows):
        return " "  # sentences have no equal number of words
    for sign in header.strip():
        is_sign = not sign.isalnum() and sign not in {*_NO_SEPARATORS, *separators}
        if is_sign and all(line.count(sign) >= header.count(sign) for line in rows):
            return sign
    return None


_TRUE, _FALSE = ("true", "True", "TRUE"), ("false", "False", "FALSE")


def number_of(column: str | Sequence[str]) -> pl.Expr:
    """Return a column of texts or numbers, or each of several, as numbers, null for anything else.

    "0,75" is 0.75, as many countries write it; "1,234", which may also be a thousand, is not a
    number. A column of "true" and "false" alone is one of 1 and 0.
    """
    text = pl.col(column).cast(pl.String).str.strip_chars()
    is_true, is_false = text.is_in(_TRUE), text.is_in(_FALSE)
    is_truth = is_true | is_false
    are_truths = (is_truth | text.is_null() | (text == "")).all() & is_truth.any()
    truth = pl.when(is_truth).then(is_true.cast(pl.Float64))
    is_of_thousands = text.str.contains(r"^[+-]?[1-9]\d{0,2}(?:,\d{3})+$")
    number = text.str.replace(r"^([+-]?\d+),(\d+)$", "${1}.${2}").cast(pl.Float64, strict=False)
    return pl.when(are_truths).then(truth).when(~is_of_thousands).then(number)


def class_texts(values: pl.Series) -> pl.Series:
    """Return labels as texts; 1.0 is the label 1, as programs write whole numbers with blanks among
    them, and NaN is no label.
    """
    if values.dtype.is_float():
        values = values.fill_nan(None)
        numbers = values.drop_nulls()
        if (numbers == numbers.round()).all() and (numbers.abs() < _WHOLE).all():
            values = values.cast(pl.Int64)
    return without_unseen_ends(values.cast(pl.String))


def row_places(title: Path | str, rows: pl.DataFrame) -> str:
    """Return where the first of ROWS are in a file or dataset, such as "pairs.csv:3, 7, 9…"."""
    numbers = ", ".join(map(str, rows[PLACE].head(_SHOWN_PLACES)))
    name = f"{title.name}:" if isinstance(title, Path) else "row "
    return f"{name}{numbers}{'…' * (rows.height > _SHOWN_PLACES)}"


def refuse_rows(
    title: Path | str,
    rows: pl.DataFrame,
    is_wrong: pl.Expr | pl.Series,
    fault: str,
    column: str,
    *,
    hint: str | Hint = "",
) -> None:
    """Raise for the first of ROWS that IS_WRONG, with its place in the file or dataset TITLE, the
    FAULT and what the COLUMN holds there.
    """
    wrong_rows = rows.filter(is_wrong)
    if not wrong_rows.is_empty():
        unit = "line" if isinstance(title, Path) and title.suffix.lower() != ".parquet" else "row"
        content = "" if wrong_rows[column][0] is None else f": {wrong_rows[column][0]!r}"
        raise MissingError(
            f"{title}, {unit} {wrong_rows[PLACE][0]}: {fault}{content}",
            hint=hint or f"correct the {unit}",
        )


def with_numbers(
    title: Path | str,
    rows: pl.DataFrame,
    column: str,
    bounds: tuple[float, float] | None,
    hint: str,
    skipped: dict[str, int],
) -> pl.DataFrame:
    """Return ROWS with a COLUMN as numbers, as `as_numbers` does; blank rows are left out and
    counted in SKIPPED.
    """
    rows = rows_with(title, rows, column, NOTHING, skipped)
    return as_numbers(title, rows, column, bounds, hint=hint)


def as_numbers(
    title: Path | str,
    rows: pl.DataFrame,
    column: str,
    bounds: tuple[float, float] | None,
    *,
    hint: str = "",
    called: str = "",
) -> pl.DataFrame:
    """Return ROWS with a COLUMN as numbers. A value that is not a number, or that is farther
    outside BOUNDS than rounding explains, is an error with its place. CALLED is the column's name
    in the file.
    """
    name = called or column
    numbers = rows.select(number_of(column)).to_series()
    is_not_finite = ~numbers.is_finite().fill_null(False)
    refuse_rows(title, rows, is_not_finite, f"{name} is not a number", column)
    is_too_large = numbers.abs() >= _WHOLE
    refuse_rows(title, rows, is_too_large, f"{name} is too large to be exact", column)
    if bounds is not None:
        low, high = bounds
        slack = ROUNDING * max(-low, high)
        is_outside = ~numbers.is_between(low - slack, high + slack)
        fault = f"{name} is not from {low:g} to {high:g}"
        refuse_rows(title, rows, is_outside, fault, column, hint=hint)
    return rows.with_columns(numbers.alias(column))


def refuse_nested(title: Path | str, rows: pl.DataFrame, columns: Sequence[str]) -> None:
    """Raise for one of COLUMNS that holds neither texts nor numbers."""
    for name in columns:
        dtype = rows.schema.get(name, pl.String())
        if dtype.is_nested() or dtype.base_type() in {pl.Binary, pl.Object, pl.Duration}:
            raise unsupported_type(title, rows, name)


def as_texts(title: Path | str, rows: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """Return ROWS with COLUMNS as text; a column that cannot become text is refused."""
    refuse_nested(title, rows, columns)
    return rows.with_columns(pl.col(columns).cast(pl.String))


def unsupported_type(title: Path | str, rows: pl.DataFrame, name: str) -> MissingError:
    """Return the error for a column whose values are of a type that no text or number has."""
    dtype = rows.schema[name]
    if dtype == pl.Binary:
        values = zip(rows[PLACE], rows[name].fill_null(b""), strict=True)
        row = next(row for row, text in values if text.decode(errors="ignore").encode() != text)
        return MissingError(
            f"{title}, row {row}: {name} holds bytes that are not UTF-8",
            hint="write it as text, decoded from its encoding",
        )
    is_odd = dtype.is_nested() or dtype == pl.Object
    description = "lists, tables or bytes" if is_odd else f"values of the type {dtype}"
    return MissingError(
        f"{title}: {name} holds {description}, not texts or numbers",
        hint="give one text or number a row",
    )


def refuse_json_numbers(title: Path | str, rows: pl.DataFrame, columns: Sequence[str]) -> None:
    """Raise for the first row of JSON lines in which one of COLUMNS holds anything but text."""
    if isinstance(title, Path) and title.suffix.lower() == ".jsonl":
        refuse_json_values(title, rows, columns)


def holds_text_lists(dtype: pl.DataType) -> bool:
    """Return whether values of a type are lists of texts, or empty ones."""
    return isinstance(dtype, pl.List | pl.Array) and dtype.inner in {pl.String, pl.Null}


def full_rows(
    title: Path | str, rows: pl.DataFrame, columns: Sequence[str], *, lists: Sequence[str] = ()
) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the ROWS whose COLUMNS all hold a text, and how many others there are, by what is
    empty and where; a NUL character is refused.

    The columns LISTS may hold lists: each text of a list gets a row, and of two lists each pair.
    """
    # a frame makes its whole schema at each question
    list_columns = [name for name in lists if holds_text_lists(rows[name].dtype)]
    refuse_json_numbers(title, rows, [name for name in columns if name not in list_columns])
    skipped: dict[str, int] = {}
    for name in list_columns:
        is_full = rows[name].cast(pl.List(pl.String)).list.len().fill_null(0) > 0
        rows = _without(title, rows, is_full, f"empty {name}", skipped).explode(name)
    rows = as_texts(title, rows, columns)
    for name in columns:
        has_nul = pl.col(name).str.contains("\0", literal=True)
        refuse_rows(title, rows, has_nul, f"{name} holds a NUL character", name)
        rows = _without(title, rows, is_seen(rows[name]), f"empty {name}", skipped)
    return rows, skipped


def rows_with(
    title: Path | str,
    rows: pl.DataFrame,
    column: str,
    without: Sequence[str],
    skipped: dict[str, int],
) -> pl.DataFrame:
    """Return the ROWS with a label or score in a COLUMN, and count the others in SKIPPED with their
    places. A blank and the values WITHOUT, in lower case, are no label or score.
    """
    texts = class_texts(rows[column]).fill_null("").str.to_lowercase()
    return _without(title, rows, ~texts.is_in(["", *without]), f"blank {column}", skipped)


def _without(
    title: Path | str, rows: pl.DataFrame, is_full: pl.Series, reason: str, skipped: dict[str, int]
) -> pl.DataFrame:
    """Return the ROWS that are full, and count the others in SKIPPED under a REASON, which ends
    with a column's name. A file without any full row is refused.
    """
    if rows.height and not is_full.any():
        column = reason.partition(" ")[2]
        raise MissingError(f"{title}: {column} is empty in every row", hint=f"fill in {column}")
    blank = rows.filter(~is_full)
    if blank.height:
        reason_and_places = f"{reason} at {row_places(title, blank)}"
        skipped[reason_and_places] = skipped.get(reason_and_places, 0) + blank.height
    return rows.filter(is_full)


def selected_rows(
    title: Path | str, rows: pl.DataFrame, where: Mapping[str, str], drop: Mapping[str, str]
) -> pl.DataFrame:
    """Return the ROWS of a file that have one of the values that WHERE lists for a column, and none
    of those that DROP lists. Commas separate values.
    """
    is_selected = pl.repeat(value=True, n=rows.height, eager=True)
    for column, values in where.items():
        is_selected &= _has_value(title, rows, column, values)
    for column, values in drop.items():
        is_selected &= ~_has_value(title, rows, column, values)
    if not is_selected.any():
        raise MissingError(f"{title}: all rows are left out", hint="leave out fewer values")
    return rows.filter(is_selected)


def _has_value(title: Path | str, rows: pl.DataFrame, column: str, values: str) -> pl.Series:
    """Return which ROWS have one of VALUES in a COLUMN; a value that none has is refused."""
    require_columns(title, rows, [column], error=UsageError)
    refuse_nested(title, rows, [column])
    texts = class_texts(rows[column]).fill_null("")
    present = {*texts}
    # a value may have a comma of its own
    chosen = [values] if values in present else [value.strip() for value in values.split(",")]
    for value in chosen:
        if value not in present:
            hint = f"it has {first_few(sorted(present))}"
            raise UsageError(f"{title}: no row has {value!r} in {column}", hint=hint)
    return texts.is_in(chosen)
