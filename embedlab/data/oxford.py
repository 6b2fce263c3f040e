"""Oxford definitions in the two layouts of DefSent's authors (hppRC/defsent): the files that they download, and those they make of them.

Made: `oxford/train.tsv`, `valid.tsv` and `test.tsv`, a word and its definition on each line, parted by word with a draw that is not
stored. Downloaded (Ishiwatari et al. 2019): `oxford/train.txt`, `valid.txt` and `test.txt`, whose first column is the word with its
number behind "%", whose fourth is the definition in separate tokens; all three are joined, joined to text as their script does, and
parted here by a hash of the word. Columns: word, definition.

No real copy was at hand when this was written: the layouts are those of the authors' scripts, read in generated rows.
"""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import polars as pl

from embedlab.data.dataset import Dataset, FileLayout, ParsedRows, Split
from embedlab.data.definitions import WORD_SPLITS, of_split, read_definitions
from embedlab.data.text_file import bad_line, read_lines

_LEAST_COLUMNS = 4
_ATTACHED = {" .": ".", " ,": ",", " ;": ";", "( ": "(", " )": ")", " '": "'"}  # in this order
_QUOTED = re.compile(r"`` (.*?)''")  # loses its marks and begins with a capital
_SINGLE = re.compile(r"‘\s*(.*?)\s*’")


def read_tokenised(paths: Sequence[Path], *, split: str) -> ParsedRows:
    """Return the definitions of the downloaded files, joined to text, whose word is in SPLIT; rows are in order of the files."""
    rows = []
    for path in paths:
        for number, line in enumerate(read_lines(path), start=1):
            columns = line.strip().split("\t")
            if len(columns) < _LEAST_COLUMNS:
                raise bad_line(path, number, f"{len(columns)} columns, where a word, two others and its definition are expected")
            word, definition = columns[0].rsplit("%", 1)[0].strip(), as_text(columns[3])
            if not word or not definition:
                raise bad_line(path, number, "an empty word or definition")
            rows.append((word, definition))
    return ParsedRows(frame=of_split(pl.DataFrame(rows, schema=["word", "definition"], orient="row"), split))


def as_text(tokens: str) -> str:
    """Return a definition in separate TOKENS as text: marks are joined to the words that they belong to."""
    for apart, joined in _ATTACHED.items():
        tokens = tokens.replace(apart, joined)
    tokens = _QUOTED.sub(lambda match: match.group(1).capitalize(), tokens)
    return _SINGLE.sub(r"’\1’", tokens).strip()


_FILES = {"train": "train", "dev": "valid", "test": "test"}  # our splits and their names


def _layouts(split: str) -> tuple[FileLayout, ...]:
    """Return where a split is: in the file that the authors made of it, or in all that they downloaded."""
    tokenised = FileLayout(files=tuple(f"oxford/{name}.txt" for name in _FILES.values()), read=partial(read_tokenised, split=split))
    if split == "all":
        return (tokenised,)
    return (FileLayout(files=(f"oxford/{_FILES[split]}.tsv",), read=partial(read_definitions, split="all")), tokenised)


DATASETS = (
    Dataset(
        name="oxford-definitions",
        kind="definitions",
        summary="words and their Oxford definitions, in the files of DefSent's authors",
        home="https://github.com/hppRC/defsent",
        splits={split: Split(layouts=_layouts(split), expected=None) for split in WORD_SPLITS},
    ),
)
