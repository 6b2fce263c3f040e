"""Open a user's own file where a dataset name is expected, as the requested kind of data."""

from collections.abc import Mapping
from types import MappingProxyType

from embedlab.core.errors import MissingError, UsageError
from embedlab.data.dataset import DatasetKind, Part
from embedlab.data.definitions import WORD_SPLITS
from embedlab.data.file_name import file_path
from embedlab.data.pair_file import open_pair_file
from embedlab.data.query_file import holds_queries, open_query_file
from embedlab.data.shipped import shipped

# The corpus whose files a user's own file of a kind is like, with the split that is read where it
# has none.
_LIKE: Mapping[DatasetKind, tuple[str, str]] = MappingProxyType(
    {
        "definitions": ("definitions", "all"),
        "sentences": ("wiki-1m", "train"),
        "triplets": ("nli-triplets", "train"),
    }
)


def open_own_file(name: str, kind: DatasetKind = "sts", split: str | None = None) -> Part:
    """Return the rows of the file that NAME means: definitions, plain sentences or triplets for
    that KIND, otherwise pairs.

    Definitions are split by word into SPLIT (default: all); other files have no splits. A path
    without a file is a MissingError.
    """
    path = file_path(name)
    if kind not in _LIKE:
        return open_pair_file(name)
    if path.is_dir():
        raise MissingError(
            f"{str(path)!r} is a folder, not a file of rows", hint="give the path of a file in it"
        )
    if not path.is_file():
        raise MissingError(
            f"no file {str(path)!r}",
            hint="a dataset is a name from `embedlab data ls` or the path of a file",
        )
    corpus, its_split = _LIKE[kind]
    if kind == "definitions":
        its_split = _word_split(split)
    rows = shipped(corpus).splits[its_split].layouts[0].read([path])
    return Part.of_file(path, rows, name=name, split=its_split if kind == "definitions" else "all")


def open_evaluated_file(name: str) -> Part:
    """Return the pairs by which models are evaluated on a user's own file: scored ones, or those of
    queries and relevant texts.
    """
    return open_query_file(name).part if holds_queries(name) else open_pair_file(name)


def _word_split(split: str | None) -> str:
    if split is not None and split not in WORD_SPLITS:
        raise UsageError(
            f"definitions have no split {split!r}", hint=f"their splits: {', '.join(WORD_SPLITS)}"
        )
    return split or "all"
