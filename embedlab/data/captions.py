"""Captions of pictures: five of each picture, one after the other, by people who did not see each other's.

Columns: sentence.
"""

import gzip
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.data.dataset import COLUMNS, Dataset, Expected, FileLayout, ParsedRows, Split

PER_PICTURE = 5


def read_captions(paths: Sequence[Path]) -> ParsedRows:
    """Return the captions of several gzipped files, line n of each of which is of picture n: those of a picture together.

    Files with different numbers of lines are a MissingError.
    """
    columns = [_lines(path) for path in paths]
    if odd := next((path for path, column in zip(paths, columns, strict=True) if len(column) != len(columns[0])), None):
        raise MissingError(f"{odd} and {paths[0]} have different numbers of lines", hint="get the files again")
    captions = [text for picture in zip(*columns, strict=True) for text in picture]
    return ParsedRows(frame=pl.DataFrame({"sentence": captions}, schema=dict(COLUMNS["sentences"])))


def _lines(path: Path) -> list[str]:
    try:
        lines = gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise MissingError(f"{path} is not a gzipped text: {error}", hint="get the file again") from error
    captions = [line.strip() for line in (lines[:-1] if lines[-1] == "" else lines)]
    if "" in captions:
        raise MissingError(f"{path}, line {captions.index('') + 1}: no caption", hint="get the file again")
    return captions


def _split(name: str, pictures: int) -> Split:
    files = tuple(f"multi30k_captions/{name}.{number}.en.gz" for number in range(1, PER_PICTURE + 1))
    return Split(layouts=(FileLayout(files=files, read=read_captions),), expected=Expected(rows=PER_PICTURE * pictures))


DATASETS = (
    Dataset(
        name="captions",
        kind="sentences",
        summary="five English captions of each picture of Flickr30k, in the splits of Multi30K (Elliott et al. 2016)",
        home="https://github.com/multi30k/dataset",
        splits={"train": _split("train", 29_000), "dev": _split("val", 1_014), "test": _split("test_2016", 1_000)},
        unit=PER_PICTURE,
    ),
)
