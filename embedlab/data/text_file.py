"""Read text files strictly, their lines, fields and JSON objects: errors name file and line."""

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.first_few import first_few
from embedlab.core.foreign_files import other_content, refuse_foreign
from embedlab.core.plain_values import quote
from embedlab.data.dataset import COLUMNS, ParsedRows

Encoding = Literal["utf-8", "latin-1"]
_UTF8_SEQUENCE = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}"
)
# what polars makes of JSON values that are not texts
_LIKE_JSON = r"(?s)^\s*(-?[0-9][0-9.eE+-]*|\[.*\]|\{.*\}|true|false)\s*$"
# signs that nobody sees: blanks, marks of direction, zero-width spaces, blank letters
_UNSEEN = r"\s\p{Z}\p{Cc}\p{Cf}\x{115F}\x{1160}\x{2800}\x{3164}\x{FE00}-\x{FE0F}\x{FFA0}"
_LATIN_CONTROL = re.compile(
    rb"[\x80-\x9f]"
)  # not text: files with these bytes are Windows-1252, UTF-8 or damaged


def bad_line(path: Path, line: int, fault: str) -> MissingError:
    """Return the error for a fault in a line of a file, counted from 1."""
    return MissingError(
        f"{path}, line {line}: {fault}", hint="correct the line, or get the file again"
    )


def empty_file(path: Path) -> MissingError:
    """Return the error for a file without any row."""
    return MissingError(f"{path} is empty", hint="get the file again")


def read_text(path: Path, *, encoding: Encoding = "utf-8") -> str:
    """Return the text of a file in the ENCODING that its corpus documents, without a byte order
    mark; undecodable text is an error.
    """
    refuse_foreign(path)
    content = path.read_bytes()
    if (other := other_content(content)) is not None:
        raise MissingError(f"{path} is {other.what}", hint=other.hint)
    if b"\0" in content:
        raise bad_line(
            path,
            _line_of(content, content.index(0)),
            "a NUL byte: the file is damaged, or is UTF-16",
        )
    text = _decoded(path, content, encoding)
    if not text.strip():
        raise empty_file(path)
    return text if "\n" in text else text.replace("\r", "\n")  # as old Macs end lines


def _decoded(path: Path, content: bytes, encoding: Encoding) -> str:
    """Decode CONTENT as UTF-8, or as Latin-1 where that is documented and no line looks like UTF-8:
    one file never mixes the two.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        is_latin = (
            encoding == "latin-1"
            and not _UTF8_SEQUENCE.search(content)
            and not _LATIN_CONTROL.search(content)
        )
        if is_latin:
            return content.decode("latin-1")
        line, byte = _line_of(content, error.start), content[error.start]
        raise MissingError(
            f"{path}, line {line}: byte 0x{byte:02x} is not UTF-8",
            hint="convert the file, for example with iconv; a damaged one get again",
        ) from error


def _line_of(content: bytes, index: int) -> int:
    return content.count(b"\n", 0, index) + 1


def read_lines(path: Path, *, encoding: Encoding = "utf-8") -> list[str]:
    r"""Return the lines of a file, split at "\n" only, since corpora contain other characters that
    count as line ends elsewhere.
    """
    lines = read_text(path, encoding=encoding).split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def is_seen(texts: pl.Series) -> pl.Series:
    """Return which of TEXTS have a character that is seen; null has none."""
    return texts.str.contains(f"[^{_UNSEEN}]").fill_null(False)


def without_unseen_ends(texts: pl.Series) -> pl.Series:
    """Return TEXTS from the first to the last character that is seen."""
    return texts.str.replace_all(f"^[{_UNSEEN}]+|[{_UNSEEN}]+$", "")


def read_whole_lines(path: Path) -> ParsedRows:
    """Return every non-blank line of a file; blank ones are counted."""
    lines = pl.DataFrame({"sentence": read_lines(path)}, schema=dict(COLUMNS["sentences"]))
    sentences = lines.filter(is_seen(lines["sentence"]))
    blank = len(lines) - len(sentences)
    return ParsedRows(frame=sentences, skipped={"blank line": blank} if blank else {})


def read_fields(
    path: Path, columns: Sequence[str | int], *, line_shape: str, fields: Sequence[int] = ()
) -> pl.DataFrame:
    """Return tab-separated columns as text, quotes taken literally, and the number of each `line`.

    COLUMNS are positions, or names in a header line. Each line must have one of the numbers of
    FIELDS, or as many as the header: a tab within a sentence would shift its text. LINE_SHAPE
    describes a line in errors.
    """
    lines = read_lines(path)
    header = [name.strip() for name in lines[0].split("\t")] if isinstance(columns[0], str) else []
    absent = [name for name in columns if isinstance(name, str) and name not in header]
    if absent:
        raise bad_line(path, 1, f"no column {absent[0]!r}: found {first_few(header)}")
    twice = [name for name in columns if isinstance(name, str) and header.count(name) > 1]
    if twice:
        raise bad_line(path, 1, f"column {twice[0]!r} occurs twice")
    positions = [header.index(name) if isinstance(name, str) else name for name in columns]
    first_line, allowed = (2, (len(header),)) if header else (1, tuple(fields))
    rows = [line.split("\t") for line in lines[first_line - 1 :]]
    for number, row in enumerate(rows, first_line):
        if len(row) not in allowed:
            shape = f"expected {line_shape}" + (
                f" in {' or '.join(map(str, allowed))} fields" if header or len(allowed) > 1 else ""
            )
            raise bad_line(
                path, number, f"{len(row)} tab-separated field{'s' * (len(row) != 1)}: {shape}"
            )
    return pl.DataFrame(
        {
            "line": range(first_line, first_line + len(rows)),
            **{
                str(name): [row[at] for row in rows]
                for name, at in zip(columns, positions, strict=True)
            },
        },
        schema={"line": pl.UInt32, **{str(name): pl.String for name in columns}},
    )


def read_csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line at which each row begins and its fields: a quoted field may span several
    lines.
    """
    return csv_rows(path, io.StringIO(read_text(path), newline="\n"))


