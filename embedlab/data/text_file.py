"""Read text files strictly, their lines, fields and JSON objects: errors name file and line."""

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import polars as pl

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.foreign_files import GZIP, refuse_foreign, refuse_other_content
from embedlab.core.printable import count_text, first_few
from embedlab.core.schema import quote
from embedlab.data.dataset import COLUMNS, ParsedRows

PLACE = "line of the file"  # a column that we add to those of a file
Encoding = Literal["utf-8", "latin-1"]
# UTF-8, and bytes that are no text: files with them are Windows-1252 or damaged
_NOT_LATIN = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x80-\x9f]"
)
# what polars makes of JSON values that are not texts
_LIKE_JSON = r"(?s)^\s*(-?[0-9][0-9.eE+-]*|\[.*\]|\{.*\}|true|false)\s*$"
# signs that nobody sees: blanks, marks of direction, zero-width spaces, blank letters
_UNSEEN = r"\s\p{Z}\p{Cc}\p{Cf}\x{115F}\x{1160}\x{2800}\x{3164}\x{FE00}-\x{FE0F}\x{FFA0}"


HALF_HINT = "write the whole character, such as an emoji that was cut in two, or remove the half"


def bad_line(path: Path, line: int, fault: str, hint: str = "") -> MissingError:
    """Return the error for a fault in a line of a file, counted from 1."""
    return MissingError(
        f"{path}, line {line}: {fault}", hint=hint or "correct the line, or get the file again"
    )


def wrong_field_count(path: Path, line: int, fields: Sequence[str], expected: str) -> MissingError:
    """Return the error for a line with a wrong number of FIELDS; EXPECTED states the right one."""
    return bad_line(path, line, f"{count_text(len(fields), 'fields')}: {expected}")


def not_utf8(path: Path, line: int, byte: int) -> MissingError:
    """Return the error for a BYTE in a line that is no text."""
    return MissingError(
        f"{path}, line {line}: byte 0x{byte:02x} is not UTF-8",
        hint="convert the file, for example with iconv; a damaged one get again",
    )


def empty_file(path: Path) -> MissingError:
    """Return the error for a file without any row."""
    return MissingError(f"{path} is empty", hint="get the file again")


def read_text(path: Path, *, encoding: Encoding = "utf-8") -> str:
    """Return the text of a file in the ENCODING that its corpus documents, without a byte order
    mark; undecodable text is an error. A file is read as Latin-1 if that is documented and no line
    looks like UTF-8. A corpus file that ends in .gz is unpacked.
    """
    refuse_foreign(path)
    content = path.read_bytes()
    if path.suffix != ".gz" or not content.startswith(GZIP):
        refuse_other_content(path)
    if path.suffix == ".gz":
        try:
            content = gzip.decompress(content)
        except (OSError, EOFError, zlib.error) as error:
            raise MissingError(
                f"{path} is not a gzipped text: {error}", hint="get the file again"
            ) from error
    if b"\0" in content:
        fault = "a NUL byte: the file is damaged, or is UTF-16"
        raise bad_line(path, _line_of(content, content.index(0)), fault)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if encoding == "utf-8" or _NOT_LATIN.search(content):
            raise not_utf8(path, _line_of(content, error.start), content[error.start]) from error
        text = content.decode("latin-1")
    if not text.strip():
        raise empty_file(path)
    return text if "\n" in text else text.replace("\r", "\n")  # as old Macs end lines


def _line_of(content: bytes, index: int) -> int:
    return content.count(b"\n", 0, index) + 1


def read_lines(path: Path, *, encoding: Encoding = "utf-8") -> list[str]:
    r"""Return the lines of a file, split at "\n" only, since corpora contain other characters that
    count as line ends elsewhere.
    """
    text = read_text(path, encoding=encoding).removesuffix("\n")
    return [line.removesuffix("\r") for line in text.split("\n")]


