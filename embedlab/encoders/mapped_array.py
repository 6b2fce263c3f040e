"""Arrays of npy files, memory-mapped."""

import warnings
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray


def map_array(path: Path) -> NDArray[Any]:
    """Memory-map the array in the npy file PATH; a file that holds none, or not all of it, is a ValueError."""
    try:
        with warnings.catch_warnings(action="ignore"):  # numpy takes a damaged header for one of Python 2
            return np.load(path, mmap_mode="r")  # type: ignore[no-any-return]
    except (EOFError, SyntaxError, TokenError, TypeError, OverflowError) as error:  # as numpy's reading of a damaged header ends
        raise ValueError(f"{path}: not an array: {error}") from error
