"""What is declared of published corpora: files, columns, classes and counts, as declarations.json
has them.

`python -m tests.data.test_declarations` writes that file again; each change of it is one of what
rows are expected, for a reason.
"""

import json
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from embedlab.core.paths import PACKAGE
from embedlab.core.plugins import shipped_names
from embedlab.data.source import dataset

DECLARED = Path(__file__).with_name("declarations.json")


def plain(value: object) -> Any:
    """A value as JSON has it: what reads and writes files by its module, with what a corpus says of
    them.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, partial):
        return [value.func.__module__.rpartition(".")[2], plain(stated(value.keywords["options"]))]
    if isinstance(value, Mapping):
        return {str(key): plain(own) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [plain(own) for own in value]
    if isinstance(value, Path):  # a folder inside the package, wherever that is installed
        return value.relative_to(PACKAGE).as_posix()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def stated(options: Any) -> dict[str, Any]:
    """The options that differ from those of a corpus that says nothing."""
    given = ((field, getattr(options, field.name)) for field in fields(options))
    return {
        field.name: value
        for field, value in given
        if value != (field.default if field.default is not MISSING else None)
    }


def declared(name: str) -> Any:
    own = json.loads(json.dumps(plain(dataset(name))))
    return {key: value for key, value in own.items() if key not in {"name", "summary", "home"}}


@pytest.mark.parametrize("name", json.loads(DECLARED.read_text(encoding="utf-8")))
def test_a_corpus_is_declared_as_it_was_published(name: str) -> None:
    before = json.loads(DECLARED.read_text(encoding="utf-8"))[name]
    assert json.dumps(declared(name)) == json.dumps(
        before
    )  # with the order of classes, which is that of generated sources


if __name__ == "__main__":
    lines = [
        f"{json.dumps(name)}: {json.dumps(declared(name))}"
        for name in sorted(shipped_names("datasets"))
    ]
    DECLARED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
