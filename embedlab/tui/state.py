"""What the dashboard remembers of a data folder: one file of all folders, in which two dashboards
that write keep each other's changes. A damaged file is set aside, and said.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from embedlab.core.errors import EmbedlabError
from embedlab.core.paths import state_folder
from embedlab.core.seal import json_values
from embedlab.store.entries import EntryKind, Store
from embedlab.store.json_files import JsonFormat

VERSION = 2
_PLACES = 50  # data folders that are remembered, the newest
EVERYWHERE = "everywhere"  # what is remembered of no folder

Places = Mapping[str, Mapping[str, Any]]


def _values(places: Places) -> Mapping[str, Any]:
    return {"version": VERSION, "places": places}


def _places(content: bytes, _path: Path) -> Places:
    values = json_values(content)
    if values["version"] != VERSION:
        raise ValueError("another version")
    return {where: dict(known) for where, known in values["places"].items()}


PLACES: EntryKind[Places] = EntryKind(
    format=JsonFormat(to_values=_values, from_content=_places, indent=1),
    title="the file of what the dashboard remembers",
    again="it begins anew; the damaged file is set aside with the next change",
    place="choose another folder with XDG_STATE_HOME",
)


class Memory:
    """Values by name, of this data folder and of all; a change is written with `write`."""

    def __init__(self, place: str, path: Path | None = None) -> None:
        self._path = path or state_folder() / "dashboard-2.json"
        self._place = hashlib.sha256(place.encode()).hexdigest()[:16]
        self.trouble: EmbedlabError | None = None  # why nothing is remembered
        stored: Places = {}
        try:
            stored = Store(self._path.parent).get(PLACES, self._path.stem) or {}
        except EmbedlabError as error:
            self.trouble = error
        self._values: dict[str, dict[str, Any]] = {
            where: dict(stored.get(where, {})) for where in (EVERYWHERE, self._place)
        }
        self._changed: dict[str, dict[str, Any]] = {EVERYWHERE: {}, self._place: {}}

    def get(self, name: str, default: Any = None, *, everywhere: bool = False) -> Any:
        """The value called NAME; one of another type than DEFAULT is damaged, and not used."""
        value = self._values[EVERYWHERE if everywhere else self._place].get(name, default)
        return value if default is None or type(value) is type(default) else default

    def set(self, name: str, value: Any, *, everywhere: bool = False) -> bool:
        """Remember VALUE, which JSON can hold, under NAME; gives whether that is a change."""
        where = EVERYWHERE if everywhere else self._place
        if self._values[where].get(name) == value:
            return False
        self._values[where][name] = self._changed[where][name] = value
        return True

    def write(self) -> None:
        """Write what was changed since the last time into what the file holds now."""
        changes = {where: values for where, values in self._changed.items() if values}
        if not changes:
            return
        self._changed = {where: {} for where in self._changed}

        def changed(places: Places | None) -> Places:
            stored = dict(places or {})
            for where, values in changes.items():
                stored[where] = {**stored.pop(where, {}), **values}  # the newest is last
            for old in [where for where in stored if where != EVERYWHERE][:-_PLACES]:
                del stored[old]
            return stored

        aside = self._path.with_suffix(".damaged.json")
        Store(self._path.parent).change(PLACES, self._path.stem, changed, aside=aside)
