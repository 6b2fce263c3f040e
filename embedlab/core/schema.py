"""Read typed tables strictly: TOML and stored JSON become frozen dataclasses or one clear error
that names file and key. No table may contain invalid text, too long integers, unlimited nesting.
"""

import dataclasses
import io
import json
import tomllib
import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.foreign_files import read_foreign
from embedlab.core.nearest import nearest_hint

V = TypeVar("V")
Key = tuple[str | int, ...]

DEEPEST = 64  # levels of tables and lists; the deepest file of our own has seven
LARGEST = 2**64  # larger integers fit no column, no seed and no C function
LONGEST_QUOTE = 120  # characters of a value in a message


def find_flaw(values: Any) -> tuple[Key, str] | None:
    """Return the key of the first unusable value and the reason, or None; tables of any depth are
    checked.
    """
    unchecked: list[tuple[Key, Any]] = [((), values)]
    while unchecked:
        key, value = unchecked.pop()
        if reason := _flaw(key, value):
            return key, reason
        if len(key) < DEEPEST:
            unchecked.extend(reversed([((*key, step), item) for step, item in _members(value)]))
        elif any(True for _ in _members(value)):
            return key[:3], f"nested more than {DEEPEST} deep"
    return None


def shorten(text: str) -> str:
    """Return TEXT, cut where it is too long for a message."""
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def quote(value: Any) -> str:
    """Return VALUE as a message shows it: shortened, on one line, whatever it contains."""
    try:
        text = repr(value[: LONGEST_QUOTE + 1] if isinstance(value, str | bytes) else value)
        return shorten(text.replace("\n", " "))
    except (ValueError, RecursionError):  # an integer of thousands of digits, or lists in lists
        return f"a value of type {type(value).__name__}"


def dotted(key: Key, prefix: str = "") -> str:
    """Return a key as `--set` writes it: "stage.0.optim.lr"."""
    steps = (prefix, *key) if prefix else key
    return ".".join(shorten(str(step)) for step in steps)


def _flaw(key: Key, value: Any) -> str:
    text = value
    if not isinstance(value, str):
        text = key[-1] if key and isinstance(key[-1], str) else ""
    if "\0" in text:
        return "holds a NUL character"
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        return "is not valid text: its bytes are not UTF-8"
    if isinstance(value, int) and abs(value) >= LARGEST:
        return f"is an integer of {value.bit_length()} bits: at most 64 fit"
    return ""


def _members(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, Mapping):
        yield from value.items()
    elif isinstance(value, list | tuple):
        yield from enumerate(value)


T = TypeVar("T")
TomlTable = dict[str, Any]

CORRECT = (
    "correct it; `embedlab recipes NAME` shows a whole recipe, `embedlab config` lists all settings"
)
LARGEST_FILE = 4 * 2**20  # bytes of a TOML file: the largest of our own has 60 thousand
# in one line: the standard library's parser needs quadratic time for a key of many parts
MOST_DOTS = 2000

_UNKNOWN_KEY = {"unexpected_keyword_argument", "extra_forbidden"}
_MISSING_KEY = {"missing_argument", "missing"}
# Maps every digit to one character and all else to another: finds a long integer a hundred times
# faster than a regular expression.
_DIGITS = bytes(
    ord("9") if chr(code).isascii() and chr(code).isdigit() else 0 for code in range(256)
)


@typing.dataclass_transform(frozen_default=True, kw_only_default=True)
def table(cls: type[T]) -> type[T]:
    """Make CLS a frozen keyword-only dataclass that refuses unknown keys, inf and nan when it is
    built.
    """
    cls.__pydantic_config__ = {"extra": "forbid", "allow_inf_nan": False}  # type: ignore[attr-defined]
    return dataclasses.dataclass(frozen=True, kw_only=True)(cls)


def read_toml(path: Path) -> TomlTable:
    """Return the table in a TOML file; a syntax error names the file, line and column."""
    try:
        text = read_foreign(path, limit=LARGEST_FILE, error=UsageError).decode()
        return parse_toml(io.StringIO(text, newline=None).read())
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: not valid TOML: {error}", hint=CORRECT) from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path}: not UTF-8 at byte {error.start}", hint="save it as UTF-8"
        ) from error
    except OSError as error:
        raise MissingError(
            f"cannot read {str(path)!r}: {error.strerror}", hint="check its permissions"
        ) from error


def parse_toml(text: str) -> TomlTable:
    """Return the table in TEXT, which the caller may change; any fault is a TOMLDecodeError."""
    try:
        values: TomlTable = _copy_tables(_parse(text))
    except RecursionError as error:
        raise tomllib.TOMLDecodeError("nested too deep") from error
    return values


