"""The file of selections that the user gave a name: `@NAME` in any filter holds where its
expression does.
"""

from collections.abc import Mapping
from pathlib import Path

from embedlab.core.disk import as_reading_errors, read_sealed_json, sole_writer, write_json
from embedlab.core.paths import state_folder

SCHEMA = 1
_ANEW = "delete the file: they are named again"
_WHERE = "choose another folder with XDG_STATE_HOME"

Selections = Mapping[str, str]  # the expression of each


def named_selections() -> Selections:
    """Return the expression of each named selection; a file that cannot be read is a
    MissingError.
    """
    path = _file()
    if not path.exists():
        return {}
    with as_reading_errors(path, hint=_ANEW, what="the file of named selections"):
        values = read_sealed_json(path, hint=_ANEW)
        if values["schema"] != SCHEMA:
            raise ValueError("another schema")
        return {str(name): str(expression) for name, expression in values["selections"].items()}


def store_selection(name: str, expression: str) -> None:
    """Store an EXPRESSION that was checked under NAME; one that had it before loses it, and an
    empty expression deletes the name.
    """
    with sole_writer(_file(), hint=_WHERE):
        items = sorted({**named_selections(), name: expression}.items())
        selections = {key: text for key, text in items if text}
        write_json(_file(), {"schema": SCHEMA, "selections": selections}, indent=1, hint=_WHERE)


def _file() -> Path:
    return state_folder() / "selections.json"
