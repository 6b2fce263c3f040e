"""Labelled pairs as JSON objects, one a line, whatever else each holds: the layout of SNLI and
MultiNLI.
"""

from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.schema import table
from embedlab.data.dataset import COLUMNS, NLI_LABELS, ParsedRows
from embedlab.data.reader import Reader, ReadSplit
from embedlab.data.text_file import (
    bad_line,
    empty_file,
    json_object,
    read_lines,
    read_text,
    refuse_json_values,
)


@table
class JsonLinesOptions:
    """What a corpus says of its objects."""

    columns: dict[str, str]  # ours → their keys
    # the label of pairs without agreement among the annotators, which are skipped and counted
    unlabelled: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels that may occur."""
        return (*NLI_LABELS, *([self.unlabelled] if self.unlabelled else []))


def _read(paths: Sequence[Path], *, options: JsonLinesOptions, split: ReadSplit) -> ParsedRows:
    (path,) = paths
    keys = tuple(options.columns.values())
    with path.open("rb") as file:
        is_marked = file.read(len(BOM_UTF8)) == BOM_UTF8
    try:
        # polars reads a byte order mark as a broken line.
        frame = pl.read_ndjson(
            read_text(path).encode() if is_marked else path.read_bytes(),
            schema=dict.fromkeys(keys, pl.String),
        )
    except pl.exceptions.PolarsError:
        frame = None  # polars does not name the line
    if frame is None or not _is_sound(frame, options):
        raise _fault(path, options)
    refuse_json_values(path, frame, keys)
    labelled = frame.filter(pl.col(options.columns["label"]) != options.unlabelled)
    skipped = len(frame) - len(labelled)
    return ParsedRows(
        frame=labelled.select(
            pl.col(options.columns[name]).alias(name) for name in COLUMNS[split.kind]
        ),
        skipped={f"label {options.unlabelled!r}": skipped} if skipped else {},
    )


def _is_sound(frame: pl.DataFrame, options: JsonLinesOptions) -> bool:
    """Return whether each row has its texts and a known label."""
    if (
        frame.is_empty()
        or sum(frame.null_count().row(0))
        or not frame[options.columns["label"]].is_in(options.labels).all()
    ):
        return False
    return not frame.select(
        pl.any_horizontal(pl.all().str.contains("\0", literal=True)).any()
    ).item()


def _fault(path: Path, options: JsonLinesOptions) -> MissingError:
    """Find the fault of a file line by line: polars names no line, and skips blank ones without
    counting them.
    """
    for number, line in enumerate(read_lines(path), 1):
        if not line.strip():
            continue
        row = json_object(path, number, line)
        if absent := [key for key in options.columns.values() if not isinstance(row.get(key), str)]:
            return bad_line(path, number, f"no text under {absent[0]!r}")
        if (label := row[options.columns["label"]]) not in options.labels:
            known = ", ".join(NLI_LABELS) + (
                f" and {options.unlabelled!r}" if options.unlabelled else ""
            )
            return bad_line(path, number, f"label {label!r} is not one of {known}")
    return empty_file(path)


def _write(frame: pl.DataFrame, *, options: JsonLinesOptions) -> tuple[str, ...]:
    """Return the text of a file that is read back as the same rows."""
    theirs = {name: ours for ours, name in options.columns.items()}
    return (
        frame.select(pl.col(theirs[name]).alias(name) for name in sorted(theirs)).write_ndjson(),
    )


READER = Reader(
    options=JsonLinesOptions,
    read=_read,
    write=_write,
    kinds=("nli",),
    columns=lambda kind: dict.fromkeys(COLUMNS[kind], True),
    files=lambda _options, _split: 1,
)
