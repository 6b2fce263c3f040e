"""Completes the names of models and the paths of folders while they are typed; the right arrow
takes what is offered.
"""

from asyncio import to_thread
from collections.abc import Sequence

from textual.suggester import Suggester

from embedlab.core.paths import typed_path

_BEFORE_PATH = "=:"  # NAME=FOLDER, scores:FILE


class NamesAndFolders(Suggester):
    """Offers the first of NAMES that begins as what is typed; of what begins as a path does, the
    first folder.
    """

    def __init__(self, names: Sequence[str] = ()) -> None:
        super().__init__(use_cache=False, case_sensitive=True)  # a folder may be new
        self._names = names

    async def get_suggestion(self, value: str) -> str | None:
        """The whole text that is offered for VALUE; None where nothing begins so."""
        if not value:
            return None
        if (
            name := next(
                (name for name in self._names if name.casefold().startswith(value.casefold())), None
            )
        ) is not None:
            return value + name[len(value) :]
        start = 1 + max(value.rfind(sign) for sign in _BEFORE_PATH)
        folder = await to_thread(completed_folder, value[start:])
        return None if folder is None else value[:start] + folder


def completed_folder(text: str) -> str | None:
    """TEXT with the rest of the first folder whose path begins so, and a slash; None where none
    does, or TEXT is not a path.
    """
    before, slash, begun = text.rpartition("/")
    if not slash and not text.startswith("."):
        return None
    parent = typed_path(before or slash or ".")
    try:
        names = sorted(
            entry.name
            for entry in parent.iterdir()
            if entry.is_dir() and entry.name.startswith(begun)
        )
    except (OSError, RuntimeError, ValueError):  # it cannot be read, or no such user
        return None
    shown = [name for name in names if begun or not name.startswith(".")]
    return f"{before}{slash}{shown[0]}/" if shown else None
