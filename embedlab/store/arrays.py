"""Entries that are folders of arrays, memory-mapped when they are read."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from embedlab.store.sealed import check_folder, sealed_folder

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class ArraysFormat:
    """A folder with an npy file for each of some names; those of ABSENT may be missing."""

    names: Sequence[str]
    absent: Sequence[str] = ()
    suffix: str = ""

    def write(self, path: Path, value: Arrays, *, hint: str) -> None:
        """Replace the folder at PATH in one step."""
        with sealed_folder(path, hint=hint) as folder:
            for name, array in value.items():
                np.save(folder / f"{name}.npy", array, allow_pickle=False)

    def read(self, path: Path, *, hint: str) -> Arrays:
        """Map the arrays of the folder at PATH and verify their checksums."""
        check_folder(path, hint=hint)
        names = [*self.names, *(name for name in self.absent if (path / f"{name}.npy").exists())]
        return {name: map_array(path / f"{name}.npy") for name in names}


def map_array(path: Path) -> NDArray[Any]:
    """Memory-map the array in the npy file PATH; a file without a complete array is a
    ValueError.
    """
    try:
        with warnings.catch_warnings(
            action="ignore"
        ):  # numpy reads a damaged header as one of Python 2
            return np.load(path, mmap_mode="r")  # type: ignore[no-any-return]
    except (
        EOFError,
        SyntaxError,
        TokenError,
        TypeError,
        OverflowError,
    ) as error:  # raised by numpy for damaged headers
        raise ValueError(f"{path}: not an array: {error}") from error
