"""Oxford definitions in the layout that DefSent's authors (hppRC/defsent) download, of Ishiwatari
et al. 2019.

The first column is the word with its number behind "%", the fourth its definition in separate
tokens. All files are joined, the tokens joined to text as the authors' script does, and the rows
parted by a hash of the word.

No real copy was at hand when this was written: the layout is that of the authors' scripts, read in
generated rows.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.core.schema import table
from embedlab.data.corpus_file import Reader, ReadSplit, rows_of_split
from embedlab.data.dataset import ParsedRows
from embedlab.data.text_file import bad_line, read_lines

_LEAST_COLUMNS = 4
_ATTACHED = {" .": ".", " ,": ",", " ;": ";", "( ": "(", " )": ")", " '": "'"}  # in this order
_QUOTED = re.compile(r"`` (.*?)''")  # loses its marks and begins with a capital
_SINGLE = re.compile(r"‘\s*(.*?)\s*’")


@table
class Oxford(Reader):
    """There is only one layout."""

    kinds = ("definitions",)

    def read(self, paths: Sequence[Path], split: ReadSplit) -> ParsedRows:
        """Return the rows of all files whose word is in SPLIT."""
        rows = []
        for path in paths:
            for number, line in enumerate(read_lines(path), start=1):
                columns = line.strip().split("\t")
                if len(columns) < _LEAST_COLUMNS:
                    fault = "columns, where a word, two others and its definition are expected"
                    raise bad_line(path, number, f"{len(columns)} {fault}")
                word, definition = columns[0].rsplit("%", 1)[0].strip(), as_text(columns[3])
                if not word or not definition:
                    raise bad_line(path, number, "an empty word or definition")
                rows.append((word, definition))
        frame = pl.DataFrame(rows, schema=["word", "definition"], orient="row")
        return ParsedRows(frame=rows_of_split(frame, split.name))


def as_text(tokens: str) -> str:
    """Return a definition in separate TOKENS as text: marks are joined to the words that they
    belong to.
    """
    for separated, joined in _ATTACHED.items():
        tokens = tokens.replace(separated, joined)
    tokens = _QUOTED.sub(lambda match: match.group(1).capitalize(), tokens)
    return _SINGLE.sub(r"’\1’", tokens).strip()
