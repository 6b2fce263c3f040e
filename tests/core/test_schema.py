"""Typed tables: whatever a TOML file, a typed value or stored JSON holds, it is read or refused by
file and key.
"""

import math
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.schema import (
    CORRECT,
    DEEPEST,
    build,
    find_flaw,
    parse_value,
    read_json,
    read_toml,
    table,
)


@table
class Engine:
    power: float
    parts: tuple[str, ...] = ()


@table
class Car:
    engine: Engine
    spare: dict[str, Engine] | str = ""
    wheel_count: int = 4


@dataclass(frozen=True, kw_only=True)
class Stored:
    schema: int
    names: tuple[str, ...]
    extra: Any = None


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "wheel-count = 3\n[engine]\npower = 1",
            "unknown key 'wheel-count'",
            "did you mean 'wheel_count'?",
        ),
        ('[engine]\n"" = 1\npower = 1', "unknown key 'engine.'", "known keys: power, parts"),
        (
            '[engine]\npower = 1\n[spare."old one"]\npwer = 1',
            "unknown key 'spare.old one.pwer'",
            "did you mean 'power'?",
        ),
        ("[engine]\npower = inf", "'engine.power' is inf", ""),
        (
            '[engine]\npower = 1\nparts = ["a", "b\\u0000"]',
            "'engine.parts.1' holds a NUL character",
            "",
        ),
        ('[engine]\npower = 1\n"a\\u0000" = 1', "holds a NUL character", ""),
        ("engine = 3", "'engine' is 3: not a table", ""),
        ("[engine]\npower = 1\n[spare]\nold = 3", "'spare.old' is 3: not a table", ""),
        (f"wheel_count = {'9' * 5000}", "an integer of too many digits", ""),
        (f"wheel_count = 0x{'f' * 5000}", "an integer of 20000 bits", ""),
        (f"x = {'[' * 5000}{']' * 5000}", "nested too deep", ""),
        (f"x{'.a' * 1000} = 1", "nested too deep", ""),
        (f"x{'.a' * 100_000} = 1", "dots", ""),
        (f'wheel_count = "{"a" * 100_000}"\n[engine]\npower = 1', "'wheel_count' is 'aaaa", ""),
    ],
)
def test_what_is_wrong_in_a_file_is_one_short_line_with_file_and_key(
    text: str, message: str, hint: str, tmp_path: Path
) -> None:
    path = tmp_path / "car.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"car\.toml") as caught:
        build(Car, read_toml(path), where="car.toml")
    assert message in caught.value.message
    assert len(caught.value.message) < 500
    assert "\n" not in caught.value.message
    assert caught.value.hint == (hint or CORRECT)


def test_half_a_surrogate_pair_is_refused_by_its_key() -> None:
    assert build(Engine, {"power": 1, "parts": ["😀"]}, where="typed").parts == ("😀",)
    with pytest.raises(UsageError, match=r"typed: 'engine\.parts\.0' is not valid text"):
        build(Car, {"engine": {"power": 1, "parts": ["\udcff"]}}, where="typed")


@pytest.mark.parametrize("text", ["1\nb = 2", "9" * 5000, "[" * 5000, "", "name"])
def test_a_typed_value_is_one_toml_value_or_a_decode_error(text: str) -> None:
    with pytest.raises(tomllib.TOMLDecodeError):
        parse_value(text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not valid JSON"),
        (b'{"schema": 1, "names": ["\xff"]}', "not valid JSON"),
        (b'{"schema": 1, "names": ["\\ud800"]}', "not valid JSON"),
        (b"[" * 100_000, "not valid JSON"),
        (b'{"schema": ' + b"9" * 5000 + b', "names": []}', "not valid JSON"),
        (
            b'{"schema": 1, "names": [], "extra": ' + b"9" * 300 + b"}",
            "'extra' is an integer of 997 bits",
        ),
        (b'{"schema": 1, "names": ["a", "b\\u0000"]}', "'names.1' holds a NUL character"),
        (b"[]", "not a table"),
        (b'{"schema": 1}', "'names' is missing"),
        (b'{"schema": 1, "names": ["a", 2]}', "'names.1' is 2"),
        (b'{"schema": true, "names": []}', "'schema' is True"),
    ],
)
def test_stored_json_of_a_wrong_shape_is_refused_by_file_and_key(
    content: bytes, message: str
) -> None:
    with pytest.raises(MissingError) as caught:
        read_json(Stored, content, where=Path("runs/stored.json"), schema=1, hint="make it again")
    assert caught.value.message.startswith("runs/stored.json: damaged: ")
    assert message in caught.value.message
    assert len(caught.value.message) < 300
    assert caught.value.hint == "make it again"


@pytest.mark.parametrize("text", ['{"schema": 2, "names": []}', '{"schema": 2, "other": 1}'])
def test_stored_json_of_a_newer_schema_is_refused_as_such(text: str) -> None:
    with pytest.raises(MissingError, match="written by a newer embedlab"):
        read_json(Stored, text, where=Path("stored.json"), schema=1, hint="")


def test_stored_json_is_read_with_keys_that_a_later_version_added() -> None:
    read = read_json(
        Stored,
        '{"schema": 1, "names": ["a"], "extra": 0.00012345678901234567890, "new": 3}',
        where=Path(),
        schema=1,
        hint="",
    )
    assert read == Stored(schema=1, names=("a",), extra=0.00012345678901234567890)


def test_a_value_that_holds_itself_is_refused_and_not_walked_for_ever() -> None:
    endless: list[Any] = []
    endless.append(endless)
    assert find_flaw(endless) == ((0, 0, 0), f"nested more than {DEEPEST} deep")
    assert find_flaw({"a": [math.inf]}) is None  # the type says whether it may be
