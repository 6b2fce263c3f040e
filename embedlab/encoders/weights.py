"""Write safetensors files, whose library hides system errors."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError


@contextmanager
def writing_weights(path: Path) -> Iterator[None]:
    """Turn a system error inside safetensors into the OSError that any other writer raises for
    PATH.
    """
    try:
        yield
    except SafetensorError as error:
        code = re.search(r"(?:os error|code:) (\d+)", str(error))
        if code is None:
            raise
        raise OSError(int(code[1]), os.strerror(int(code[1])), str(path)) from error
