"""Fetch corpora from the hub into a data folder, and judge its files: whether their rows are the
whole corpus, by counts and class balance, and from which hub revision `data get` wrote them, which
identifies their content.
"""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from embedlab.core.disk import as_disk_errors, sole_writer, write_atomic
from embedlab.core.errors import Hint, MissingError, NamedOption, PartialDataError
from embedlab.core.network import OFFLINE, ONLINE
from embedlab.core.paths import file_hash
from embedlab.core.printable import count_text
from embedlab.data.dataset import (
    CLASS_COLUMN,
    COLUMNS,
    LABELS,
    Dataset,
    DatasetKind,
    Expected,
    Split,
)
from embedlab.data.hub import read_hub


def class_counts(kind: DatasetKind, frame: pl.DataFrame) -> dict[str, int] | None:
    """Return the rows per class (per source for STS), or None if the kind has no classes or they
    are unknown.
    """
    column = CLASS_COLUMN.get(kind)
    if column is None or frame[column].null_count():
        return None
    return {str(name): rows for name, rows in frame[column].value_counts().sort(column).iter_rows()}


def empty_rows(kind: DatasetKind, frame: pl.DataFrame) -> pl.DataFrame:
    """Return the numbers, from 1, of the rows of FRAME in which a sentence is empty or blank: one
    column, `row`.
    """
    texts = [
        name
        for name, dtype in COLUMNS[kind].items()
        if dtype == pl.String and name not in LABELS and name in frame.columns
    ]
    is_empty = pl.any_horizontal(
        pl.lit(False), *(pl.col(name).str.strip_chars() == "" for name in texts)
    )
    return frame.with_row_index("row", offset=1).filter(is_empty).select("row")


def corpus_differences(kind: DatasetKind, frame: pl.DataFrame, expected: Expected) -> list[str]:
    """Return how FRAME differs from the whole corpus, with the expected and the found counts; empty
    if it does not.
    """
    counts, differences = class_counts(kind, frame), []
    if len(frame) != expected.rows:
        differences.append(f"{len(frame):,} rows instead of {expected.rows:,}")
    if expected.classes and counts is not None and counts != expected.classes:
        differences.append(f"classes {_listed(counts)} instead of {_listed(expected.classes)}")
    empty = empty_rows(kind, frame)["row"]
    if expected.empty is not None and len(empty) > expected.empty:
        differences.append(
            f"{count_text(len(empty), 'rows')} with an empty sentence instead of {expected.empty}, the "
            f"first of them row {empty[0]:,}"
        )
    return differences


def is_partial(
    label: str,
    kind: DatasetKind,
    frame: pl.DataFrame,
    expected: Expected | None,
    *,
    allow_partial: bool,
) -> bool:
    """Return whether FRAME differs from the whole corpus; a difference is an error unless it is
    allowed.
    """
    differences = corpus_differences(kind, frame, expected) if expected else []
    if differences and not allow_partial:
        raise PartialDataError(
            f"{label} is not the published corpus: it has {', '.join(differences)}",
            hint=Hint(
                "get the whole corpus, or use these rows with ",
                NamedOption("--allow-partial"),
                ": every number made from it is marked partial",
            ),
        )
    return bool(differences)


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {rows:,}" for name, rows in sorted(counts.items()))


DATA_HINT = "choose another folder with --data"
RECORD = "embedlab-get.tsv"  # file, sha256 and repository@revision on each line


def record_revision(folder: Path, sha256: Mapping[str, str], revision: str) -> None:
    """Record in FOLDER that the files with these hashes come from a REVISION on the hub."""
    path = folder / RECORD
    with as_disk_errors(path, hint=DATA_HINT), sole_writer(path):  # several processes may fetch
        lines_by_file = {line.partition("\t")[0]: line for line in _lines(folder)}
        lines_by_file |= {file: f"{file}\t{digest}\t{revision}" for file, digest in sha256.items()}
        text = "".join(f"{lines_by_file[file]}\n" for file in sorted(lines_by_file))
        write_atomic(path, text, hint=DATA_HINT)


def revision_of(folder: Path, sha256: Mapping[str, str]) -> str | None:
    """Return the revision that all files with these hashes come from; None if one has changed
    since, or came from elsewhere.
    """
    rows = [line.split("\t") for line in _lines(folder)]
    revision_by_file = {(row[0], row[1]): row[2] for row in rows if len(row) == 3}
    revisions = {revision_by_file.get(item) for item in sha256.items()}
    return revisions.pop() if len(revisions) == 1 else None


def _lines(folder: Path) -> list[str]:
    try:
        return (folder / RECORD).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # nothing was fetched into this folder
        return []


def is_in_folder(split: Split, folder: Path) -> bool:
    """Return whether the folder contains the files of one of the split's layouts."""
    return any(all((folder / file).is_file() for file in layout.files) for layout in split.layouts)


def is_fetchable(dataset: Dataset) -> bool:
    """Return whether every split of the dataset is on the hub."""
    return all(split.hub is not None for split in dataset.splits.values())


def get_dataset(dataset: Dataset, folder: Path, *, offline: bool = False) -> list[Path]:
    """Write the missing splits of a dataset to FOLDER, and return the written files.

    The rows are checked against the manifest before anything is written; existing splits stay
    unchanged. Without a network a missing split is a MissingError.
    """
    absent = [name for name, split in dataset.splits.items() if not is_in_folder(split, folder)]
    if absent and offline:
        raise MissingError(
            f"{dataset.name!r} ({absent[0]}) is not downloaded: {OFFLINE}", hint=ONLINE
        )
    return [path for name in absent for path in _get_split(dataset, name, folder)]


def _get_split(dataset: Dataset, name: str, folder: Path) -> list[Path]:
    split = dataset.splits[name]
    layout = next((layout for layout in split.layouts if layout.write is not None), None)
    if split.hub is None or layout is None or layout.write is None:
        raise MissingError(
            f"{dataset.name!r} ({name}) is not on the hub",
            hint=f"download it by hand from {dataset.home}",
        )
    frame = read_hub(split.hub, dataset.kind).frame
    is_partial(
        f"{dataset.name!r} ({name}) on the hub",
        dataset.kind,
        frame,
        split.expected,
        allow_partial=False,
    )
    for file, text in zip(layout.files, layout.write(frame), strict=True):
        write_atomic(folder / file, text, hint=DATA_HINT)
    hashes = {file: file_hash(folder / file) for file in layout.files}
    record_revision(folder, hashes, f"{split.hub.repository}@{split.hub.revision}")
    return [folder / file for file in layout.files]
