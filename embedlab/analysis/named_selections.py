"""The file of selections that the user gave a name: `@NAME` in any filter holds where its
expression does.
"""

from collections.abc import Mapping
from pathlib import Path

from embedlab.core.paths import state_folder
from embedlab.core.seal import json_values
from embedlab.store.entries import EntryKind, Store
from embedlab.store.json_files import JsonFormat

SCHEMA = 1

Selections = Mapping[str, str]  # the expression of each


def _selections(content: bytes, _path: Path) -> Selections:
    values = json_values(content)
    if values["schema"] != SCHEMA:
        raise ValueError("another schema")
    return {str(name): str(expression) for name, expression in values["selections"].items()}


SELECTIONS: EntryKind[Selections] = EntryKind(
    format=JsonFormat(
        to_values=lambda stored: {"schema": SCHEMA, "selections": stored},
        from_content=_selections,
        indent=1,
    ),
    title="the file of named selections",
    again="delete the file: they are named again",
    place="choose another folder with XDG_STATE_HOME",
)
_KEY = "selections"


def named_selections() -> Selections:
    """Return the expression of each named selection; a file that cannot be read is a
    MissingError.
    """
    return Store(state_folder()).get(SELECTIONS, _KEY) or {}


def store_selection(name: str, expression: str) -> None:
    """Store an EXPRESSION that was checked under NAME; one that had it before loses it, and an
    empty expression deletes the name.
    """

    def changed(known: Selections | None) -> Selections:
        return {
            key: text for key, text in sorted({**(known or {}), name: expression}.items()) if text
        }

    Store(state_folder()).change(SELECTIONS, _KEY, changed)
