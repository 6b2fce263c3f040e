"""Labelled pairs as JSON objects, one a line, whatever else each holds: the layout of SNLI and
MultiNLI.
"""

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
    keys, label = tuple(options.columns.values()), pl.col(options.columns["label"])
    text = read_text(path)
    try:
        frame = pl.read_ndjson(text.encode(), schema=dict.fromkeys(keys, pl.String))
        is_sound = label.is_in(options.labels) & ~pl.any_horizontal(
            pl.all().is_null() | pl.all().str.contains("\0", literal=True)
        )
        sound = frame.filter(is_sound)
    except pl.exceptions.PolarsError:
        sound = frame = pl.DataFrame()
    if frame.is_empty() or len(sound) < len(frame):  # polars names no line
        raise _fault(path, text, options)
    refuse_json_values(path, frame, keys)
    labelled = frame.filter(label != options.unlabelled)
    skipped = len(frame) - len(labelled)
    return ParsedRows(
        frame=labelled.select(
            pl.col(options.columns[name]).alias(name) for name in COLUMNS[split.kind]
        ),
        skipped={f"label {options.unlabelled!r}": skipped} if skipped else {},
    )


def _fault(path: Path, text: str, options: JsonLinesOptions) -> MissingError:
    """Find the fault of a file line by line."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        row = json_object(path, number, line)
        for key in options.columns.values():
            if not isinstance(row.get(key), str):
                return bad_line(path, number, f"no text under {key!r}")
        if (label := row[options.columns["label"]]) not in options.labels:
            known = ", ".join(options.labels)
            return bad_line(path, number, f"label {label!r} is not one of {known}")
    return empty_file(path)


def _write(frame: pl.DataFrame, *, options: JsonLinesOptions) -> tuple[str, ...]:
    """Return the text of a file that is read back as the same rows."""
    theirs = {name: ours for ours, name in options.columns.items()}
    columns = [pl.col(theirs[name]).alias(name) for name in sorted(theirs)]
    return (frame.select(columns).write_ndjson(),)


READER = Reader(
    options=JsonLinesOptions,
    read=_read,
    write=_write,
    kinds=("nli",),
    columns=lambda kind: dict.fromkeys(COLUMNS[kind], True),
    files=lambda _options, _split: 1,
)
