"""Open a user's own file where a dataset name is expected, as the requested kind of data."""

from collections.abc import Callable

from embedlab.core.errors import MissingError, UsageError
from embedlab.data.dataset import DatasetKind, ParsedRows, Part
from embedlab.data.definitions import WORD_SPLITS, read_definitions
from embedlab.data.file_name import file_path
from embedlab.data.pair_file import open_pair_file
from embedlab.data.query_file import holds_queries, open_query_file
from embedlab.data.sentences import read_whole_lines
from embedlab.data.triplets import read_triplets


def open_own_file(name: str, kind: DatasetKind = "sts", split: str | None = None) -> Part:
    """Return the rows of the file that NAME means: definitions, plain sentences or triplets for that KIND, otherwise pairs.

    Definitions are split by word into SPLIT (default: all); other files have no splits. A path without a file is a MissingError.
    """
    path = file_path(name)
    readers: dict[DatasetKind, Callable[[], ParsedRows]] = {
        "definitions": lambda: read_definitions([path], split=_word_split(split)),
        "sentences": lambda: read_whole_lines([path]),
        "triplets": lambda: read_triplets([path]),
    }
    if kind not in readers:
        return open_pair_file(name)
    if path.is_dir():
        raise MissingError(f"{str(path)!r} is a folder, not a file of rows", hint="give the path of a file in it")
    if not path.is_file():
        raise MissingError(f"no file {str(path)!r}", hint="a dataset is a name from `embedlab data ls` or the path of a file")
    return Part.of_file(path, readers[kind](), name=name, split=_word_split(split) if kind == "definitions" else "all")


def open_evaluated_file(name: str) -> Part:
    """Return the pairs by which models are evaluated on a user's own file: scored ones, or those of queries and relevant texts."""
    return open_query_file(name).part if holds_queries(name) else open_pair_file(name)


def _word_split(split: str | None) -> str:
    if split is not None and split not in WORD_SPLITS:
        raise UsageError(f"definitions have no split {split!r}", hint=f"their splits: {', '.join(WORD_SPLITS)}")
    return split or "all"
