"""The rows of mteb's own tasks: in `mteb/NAME` of the data folder, otherwise where mteb fetches
them from, at its revision.

`mteb/NAME` has the rows of each split in a file, or is a copy of the task's repository on the hub
with its README.md, which mteb reads itself: retrieval and reranking need that, whose documents,
queries and relevant pairs are tables of their own.
"""

import logging
import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache, partialmethod
from itertools import compress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from tqdm.std import tqdm

from embedlab.core.errors import (
    EmbedlabError,
    Hint,
    MissingError,
    NamedOption,
    UsageError,
    in_one_line,
)
from embedlab.core.nearest import unknown_name_error
from embedlab.core.network import is_reachable
from embedlab.core.paths import TINY_FOLDER, file_hash, files_below
from embedlab.data.dataset import DatasetState, Part
from embedlab.data.hub import copy_hashes
from embedlab.data.source import Source

PREFIX = "mteb:"
_NAME = re.compile(
    r"mteb:(?P<task>[^\[\]:]+)(?:\[(?P<subsets>[^\[\]]+)\])?(?::(?P<splits>[^\[\]:]+))?"
)
_IDS = ("relevant_docs", "top_ranked")  # what mteb says of a search by ids
_READERS = {".parquet": pl.read_parquet, ".jsonl": pl.read_ndjson, ".csv": pl.read_csv}


