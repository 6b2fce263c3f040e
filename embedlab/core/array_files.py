"""Read arrays of numbers from .npy files: our own as memory maps; of those that other programs
wrote, what the header states must be in the file.
"""

import math
import os
import warnings
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from embedlab.core.foreign_files import refuse_foreign

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_KINDS = "biufc"  # booleans, whole, real and complex numbers


def map_array(path: Path) -> NDArray[Any]:
    """Memory-map the array in the npy file PATH; a file without a complete array is a
    ValueError.
    """
    try:
        # numpy reads a damaged header as one of Python 2
        with warnings.catch_warnings(action="ignore"):
            return np.load(path, mmap_mode="r")  # type: ignore[no-any-return]
    # raised by numpy for damaged headers
    except (EOFError, SyntaxError, TokenError, TypeError, OverflowError) as error:
        raise ValueError(f"{path}: not an array: {error}") from error


def read_npy(path: Path) -> NDArray[Any]:
    """Return the numbers of the .npy file at PATH; a file that does not hold those that its header
    states is a ValueError.
    """
    refuse_foreign(path)
    with path.open("rb") as file:
        try:
            with warnings.catch_warnings(
                action="ignore"
            ):  # numpy reads a damaged header as one of Python 2
                shape, is_fortran, dtype = _HEADERS[npy.read_magic(file)](file)
        except OSError:
            raise
        # numpy evaluates the header as Python, and a damaged one can be any kind of error
        except Exception as error:
            raise ValueError("not an array of numbers, or a damaged one") from error
        if dtype.kind not in _KINDS or dtype.hasobject or any(length < 0 for length in shape):
            raise ValueError(f"an array of {dtype} of shape {shape}, not of numbers")
        count = math.prod(shape)
        there = path.stat().st_size - file.seek(0, os.SEEK_CUR)
        if count * dtype.itemsize > there:
            raise ValueError(
                f"its header states {count} numbers, and the file holds {there // dtype.itemsize}"
            )
        return np.fromfile(file, dtype, count).reshape(shape, order="F" if is_fortran else "C")
