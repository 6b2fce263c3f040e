"""The fields of options in the order in which a command shows them and a Python function has
them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, get_origin, get_type_hints

from embedlab.workflows.options.flag import Flag


@dataclass(frozen=True, kw_only=True)
class FlaggedField:
    """A field of options: its name, its type, its default (MISSING where it has none), and its
    flag.
    """

    name: str
    kind: Any
    default: Any
    flag: Flag

    @property
    def is_several(self) -> bool:
        """Whether it holds several values, each typed by itself."""
        return get_origin(self.kind) in {Sequence, tuple}


@cache
def flagged_fields(options: type) -> tuple[FlaggedField, ...]:
    """Return the fields of OPTIONS: shared ones before the command's own, which say after which
    they are where that is not the end.
    """
    hints = get_type_hints(options, include_extras=True)
    flagged = [
        FlaggedField(
            name=field.name, kind=hints[field.name].__origin__, default=field.default, flag=flag
        )
        for field in fields(options)
        for flag in getattr(hints[field.name], "__metadata__", ())
        if isinstance(flag, Flag)
    ]
    placed: list[FlaggedField] = []
    for flagged_field in flagged:
        names = [other.name for other in placed]
        placed.insert(
            names.index(flagged_field.flag.after) + 1 if flagged_field.flag.after else len(placed),
            flagged_field,
        )
    return tuple(placed)
