"""What is declared of published corpora: files, columns, classes and counts, as declarations.json has them.

`python -m tests.data.test_declarations` writes that file again; each change of it is one of what rows are expected, for a reason.
"""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from embedlab.core.paths import PACKAGE
from embedlab.core.plugins import shipped_names
from embedlab.data.source import dataset

DECLARED = Path(__file__).with_name("declarations.json")


def plain(value: object) -> Any:
    """A value as JSON has it: functions by their names, with what they are given."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, partial):
        return [plain(value.func), *map(plain, value.args), plain(value.keywords)]
    if isinstance(value, FunctionType):
        return value.__qualname__
    if isinstance(value, Mapping):
        return {str(key): plain(own) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [plain(own) for own in value]
    if isinstance(value, Path):  # a folder inside the package, wherever that is installed
        return value.relative_to(PACKAGE).as_posix()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def declared(name: str) -> Any:
    own = json.loads(json.dumps(plain(dataset(name))))
    return {key: value for key, value in own.items() if key not in {"name", "summary", "home"}}


@pytest.mark.parametrize("name", json.loads(DECLARED.read_text(encoding="utf-8")))
def test_a_corpus_is_declared_as_it_was_published(name: str) -> None:
    assert declared(name) == json.loads(DECLARED.read_text(encoding="utf-8"))[name]


if __name__ == "__main__":
    lines = [f"{json.dumps(name)}: {json.dumps(declared(name))}" for name in sorted(shipped_names("datasets"))]
    DECLARED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
