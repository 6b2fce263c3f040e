"""What the dashboard remembers of a data folder: one file of all folders, in which two dashboards
that write keep each other's changes.
"""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from embedlab.core.paths import state_folder
from embedlab.store.files import write_atomic
from embedlab.store.locks import sole_writer

VERSION = 2
_PLACES = 50  # data folders that are remembered, the newest
EVERYWHERE = "everywhere"  # what is remembered of no folder


class Memory:
    """Values by name, of this data folder and of all; a change is written with `write`."""

    def __init__(self, place: str, path: Path | None = None) -> None:
        self._path = path or state_folder() / "dashboard-2.json"
        self._place = hashlib.sha256(place.encode()).hexdigest()[:16]
        stored = self._read()
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
        changed = {where: values for where, values in self._changed.items() if values}
        if not changed:
            return
        self._changed = {where: {} for where in self._changed}
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with sole_writer(self._path):
            stored = self._read()
            for where, values in changed.items():
                stored[where] = {**stored.pop(where, {}), **values}  # the newest is last
            places = [where for where in stored if where != EVERYWHERE]
            for old in places[:-_PLACES]:
                del stored[old]
            write_atomic(self._path, json.dumps({"version": VERSION, "places": stored}, indent=1))

    def _read(self) -> dict[str, dict[str, Any]]:
        """What the file holds; a damaged one or one of another version holds nothing."""
        with suppress(OSError, ValueError, TypeError, LookupError, AttributeError):
            content = json.loads(self._path.read_bytes())
            places: Mapping[str, Any] = content["places"] if content["version"] == VERSION else {}
            return {where: dict(values) for where, values in places.items()}
        return {}
