"""Two sentences a line, and their scores in a file beside: SemEval's STS.input and STS.gs, two
files for each source.

Pairs are in the order of their sources, and within a source in the order of the file. A blank score
is a pair that was not scored; it is skipped and counted.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.schema import table
from embedlab.data.corpus_file import Reader, ReadSplit
from embedlab.data.dataset import ParsedRows, rows_of_kind
from embedlab.data.table_file import as_numbers
from embedlab.data.text_file import PLACE, as_lines, read_fields, read_lines


@table
class GoldBeside(Reader):
    """What a corpus says of its files."""

    kinds = ("sts",)
    file_count = 2
    # how many fields a pair may have: official texts of 2016 name the origins of both sentences too
    fields: tuple[int, ...] = (2,)

    def read(self, paths: Sequence[Path], split: ReadSplit) -> ParsedRows:
        """Return the pairs of two files for each class of SPLIT, which is their source, or of two
        files of unknown sources.
        """
        sources = split.classes if split.has_file_per_class else [None]
        scored = []
        blank = 0
        for input_path, gold_path, source in zip(paths[::2], paths[1::2], sources, strict=True):
            pairs = self._read_source(input_path, gold_path, source)
            with_score = pairs.filter(pl.col("gold").str.strip_chars() != "")
            blank += len(pairs) - len(with_score)
            scored.append(as_numbers(gold_path, with_score, "gold", split.gold_range))
        frame = rows_of_kind(pl.concat(scored), "sts")
        return ParsedRows(frame=frame, skipped={"blank gold score": blank} if blank else {})

    def _read_source(self, input_path: Path, gold_path: Path, source: str | None) -> pl.DataFrame:
        pairs = read_fields(input_path, (0, 1), line_shape="two sentences", fields=self.fields)
        gold = pl.Series(read_lines(gold_path))
        if len(pairs) != len(gold):
            raise MissingError(
                f"{input_path} has {len(pairs):,} pairs but {gold_path} has {len(gold):,} scores",
                hint="get both files again: they belong together",
            )
        source_column = pl.lit(source, pl.String)
        return pairs.select(PLACE, sentence1="0", sentence2="1", gold=gold, source=source_column)

    def write(self, frame: pl.DataFrame) -> tuple[str, ...]:
        """Return the text of one file of sentences and one of scores, for pairs of unknown
        sources.
        """
        return as_lines(frame.select("sentence1", "sentence2")), as_lines(frame.select("gold"))
