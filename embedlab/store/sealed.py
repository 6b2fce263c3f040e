"""Stored files with their seals: written in one step, verified whenever they are read.

A folder that is written as a whole lists the checksums of its files in `checksums.json`. A file
without a seal was written by an older embedlab; but in a run whose recipe or environment has one,
which are written first, it is damaged.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import xxhash

from embedlab.core.errors import MissingError
from embedlab.core.seal import is_intact, is_sealed, json_values, seal, sealed_json
from embedlab.store.files import ELSEWHERE, atomic_folder, write_atomic

CHECKSUMS = "checksums.json"

_FIRST_OF_RUN = ("recipe.toml", "environment.json")
_unverified: ContextVar[list[Path] | None] = ContextVar(
    "unverified", default=None
)  # collects their paths


def write_sealed(path: Path, content: bytes, *, hint: str = ELSEWHERE) -> None:
    """Replace PATH by CONTENT, in which the mark UNSEALED becomes its checksum, in one step."""
    write_atomic(path, seal(content), hint=hint)


def read_sealed(path: Path, *, hint: str) -> bytes:
    """Read a file that was written with a seal; content that differs from its checksum, or lost it,
    is a MissingError.
    """
    content = path.read_bytes()
    if not is_intact(content):
        raise damaged(path, hint=hint)
    if not is_sealed(content):
        if witness := _sealed_before(path):
            raise MissingError(
                f"{str(path)!r} is damaged: it has no checksum, and {witness.name} of its "
                f"run has one",
                hint=hint,
            )
        if (paths := _unverified.get()) is not None:
            paths.append(path)
    return content


def read_sealed_json(path: Path, *, hint: str) -> Any:
    """Read what `sealed_json` returned, without its checksum; text that is not JSON is a
    ValueError.
    """
    return json_values(read_sealed(path, hint=hint))


def _sealed_before(path: Path) -> Path | None:
    """Return the file with a checksum that was written before PATH into its run; an evaluation is
    one or two folders below.
    """
    near = (folder / name for folder in list(path.parents)[:3] for name in _FIRST_OF_RUN)
    return next(
        (file for file in near if file != path and file.is_file() and is_sealed(file.read_bytes())),
        None,
    )


@contextmanager
def unverified_files() -> Iterator[list[Path]]:
    """Collect the files without a checksum that `read_sealed` reads in the block: an older embedlab
    wrote them.
    """
    paths: list[Path] = []
    token = _unverified.set(paths)
    try:
        yield paths
    finally:
        _unverified.reset(token)


@contextmanager
def sealed_folder(path: Path, *, hint: str = ELSEWHERE) -> Iterator[Path]:
    """Yield an empty folder that replaces PATH, with the checksums of its files, when the block
    ends without an error.
    """
    with atomic_folder(path, hint=hint) as folder:
        yield folder
        write_checksums(folder)


def write_checksums(folder: Path) -> None:
    """List the checksum of every file in FOLDER in its `checksums.json`."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != CHECKSUMS)
    sums = {path.relative_to(folder).as_posix(): _file_digest(path) for path in files}
    (folder / CHECKSUMS).write_text(sealed_json({"xxh3": sums}, indent=1), encoding="utf-8")


def check_folder(folder: Path, *, hint: str) -> None:
    """Raise a MissingError if a file in FOLDER differs from its `checksums.json`; absent files are
    for their readers to report.
    """
    listing = folder / CHECKSUMS
    if not listing.exists():
        return
    try:
        sums: Mapping[str, str] = dict(read_sealed_json(listing, hint=hint)["xxh3"])
    except (ValueError, KeyError, TypeError) as error:
        raise damaged(listing, hint=hint) from error
    for name, expected in sums.items():
        path = folder / name
        if path.is_file() and _file_digest(path) != expected:
            raise damaged(path, hint=hint)


def damaged(path: Path, *, hint: str) -> MissingError:
    """Return the error of a file whose content differs from its checksum."""
    return MissingError(
        f"{str(path)!r} is damaged: its content does not match its checksum", hint=hint
    )


def _file_digest(path: Path) -> str:
    digest, buffer = xxhash.xxh3_128(), memoryview(bytearray(2**20))
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(buffer):
            digest.update(buffer[:size])
    return digest.hexdigest()
