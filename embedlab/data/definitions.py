"""Dictionary definitions: any file with a word, a tab and its definition on each line.

Columns: word, definition. A word stands once for each of its definitions.
"""

from collections.abc import Sequence
from pathlib import Path

from embedlab.data.dataset import Dataset, Expected, Layout, Rows, Split
from embedlab.data.text_file import read_fields


def read_definitions(paths: Sequence[Path]) -> Rows:
    """The definitions of one file, in its order."""
    (path,) = paths
    return Rows(frame=read_fields(path, (0, 1), line_shape="a word and its definition").select(word="0", definition="1"))


DATASETS = (
    Dataset(
        name="definitions",
        kind="definitions",
        summary="words and their definitions in the Open English WordNet",
        home="https://en-word.net",
        splits={"train": Split(layouts=(Layout(files=("OEWN/definitions.tsv",), read=read_definitions),), expected=Expected(rows=185_152))},
    ),
)
