"""Probing tasks in SentEval's file format: split TAB label TAB tokens, all three splits in one file.

Columns: sentence, label. SentEval's ten tasks have their published counts; any other folder of such files is a suite under its own
name: `probing_gum` in the data folder is `gum-probing`, and never "SentEval".
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import polars as pl

from embedlab.data.dataset import Dataset, Expected, Layout, Rows, Split
from embedlab.data.text_file import bad_line, read_fields
from embedlab.errors import MissingError
from embedlab.names import unknown

SENTEVAL = "probing"
SPLITS: Mapping[str, str] = {"train": "tr", "dev": "va", "test": "te"}

_HOME = "https://github.com/facebookresearch/SentEval, data/probing"
_FOLDERS = ("SentEval/probing", "probing")
_ROWS = {"train": 100_000, "dev": 10_000, "test": 10_000}
_SUMMARIES = {
    "sentence-length": "length of the sentence in six bins",
    "word-content": "which of 1,000 words the sentence contains",
    "tree-depth": "depth of the syntax tree",
    "top-constituents": "constituents below the root of the syntax tree",
    "bigram-shift": "whether two neighbouring words were swapped",
    "past-present": "tense of the main verb",
    "subj-number": "number of the main clause's subject",
    "obj-number": "number of the main clause's object",
    "odd-man-out": "whether a noun or verb was replaced",
    "coordination-inversion": "whether two coordinate clauses were swapped",
}


def read_probing(paths: Sequence[Path], *, split: str) -> Rows:
    """The sentences of one SPLIT ("train", "dev" or "test") of a probing file."""
    (path,) = paths
    frame = read_fields(path, (0, 1, 2), line_shape="split, label and tokens").rename({"0": "split", "1": "label", "2": "sentence"})
    wrong = frame.filter(~pl.col("split").is_in(list(SPLITS.values())))
    if not wrong.is_empty():
        raise bad_line(path, wrong["line"][0], f"split {wrong['split'][0]!r} is none of {', '.join(SPLITS.values())}")
    rows = frame.filter(pl.col("split") == SPLITS[split]).select(pl.col("sentence").str.strip_chars(), "label")
    if rows.is_empty():
        raise MissingError(f"{path} has no line of the split {SPLITS[split]!r}", hint="get the file again")
    return Rows(frame=rows)


def suite_names(folder: Path | None) -> list[str]:
    """The probing suites: SentEval's, and each folder `probing_<name>` in the data FOLDER as `<name>-probing`."""
    places = sorted(folder.glob("probing_*")) if folder is not None else []
    return [SENTEVAL, *(f"{place.name.removeprefix('probing_')}-probing" for place in places if place.is_dir())]


def suite(name: str, folder: Path | None) -> tuple[Dataset, ...]:
    """The tasks of the probing suite called NAME; of one that is no SentEval, a task for each text file that has the format."""
    if name == SENTEVAL:
        return DATASETS
    if folder is None or name not in suite_names(folder):
        raise unknown("probing suite", name, suite_names(folder), listing="a folder probing_<name> in the data folder is <name>-probing")
    place = f"probing_{name.removesuffix('-probing')}"
    files = [file.name for file in sorted((folder / place).glob("*.txt")) if _has_format(file)]
    return tuple(_dataset(f"{name}/{_task(file)}", _task(file), [f"{place}/{file}"], rows=None, home=place) for file in files)


def _has_format(file: Path) -> bool:
    """Whether the first line has three fields: a licence beside the tasks has not."""
    with file.open("rb") as lines:
        return lines.readline().count(b"\t") >= 2


def _task(file: str) -> str:
    return file.removesuffix(".txt").replace("_", "-")


def _dataset(name: str, task: str, files: Sequence[str], *, rows: Mapping[str, int] | None, home: str) -> Dataset:
    splits = {
        split: Split(
            layouts=tuple(Layout(files=(file,), read=partial(read_probing, split=split)) for file in files),
            expected=Expected(rows=rows[split]) if rows else None,
        )
        for split in SPLITS
    }
    return Dataset(name=name, kind="classification", summary=f"probing: {_SUMMARIES.get(task, task)}", home=home, splits=splits)


DATASETS = tuple(
    _dataset(task, task, [f"{folder}/{task.replace('-', '_')}.txt" for folder in _FOLDERS], rows=_ROWS, home=_HOME) for task in _SUMMARIES
)
