"""Probing tasks in SentEval's file format: split TAB label TAB tokens, all three splits in one file.

Columns: sentence, label. SentEval's ten tasks have their published counts; any other folder of such files is a suite with its own
name: `probing_gum` in the data folder is `gum-probing`, never "SentEval"; the folder of `probing:DIR` may be anywhere.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path

import polars as pl

from embedlab.core.errors import MissingError
from embedlab.core.nearest import unknown
from embedlab.data.dataset import Dataset, Expected, FileLayout, ParsedRows, Split
from embedlab.data.text_file import bad_line, read_fields

SENTEVAL = "probing"
FOLDER_PREFIX = "probing:"  # before the path of a user's own folder
PROBING_SPLITS: Mapping[str, str] = {"train": "tr", "dev": "va", "test": "te"}

_HOME = "https://github.com/facebookresearch/SentEval, data/probing"
_FOLDERS = ("SentEval/probing", "probing")
_ROWS = {"train": 100_000, "dev": 10_000, "test": 10_000}
# The substitute derived from the GUM treebank: rows of train, dev and test.
_GUM = "probing_gum"
_GUM_ROWS = {
    "bigram-shift": (7_620, 829, 945),
    "coordination-inversion": (385, 69, 63),
    "obj-number": (1_098, 158, 142),
    "odd-man-out": (6_976, 772, 893),
    "past-present": (3_656, 334, 514),
    "sentence-length": (7_620, 829, 945),
    "subj-number": (1_278, 172, 226),
    "top-constituents": (7_620, 829, 945),
    "tree-depth": (6_899, 749, 853),
    "word-content": (1_928, 228, 234),
}
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


def read_probing(paths: Sequence[Path], *, split: str) -> ParsedRows:
    """Return the sentences of one SPLIT ("train", "dev" or "test") of a probing file; a file without it is a MissingError."""
    (path,) = paths
    status = path.stat()
    rows = _read_file(path, status.st_size, status.st_mtime_ns).filter(pl.col("split") == PROBING_SPLITS[split]).select("sentence", "label")
    if rows.is_empty():
        raise MissingError(f"{path} has no line of the split {PROBING_SPLITS[split]!r}", hint="get the file again")
    return ParsedRows(frame=rows)


@lru_cache(maxsize=1)  # the three splits of a file are opened one after the other
def _read_file(path: Path, size: int, modified_ns: int) -> pl.DataFrame:
    """Return all lines of a file of that size, last modified at that time: split, label, sentence."""
    frame = read_fields(path, (0, 1, 2), line_shape="split, label and tokens", fields=(3,)).rename(
        {"0": "split", "1": "label", "2": "sentence"}
    )
    wrong = frame.filter(~pl.col("split").is_in(list(PROBING_SPLITS.values())))
    if not wrong.is_empty():
        raise bad_line(path, wrong["line"][0], f"split {wrong['split'][0]!r} is none of {', '.join(PROBING_SPLITS.values())}")
    return frame.select("split", "label", pl.col("sentence").str.strip_chars())


def suite_names(folder: Path | None) -> list[str]:
    """Return the names of the probing suites: SentEval's, and `<name>-probing` for each folder `probing_<name>` in the data FOLDER."""
    places = sorted(folder.glob("probing_*")) if folder is not None else []
    return [SENTEVAL, *(_own_name(path) for path in places if path.is_dir())]


def set_of(name: str) -> str | None:
    """Return the suite, other than SentEval's, that a NAME is or belongs to: `gum-probing` for `gum-probing/tree-depth`; otherwise None."""
    first = name.partition("/")[0]
    return name if name.startswith(FOLDER_PREFIX) else first if first.endswith("-probing") else None


def suite_title(name: str) -> str:
    """Return the title of the suite called NAME; for `probing:DIR` it is the folder's name."""
    return _own_name(Path(name.removeprefix(FOLDER_PREFIX)).expanduser().resolve()) if name.startswith(FOLDER_PREFIX) else name


def suite_folder(name: str, folder: Path | None) -> Path | None:
    """Return the folder of a suite's files: a user's own, or the data FOLDER."""
    return Path(name.removeprefix(FOLDER_PREFIX)).expanduser().resolve().parent if name.startswith(FOLDER_PREFIX) else folder


def suite(name: str, folder: Path | None) -> tuple[Dataset, ...]:
    """Return the tasks of the probing suite called NAME; without SentEval's names, one for each text file in the format.

    A folder without such a file is a MissingError.
    """
    if name == SENTEVAL:
        return DATASETS
    path = _place(name, folder)
    files = sorted({file.name for file in path.glob("*.txt") if _has_format(file)} | set(_expected_files(path)))
    if not files:
        raise MissingError(f"no file in {str(path)!r} has the format split TAB label TAB tokens", hint="a task is a file <task>.txt")
    suite_name = _own_name(path)
    return tuple(
        _dataset(f"{suite_name}/{_task(file)}", _task(file), [f"{path.name}/{file}"], rows=_gum_rows(path, _task(file)), home=path.name)
        for file in files
    )


def _expected_files(path: Path) -> Sequence[str]:
    """Return the files that a suite of known size must have."""
    return [f"{task.replace('-', '_')}.txt" for task in _GUM_ROWS] if path.name == _GUM else []


def _gum_rows(path: Path, task: str) -> Mapping[str, int] | None:
    """Return the size of a task's splits if it belongs to the GUM substitute."""
    return dict(zip(PROBING_SPLITS, _GUM_ROWS[task], strict=True)) if path.name == _GUM and task in _GUM_ROWS else None


def _place(name: str, folder: Path | None) -> Path:
    if name.startswith(FOLDER_PREFIX):
        model = Path(name.removeprefix(FOLDER_PREFIX)).expanduser().resolve()
        if not model.is_dir():
            raise MissingError(f"no folder {str(model)!r}", hint="probing:DIR is a folder of files in SentEval's probing format")
        return model
    if folder is None or name not in suite_names(folder):
        raise unknown("probing suite", name, suite_names(folder), listing="a folder probing_<name> in the data folder is <name>-probing")
    return folder / f"probing_{name.removesuffix('-probing')}"


def _own_name(path: Path) -> str:
    return f"{path.name.removeprefix('probing_')}-probing"


def _has_format(file: Path) -> bool:
    """Return whether the first line has three fields, unlike a licence file next to the tasks."""
    with file.open("rb") as lines:
        return lines.readline().count(b"\t") >= 2


def _task(file: str) -> str:
    return file.removesuffix(".txt").replace("_", "-")


def _dataset(name: str, task: str, files: Sequence[str], *, rows: Mapping[str, int] | None, home: str) -> Dataset:
    splits = {
        split: Split(
            layouts=tuple(FileLayout(files=(file,), read=partial(read_probing, split=split)) for file in files),
            expected=Expected(rows=rows[split]) if rows else None,
        )
        for split in PROBING_SPLITS
    }
    return Dataset(name=name, kind="classification", summary=f"probing: {_SUMMARIES.get(task, task)}", home=home, splits=splits)


DATASETS = tuple(
    _dataset(task, task, [f"{folder}/{task.replace('-', '_')}.txt" for folder in _FOLDERS], rows=_ROWS, home=_HOME) for task in _SUMMARIES
)
