"""Entries that are one JSON file each, with the seal as their last key."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from embedlab.core.seal import sealed_json
from embedlab.store.files import write_atomic
from embedlab.store.sealed import read_sealed

V = TypeVar("V")


@dataclass(frozen=True, kw_only=True)
class JsonFormat(Generic[V]):
    """A JSON file of the values that a value is stored as."""

    to_values: Callable[[V], Mapping[str, Any]]
    from_content: Callable[[bytes, Path], V]  # of intact content and its path, for messages
    indent: int | None = None
    suffix: str = ".json"

    def write(self, path: Path, value: V, *, hint: str) -> None:
        """Replace the file at PATH in one step."""
        write_atomic(path, sealed_json(self.to_values(value), indent=self.indent), hint=hint)

    def read(self, path: Path, *, hint: str) -> V:
        """Read the file at PATH and verify its seal."""
        return self.from_content(read_sealed(path, hint=hint), path)
