"""Oxford definitions in the layout that DefSent's authors (hppRC/defsent) download, of Ishiwatari
et al. 2019.

The first column is the word with its number behind "%", the fourth its definition in separate
tokens. All files are joined, the tokens joined to text as the authors' script does, and the rows
parted by a hash of the word.

No real copy was at hand when this was written: the layout is that of the authors' scripts, read in
generated rows.
"""

import re
from dataclasses import field
from pathlib import Path

import polars as pl

from embedlab.core.schema import table
from embedlab.data.readers.delimited import Delimited
from embedlab.data.text_file import PLACE, read_lines, wrong_field_count

_LEAST_COLUMNS = 4
_ATTACHED = {" .": ".", " ,": ",", " ;": ";", "( ": "(", " )": ")", " '": "'"}  # in this order
_QUOTED = re.compile(r"`` (.*?)''")  # loses its marks and begins with a capital
_SINGLE = re.compile(r"‘\s*(.*?)\s*’")


@table
class Oxford(Delimited):
    """There is only one layout."""

    kinds = ("definitions",)
    columns: dict[str, str | int] = field(default_factory=lambda: {"word": "0", "definition": "3"})
    by_word: bool = True
    __hash__ = Delimited.__hash__

    def read_columns(self, path: Path) -> pl.DataFrame:
        """Return the line, word and definition of each row."""
        rows = []
        for number, line in enumerate(read_lines(path), start=1):
            fields = line.strip().split("\t")
            if len(fields) < _LEAST_COLUMNS:
                expected = "a word, two others and its definition are expected"
                raise wrong_field_count(path, number, fields, expected)
            rows.append((number, fields[0].rsplit("%", 1)[0].strip(), as_text(fields[3])))
        return pl.DataFrame(rows, schema=[PLACE, "word", "definition"], orient="row")


def as_text(tokens: str) -> str:
    """Return a definition in separate TOKENS as text: marks are joined to the words that they
    belong to.
    """
    for separated, joined in _ATTACHED.items():
        tokens = tokens.replace(separated, joined)
    tokens = _QUOTED.sub(lambda match: match.group(1).capitalize(), tokens)
    return _SINGLE.sub(r"’\1’", tokens).strip()
