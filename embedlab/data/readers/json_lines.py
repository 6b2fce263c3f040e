"""Labelled pairs as JSON objects, one a line, whatever else each holds: the layout of SNLI and
MultiNLI.
"""

from pathlib import Path

import polars as pl

from embedlab.core.schema import table
from embedlab.data.dataset import NLI_LABELS
from embedlab.data.readers.delimited import Delimited
from embedlab.data.table_file import refuse_rows
from embedlab.data.text_file import PLACE, read_json_lines, refuse_json_values


@table
class JsonLines(Delimited):
    """What a corpus says of its objects."""

    kinds = ("nli",)
    file_count = 1
    labels: tuple[str, ...] = NLI_LABELS

    def read_columns(self, path: Path) -> pl.DataFrame:
        """Return our columns of a file as text, and the line of each row in PLACE."""
        keys = [str(key) for key in self.columns.values()]
        frame = read_json_lines(path, keys)
        refuse_json_values(path, frame, keys)
        for key in keys:
            refuse_rows(path, frame, pl.col(key).is_null(), f"no text under {key!r}", key)
        columns = zip(self.columns, keys, strict=True)
        return frame.select(PLACE, **{name: pl.col(key) for name, key in columns})

    def write(self, frame: pl.DataFrame) -> tuple[str, ...]:
        """Return the text of a file that is read back as the same rows."""
        columns = sorted((key, name) for name, key in self.columns.items())
        return (frame.select(pl.col(name).alias(str(key)) for key, name in columns).write_ndjson(),)
