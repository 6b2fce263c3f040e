"""Strict reading of typed tables: a TOML table becomes a frozen dataclass or one clear error that names file and key."""

import dataclasses
import json
import tomllib
import types
import typing
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

from embedlab.errors import MissingError, UsageError
from embedlab.names import nearest

T = TypeVar("T")
Table = dict[str, Any]


@typing.dataclass_transform(frozen_default=True, kw_only_default=True)
def table(cls: type[T]) -> type[T]:
    """Make CLS a frozen keyword-only dataclass that refuses keys it does not know when it is built."""
    cls.__pydantic_config__ = {"extra": "forbid"}  # type: ignore[attr-defined]
    return dataclasses.dataclass(frozen=True, kw_only=True)(cls)


def read_toml(path: Path) -> Table:
    """The table in a TOML file; a syntax error names the file, line and column."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 at byte {error.start}") from error
    except OSError as error:
        raise MissingError(f"cannot read {str(path)!r}: {error.strerror}") from error


def build(cls: type[T], values: Mapping[str, Any], *, where: str, prefix: str = "") -> T:
    """Make a CLS from VALUES: no unknown key, no wrong type, no value out of its range.

    WHERE names the file in errors, PREFIX the table's place in it ("stage.0.optim").
    """
    import pydantic

    try:
        return typing.cast("T", _checked(typing.cast("Any", cls), json.dumps(values, default=str)))
    except pydantic.ValidationError as error:
        raise _first_error(cls, error.errors(include_url=False), where, prefix) from error


@lru_cache(maxsize=4096)
def _checked(cls: Any, text: str) -> Any:
    """A frozen CLS, so a grid's ten thousand recipes share the tables that are alike."""
    # The JSON route lets arrays fill tuples while every other type stays strict.
    return _adapter(cls).validate_json(text, strict=True)


@cache
def _adapter(cls: Any) -> Any:
    import pydantic

    return pydantic.TypeAdapter(cls)


def unbuild(value: Any) -> Any:
    """The plain table of a dataclass, without its absent (None) keys: what `build` reads back."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {name: unbuild(item) for name, item in pairs if item is not None}
    if isinstance(value, list | tuple):
        return [unbuild(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def known_keys(cls: Any, path: Sequence[str | int] = ()) -> list[str]:
    """The keys that a table of type CLS may have, PATH keys below it."""
    for step in path:
        if isinstance(step, int):
            continue
        cls = typing.get_type_hints(cls).get(step) if dataclasses.is_dataclass(cls) else None
        cls = _element(cls)
    return [field.name for field in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else []


def _element(cls: Any) -> Any:
    """The dataclass inside tuple[X, ...] or X | None."""
    if typing.get_origin(cls) in {tuple, list, typing.Union, types.UnionType}:
        return next((arg for arg in typing.get_args(cls) if dataclasses.is_dataclass(arg)), None)
    return cls


def _first_error(cls: type, errors: Sequence[Mapping[str, Any]], where: str, prefix: str) -> UsageError:
    # An unknown key explains a missing one, so it is told first.
    error = min(errors, key=lambda item: item["type"] not in {"unexpected_keyword_argument", "extra_forbidden"})
    location = [step for step in error["loc"] if isinstance(step, int) or step.isidentifier()]
    key = ".".join(str(step) for step in [prefix, *location] if step != "")
    if error["type"] in {"unexpected_keyword_argument", "extra_forbidden"}:
        known = known_keys(cls, location[:-1])
        guess = nearest(str(location[-1]), known)
        return UsageError(f"{where}: unknown key {key!r}", hint=f"did you mean {guess!r}?" if guess else f"known keys: {', '.join(known)}")
    if error["type"] in {"missing_argument", "missing"}:
        return UsageError(f"{where}: {key!r} is missing", hint="add it, or start from a shipped recipe: `embedlab recipes NAME`")
    text = error["msg"][:1].lower() + error["msg"][1:].removeprefix("value error, ")
    return UsageError(f"{where}: {key!r} is {error['input']!r}: {text}")
