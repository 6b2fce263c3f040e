"""Lines that are JSON objects, read strictly: a fault, or a number in the place of a text, is an
error at its line.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from embedlab.core.plain_values import quote
from embedlab.data.text_file import bad_line, read_lines, text_fault

# what polars makes of values that are not texts
_LIKE_JSON = r"(?s)^\s*(-?[0-9][0-9.eE+-]*|\[.*\]|\{.*\}|true|false)\s*$"


def json_object(path: Path, number: int, line: str) -> dict[str, Any]:
    """Return the JSON object in the LINE of a file; anything else is an error at its number."""

    def refuse(name: str) -> None:
        raise bad_line(
            path, number, f"{name} is not JSON"
        )  # Python's json module writes it nevertheless

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


def refuse_json_values(path: Path, frame: pl.DataFrame, columns: Sequence[str]) -> None:
    """Raise for the first line with a number, a list or an object under one of COLUMNS, which hold
    texts; FRAME is what polars read.

    polars makes texts of them: "5.1" of 5.10. Only lines whose texts look so are parsed again.
    """
    is_nested = any(frame.schema[name].is_nested() for name in columns)  # then each of its texts is
    looks_so = pl.any_horizontal(pl.col(*columns).cast(pl.String).str.contains(_LIKE_JSON))
    rows = set(range(len(frame)) if is_nested else frame.select(pl.arg_where(looks_so)).to_series())
    if not rows:
        return
    for row, (number, line) in enumerate(
        (number, line) for number, line in enumerate(read_lines(path), 1) if line.strip()
    ):
        if row not in rows:
            continue
        values = json_object(path, number, line)
        for name in columns:
            if not isinstance(value := values.get(name), str | None):
                raise bad_line(path, number, f"{name!r} is {quote(value)}, not a text")
