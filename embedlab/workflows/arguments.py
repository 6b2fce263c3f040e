"""Arguments of the Python API, checked before any work: what a command line cannot get wrong, a
call can.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from inspect import signature
from numbers import Integral
from typing import Any

from embedlab.core.errors import UsageError
from embedlab.core.nearest import unknown
from embedlab.core.overrides import overrides_of
from embedlab.core.plain_values import quote
from embedlab.core.settings import Settings


def names_of(names: str | Iterable[str] | None) -> list[str]:
    """Return NAMES as a list; a single one need not be in one."""
    return [names] if isinstance(names, str) else list(names or ())


def texts_of(texts: Iterable[str], argument: str) -> list[str]:
    """Return TEXTS as a list; a single text, whose letters would be encoded one by one, and what is
    not text are UsageErrors.
    """
    if isinstance(texts, str):
        raise UsageError(
            f"{argument} is one text: {quote(texts)}", hint=f"give a list: [{quote(texts)}]"
        )
    listed = list(texts)
    for number, text in enumerate(listed):
        if not isinstance(text, str):
            raise UsageError(
                f"{argument}[{number}] is {quote(text)}: not a text",
                hint="give texts alone; an empty one is ''",
            )
    return listed


def pairs_of(first: Iterable[str], second: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return both sides of pairs, which must have as many texts."""
    sides = texts_of(first, "first"), texts_of(second, "second")
    if len(sides[0]) != len(sides[1]):
        raise UsageError(
            f"first has {len(sides[0])} texts, second {len(sides[1])}",
            hint="give the two texts of each pair",
        )
    return sides


def given_seeds(seeds: int | Iterable[int]) -> tuple[int, ...]:
    """Return SEEDS as a tuple; a single one need not be in one."""
    given: Any = seeds
    listed = [given] if isinstance(given, Integral | str) else list(given)
    for seed in listed:
        if isinstance(seed, bool) or not isinstance(seed, Integral):
            raise UsageError(
                f"seed {quote(seed)} is not a whole number", hint="for example seeds=[1, 2, 3]"
            )
    return tuple(int(seed) for seed in listed)


def given_values(values: Mapping[str, object] | None) -> tuple[str, ...]:
    """Return the VALUES that a recipe is trained with, by key, as `--set` takes them."""
    if values is not None and not isinstance(values, Mapping):
        raise UsageError(
            f"set is {quote(values)}: not a dictionary", hint='for example set={"optim.lr": 1e-5}'
        )
    return overrides_of(values or {})


def refuse_unknown_keywords(given: Iterable[str], function: Callable[..., Any]) -> None:
    """Refuse what is neither an argument of FUNCTION nor a setting, with the nearest name of
    either.
    """
    settings = {field.name for field in fields(Settings)}
    parameters = {name for name in signature(function).parameters if name != "settings"}
    if wrong := next((name for name in given if name not in settings), None):
        raise unknown("keyword", wrong, {*parameters, *settings})
