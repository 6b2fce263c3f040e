"""The file of selections that the user gave a name: `@NAME` in any filter holds where its expression does."""

from collections.abc import Mapping

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.paths import state_folder
from embedlab.core.seal import sealed_json
from embedlab.store.files import disk_errors, write_atomic
from embedlab.store.sealed import read_sealed_json

SCHEMA = 1
_HINT = "choose another folder with XDG_STATE_HOME"


def named_selections() -> Mapping[str, str]:
    """Return the expression of each named selection; a file that cannot be read is a MissingError."""
    path = state_folder() / "selections.json"
    if not path.exists():
        return {}
    try:
        values = read_sealed_json(path, hint="")
        if values["schema"] != SCHEMA:
            raise ValueError("another schema")
        return {str(name): str(expression) for name, expression in values["selections"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError, EmbedlabError) as error:
        raise MissingError(f"the named selections in {str(path)!r} are unusable", hint="delete the file: they are named again") from error


def store_selection(name: str, expression: str) -> None:
    """Store an EXPRESSION that was checked under NAME; one that had it before loses it, and an empty expression deletes the name."""
    from filelock import FileLock

    path = state_folder() / "selections.json"
    with disk_errors(path, hint=_HINT):
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(f".{path.name}.lock")):
            known = {**named_selections(), name: expression}
            stored = {one: text for one, text in sorted(known.items()) if text}
            write_atomic(path, sealed_json({"schema": SCHEMA, "selections": stored}, indent=1), hint=_HINT)
