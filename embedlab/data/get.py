"""Fetch corpora from the hub into a data folder, in the layout that the readers expect."""

from pathlib import Path

from embedlab.core.disk import write_atomic
from embedlab.core.errors import MissingError
from embedlab.core.network import OFFLINE, ONLINE
from embedlab.core.paths import file_hash
from embedlab.data.dataset import Dataset, Split
from embedlab.data.hub import read_hub
from embedlab.data.manifest import is_partial, record


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
    absent = {
        name: split for name, split in dataset.splits.items() if not is_in_folder(split, folder)
    }
    if absent and offline:
        raise MissingError(
            f"{dataset.name!r} ({next(iter(absent))}) is not downloaded: {OFFLINE}", hint=ONLINE
        )
    return [
        path for name, split in absent.items() for path in _get_split(dataset, name, split, folder)
    ]


def _get_split(dataset: Dataset, name: str, split: Split, folder: Path) -> list[Path]:
    writable = (
        (layout.files, layout.write) for layout in split.layouts if layout.write is not None
    )
    files, write = next(writable, ((), None))
    if split.hub is None or write is None:
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
    paths = [folder / file for file in files]
    for path, text in zip(paths, write(frame), strict=True):
        write_atomic(path, text, hint="choose another folder with --data")
    hashes = {file: file_hash(path) for file, path in zip(files, paths, strict=True)}
    record(folder, hashes, f"{split.hub.repository}@{split.hub.revision}")
    return paths
