"""Entries that are one parquet file each: a frame, and facts on it as text in the file's metadata
beside the seal.
"""

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Generic, TypeVar

import polars as pl

from embedlab.core.seal import KEY, UNSEALED
from embedlab.store.sealed import read_sealed, write_sealed

V = TypeVar("V")


@dataclass(frozen=True, kw_only=True, eq=False)
class StoredTable:
    """A frame and the facts on it."""

    frame: pl.DataFrame
    facts: str = ""


@dataclass(frozen=True, kw_only=True)
class TableFormat(Generic[V]):
    """A parquet file of the table that a value is stored as."""

    facts: str | None  # the metadata key of the facts, which is our mark too; None: there are none
    to_table: Callable[[V], StoredTable]
    from_table: Callable[[StoredTable, Path], V]  # with its path, for messages
    suffix: str = ".parquet"

    def write(self, path: Path, value: V, *, hint: str) -> None:
        """Replace the file at PATH in one step."""
        table, content = self.to_table(value), BytesIO()
        facts = {} if self.facts is None else {self.facts: table.facts}
        table.frame.write_parquet(content, metadata={**facts, KEY: UNSEALED})
        write_sealed(path, content.getvalue(), hint=hint)

    def read(self, path: Path, *, hint: str) -> V:
        """Read the file at PATH and verify its seal; damage is a ValueError."""
        content = read_sealed(path, hint=hint)
        try:
            return self.from_table(
                StoredTable(frame=pl.read_parquet(BytesIO(content)), facts=self._facts(content)),
                path,
            )
        except pl.exceptions.PolarsError as error:
            raise ValueError(str(error)) from error

    def read_facts(self, path: Path, *, hint: str) -> str:
        """Read the facts alone; the seal of the whole file is verified, and damage is a
        ValueError.
        """
        try:
            return self._facts(read_sealed(path, hint=hint))
        except pl.exceptions.PolarsError as error:
            raise ValueError(str(error)) from error

    def _facts(self, content: bytes) -> str:
        return "" if self.facts is None else pl.read_parquet_metadata(BytesIO(content))[self.facts]
