"""The versions of Textual whose private parts are used here; pyproject.toml allows these alone."""

from functools import lru_cache
from importlib.metadata import version

from embedlab.core.settings import Settings

LOWEST, ENDING = (8, 0), (8, 3)  # the first that is known, and the first that is not


def is_known(textual: str) -> bool:
    """Return whether the version TEXTUAL, such as "8.2.8", is among those that this folder was
    tested with.
    """
    numbers = tuple(int(part) for part in textual.split(".")[:2] if part.isdecimal())
    return LOWEST <= numbers < ENDING


@lru_cache(1)
def installed() -> str:
    """Return the version of Textual that is installed."""
    return version("textual")


def is_tuned(settings: Settings) -> bool:
    """Return whether the dashboard uses private parts of Textual: SETTINGS allow it, and its
    version is known.
    """
    return settings.textual_tuning == "on" and is_known(installed())