def _copy_tables(value: Any) -> Any:
    """Copy tables and lists; all other values of TOML are immutable."""
    if isinstance(value, dict):
        return {key: _copy_tables(inner) for key, inner in value.items()}
    return [_copy_tables(inner) for inner in value] if isinstance(value, list) else value


# Settings, recipes and grids are read again for each question to them; a copy takes a twentieth of
# the time.
@lru_cache(maxsize=256)
def _parse(text: str) -> TomlTable:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.count(".") > MOST_DOTS:
            raise tomllib.TOMLDecodeError(f"more than {MOST_DOTS} dots (at line {number})")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise tomllib.TOMLDecodeError("nested too deep") from error
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # of int, for thousands of digits
        raise tomllib.TOMLDecodeError("an integer of too many digits") from error


def parse_value(text: str) -> Any:
    """Return the single TOML value in TEXT; anything else is a TOMLDecodeError."""
    values = parse_toml(f"value = {text}")
    if values.keys() != {"value"}:  # further lines with more keys
        raise tomllib.TOMLDecodeError("more than one value")
    return values["value"]


def build(
    cls: type[T],
    values: Mapping[str, Any],
    *,
    where: str,
    prefix: str = "",
    example: str = "",
    is_text: bool = False,
) -> T:
    """Build a CLS from VALUES, refusing unknown keys, wrong types and values out of range.

    WHERE names the file in errors, PREFIX the table within it ("stage.0.optim"), EXAMPLE says where
    a whole file is that is not a recipe. Numbers and booleans may be written as text where IS_TEXT.
    """
    import pydantic

    refuse_flaws(values, where=where, prefix=prefix)
    try:
        text = json.dumps(values, default=str)
        instance: T = _validate(typing.cast("Any", cls), text, not is_text)
        return instance
    except pydantic.ValidationError as error:
        raise _usage_error(cls, _first_error(error), values, where, prefix, example) from error


def refuse_flaws(values: Any, *, where: str, prefix: str = "") -> None:
    """Raise a UsageError where VALUES contain unusable text, integers or nesting."""
    if found_flaw := find_flaw(values):
        key, reason = found_flaw
        raise UsageError(f"{where}: {dotted(key, prefix)!r} {reason}", hint=CORRECT)


def read_json(cls: type[T], content: bytes | str, *, where: Path, schema: int, hint: str) -> T:
    """Build a CLS from stored JSON; keys that CLS does not have are ignored.

    Any fault is a MissingError that names WHERE and the key; so is a "schema" newer than SCHEMA.
    """
    import pydantic

    content = content.encode(errors="surrogatepass") if isinstance(content, str) else content
    try:
        instance: T = adapter(typing.cast("Any", cls)).validate_json(content, strict=True)
        problem = ""
    except pydantic.ValidationError as error:
        problem = _describe_error(_first_error(error), content)
    # it may hold a NUL character or an integer that is too long, and needs a full check
    is_suspicious = b"\\u0000" in content or b"9" * 20 in content.translate(_DIGITS)
    if problem or is_suspicious or getattr(instance, "schema", schema) > schema:
        values = _parse_json(content)
        written = values.get("schema") if isinstance(values, dict) else None
        if isinstance(written, int) and written > schema:
            raise MissingError(
                f"{where}: written by a newer embedlab (schema {quote(written)})",
                hint="update embedlab to read it",
            )
        if flaw := find_flaw(values):
            problem = f"{dotted(flaw[0])!r} {flaw[1]}"
    if problem:
        raise MissingError(f"{where}: damaged: {problem}", hint=hint)
    return instance


def _parse_json(content: bytes) -> Any:
    """Return the values in JSON text as they are; None if it is not JSON."""
    from pydantic_core import from_json

    try:
        return from_json(content)
    except ValueError:
        return None


@lru_cache(maxsize=4096)
def _validate(cls: Any, text: str, is_strict: bool) -> Any:
    """Return a cached frozen CLS: a grid's ten thousand recipes share equal tables."""
    # Validation from JSON accepts arrays for tuples, while every other type stays strict.
    return adapter(cls).validate_json(text, strict=is_strict)


@cache
def adapter(cls: Any) -> Any:
    """Return what checks values of the type CLS."""
    import pydantic

    return pydantic.TypeAdapter(cls)


