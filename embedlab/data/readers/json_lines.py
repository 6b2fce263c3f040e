"""Labelled pairs as JSON objects, one a line, whatever else each holds: the layout of SNLI and
MultiNLI.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.schema import table
from embedlab.data.corpus_file import Reader, ReadSplit
from embedlab.data.dataset import COLUMNS, NLI_LABELS, DatasetKind, ParsedRows
from embedlab.data.text_file import (
    bad_line,
    empty_file,
    json_object,
    read_text,
    refuse_json_values,
)


@table
class JsonLines(Reader):
    """What a corpus says of its objects."""

    kinds = ("nli",)
    columns: dict[str, str]  # ours → their keys
    # the label of pairs without agreement among the annotators, which are skipped and counted
    unlabelled: str = ""

    @property
    def labels(self) -> tuple[str, ...]:
        """All labels that may occur."""
        return (*NLI_LABELS, *([self.unlabelled] if self.unlabelled else []))

    def read(self, paths: Sequence[Path], split: ReadSplit) -> ParsedRows:
        """Return the labelled pairs of one file."""
        (path,) = paths
        keys, label = tuple(self.columns.values()), pl.col(self.columns["label"])
        text = read_text(path)
        try:
            frame = pl.read_ndjson(text.encode(), schema=dict.fromkeys(keys, pl.String))
            is_damaged = pl.all().is_null() | pl.all().str.contains("\0", literal=True)
            valid = frame.filter(label.is_in(self.labels) & ~pl.any_horizontal(is_damaged))
        except pl.exceptions.PolarsError:
            valid = frame = pl.DataFrame()
        if frame.is_empty() or len(valid) < len(frame):  # polars names no line
            raise self._fault(path, text)
        refuse_json_values(path, frame, keys)
        labelled = frame.filter(label != self.unlabelled)
        skipped = len(frame) - len(labelled)
        return ParsedRows(
            frame=labelled.select(
                pl.col(self.columns[name]).alias(name) for name in COLUMNS[split.kind]
            ),
            skipped={f"label {self.unlabelled!r}": skipped} if skipped else {},
        )

    def _fault(self, path: Path, text: str) -> MissingError:
        """Find the fault of a file line by line."""
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            row = json_object(path, number, line)
            for key in self.columns.values():
                if not isinstance(row.get(key), str):
                    return bad_line(path, number, f"no text under {key!r}")
            if (label := row[self.columns["label"]]) not in self.labels:
                known_labels = ", ".join(self.labels)
                return bad_line(path, number, f"label {label!r} is not one of {known_labels}")
        return empty_file(path)

    def write(self, frame: pl.DataFrame) -> tuple[str, ...]:
        """Return the text of a file that is read back as the same rows."""
        columns = sorted((key, name) for name, key in self.columns.items())
        return (frame.select(pl.col(name).alias(key) for key, name in columns).write_ndjson(),)

    @staticmethod
    def named_columns(kind: DatasetKind) -> Mapping[str, bool]:
        """Return all columns of the kind, which must be named."""
        return dict.fromkeys(COLUMNS[kind], True)

    def files(self, _split: ReadSplit) -> int:
        """Return 1."""
        return 1
