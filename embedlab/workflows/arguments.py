"""Arguments of the Python API, checked before any work: what a command line cannot get wrong, a
call can.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from inspect import signature
from numbers import Integral
from pathlib import Path
from typing import Any

import polars as pl
import xxhash

from embedlab.core.errors import UsageError
from embedlab.core.nearest import unknown
from embedlab.core.overrides import overrides_of
from embedlab.core.plain_values import quote
from embedlab.core.settings import Settings
from embedlab.encoders.kinds.live import live_name, session_folder
from embedlab.models.aliases import declared


def names_of(names: str | Iterable[str] | None) -> list[str]:
    """Return NAMES as a list; a single one need not be in one."""
    return [names] if isinstance(names, str) else list(names or ())


def model_names(models: Any) -> list[str]:
    """Return the names of MODELS: names, live models, both in a list, or live models by name."""
    if isinstance(models, Mapping):
        return [model_name(model, name) for name, model in models.items()]
    listed = list(models) if isinstance(models, list | tuple | set) else [models]
    return [model_name(model) for model in listed]


def model_name(model: Any, name: str = "") -> str:
    """Return the name of a MODEL that is typed, or is an object with `encode` or a function."""
    if isinstance(model, str | Path):
        return declared(f"{name}={model}" if name else str(model))
    return live_name(model, name)


def task_names(tasks: Any) -> list[str]:
    """Return the names of TASKS: names, and data frames or lists of pairs, which are written to
    files of this session.
    """
    if tasks is None:
        return []
    is_rows = isinstance(tasks, list | tuple) and len(tasks) > 0 and not isinstance(tasks[0], str)
    if is_rows and not any(map(_is_frame, tasks)):
        return [_written(tasks)]
    listed = tasks if isinstance(tasks, list | tuple | set) else [tasks]
    return [str(task) if isinstance(task, str | Path) else _written(task) for task in listed]


def _is_frame(rows: Any) -> bool:
    return hasattr(rows, "columns")


def _written(rows: Any) -> str:
    """Write a data frame, or rows of two texts and a score, to a file, and return its path."""
    try:
        frame = (
            rows
            if isinstance(rows, pl.DataFrame)
            else pl.DataFrame(rows.to_dict("list"))
            if _is_frame(rows)
            else pl.DataFrame(
                [tuple(row) for row in rows],
                schema=("sentence1", "sentence2", "score")[: len(rows[0])],
                orient="row",
            )
        )
    except (TypeError, ValueError, AttributeError, pl.exceptions.PolarsError) as error:
        raise UsageError(
            f"tasks is {quote(rows)}: neither names nor rows",
            hint="give names, a data frame, or a list of (sentence1, sentence2, score)",
        ) from error
    key = f"{frame.columns}{frame.hash_rows(seed=0).sum()}{frame.height}".encode()
    path = session_folder() / f"rows-{xxhash.xxh3_64_hexdigest(key)[:6]}.parquet"
    if not path.exists():
        frame.write_parquet(path)
    return str(path)


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
