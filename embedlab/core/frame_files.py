"""Read and write files that polars opens by path; a path is never a pattern, whatever brackets and
stars it contains.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any

import polars as pl

from embedlab.core.disk import ELSEWHERE, KEY, UNSEALED, read_sealed, write_sealed
from embedlab.core.paths import file_hash, state_folder
from embedlab.core.python_processes import run_module

NOTHING: Mapping[str, str] = MappingProxyType({})
_SYSTEM_ERROR = re.compile(r"\(os error (\d+)\)")


def write_table(
    path: Path,
    frame: pl.DataFrame,
    facts: Mapping[str, str] = NOTHING,
    *,
    hint: str = ELSEWHERE,
) -> None:
    """Replace the parquet file at PATH in one step; its metadata hold FACTS and its checksum."""
    content = BytesIO()
    frame.write_parquet(content, metadata={**facts, KEY: UNSEALED})
    write_sealed(path, content.getvalue(), hint=hint)


def read_table(path: Path, *, hint: str) -> tuple[pl.DataFrame, Mapping[str, str]]:
    """Return the frame and the facts that `write_table` wrote; damage is an error with this HINT,
    or a ValueError.
    """
    content = read_sealed(path, hint=hint)
    try:
        return pl.read_parquet(BytesIO(content)), pl.read_parquet_metadata(BytesIO(content))
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from error


def read_facts(path: Path, *, hint: str) -> Mapping[str, str]:
    """Return the facts alone; the checksum of the whole file is verified."""
    try:
        return pl.read_parquet_metadata(BytesIO(read_sealed(path, hint=hint)))
    except pl.exceptions.PolarsError as error:
        raise ValueError(str(error)) from error


def read_parquet(path: Path) -> pl.DataFrame:
    """Return the rows of the parquet file at PATH."""
    with system_errors(path):
        return pl.read_parquet(path, glob=False)


def read_foreign_parquet(path: Path) -> pl.DataFrame:
    """Return the rows of a parquet file that another program wrote; one that breaks its reader down
    is a PolarsError.

    Another process reads a file for the first time, which takes a third of a second; a mark in the
    state folder saves that the next time.
    """
    mark = state_folder() / "readable-parquet" / f"{file_hash(path)}-polars-{pl.__version__}"
    if not mark.exists():
        if run_module("embedlab.core.parquet_check", str(path.absolute())) != 0:
            raise pl.exceptions.ComputeError("it is damaged: the reader crashes on it")
        with suppress(OSError):  # it is checked again
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()
    return read_parquet(path)


def read_csv(path: Path, **options: Any) -> pl.DataFrame:
    """Return the rows of the CSV file at PATH; OPTIONS are those of polars."""
    with system_errors(path):
        return pl.read_csv(path, glob=False, **options)


def join_parquet(paths: Sequence[Path], out: Path) -> None:
    """Write the rows of the parquet files at PATHS, in this order, into the file OUT, without
    holding them all.
    """
    with system_errors(out):
        pl.scan_parquet(list(paths), glob=False).sink_parquet(out)


@contextmanager
def system_errors(path: Path) -> Iterator[None]:
    """Raise system errors as OSError with the file's name; polars wraps some in its own errors, and
    omits the name in others.
    """
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        if getattr(error, "errno", None) is None and (order := _SYSTEM_ERROR.search(str(error))):
            raise OSError(int(order[1]), os.strerror(int(order[1])), str(path)) from error
        raise
