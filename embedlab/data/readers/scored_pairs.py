"""Scored pairs in a table with named columns, CSV, TSV, JSON lines or parquet, as in users' own
files.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.core.schema import table
from embedlab.data.corpus_file import Reader, ReadSplit
from embedlab.data.dataset import SIDES, ParsedRows
from embedlab.data.own_files import scored_pairs
from embedlab.data.table_file import full_rows, read_rows, require_columns


@table
class ScoredPairs(Reader):
    """What a corpus says of its table."""

    kinds = ("sts",)
    file_count = 1

    score: str = "score"  # the column of scores; the sentences are in sentence1 and sentence2
    # a column with a text under which the sentences are compared: each follows it, as a prompt
    condition: str = ""
    of_source: str = ""  # the rows of one source alone, as the column source has it

    def read(self, paths: Sequence[Path], split: ReadSplit) -> ParsedRows:
        """Return the pairs of one file."""
        (path,) = paths
        texts = [*SIDES, *filter(None, [self.condition])]
        needed = [*texts, self.score]
        rows = read_rows(path, needed=needed, is_corpus=True)
        skipped: dict[str, int] = {}
        require_columns(path, rows, needed, hint="get the file again")
        if self.condition:
            rows, skipped = full_rows(path, rows, texts)
            condition = pl.col(self.condition).str.strip_chars()
            conditioned = [pl.format("{}: {}", condition, side).alias(side) for side in SIDES]
            rows = rows.with_columns(conditioned)
        pairs = scored_pairs(path, rows.rename({self.score: "score"}), scale=split.gold_range)
        frame = pairs.frame
        if self.of_source:
            frame = frame.filter(pl.col("source") == self.of_source)
        return ParsedRows(frame=frame, skipped={**skipped, **pairs.skipped})

    def write(self, frame: pl.DataFrame) -> tuple[str, ...]:
        """Return the text of a file of JSON lines that is read back as the same rows."""
        return (frame.rename({"gold": self.score}).write_ndjson(),)
