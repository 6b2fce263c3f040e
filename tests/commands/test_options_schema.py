"""The JSON Schema of options accepts what the command line makes, and refuses what it refuses."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import pytest

import embedlab
from embedlab.api import FUNCTIONS
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
def test_every_function_has_a_schema(name: str) -> None:
    schema = options_schema(getattr(embedlab, name).options)
    json.dumps(schema, allow_nan=False)
    assert all("description" in own for own in schema["properties"].values())
