"""Silence the progress bars and load reports of transformers; the command line decides what is
shown.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from logging import ERROR

from transformers.utils import logging


@contextmanager
def silence_transformers() -> Iterator[None]:
    """Show only errors and no progress bars until the block ends."""
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