def is_seen(texts: pl.Series) -> pl.Series:
    """Return which of TEXTS have a visible character; null has none."""
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
    path: Path,
    columns: Sequence[str | int],
    *,
    line_shape: str,
    fields: Sequence[int] = (),
    is_quoted: bool = False,
) -> pl.DataFrame:
    """Return tab-separated columns as text, quotes taken literally, or where the file IS_QUOTED
    comma-separated ones, and the number of each line in PLACE.

    COLUMNS are positions, or names in a header line. Each line must have one of the numbers of
    FIELDS, or as many as the header: a tab within a sentence would shift its text. LINE_SHAPE
    describes a line in errors.
    """
    if is_quoted:
        rows = list(csv_rows(path, read_text(path)))
    else:
        rows = [(number, line.split("\t")) for number, line in enumerate(read_lines(path), 1)]
    names = [str(column) for column in columns]
    if isinstance(columns[0], str):
        header = [name.strip() for name in rows.pop(0)[1]]
        for name in names:
            if name not in header:
                raise bad_line(path, 1, f"no column {name!r}: found {first_few(header)}")
            if header.count(name) > 1:
                raise bad_line(path, 1, f"column {name!r} occurs twice")
        columns = [header.index(name) for name in names]
        fields = [len(header)]
    if not rows:
        raise empty_file(path)
    for number, row in rows:
        if len(row) not in fields:
            shape = f"expected {line_shape} in {' or '.join(map(str, fields))} fields"
            raise wrong_field_count(path, number, row, shape)
    values = {PLACE: pl.Series([number for number, _ in rows], dtype=pl.UInt32)}
    for name, position in zip(names, map(int, columns), strict=True):
        values[name] = pl.Series([row[position] for _, row in rows], dtype=pl.String)
    return pl.DataFrame(values)


