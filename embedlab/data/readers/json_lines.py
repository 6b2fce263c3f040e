"""Labelled pairs as JSON objects, one a line, whatever else each holds: the layout of SNLI and
MultiNLI.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from embedlab.core.schema import table
from embedlab.data.corpus_file import Reader, ReadSplit
from embedlab.data.dataset import COLUMNS, NLI_LABELS, DatasetKind, ParsedRows
from embedlab.data.table_file import refuse_rows
from embedlab.data.text_file import PLACE, read_json_columns, refuse_json_values


@table
class JsonLines(Reader):
    """What a corpus says of its objects."""

    kinds = ("nli",)
    file_count = 1
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
        keys, label = tuple(self.columns.values()), self.columns["label"]
        frame = read_json_columns(path, keys)
        refuse_json_values(path, frame, keys, frame[PLACE])
        for key in keys:
            refuse_rows(path, frame, pl.col(key).is_null(), f"no text under {key!r}", key)
        is_other = ~pl.col(label).is_in(self.labels)
        refuse_rows(path, frame, is_other, f"label is not one of {', '.join(self.labels)}", label)
        labelled = frame.filter(pl.col(label) != self.unlabelled)
        skipped = len(frame) - len(labelled)
        return ParsedRows(
            frame=labelled.select(
                pl.col(self.columns[name]).alias(name) for name in COLUMNS[split.kind]
            ),
            skipped={f"label {self.unlabelled!r}": skipped} if skipped else {},
        )

    def write(self, frame: pl.DataFrame) -> tuple[str, ...]:
        """Return the text of a file that is read back as the same rows."""
        columns = sorted((key, name) for name, key in self.columns.items())
        return (frame.select(pl.col(name).alias(key) for key, name in columns).write_ndjson(),)

    @staticmethod
    def named_columns(kind: DatasetKind) -> Mapping[str, bool]:
        """Return all columns of the kind, which must be named."""
        return dict.fromkeys(COLUMNS[kind], True)
