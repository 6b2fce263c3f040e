"""The JSON Schema of options accepts what the command line makes, and refuses what it refuses."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest

import embedlab
from embedlab.api import FUNCTIONS
from embedlab.commands.compare import CompareOptions
from embedlab.commands.options import Flag, options_schema


@dataclass(frozen=True, kw_only=True)
class Made:
    """Options of this test.

    A second line.
    """

    names: Annotated[Sequence[str], Flag(metavar="NAME...", help="Names.")]
    size: Annotated[int | None, Flag(names=("--size",), help="How large.", min=1, max=9)] = None
    way: Annotated[Literal["up", "down"], Flag(names=("--way",), help="Where to.")] = "up"
    counts: Annotated[Sequence[int], Flag(names=("--count",), help="Counts.", min=2)] = ()
    seeds: Annotated[
        Sequence[int],
        Flag(
            names=("--seeds",), help="N.", max=5, typed=int | None, reads=lambda n: range(1, n + 1)
        ),
    ] = ()


def test_each_field_has_its_type_bounds_help_and_default() -> None:
    schema = options_schema(Made)
    assert schema["title"] == "Made"
    assert schema["description"] == "Options of this test."
    assert schema["required"] == ["names"]
    assert schema["properties"] == {
        "names": {"type": "array", "items": {"type": "string"}, "description": "Names."},
        "size": {
            "anyOf": [{"type": "integer", "minimum": 1, "maximum": 9}, {"type": "null"}],
            "description": "How large.",
            "default": None,
        },
        "way": {
            "type": "string",
            "enum": ["up", "down"],
            "description": "Where to.",
            "default": "up",
        },
        "counts": {
            "type": "array",
            "items": {"type": "integer", "minimum": 2},
            "description": "Counts.",
            "default": [],
        },
        "seeds": {
            "type": "array",
            "items": {"type": "integer"},
            "description": "N.",
            "default": [],
        },  # the bound is of what is typed
    }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_has_a_schema_whose_defaults_fit(name: str) -> None:
    schema = options_schema(getattr(embedlab, name).options)
    json.dumps(schema, allow_nan=False)
    for own in schema["properties"].values():
        assert "default" not in own or _fits(own["default"], own)


def test_a_wrong_choice_does_not_fit() -> None:
    properties = options_schema(CompareOptions)["properties"]
    assert _fits("mean", properties["aggregate"])
    assert not _fits("median", properties["aggregate"])


def _fits(value: Any, schema: dict[str, Any]) -> bool:
    """Return whether VALUE fits a schema of the few kinds that options have; an independent reader
    of them.
    """
    if "anyOf" in schema:
        return any(_fits(value, part) for part in schema["anyOf"])
    kinds = {
        "string": str,
        "boolean": bool,
        "integer": int,
        "number": (int, float),
        "array": list,
        "null": type(None),
    }
    if not isinstance(value, kinds[schema["type"]]) or (
        schema["type"] != "boolean" and isinstance(value, bool)
    ):
        return False
    if schema["type"] == "array":
        return all(_fits(one, schema.get("items", {"type": "string"})) for one in value)
    return value in schema.get("enum", [value]) and not (
        isinstance(value, int | float) and value < schema.get("minimum", value)
    )
