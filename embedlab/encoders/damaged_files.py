"""One-line errors over the untrusted files of a model folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from embedlab.core.errors import MissingError

WHOLE = "is it a whole transformers folder? copy or download it again"


@contextmanager
def one_line_errors(folder: Path, what: str) -> Iterator[None]:
    """Turn any exception of a library that reads WHAT in FOLDER into a one-line error."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MissingError):
        raise
    except BaseException as error:  # any type: tokenizers' panic is not even an Exception
        raise MissingError(f"cannot load the {what} in {str(folder)!r}: {in_one_line(error)}", hint=WHOLE) from error


def in_one_line(error: BaseException) -> str:
    """The message of an error, shortened to a line."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, KeyError):
        text = f"unknown name {text}"
    return text if len(text) <= 200 else f"{text[:200]}…"