@dataclass(frozen=True, kw_only=True)
class TaskName:
    """A typed `mteb:NAME`, `mteb:NAME[subset,…]` or `mteb:NAME:split`."""

    task: str
    subsets: tuple[str, ...] = ()  # none: all
    splits: tuple[str, ...] = ()  # none: those that the task evaluates

    @classmethod
    def of(cls, text: str) -> Self:
        """Return what TEXT names."""
        match = _NAME.fullmatch(text)
        if match is None:
            raise UsageError(
                f"{text!r} is not a task of mteb",
                hint="for example mteb:STS16 or mteb:STS17[en-en]",
            )
        lists = {
            name: tuple(match[name].split(",")) for name in ("subsets", "splits") if match[name]
        }
        return cls(task=match["task"], **lists)

    def __str__(self) -> str:
        subsets = f"[{','.join(self.subsets)}]" if self.subsets else ""
        return f"{PREFIX}{self.task}{subsets}" + (
            f":{','.join(self.splits)}" if self.splits else ""
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class OpenedTask:
    """A task of mteb with its rows loaded."""

    name: str  # as typed
    task: Any  # of mteb.AbsTask
    # by subset and split; sentences as `sentence`, or `sentence1` and `sentence2`, where they are
    parts: Mapping[tuple[str, str], Part]
    # of those parts of which some rows are left out, the numbers of the others
    numbers: Mapping[tuple[str, str], NDArray[np.intp]] = field(default_factory=dict)
    refused: int = 0  # texts that are left out, with all that depends on them

    @property
    def states(self) -> tuple[DatasetState, ...]:
        """Return the state of each subset and split."""
        return tuple(part.state for part in self.parts.values())

    def rows(self, key: tuple[str, str]) -> NDArray[np.intp]:
        """Return the numbers of the rows that are there among those of a subset and split."""
        return self.numbers.get(key, np.arange(self.parts[key].state.rows))

    @property
    def notes(self) -> tuple[str, ...]:
        """Return notes on the rows and texts that are left out."""
        states = {key: self.parts[key].state for key in self.numbers}
        if self.refused and not states:
            texts = f"{self.refused} text{'s' * (self.refused > 1)}"
            return (f"{self.name}: {texts} left out, without a vector",)
        return tuple(
            f"{state.name}: {state.rows - len(self.numbers[key])} of {state.rows} rows left out, "
            f"without a vector"
            for key, state in states.items()
        )

    def without(self, refused: Set[str]) -> "OpenedTask":
        """Return the task without the rows, and the elements of lists, that hold one of the REFUSED
        texts; a query is removed with a document that is relevant to it.
        """

        def kept(rows: Any) -> Any:
            if hasattr(rows, "select"):
                readable = [row for row in rows if not _has_refused_text(row, refused)]
                return type(rows).from_list([_without_refused(row, refused) for row in readable])
            shortened = {key: value if key in _IDS else kept(value) for key, value in rows.items()}
            return _answerable_queries(rows, shortened) if _IDS[0] in shortened else shortened

        task, shortened, numbers = copy(self.task), dict(self.parts), dict(self.numbers)
        task.dataset = kept(task.dataset)
        for key, part in self.parts.items():
            if not part.frame.width:
                continue
            is_readable = ~pl.any_horizontal(pl.col(pl.String).is_in([*refused]))
            is_kept = part.frame.select(is_readable).to_series()
            if not is_kept.all():
                numbers[key] = self.rows(key)[is_kept.to_numpy()]
                shortened[key] = replace(part, frame=part.frame.filter(is_kept))
        return replace(self, task=task, parts=shortened, numbers=numbers, refused=len(refused))

    @property
    def main_score(self) -> str:
        """Return the name of mteb's main score, as embedlab calls it."""
        return str(self.task.metadata.main_score).removeprefix("cosine_")


def _has_refused_text(row: Mapping[str, Any], refused: Set[str]) -> bool:
    """Return whether a text of a ROW, or its title and text as they are encoded, is REFUSED."""
    title_and_text = f"{row.get('title')} {row.get('text')}".strip()
    texts = (*row.values(), title_and_text)
    return any(isinstance(text, str) and text in refused for text in texts)


def _without_refused(row: Mapping[str, Any], refused: Set[str]) -> dict[str, Any]:
    """Return a ROW without the REFUSED texts; lists of equal length belong together."""
    lists = {name: value for name, value in row.items() if isinstance(value, list)}
    kept_by_length = {len(value): np.ones(len(value), np.bool_) for value in lists.values()}
    for value in lists.values():
        is_refused = [isinstance(text, str) and text in refused for text in value]
        kept_by_length[len(value)][is_refused] = False
    readable = {
        name: [*compress(value, kept_by_length[len(value)])] for name, value in lists.items()
    }
    return {**row, **readable}


def _answerable_queries(full_search: Mapping[str, Any], readable: dict[str, Any]) -> dict[str, Any]:
    """Return the READABLE rest of a search, without queries that lost a relevant document."""
    lost_documents = {*full_search["corpus"]["id"]} - {*readable["corpus"]["id"]}
    relevant, ranked = full_search[_IDS[0]], full_search.get(_IDS[1])
    queries, kept_relevant, kept_ranked = [], {}, {}
    for row in readable["queries"]:
        query = row["id"]
        grades = relevant.get(query)
        if grades is None or any(grades.get(key, 0) > 0 for key in lost_documents):
            continue
        queries.append(row)
        kept_relevant[query] = {
            document: grade for document, grade in grades.items() if document not in lost_documents
        }
        if ranked:
            kept_ranked[query] = [key for key in ranked[query] if key not in lost_documents]
    readable[_IDS[0]] = kept_relevant
    if ranked:
        readable[_IDS[1]] = kept_ranked
    return readable | {"queries": type(readable["queries"]).from_list(queries)}


def mteb_package() -> Any:
    """Return mteb, which is imported for its own tasks only."""
    try:
        with silence_mteb():
            import mteb
    except ImportError as error:
        raise MissingError("mteb is not installed", hint="pip install 'embedlab[mteb]'") from error
    return mteb


@contextmanager
def _set_meanwhile(*settings: tuple[Any, str, object]) -> Iterator[None]:
    """Set attributes, each an owner, a name and a value, until the block ends."""
    old_values = [getattr(owner, name) for owner, name, _ in settings]
    for owner, name, value in settings:
        setattr(owner, name, value)
    try:
        yield
    finally:
        for (owner, name, _), value in zip(settings, old_values, strict=True):
            setattr(owner, name, value)


@contextmanager
def silence_mteb() -> Iterator[None]:
    """Silence the warnings and the progress bars of mteb until the block ends."""
    # some of its evaluators take no option for their bars
    without_bar = partialmethod(tqdm.__init__, disable=True)
    logger = logging.getLogger("mteb")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        with _set_meanwhile((tqdm, "__init__", without_bar)), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def benchmark_tasks(name: str) -> list[str]:
    """Return the tasks of the benchmark NAME as they are typed; those of an aggregate are listed
    one by one.
    """
    mteb = mteb_package()
    with silence_mteb():
        benchmarks = {benchmark.name: benchmark for benchmark in mteb.get_benchmarks()}
    if name not in benchmarks:
        raise unknown_name_error("benchmark of mteb", name, list(benchmarks))
    tasks = [
        member_task
        for task in benchmarks[name].tasks
        for member_task in (task.tasks if task.is_aggregate else [task])
    ]
    return list(
        dict.fromkeys(str(_task_name(task)) for task in tasks if task.modalities == ["text"])
    )


def _task_name(task: Any) -> TaskName:
    metadata, subsets, splits = task.metadata, tuple(task.hf_subsets), tuple(task.eval_splits)
    return TaskName(
        task=metadata.name,
        subsets=() if subsets == tuple(metadata.hf_subsets) else subsets,
        splits=() if splits == tuple(metadata.eval_splits) else splits,
    )


def open_task(name: str, source: Source) -> OpenedTask:
    """Return the task called NAME with its rows; where they cannot be read, a MissingError.

    It stays in memory until a file of its folder changes.
    """
    folder = source.folder / "mteb" / TaskName.of(name).task if source.folder else None
    files = files_below(folder) if folder is not None else ()
    stamps = sorted((path, path.stat().st_size, path.stat().st_mtime_ns) for path in files)
    return _open_task(name, source, tuple(stamps))


@lru_cache(maxsize=256)
def _open_task(name: str, source: Source, _stamps: object) -> OpenedTask:
    task_name, mteb = TaskName.of(name), mteb_package()
    if source.folder == TINY_FOLDER:
        raise MissingError(
            f"{name}: the generated corpora have no rows of mteb's tasks",
            hint=Hint("give another folder than ", NamedOption("--data", "tiny")),
        )
    try:
        with silence_mteb():
            task = mteb.get_task(
                task_name.task,
                hf_subsets=list(task_name.subsets) or None,
                eval_splits=list(task_name.splits) or None,
            )
    except KeyError as error:
        from mteb.get_tasks import TASK_LIST

        task_names = [task_class.metadata.name for task_class in TASK_LIST]
        raise unknown_name_error(
            "task of mteb", task_name.task, task_names, listing="`mteb available-tasks` lists all"
        ) from error
    except ValueError as error:
        raise UsageError(f"{name}: {error}", hint="name subsets that the task has") from error
    _refuse_unsupported(name, task)
    state = _load(name, task, source)
    return OpenedTask(name=name, task=task, parts=_parts(task, state))


def _refuse_unsupported(name: str, task: Any) -> None:
    if task.is_aggregate:
        names = ", ".join(f"{PREFIX}{member_task.metadata.name}" for member_task in task.tasks)
        raise UsageError(
            f"{name} is an aggregate of several tasks", hint=f"name them: {names}"[:300]
        )
    if task.modalities != ["text"]:
        raise UsageError(
            f"{name} is of {', '.join(task.modalities)}, not of text alone",
            hint="`mteb available-tasks` lists all",
        )


def _load(name: str, task: Any, source: Source) -> DatasetState:
    """Load the rows of TASK and return their origin; rows, name and split are those of its
    parts.
    """
    folder = source.folder / "mteb" / task.metadata.name if source.folder is not None else None
    address = task.metadata.dataset
    state = DatasetState(name=name, split="", rows=0, expected_rows=None, origin="hub")
    try:
        with silence_mteb():
            if folder is not None and folder.is_dir():
                return replace(state, origin="folder", sha256=_load_folder(task, folder))
            with _client(
                offline=source.offline or not (Path(address["path"]).exists() or is_reachable())
            ):
                task.load_data()
    except EmbedlabError:
        raise
    except (
        Exception
    ) as error:  # the client of the hub and the tasks' own loaders raise dozens of unrelated types
        reason = in_one_line(error)
        raise MissingError(
            f"{name}: its rows, {address['path']} at {str(address.get('revision'))[:8]}, "
            f"cannot be read: {reason}",
            hint=f"fetch them once with a network, or put a copy of the repository into "
            f"mteb/{task.metadata.name} of the data folder",
        ) from error
    return replace(state, revision=f"{address['path']}@{address.get('revision')}")


def _load_folder(task: Any, folder: Path) -> dict[str, str]:
    """Load the rows of TASK from FOLDER and return the hashes of its files."""
    if (folder / "README.md").is_file():
        task.metadata = task.metadata.model_copy(
            update={"dataset": {**task.metadata.dataset, "path": str(folder.absolute())}}
        )
        with _client(offline=True), _private_cache():
            task.load_data()
        return copy_hashes(folder)
    task.dataset, hashes = _local_rows(task, folder)
    task.dataset_transform()
    task.data_loaded = True
    return hashes


@contextmanager
def _private_cache() -> Iterator[None]:
    """Give the hub's client a cache of its own: in its shared cache it knows a folder only by its
    last name and its card.
    """
    from datasets import config

    with (
        TemporaryDirectory() as folder,
        _set_meanwhile(
            (config, "HF_DATASETS_CACHE", Path(folder)), (config, "IN_MEMORY_MAX_SIZE", math.inf)
        ),
    ):
        yield


@contextmanager
def _client(*, offline: bool) -> Iterator[None]:
    """Let the hub's client use its cache alone where OFFLINE; it tries for minutes otherwise."""
    import datasets
    import huggingface_hub

    modules = (datasets.config, huggingface_hub.constants) if offline else ()
    has_bars = datasets.is_progress_bar_enabled()
    datasets.disable_progress_bars()
    try:
        with _set_meanwhile(*((module, "HF_HUB_OFFLINE", True) for module in modules)):
            yield
    finally:
        if has_bars:
            datasets.enable_progress_bars()


def _local_rows(task: Any, folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the rows in FOLDER, SPLIT.parquet or SUBSET/SPLIT.parquet for a task of several
    subsets, and the files' hashes.
    """
    if not task.metadata.is_multilingual:
        return _local_splits(folder)
    by_subset: dict[str, Any] = {}
    hashes: dict[str, str] = {}
    for subset in task.hf_subsets:
        by_subset[subset], files = _local_splits(folder / subset)
        hashes |= {f"{subset}/{file}": value for file, value in files.items()}
    return by_subset, hashes


def _local_splits(folder: Path) -> tuple[dict[str, Any], dict[str, str]]:
    from datasets import Dataset, DatasetDict

    files = (
        sorted(file for file in folder.glob("*") if file.suffix in _READERS)
        if folder.is_dir()
        else []
    )
    if not files:
        raise MissingError(
            f"no rows in {str(folder)!r}",
            hint="put them there as test.parquet, test.jsonl or test.csv",
        )
    try:
        rows = {
            file.stem: Dataset.from_list(_READERS[file.suffix](file).to_dicts())  # type: ignore[operator]
            for file in files
        }
    except (pl.exceptions.PolarsError, OSError, ValueError) as error:
        raise MissingError(
            f"{str(folder)!r}: {in_one_line(error)}", hint="correct the file"
        ) from error
    return DatasetDict(rows), {file.name: file_hash(file) for file in files}


def _parts(task: Any, origin: DatasetState) -> dict[tuple[str, str], Part]:
    """Return the rows of each subset and split that mteb evaluates."""
    has_several_splits = len(task.eval_splits) > 1
    parts = {}
    for subset in task.hf_subsets:
        for split in task.eval_splits:
            title = "".join(
                (
                    f"{PREFIX}{task.metadata.name}",
                    "" if subset == "default" else f" {subset}",
                    f" {split}" if has_several_splits else "",
                )
            )
            rows = rows_of(task, subset, split)
            if rows is None:
                raise MissingError(
                    f"{title} has no split {split!r}",
                    hint="mteb evaluates it: get the whole dataset",
                )
            frame = _frame(task, rows)
            state = replace(origin, name=title, split=split, rows=len(rows))
            parts[subset, split] = Part(frame=frame, state=state)
    return parts


def rows_of(task: Any, subset: str, split: str) -> Any:
    """Return the rows of a subset and split as mteb has loaded them; None if it has none."""
    return task.dataset.get(subset, task.dataset if subset == "default" else {}).get(split)


def _frame(task: Any, rows: Any) -> pl.DataFrame:
    """Return the sentences of ROWS, and the gold scores of pairs; a task whose columns are unknown
    has no columns.
    """
    pair: Any = getattr(task, "column_names", None)
    single: Any = getattr(task, "input_column_name", None)
    if task.metadata.type == "STS" and _are_columns(pair, rows):
        return pl.DataFrame(
            {
                "sentence1": list(rows[pair[0]]),
                "sentence2": list(rows[pair[1]]),
                "gold": [float(x) for x in rows["score"]],
            }
        )
    if (
        isinstance(single, str)
        and _are_columns([single], rows)
        and len(rows)
        and isinstance(rows[0][single], str)
    ):
        return pl.DataFrame({"sentence": list(rows[single])})
    return pl.DataFrame()


def _are_columns(names: Sequence[object] | None, rows: Any) -> bool:
    return bool(names) and all(
        isinstance(name, str) and name in rows.column_names for name in names or ()
    )
