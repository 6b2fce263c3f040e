"""The identity of a recipe's data in a few hex digits, without parsing it: cells are computed again
when it changes.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from embedlab.core.errors import MissingError
from embedlab.core.paths import TINY_FOLDER, file_hash
from embedlab.data.dataset import FileLayout
from embedlab.data.file_name import file_path, is_hub_name, is_pair_file
from embedlab.data.source import Source, dataset


@dataclass(frozen=True, kw_only=True)
class PartState:
    """The identity of one split, and an estimate of its number of rows."""

    digest: str
    rows: int  # an estimate where the files were not parsed; 0 = not known


@cache
def part_state(source: Source, name: str, split: str) -> PartState:
    """Return the state of a dataset's split as SOURCE would open it; missing data is refused as
    opening it would.
    """
    if is_hub_name(name):
        state = source.open(name).state
        return PartState(
            digest=state.revision or _digest(" ".join(state.sha256.values())), rows=state.rows
        )
    if is_pair_file(name):
        return _files([file_path(name)])
    if source.folder == TINY_FOLDER:
        frame = source.open(name, split).frame
        return PartState(digest=_digest(frame.write_ndjson()), rows=len(frame))
    chosen = dataset(name)
    declared = chosen.splits.get(split)
    folder = source.folder_of(chosen)
    if (
        declared is not None
        and folder is not None
        and (layout := _layout(folder, declared.layouts)) is not None
    ):
        return _files([folder / file for file in layout.files])
    if declared is None or declared.hub is None or source.offline:
        source.open(name, split)  # raises the error for what is missing
        raise AssertionError(f"{name!r} opened without files or hub")
    return PartState(
        digest=f"{declared.hub.repository}@{declared.hub.revision}",
        rows=declared.expected.rows if declared.expected else 0,
    )


@cache
def file_state(file: str) -> PartState:
    """Return the state of a user's own file of rows; a missing one is refused."""
    if not Path(file).is_file():
        raise MissingError(
            f"no file {file!r}", hint="data.files takes the paths of files with rows"
        )
    return _files([Path(file)])


def _layout(folder: Path, layouts: Sequence[FileLayout]) -> FileLayout | None:
    return next(
        (layout for layout in layouts if all((folder / file).is_file() for file in layout.files)),
        None,
    )


def _files(paths: Sequence[Path]) -> PartState:
    return PartState(
        digest=_digest(" ".join(file_hash(path) for path in paths)),
        rows=sum(_lines(path) for path in paths),
    )


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
