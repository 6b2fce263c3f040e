"""Files whose lines are sentences: alone, with a class by a pattern, a file for each class, or line
n of several files together.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.schema import table
from embedlab.data.corpus_file import Reader, ReadSplit
from embedlab.data.dataset import COLUMNS, ParsedRows
from embedlab.data.text_file import Encoding, bad_line, read_lines, read_whole_lines


@table
class Lines(Reader):
    """What a corpus says of its lines."""

    kinds = ("sentences", "classification")
    pattern: str = ""  # of a line, with the groups sentence and label
    encoding: Encoding = "utf-8"  # "latin-1": a copy that is UTF-8 throughout is read as such
    # line n of each file belongs to the same thing; the files are gzipped
    is_parallel: bool = False

    def __post_init__(self) -> None:
        """Refuse a pattern that gives no sentence and label."""
        try:
            groups = re.compile(self.pattern).groupindex
        except re.error as error:
            raise ValueError(f"the pattern is not a regular expression: {error}") from error
        if self.pattern and not {"sentence", "label"} <= {*groups}:
            raise ValueError("the pattern needs the groups (?P<sentence>…) and (?P<label>…)")

    def read(self, paths: Sequence[Path], split: ReadSplit) -> ParsedRows:
        """Return the sentences, with their classes where the files have them."""
        if self.is_parallel:
            return _parallel(paths)
        if not (split.has_file_per_class or self.pattern):
            return read_whole_lines(*paths)
        labels = split.classes if split.has_file_per_class else ("",)
        rows = []
        for path, label in zip(paths, labels, strict=True):
            for number, line in enumerate(read_lines(path, encoding=self.encoding), 1):
                rows.append(self._classified(path, number, line, label or split.classes))
        schema = dict(COLUMNS["classification"])
        return ParsedRows(frame=pl.DataFrame(rows, schema=schema, orient="row"))

    def _classified(
        self, path: Path, number: int, line: str, label: str | tuple[str, ...]
    ) -> tuple[str, str]:
        """Return the sentence of a LINE with the LABEL of its file, or with its own label of
        several. A blank line in a file of a single class is an empty sentence, as in the published
        counts.
        """
        if isinstance(label, str):
            if "\t" in line:
                raise bad_line(path, number, "a tab: expected a sentence alone")
            return line.strip(), label
        match = re.fullmatch(self.pattern, line.strip())
        if match is None:
            raise bad_line(path, number, f"{line[:60]!r} is not a sentence with its class")
        if match["label"] not in label:
            fault = f"class {match['label']!r} is not one of {', '.join(label)}"
            raise bad_line(path, number, fault)
        return match["sentence"].strip(), match["label"]

    @property
    def file_count(self) -> int | None:  # type: ignore[override]
        """How many files it reads: any of those whose lines belong together."""
        return None if self.is_parallel else 1


def _parallel(paths: Sequence[Path]) -> ParsedRows:
    """Return the lines of several gzipped files, those with the same number together; files of
    different lengths are a MissingError.
    """
    columns = [[line.strip() for line in read_lines(path)] for path in paths]
    for path, column in zip(paths, columns, strict=True):
        if "" in column:
            raise bad_line(path, column.index("") + 1, "no caption")
        if len(column) != len(columns[0]):
            raise MissingError(
                f"{path} and {paths[0]} have different numbers of lines", hint="get the files again"
            )
    captions = [text for row in zip(*columns, strict=True) for text in row]
    return ParsedRows(frame=pl.DataFrame({"sentence": captions}, schema=dict(COLUMNS["sentences"])))