def unbuild(value: Any) -> Any:
    """Return the plain table of a dataclass without its absent (None) keys, which `build` reads
    back.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        pairs = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return {name: unbuild(item) for name, item in pairs if item is not None}
    if isinstance(value, list | tuple):
        return [unbuild(item) for item in value]
    return str(value) if isinstance(value, Path) else value


def known_keys(cls: Any, path: Sequence[str | int] = ()) -> list[str]:
    """Return the keys that a table of type CLS may have, PATH keys below it."""
    for step in path:
        cls = _below(cls, step)
    return next((names for kind in _choices(cls) if (names := _names(kind))), [])


def _below(kind: Any, step: str | int) -> Any:
    """Return the type below the key or index STEP of a KIND; None if there is none."""
    for choice in _choices(kind):
        container, inner = typing.get_origin(choice) or choice, typing.get_args(choice)
        if dataclasses.is_dataclass(choice) and step in _names(choice):
            return typing.get_type_hints(choice)[str(step)]
        if isinstance(step, int) and container in {tuple, list} and inner:
            return inner[0]
        if isinstance(container, type) and issubclass(container, Mapping) and inner:
            return inner[1]
    return None


def _choices(kind: Any) -> tuple[Any, ...]:
    is_union = typing.get_origin(kind) in {typing.Union, types.UnionType}
    return typing.get_args(kind) if is_union else (kind,)


def _names(kind: Any) -> list[str]:
    if not dataclasses.is_dataclass(kind):
        return []
    return [field.name for field in dataclasses.fields(kind)]


def _first_error(error: Any) -> Mapping[str, Any]:
    # An unknown key explains a missing one, so it comes first.
    errors: Sequence[Mapping[str, Any]] = error.errors(include_url=False)
    return min(errors, key=lambda item: item["type"] not in _UNKNOWN_KEY)


def _location(error: Mapping[str, Any], values: Any) -> Key:
    """Return the keys that lead to the fault in VALUES, without the union branches that pydantic
    adds.
    """
    steps = list(error["loc"])
    missing_key = [steps.pop()] if steps and error["type"] in _MISSING_KEY else []
    path: list[str | int] = []
    for step in steps:
        members = dict(_members(values))
        if step in members:
            path.append(step)
            values = members[step]
    return (*path, *missing_key)


def _usage_error(
    cls: type, error: Mapping[str, Any], values: Any, where: str, prefix: str, example: str
) -> UsageError:
    location = _location(error, values)
    key = dotted(location, prefix)
    if error["type"] in _UNKNOWN_KEY:
        valid_keys = known_keys(cls, location[:-1])
        hint: str = f"known keys: {', '.join(valid_keys)}"
        if location:
            hint = nearest_hint(str(location[-1]), valid_keys, hint)
        return UsageError(f"{where}: unknown key {key!r}", hint=hint)
    if error["type"] in _MISSING_KEY:
        start = "start from a shipped recipe: `embedlab recipes NAME`"
        return UsageError(
            f"{where}: {key!r} is missing",
            hint=f"add it; {example}" if example else f"add it, or {start}",
        )
    return UsageError(
        f"{where}: {_fault(key, error)}", hint=f"correct it; {example}" if example else CORRECT
    )


def _fault(key: str, error: Mapping[str, Any]) -> str:
    subject = f"{key!r} is " if key else ""
    return f"{subject}{quote(error['input'])}: {reason_of(error)}"


def _describe_error(error: Mapping[str, Any], content: bytes) -> str:
    if error["type"] == "json_invalid":
        return f"not valid JSON: {error['ctx']['error']}"
    key = dotted(_location(error, _parse_json(content)))
    if error["type"] in _MISSING_KEY:
        return f"{key!r} is missing"
    return _fault(key, error)


_WORDS = {
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be above {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be below {lt}",
    "int_type": "must be an integer",
    "int_parsing": "must be an integer",
    "int_from_float": "must be an integer",
    "int_parsing_size": "must be an integer of fewer digits",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "string_type": "must be a text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "not a table",
    "dataclass_type": "not a table",
}


def reason_of(error: Mapping[str, Any]) -> str:
    """Return what is wrong: as a check of ours says it, in words of ours, or for what is rare in
    those of pydantic.
    """
    kind, context = error["type"], error.get("ctx", {})
    if kind in _WORDS:
        return _WORDS[kind].format(
            **{
                name: f"{value:g}" if isinstance(value, float) else value
                for name, value in context.items()
            }
        )
    if kind == "too_short":
        minimum = context["min_length"]
        return f"list should have at least {minimum} item{'s' if minimum > 1 else ''}"
    text = str(context["error"] if kind == "value_error" else error["msg"])
    return text[:1].lower() + text[1:]
