"""Arrays of npy files, memory-mapped."""

import warnings
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray


def map_array(path: Path) -> NDArray[Any]:
    """Memory-map the array in the npy file PATH; a file without a complete array is a ValueError."""
    try:
        with warnings.catch_warnings(action="ignore"):  # numpy reads a damaged header as one of Python 2
            return np.load(path, mmap_mode="r")  # type: ignore[no-any-return]
    except (EOFError, SyntaxError, TokenError, TypeError, OverflowError) as error:  # raised by numpy for damaged headers
        raise ValueError(f"{path}: not an array: {error}") from error