def csv_rows(
    path: Path, text: str, separator: str = ",", *, skips_blanks: bool = False
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line at which each row of a file with this TEXT begins and its fields: a quoted
    field may span several lines, and blank lines are no rows. An unclosed quote, which would
    swallow what follows, is an error.
    """
    reader = csv.reader(
        io.StringIO(text, newline="\n"),
        strict=True,
        delimiter=separator,
        skipinitialspace=skips_blanks,
    )
    line = 1
    try:
        for row in reader:
            if row:
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
    except UnicodeEncodeError as error:
        return f"half of a character ({text[error.start]!a})"
    return None


def refuse_half(text: str, source: str) -> None:
    """Refuse a TEXT of SOURCE with half of a surrogate pair: no encoder reads it."""
    fault = text_fault(text.replace("\0", ""))
    if fault is not None:
        raise UsageError(f"{source}: {quote(text)} has {fault}", hint=HALF_HINT)


def as_lines(frame: pl.DataFrame, *, header: bool = False) -> str:
    """Return lines of tab-separated fields without quoting, as in the corpora: a tab or line end
    inside a text becomes a blank.
    """
    escaped = frame.with_columns(pl.col(pl.String).str.replace_all(r"[\t\r\n]+", " "))
    return escaped.write_csv(separator="\t", include_header=header, quote_style="never")


def json_object(path: Path, number: int, line: str, *, reads_nan: bool = False) -> dict[str, Any]:
    """Return the JSON object in the LINE of a file; anything else is an error with the line's
    NUMBER. With READS_NAN, NaN, which Python's json module writes, is null.
    """

    def refuse(name: str) -> None:
        if not (reads_nan and name == "NaN"):
            raise bad_line(path, number, f"{name} is not JSON")

    def with_keys_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        if len({*keys}) < len(keys):
            repeated = next(key for key in keys if keys.count(key) > 1)
            raise bad_line(path, number, f"{repeated!r} occurs twice")
        return dict(pairs)

    if line.lstrip().startswith("["):
        raise MissingError(
            f"{path}, line {number}: a JSON array, not a JSON object",
            hint="write one object a line",
        )
    try:
        row = json.loads(line, parse_constant=refuse, object_pairs_hook=with_keys_once)
    except (ValueError, RecursionError) as error:
        fault_text = "its JSON is nested too deep"
        if isinstance(error, json.JSONDecodeError):
            message = error.msg.removesuffix(" at").removesuffix(" starting")
            fault_text = f"broken JSON at character {error.pos + 1}: {message}"
        elif isinstance(error, ValueError):  # Python refuses integers of more than 4,300 digits
            fault_text = "a number with too many digits"
        raise bad_line(path, number, fault_text) from error
    if not isinstance(row, dict):
        raise bad_line(path, number, "not a JSON object")
    for key, text in row.items():
        if fault := text_fault(key) or (isinstance(text, str) and text_fault(text)):
            hint = HALF_HINT if "half" in fault else ""
            raise bad_line(path, number, f"{fault} under {key!a}", hint)
    return row


def read_json_lines(path: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return the objects of a file, one a line, with the number of each line in PLACE: the values
    of COLUMNS as texts or null, or all values, of a type for each key. A line that is not an object
    is an error, as is a key that occurs twice.
    """
    text = read_text(path)
    lines = {number: line for number, line in enumerate(text.split("\n"), 1) if line.strip()}
    schema = columns and dict.fromkeys(columns, pl.String)
    is_typed = columns is None
    try:
        frame = pl.read_ndjson(text.encode(), schema=schema, infer_schema_length=None)
    except pl.exceptions.PolarsError:  # it names no line, and reads no NaN
        objects = {
            number: json_object(path, number, line, reads_nan=is_typed)
            for number, line in lines.items()
        }
        json_text = "\n".join(map(json.dumps, objects.values()))
        try:
            frame = pl.read_ndjson(json_text.encode(), schema=schema, infer_schema_length=None)
        except pl.exceptions.PolarsError as error:
            _refuse_mixed_kinds(path, objects)
            raise MissingError(
                f"{path} is not a readable jsonl file: {str(error).splitlines()[0]}",
                hint="correct the file",
            ) from error
    # polars reads half of a surrogate pair as NUL, and of two values of one key the first
    holds_nul = pl.col(pl.String).str.contains("\0", literal=True).any()
    has_nul = "\0" in "".join(frame.columns) or any(map(any, frame.select(holds_nul).rows()))
    counts = {f'"{name}"': frame[name].count() for name in frame.columns}
    is_doubtful = has_nul or any(text.count(key) > count for key, count in counts.items())
    for number, line in lines.items() if is_doubtful else ():
        if has_nul or any(line.count(key) > 1 for key in counts):
            json_object(path, number, line, reads_nan=is_typed)
    return frame.with_columns(pl.Series(PLACE, [*lines], pl.UInt32))


def _refuse_mixed_kinds(path: Path, objects: Mapping[int, Mapping[str, Any]]) -> None:
    """Refuse the first line with a list or an object under a key that has another kind before."""
    kinds: dict[str, type] = {}
    for number, values in objects.items():
        for key, value in values.items():
            kind = type(value) if isinstance(value, list | dict) else str
            if value is not None and kinds.setdefault(key, kind) is not kind:
                raise bad_line(
                    path, number, f"{key!r} is {quote(value)}, unlike in lines before it"
                )


def refuse_json_values(
    path: Path,
    frame: pl.DataFrame,
    columns: Sequence[str],
    *,
    hint: str = "write one text a row; positives and negatives may be lists in all rows",
) -> None:
    """Raise for the first line with a number, a list or an object under one of COLUMNS, which hold
    texts. FRAME is what polars read, with the number of each line in PLACE.

    polars makes texts of such values: "5.1" of 5.10. Only lines with texts that look like JSON are
    parsed again.
    """
    may_be_json = pl.any_horizontal(pl.col(columns).cast(pl.String).str.contains(_LIKE_JSON))
    if any(frame.schema[name].is_nested() for name in columns):
        may_be_json = pl.lit(True)
    numbers = frame.filter(may_be_json)[PLACE]
    if numbers.is_empty():
        return
    lines = read_lines(path)
    for number in numbers:
        values = json_object(path, number, lines[number - 1])
        for name in columns:
            if not isinstance(value := values.get(name), str | None):
                raise MissingError(
                    f"{path}, line {number}: {name!r} is {quote(value)}, not a text",
                    hint=hint,
                )
