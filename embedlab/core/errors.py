"""The errors a user can cause, each with the exit code it ends the program with, and their hints.

Options in a hint are data: a command line writes `--name snli-2`, a form "snli-2 in the line 'run
name'".
"""

import re
import shlex
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from functools import wraps
from typing import ParamSpec, TypeVar


@dataclass(frozen=True)
class NamedOption:
    """An option of the command line with a value for it; a flag has none."""

    name: str  # with its dashes
    value: str = ""

    def __str__(self) -> str:
        return f"{self.name} {shlex.quote(self.value)}" if self.value else self.name


@dataclass(frozen=True)
class RecipeValue:
    """A value for a key of a recipe, which the command line takes by --set."""

    key: str
    value: str

    def __str__(self) -> str:
        return f"--set {shlex.quote(f'{self.key}={self.value}')}"


@dataclass(frozen=True, init=False)
class Hint:
    """What to do next: text, and the options and values in it."""

    parts: tuple[str | NamedOption | RecipeValue, ...]

    def __init__(self, *parts: "str | NamedOption | RecipeValue | Hint") -> None:
        """Join PARTS; a part that is a hint contributes its own parts."""
        flat: list[str | NamedOption | RecipeValue] = []
        for part in parts:
            flat += part.parts if isinstance(part, Hint) else [part] * (part != "")
        object.__setattr__(self, "parts", tuple(flat))

    def __str__(self) -> str:
        return "".join(map(str, self.parts))

    def shown(self, option: Callable[[NamedOption | RecipeValue], str]) -> str:
        """Return the text with each option and value as OPTION shows it."""
        return "".join(part if isinstance(part, str) else option(part) for part in self.parts)


# characters of a value in a message; the names of a grid's runs have up to about ninety
LONGEST_WORD = 120
LONGEST_FILE_NAME = 255  # characters of each part of a path
MEMORY = "memory"  # the cause of an error: it ran out
SHOWN = 80  # characters that are left of a longer one

P = ParamSpec("P")
R = TypeVar("R")

_LONG_WORD = re.compile(rf"[^\s'\"`]{{{LONGEST_WORD + 1},}}")


class ExitCode(IntEnum):
    """How an embedlab process ends."""

    OK = 0
    FAILED = 1  # the work failed: training diverged, evaluation broke
    USAGE = 2  # what was typed is wrong: usage, recipe, key, name, expression, settings
    MISSING = 3  # something needed is missing or unusable: data file, hub, checkpoint, device, disk
    DIFFERENT = 4  # two things that should be the same, or as good, are shown not to be
    UNKNOWN = 5  # whether they are could not be shown
    INTERRUPTED = 130


class EmbedlabError(Exception):
    """The work failed for a reason the user can act on; printed as two lines, never as a traceback.

    The message says what was wrong with the value in quotes, the hint is the next thing to type.
    """

    exit_code = ExitCode.FAILED
    cause = ""  # MEMORY where it ran out

    def __init__(self, message: str, *, hint: str | Hint = "", reason: str = "") -> None:
        self.message = shorten_values(message)
        # with its options as data, for surfaces that name them in their own way
        self.advice = hint if isinstance(hint, Hint) else Hint(hint)
        self.hint = shorten_values(str(hint))  # as the command line prints it
        # what is wrong, where the message also names what is concerned
        self.reason = shorten_values(reason) or self.message
        super().__init__(self.message)


class UsageError(EmbedlabError):
    """What was typed is wrong: a flag, recipe, key, model or task name, expression or setting."""

    exit_code = ExitCode.USAGE


class MissingError(EmbedlabError):
    """Something needed is missing or unusable: a data file, the hub, a checkpoint, a device, disk
    space.
    """

    exit_code = ExitCode.MISSING


class UnknownFieldError(UsageError):
    """An unknown property, field or tag of an expression; the hint lists the known ones."""

    def __init__(
        self, message: str, *, hint: str | Hint = "", reason: str = "", field: str = ""
    ) -> None:
        super().__init__(message, hint=hint, reason=reason)
        self.field = field  # as it was typed; empty for a tag


class NotDownloadedError(MissingError):
    """The hub has what is missing, and downloads were not wanted now."""

    def __init__(self, subject: str, *, hint: str | Hint = "") -> None:
        self.subject = shorten_values(subject)
        super().__init__(f"{subject} is not on this machine", hint=hint)


class PartialDataError(MissingError):
    """A corpus is at hand, but not whole: a user may accept it as it is."""


class NotLoadedError(MissingError):
    """A plug-in that this process does not load: another one may use it."""


class Interrupted(EmbedlabError):  # noqa: N818 - a requested stop is not an error
    """The user or the machine stopped the work; what was computed is saved."""

    exit_code = ExitCode.INTERRUPTED


def with_hint(function: Callable[P, R]) -> Callable[P, R]:
    """Let a traceback of FUNCTION end with the hint of its error, in which options are keywords."""

    @wraps(function)
    def hinting(*arguments: P.args, **keywords: P.kwargs) -> R:
        try:
            return function(*arguments, **keywords)
        except EmbedlabError as error:
            hint = f"hint: {error.advice.shown(_keyword)}"
            if error.hint and hint not in getattr(error, "__notes__", ()):
                error.add_note(hint)
            raise

    return hinting


def _keyword(option: NamedOption | RecipeValue) -> str:
    """Return an option of a hint as the keyword that does the same here."""
    if isinstance(option, RecipeValue):
        value = {"true": "True", "false": "False"}.get(option.value, repr(option.value))
        with suppress(ValueError):
            float(option.value)
            value = option.value
        return f"set={{{option.key!r}: {value}}}"
    name = option.name.lstrip("-").replace("-", "_")
    name += "s" * (name in {"task", "model", "seed"})
    return f"{name}={option.value!r}" if option.value else f"{name}=True"


def shorten_values(text: str) -> str:
    """Return the text of a message with each very long word cut, such as a value of thousands of
    digits.

    A path stays whole unless a part of it is longer than a file name can be.
    """
    return _LONG_WORD.sub(_cut, text)


def _cut(match: re.Match[str]) -> str:
    names = match[0].split("/")
    limit = LONGEST_FILE_NAME if len(names) > 1 else LONGEST_WORD
    shortened = [f"{name[:SHOWN]}…" if len(name) > limit else name for name in names]
    return "/".join(shortened)


def in_one_line(error: BaseException) -> str:
    """Return the message of an ERROR of another program, shortened to a line."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, KeyError):
        text = f"unknown name {text}"
    return text if len(text) <= 200 else f"{text[:200]}…"
