"""Hints whose options are data: a command line writes `--name snli-2`, a form "snli-2 in the line
'run name'".
"""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class NamedOption:
    """An option of the command line with a value for it; a flag has none."""

    name: str  # with its dashes
    value: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.value}".rstrip()


@dataclass(frozen=True)
class RecipeValue:
    """A value for a key of a recipe, which the command line takes by --set."""

    key: str
    value: str

    def __str__(self) -> str:
        return f"--set {self.key}={self.value}"


@dataclass(frozen=True, init=False)
class Hint:
    """What to do next: text, and the options and values in it."""

    parts: tuple[str | NamedOption | RecipeValue, ...]

    def __init__(self, *parts: "str | NamedOption | RecipeValue | Hint") -> None:
        """Join PARTS, of which a hint gives its own."""
        flat = [
            inner for part in parts for inner in (part.parts if isinstance(part, Hint) else (part,))
        ]
        object.__setattr__(self, "parts", tuple(part for part in flat if part != ""))

    def __str__(self) -> str:
        return "".join(map(str, self.parts))

    def shown(self, option: Callable[[NamedOption | RecipeValue], str]) -> str:
        """Return the text with each option and value as OPTION shows it."""
        return "".join(part if isinstance(part, str) else option(part) for part in self.parts)
