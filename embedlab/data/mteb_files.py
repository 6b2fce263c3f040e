"""What mteb writes: `TASK_predictions.json`, similarities in the order of a dataset's rows, and
`TASK.json`, the figures of a task.

A prediction file names neither rows nor revision of its dataset. A result file, which mteb writes
into its result cache, states the revision, so that both belong into one folder.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, isfinite, nan
from pathlib import Path
from typing import Any, TypeVar

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.foreign_files import refuse_foreign, refuse_other_content
from embedlab.core.schema import quote, read_json

PREDICTIONS = "_predictions.json"
_LARGEST = 3.4e38  # in float32
_META, _WRITTEN = "mteb_model_meta", "is it a file that mteb wrote?"
# ours → mteb's
_SPLITS: Mapping[str, tuple[str, ...]] = {
    "test": ("test",),
    "dev": ("validation", "dev"),
    "train": ("train",),
}
_SUBSETS = ("default", "en", "en-en")
T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class _Result:
    """What a result file holds."""

    task_name: str
    dataset_revision: str
    scores: dict[str, tuple[dict[str, Any], ...]]  # split → the figures of each subset
    mteb_version: str | None = None


@dataclass(frozen=True, kw_only=True)
class MtebFiles:
    """The files of a model, by task; none is read yet."""

    path: Path
    predictions: Mapping[str, Path]
    results: Mapping[str, Path]


@dataclass(frozen=True, kw_only=True)
class Predictions:
    """The similarities of a split, in the order of its rows, and their model."""

    path: Path
    task: str
    model: str
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class StatedFigures:
    """The figures that a result file states for one split, and the revision of its dataset."""

    path: Path
    task: str
    revision: str
    version: str | None  # of mteb
    split: str
    subset: str
    figures: Mapping[str, float]  # by measure, 0–1 or −1–1
    fault: str = ""  # why nothing of the file is read

    @property
    def main(self) -> float:
        """Return mteb's main score."""
        return self.figures["main_score"]

    @property
    def origin(self) -> str:
        """Return the task, subset, split and revision of the figures in words."""
        subset = "" if self.subset == "default" else f" {self.subset}"
        return f"{self.task}{subset} {self.split} at revision {self.revision[:8]}"


def find_mteb_files(path: Path) -> MtebFiles:
    """Return the files in the folder PATH and below it, or the file PATH with those of the same
    task next to it.
    """
    paths = [path]
    if path.is_dir():
        paths = sorted(file for file in path.rglob("*.json") if file.name != "model_meta.json")
    elif path.name.endswith(PREDICTIONS):
        result_file = path.with_name(path.name.removesuffix(PREDICTIONS) + ".json")
        paths += [result_file] * result_file.is_file()
    files: dict[str, dict[str, Path]] = {PREDICTIONS: {}, ".json": {}}
    for ending in (PREDICTIONS, ".json"):
        for file in paths:
            if file.name.endswith(PREDICTIONS) != (ending == PREDICTIONS):
                continue
            task = file.name.removesuffix(ending)
            if (earlier_file := files[ending].setdefault(task, file)) is not file:
                raise UsageError(
                    f"{file} and {earlier_file} are predictions for the same task",
                    hint="give a folder with the files of one model",
                )
    return MtebFiles(path=path, predictions=files[PREDICTIONS], results=files[".json"])


def read_predictions(path: Path, split: str) -> Predictions | None:
    """Return the similarities of SPLIT, a name of ours or "all", in a prediction file; None if it
    lacks that split.

    A file of another layout is a MissingError, a file for another kind of task a UsageError.
    """
    content = _read(dict[str, Any], path)
    if _META not in content:
        raise MissingError(f"{path}: no key {_META!r}", hint=_WRITTEN)
    subsets = {key: value for key, value in content.items() if key != _META}
    predictions = _chosen_split(_chosen_subset(path, subsets), split)
    if predictions is None:
        return None
    values = None
    if isinstance(predictions, dict):
        values = predictions.get("cosine_scores") or predictions.get("similarity_scores")
    if not isinstance(values, list):
        raise UsageError(
            f"{path}: holds predictions of another kind of task, not similarities",
            hint="give predictions of an STS task of mteb",
        )
    for row, value in enumerate(values):
        is_number = isinstance(value, float | int) and not isinstance(value, bool)
        if not (is_number and abs(value) <= _LARGEST):
            raise MissingError(
                f"{path}: row {row} of 'cosine_scores' is {value!r}, not a number",
                hint="predict again",
            )
    meta = content[_META] if isinstance(content[_META], dict) else {}
    revision = str(meta.get("revision"))
    revision_text = f" at {revision[:8]}" if len(revision) == 40 else ""
    return Predictions(
        path=path,
        task=path.name.removesuffix(PREDICTIONS),
        model=f"{meta.get('model_name')}{revision_text}",
        values=tuple(values),
    )


def read_figures(path: Path, split: str = "test") -> StatedFigures | None:
    """Return the figures of SPLIT, a name of ours or "all", in a result file; None if it lacks that
    split.

    A file that mteb would not write is a MissingError.
    """
    result = _read(_Result, path)
    by_split = {
        name: {str(entry.get("hf_subset")): entry for entry in entries}
        for name, entries in result.scores.items()
    }
    split_subsets = _chosen_split(by_split, split)
    if not split_subsets:
        return None
    figures_entry = _chosen_subset(path, split_subsets)
    numbers = {key: value for key, value in figures_entry.items() if isinstance(value, float | int)}
    figures = {key: float(value) for key, value in numbers.items() if abs(value) <= _LARGEST}
    main = figures_entry.get("main_score", "")
    if main is None or (isinstance(main, float) and not isfinite(main)):  # JSON may hold null
        figures["main_score"] = nan
    elif not abs(figures.get("main_score", inf)) <= 1:
        raise MissingError(
            f"{path}: 'main_score' is {quote(main)}, not a number from -1 to 1", hint=_WRITTEN
        )
    return StatedFigures(
        path=path,
        task=result.task_name,
        revision=result.dataset_revision,
        version=result.mteb_version,
        split=next(name for name, subsets in by_split.items() if subsets is split_subsets),
        subset=str(figures_entry.get("hf_subset")),
        figures=figures,
    )


def _chosen_subset(path: Path, subsets: Mapping[str, Any]) -> Any:
    """Return what belongs to the English subset, or the only one."""
    subset = next((name for name in _SUBSETS if name in subsets), None)
    if subset is None and len(subsets) != 1:
        problem = f"several subsets, {', '.join(subsets)}" if subsets else "no subset of a dataset"
        raise UsageError(
            f"{path}: {problem}", hint="embedlab reads the subset default, en or en-en"
        )
    return subsets[subset or next(iter(subsets))]


def _chosen_split(splits: Any, split: str) -> Any:
    if not isinstance(splits, dict):
        return None
    names = _SPLITS.get(split, ("test", *(splits if len(splits) == 1 else ())))
    return next((splits[name] for name in names if name in splits), None)


def _read(kind: type[T], path: Path) -> T:
    refuse_foreign(path)
    refuse_other_content(path)
    return read_json(kind, path.read_bytes(), where=path, schema=0, hint=_WRITTEN)
