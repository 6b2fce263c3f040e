"""Reads a parquet file for a program that must survive it: `python -m embedlab.core.parquet_check
FILE`.

A damaged file can abort the process that reads it, or end it by a panic of Rust. Exit code 0: it is
read, or refused by an error.
"""

import sys
from contextlib import suppress
from pathlib import Path

import polars as pl

from embedlab.core.frame_files import read_parquet


def main() -> int:
    """Read the file that the command line names."""
    with suppress(pl.exceptions.PolarsError, OSError):
        read_parquet(Path(sys.argv[1]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
