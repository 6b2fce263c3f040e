"""The JSON Schema of a command's options, made from their fields, for programs that write or check
them.
"""

from collections.abc import Mapping
from dataclasses import MISSING
from typing import Any

from embedlab.workflows.options.fields import FlaggedField, flagged_fields

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def options_schema(options: type) -> Mapping[str, Any]:
    """Return the schema of OPTIONS, a dataclass of options, as an object of its fields."""
    fields = flagged_fields(options)
    return {
        "$schema": DIALECT,
        "title": options.__name__,
        "description": (options.__doc__ or "").partition("\n")[0],
        "type": "object",
        "properties": {field.name: _field_schema(field) for field in fields},
        "required": [field.name for field in fields if field.default is MISSING],
        "additionalProperties": False,
    }


def _field_schema(field: FlaggedField) -> Mapping[str, Any]:
    """Return the schema of one field: its type, the bounds of a number, its help, and its
    default.
    """
    from pydantic import TypeAdapter

    made = TypeAdapter(field.kind)
    schema = made.json_schema()
    if field.flag.typed is None:  # otherwise the bounds are those of what is typed
        _bounded(schema, {"minimum": field.flag.min, "maximum": field.flag.max})
    default = (
        {}
        if field.default is MISSING
        else {"default": made.dump_python(field.default, mode="json")}
    )
    return {**schema, "description": field.flag.help, **default}


def _bounded(schema: dict[str, Any], bounds: Mapping[str, int | None]) -> None:
    """Add BOUNDS to the numbers of a SCHEMA, those of a list or of a choice included."""
    for subschema in [schema, schema.get("items", {}), *schema.get("anyOf", ())]:
        if subschema.get("type") in {"integer", "number"}:
            subschema.update({name: bound for name, bound in bounds.items() if bound is not None})
