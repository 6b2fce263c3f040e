"""What libraries say of a model's files, in one line or not at all."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from logging import ERROR
from pathlib import Path
from tempfile import TemporaryFile
from threading import Lock
from typing import IO

from safetensors import SafetensorError

from embedlab.core.errors import MissingError

WHOLE = "is it a whole transformers folder? copy or download it again"
_HOLDING = Lock()  # of what replaces stderr


@contextmanager
def one_line_errors(folder: Path, what: str) -> Iterator[None]:
    """Turn any exception of a library that reads WHAT in FOLDER into a one-line error."""
    try:
        with _without_panic_messages():
            yield
    except (KeyboardInterrupt, SystemExit, GeneratorExit, MissingError):
        raise
    except BaseException as error:  # any type: tokenizers' panic is not even an Exception
        raise MissingError(
            f"cannot load the {what} in {str(folder)!r}: {in_one_line(error)}", hint=WHOLE
        ) from error


@contextmanager
def _without_panic_messages() -> Iterator[None]:
    """Hold stderr back within the block, and drop it where a panic ends that: Rust reports one
    before it can be caught.

    Stderr is one of the process: of several threads only the first holds it back, for all of them.
    """
    if not _HOLDING.acquire(blocking=False):
        yield
        return
    with ExitStack() as stack:
        stack.callback(_HOLDING.release)
        opened = _opened(stack)
        if opened is None:
            yield
            return
        held, stderr = opened
        is_panic = False
        _flush()
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException as error:
            is_panic = type(error).__name__ == "PanicException"
            raise
        finally:
            _flush()
            os.dup2(stderr, 2)
            held.seek(0)
            if not is_panic and (said := held.read()):
                with suppress(OSError):  # its reader has gone
                    os.write(2, said)


def _opened(stack: ExitStack) -> tuple[IO[bytes], int] | None:
    """An empty file and a copy of stderr, until STACK is closed; None where the disk is full or
    stderr is closed.
    """
    with suppress(OSError):
        held = stack.enter_context(TemporaryFile())  # noqa: SIM115 - the stack closes it
        stderr = os.dup(2)
        stack.callback(os.close, stderr)
        return held, stderr
    return None


def _flush() -> None:
    if sys.stderr is not None:
        with suppress(OSError, ValueError):  # closed, or no room: what is left is written later
            sys.stderr.flush()


def in_one_line(error: BaseException) -> str:
    """The message of an error, shortened to a line."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, KeyError):
        text = f"unknown name {text}"
    return text if len(text) <= 200 else f"{text[:200]}…"


@contextmanager
def silence_transformers() -> Iterator[None]:
    """Show only errors and no progress bars until the block ends."""
    from transformers.utils import logging  # slow

    verbosity, had_bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    if (
        verbosity != ERROR
    ):  # setting a level makes every logger of the process look its own up again
        logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if verbosity != ERROR:
            logging.set_verbosity(verbosity)
        if had_bars:
            logging.enable_progress_bar()


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
