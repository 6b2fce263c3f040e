"""Fetches corpora from the hub into a data folder, in the very layout that the readers read."""

from pathlib import Path

from embedlab.core.errors import MissingError
from embedlab.core.paths import file_hash, write_atomic
from embedlab.data.dataset import Dataset, Split
from embedlab.data.fetched import record
from embedlab.data.hub import read_hub
from embedlab.data.manifest import is_partial


def is_here(split: Split, folder: Path) -> bool:
    """Whether the files of one of the split's layouts lie in the folder."""
    return any(all((folder / file).is_file() for file in layout.files) for layout in split.layouts)


def is_fetchable(dataset: Dataset) -> bool:
    """Whether every split of the dataset is on the hub."""
    return all(split.hub is not None for split in dataset.splits.values())


def get_dataset(dataset: Dataset, folder: Path, *, offline: bool = False) -> list[Path]:
    """Fill FOLDER with the splits of a dataset that it lacks, and tell which files were written.

    The rows are checked against the manifest before anything is written; a split that is there already is left alone.
    """
    absent = {name: split for name, split in dataset.splits.items() if not is_here(split, folder)}
    if absent and offline:
        raise MissingError(f"--offline forbids fetching {dataset.name!r} ({next(iter(absent))})", hint="leave --offline away")
    return [path for name, split in absent.items() for path in _get_split(dataset, name, split, folder)]


def _get_split(dataset: Dataset, name: str, split: Split, folder: Path) -> list[Path]:
    writable = ((layout.files, layout.write) for layout in split.layouts if layout.write is not None)
    files, write = next(writable, ((), None))
    if split.hub is None or write is None:
        raise MissingError(f"{dataset.name!r} ({name}) is not on the hub", hint=f"download it by hand from {dataset.home}")
    frame = read_hub(split.hub, dataset.kind).frame
    is_partial(f"{dataset.name!r} ({name}) on the hub", dataset.kind, frame, split.expected, allow_partial=False)
    paths = [folder / file for file in files]
    for path, text in zip(paths, write(frame), strict=True):
        write_atomic(path, text, hint="choose another folder with --data")
    hashes = {file: file_hash(path) for file, path in zip(files, paths, strict=True)}
    record(folder, hashes, f"{split.hub.repository}@{split.hub.revision}")
    return paths
