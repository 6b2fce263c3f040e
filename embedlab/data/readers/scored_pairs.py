"""Scored pairs in a table with named columns, CSV, TSV, JSON lines or parquet, as in users' own
files.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.printable import first_few
from embedlab.core.schema import table
from embedlab.data.dataset import ParsedRows
from embedlab.data.own_files import scored_pairs
from embedlab.data.reader import Reader, ReadSplit
from embedlab.data.table_file import PLACE, full_rows, read_rows

_SIDES = ("sentence1", "sentence2")


@table
class ScoredPairsOptions:
    """What a corpus says of its table."""

    score: str = "score"  # the column of scores; the sentences are in sentence1 and sentence2
    # a column with a text under which the sentences are compared: each follows it, as a prompt
    condition: str = ""
    of_source: str = ""  # the rows of one source alone, as the column source has it


def _read(paths: Sequence[Path], *, options: ScoredPairsOptions, split: ReadSplit) -> ParsedRows:
    (path,) = paths
    texts = [*_SIDES, *([options.condition] if options.condition else [])]
    needed = [*texts, options.score]
    rows = read_rows(path, needed=needed)
    if absent := [name for name in needed if name not in rows.columns]:
        raise MissingError(
            f"{path} has no column {absent[0]!r}: found {first_few(rows.drop(PLACE).columns)}",
            hint="get the file again",
        )
    skipped: dict[str, int] = {}
    if options.condition:
        rows, skipped = full_rows(path, rows, texts)
        rows = rows.with_columns(
            pl.format("{}: {}", pl.col(options.condition).str.strip_chars(), side).alias(side)
            for side in _SIDES
        )
    pairs = scored_pairs(path, rows.rename({options.score: "score"}), scale=split.gold_range)
    frame = pairs.frame
    if options.of_source:
        frame = frame.filter(pl.col("source") == options.of_source)
    return ParsedRows(frame=frame, skipped={**skipped, **pairs.skipped})


def _write(frame: pl.DataFrame, *, options: ScoredPairsOptions) -> tuple[str, ...]:
    """Return the text of a file of JSON lines that is read back as the same rows."""
    return (frame.rename({"gold": options.score}).write_ndjson(),)


READER = Reader(
    options=ScoredPairsOptions,
    read=_read,
    write=_write,
    kinds=("sts",),
    files=lambda _options, _split: 1,
)