def csv_rows(
    path: Path, lines: Iterable[str], separator: str = ","
) -> Iterator[tuple[int, list[str]]]:
    """Yield the same from the LINES of a stream; an unclosed quote, which would swallow what
    follows, is an error.
    """
    reader = csv.reader(lines, strict=True, delimiter=separator)
    line = 1
    try:
        for row in reader:
            yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise bad_line(path, line, f"not readable as CSV: {error}") from error


def text_fault(text: str) -> str | None:
    """Return the character that no text may contain, whatever its file's format: a NUL, or half of
    a surrogate pair; None if absent.
    """
    if "\0" in text:
        return "a NUL character"
    try:
        text.encode()
    except UnicodeEncodeError:
        return "half of a surrogate pair"
    return None


def read_numbers(
    path: Path,
    texts: pl.Series,
    lines: pl.Series,
    low: float,
    high: float,
    what: str,
    *,
    is_class: bool = False,
) -> pl.Series:
    """Return TEXTS as numbers, null where blank; other text, a number outside LOW to HIGH or a
    fractional class is an error at its line.
    """
    stripped = texts.str.strip_chars()
    values = stripped.cast(pl.Float64, strict=False)
    is_right = values.is_not_null() & values.is_between(low, high).fill_null(False)
    if is_class:
        is_right &= (values == values.round()).fill_null(False)
    wrong = (stripped != "") & ~is_right
    if (row := wrong.arg_max()) is not None and wrong[row]:
        raise bad_line(
            path,
            lines[row],
            f"{what} {texts[row]!r} is not a {'whole ' * is_class}number from {low:g} to {high:g}",
        )
    return values


def as_lines(frame: pl.DataFrame, *, header: bool = False) -> str:
    """Return lines of tab-separated fields without quoting, as in the corpora: a tab or line end
    inside a text becomes a blank.
    """
    plain = frame.with_columns(pl.col(pl.String).str.replace_all(r"[\t\r\n]+", " "))
    return plain.write_csv(separator="\t", include_header=header, quote_style="never")


def json_object(path: Path, number: int, line: str, *, reads_nan: bool = False) -> dict[str, Any]:
    """Return the JSON object in the LINE of a file; anything else is an error at its number. NaN,
    which Python's json module writes, is null where READS_NAN.
    """

    def refuse(name: str) -> None:
        if not (reads_nan and name == "NaN"):
            raise bad_line(path, number, f"{name} is not JSON")

    try:
        row = json.loads(line, parse_constant=refuse)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at").removesuffix(" starting")
        raise bad_line(path, number, f"broken JSON at character {error.pos + 1}: {what}") from error
    except RecursionError as error:
        raise bad_line(path, number, "its JSON is nested too deep") from error
    except ValueError as error:  # Python refuses integers of more than 4,300 digits
        raise bad_line(path, number, "a number with too many digits") from error
    if not isinstance(row, dict):
        raise bad_line(path, number, "not a JSON object")
    for key, text in row.items():
        if fault := text_fault(key) or (isinstance(text, str) and text_fault(text)):
            raise bad_line(path, number, f"{fault} under {key!a}")
    return row


def refuse_json_values(
    path: Path, frame: pl.DataFrame, columns: Sequence[str], lines: pl.Series | None = None
) -> None:
    """Raise for the first line with a number, a list or an object under one of COLUMNS, which hold
    texts; FRAME is what polars read, of LINES where these are not all that are not blank.

    polars makes texts of them: "5.1" of 5.10. Only lines whose texts look so are parsed again.
    """
    is_nested = any(frame.schema[name].is_nested() for name in columns)  # then each of its texts is
    looks_so = pl.any_horizontal(pl.col(*columns).cast(pl.String).str.contains(_LIKE_JSON))
    rows = set(range(len(frame)) if is_nested else frame.select(pl.arg_where(looks_so)).to_series())
    if not rows:
        return
    numbered = [(number, line) for number, line in enumerate(read_lines(path), 1) if line.strip()]
    wanted = (
        {lines[row] for row in rows} if lines is not None else {numbered[row][0] for row in rows}
    )
    for number, line in numbered:
        if number not in wanted:
            continue
        values = json_object(path, number, line)
        for name in columns:
            if not isinstance(value := values.get(name), str | None):
                is_several = isinstance(value, list | dict)
                raise MissingError(
                    f"{path}, line {number}: {name!r} is {quote(value)}, not a text",
                    hint="write one text a row; positives and negatives may be lists in all rows"
                    if is_several
                    else "correct the line, or get the file again",
                )
