"""What the reference is written with: Markdown tables, and the comments and types of fields as
their source states them.
"""

import ast
import inspect
import re
import tokenize
import types
import typing
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from io import StringIO
from pathlib import Path
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Field:
    """One key of a table: what it may be, its default, and what is said of it."""

    name: str
    kind: str
    default: str
    note: str


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a Markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + " --- |" * len(header)]
    lines += ["| " + " | ".join(cell(value) for value in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def cell(value: object) -> str:
    """Return VALUE as the text of a cell."""
    return re.sub(r"\s+", " ", str(value)).replace("|", "\\|").strip()


def escaped(text: str) -> str:
    """Return TEXT without what Markdown would read as emphasis or as a tag."""
    return re.sub(r"([*_<>\[\]])", r"\\\1", text) if "`" not in text else text


def code(value: object) -> str:
    """Return VALUE as code, or nothing where there is nothing."""
    text = str(value)
    return f"`{text}`" if text else ""


def listed(values: Iterable[object]) -> str:
    """Return VALUES as code, separated by commas."""
    return ", ".join(code(value) for value in values)


def first_line(text: str | None) -> str:
    """Return the first paragraph of a docstring as one line."""
    return " ".join(inspect.cleandoc(text or "").split("\n\n")[0].split())


def fields_of(cls: Any) -> list[Field]:
    """Return the fields of a dataclass with the comments of its source."""
    notes, hints = notes_of(inspect.getsource(cls)), typing.get_type_hints(cls, include_extras=True)
    return [
        Field(
            name=one.name,
            kind=kind_of(hints[one.name]),
            default=_default(one),
            note=notes.get(one.name, ""),
        )
        for one in fields(cls)
    ]


def field_table(cls: Any) -> str:
    """Return the table of a dataclass's fields."""
    rows = ((code(one.name), one.kind, code(one.default), one.note) for one in fields_of(cls))
    return table(("key", "is", "default", "meaning"), rows)


def kind_of(hint: Any) -> str:
    """Return what a value of a type may be, in words: choices as code, numbers with their
    bounds.
    """
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        bounds = {type(one).__name__: one for one in parts[1:]}
        low = (
            f"from {bounds['Ge'].ge}"
            if "Ge" in bounds
            else f"above {bounds['Gt'].gt}"
            if "Gt" in bounds
            else ""
        )
        high = f"to {bounds['Le'].le:,}" if "Le" in bounds else ""
        return " ".join(part for part in (kind_of(parts[0]), low, high) if part)
    if origin is Literal:
        return ", ".join(code(_shown(one)) for one in parts)
    if origin in {typing.Union, types.UnionType}:
        return " or ".join(kind_of(one) for one in parts if one is not type(None))
    if origin is tuple:
        return f"list of {kind_of(parts[0])}" if parts[1:] == (...,) else "list"
    if origin is dict or hint is dict:
        return f"table of {kind_of(parts[1])}" if parts else "table"
    if is_dataclass(hint):
        return "table"
    words = {
        str: "text",
        int: "whole number",
        float: "number",
        bool: "`true` or `false`",
        Path: "path",
        Any: "any value",
    }
    return words.get(hint, getattr(hint, "__name__", str(hint)))


def notes_of(source: str) -> dict[str, str]:
    """Return the comment of each annotated name in a class, and of each key of a literal; it is
    behind the line or above it.
    """
    source = inspect.cleandoc(source)
    behind, lines = dict(_comments(source)), source.split("\n")
    found = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = behind.get(node.end_lineno or 0) or _above(node, lines)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    found[key.value] = behind.get(value.end_lineno or 0, "")
    return found


def _above(node: ast.AnnAssign, lines: list[str]) -> str:
    above: list[str] = []
    for number in range(node.lineno - 1, 0, -1):
        if not lines[number - 1].strip().startswith("#"):
            break
        above.insert(0, lines[number - 1].strip().removeprefix("#").strip())
    return " ".join(above)


def _comments(source: str) -> Iterator[tuple[int, str]]:
    lines = source.split("\n")
    for token in tokenize.generate_tokens(StringIO(source).readline):
        if token.type == tokenize.COMMENT and lines[token.start[0] - 1].split("#")[0].strip():
            yield token.start[0], token.string.removeprefix("#").strip()


def _default(one: Any) -> str:
    if one.default is not MISSING:
        return (
            ""
            if one.default is None or one.default == () or is_dataclass(one.default)
            else _shown(one.default)
        )
    if one.default_factory is not MISSING:
        value = one.default_factory()
        return "" if isinstance(value, Path) or value in ((), {}, []) else _shown(value)
    return "required"


def _shown(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case tuple():
            return "[" + ", ".join(_shown(part) for part in value) + "]"
    return str(value)
