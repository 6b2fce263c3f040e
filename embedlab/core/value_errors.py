"""What is wrong with a value that pydantic refuses, in the words of all other errors: "must be at
least 1".
"""

from collections.abc import Mapping
from typing import Any

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
        return _WORDS[kind].format(**{name: _plain(value) for name, value in context.items()})
    if kind == "too_short":
        least = context["min_length"]
        return f"list should have at least {least} item{'s' if least > 1 else ''}"
    text = str(context["error"] if kind == "value_error" else error["msg"])
    return text[:1].lower() + text[1:]


def _plain(value: Any) -> Any:
    return f"{value:g}" if isinstance(value, float) else value
