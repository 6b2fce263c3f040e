"""Options checked against their closed choices, which the command line does by itself."""

from dataclasses import fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from embedlab.core.nearest import unknown


def refuse_unknown_choices(options: Any) -> None:
    """Refuse a value of a frozen options dataclass that is none of the choices of its field."""
    hints = get_type_hints(type(options))
    for field in fields(options):
        kinds = (hints[field.name], *get_args(hints[field.name]))
        choices = [
            choice for kind in kinds if get_origin(kind) is Literal for choice in get_args(kind)
        ]
        value = getattr(options, field.name)
        if choices and value is not None and value not in choices:
            raise unknown(field.name, str(value), choices)
