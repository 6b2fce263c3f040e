"""How the command line takes a field of options: each field carries its flag and its help, written
once.

Options are imported with the command line, so that nothing here imports what takes time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Flag:
    """The words that set one field, as an annotation of it; without names the field is an
    argument.
    """

    help: str
    names: tuple[str, ...] = ()
    metavar: str | None = None
    completes: str | None = None  # the function of cli/completion that lists values
    min: int | None = None
    max: int | None = None
    after: str = ""  # the field that it is shown after, where that is not the one before it
    typed: Any = None  # what is typed where that is not of the field's type, and then
    reads: Callable[[Any], Any] | None = None  # what makes the field's value of it
    is_expert: bool = False  # few need it: help shows it below the others
