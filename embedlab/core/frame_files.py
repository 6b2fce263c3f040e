"""Read and write files of frames and of arrays: parquet and CSV by polars, where a path is never a
pattern, and .npy files.
"""

import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.lib import format as npy
from numpy.typing import NDArray

from embedlab.core.disk import ELSEWHERE, KEY, UNSEALED, read_sealed, write_sealed
from embedlab.core.foreign_files import refuse_foreign
from embedlab.core.paths import file_hash, state_folder
from embedlab.core.python_processes import output_of_module

NOTHING: Mapping[str, str] = {}
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
    """Return the rows of a parquet file that another program wrote; a file that crashes its reader
    is a PolarsError.

    Another process reads a file the first time, which takes a third of a second; a mark in the
    state folder saves that the next time.
    """
    readable_marker = (
        state_folder() / "readable-parquet" / f"{file_hash(path)}-polars-{pl.__version__}"
    )
    if not readable_marker.exists():
        code, _ = output_of_module("embedlab.core.frame_files", str(path.absolute()))
        if code != 0:
            raise pl.exceptions.ComputeError("it is damaged: the reader crashes on it")
        with suppress(OSError):  # it is checked again
            readable_marker.parent.mkdir(parents=True, exist_ok=True)
            readable_marker.touch()
    return read_parquet(path)


def read_csv(path: Path, **options: Any) -> pl.DataFrame:
    """Return the rows of the CSV file at PATH; OPTIONS are those of polars."""
    with system_errors(path):
        return pl.read_csv(path, glob=False, **options)


def join_parquet(paths: Sequence[Path], output_path: Path) -> None:
    """Write the rows of the parquet files at PATHS, in this order, into OUTPUT_PATH, without
    holding them all.
    """
    with system_errors(output_path):
        pl.scan_parquet(list(paths), glob=False).sink_parquet(output_path)


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


_NUMBERS = "biufc"  # kinds of dtypes: booleans, whole, real and complex numbers


def map_array(path: Path) -> NDArray[Any]:
    """Memory-map the array in the npy file PATH; a file without a complete array is a
    ValueError.
    """
    try:
        # numpy reads a damaged header as one of Python 2
        with warnings.catch_warnings(action="ignore"):
            return npy.open_memmap(path, mode="r")
    except OSError:
        raise
    # numpy evaluates the header as Python, and a damaged one can be any kind of error
    except Exception as error:
        raise ValueError("not an array of numbers, or a damaged one") from error


def read_npy(path: Path) -> NDArray[Any]:
    """Return the numbers of the .npy file at PATH that another program wrote; a file that does not
    hold the numbers that its header states is a ValueError.
    """
    refuse_foreign(path)
    array = map_array(path)
    if array.dtype.kind not in _NUMBERS:
        raise ValueError(f"an array of {array.dtype}, not of numbers")
    return np.array(array)


def main() -> int:
    """Read the parquet file that the command line names, for a program that must survive it: a
    damaged one can abort its reader, or end it by a panic of Rust. 0: it is read, or refused by an
    error.
    """
    with suppress(pl.exceptions.PolarsError, OSError):
        read_parquet(Path(sys.argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
