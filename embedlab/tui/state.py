"""What the dashboard remembers of a data folder: one file of all folders, in which two dashboards
that write keep each other's changes. A damaged file is set aside, and said.
"""

import hashlib
from pathlib import Path
from typing import Any

from embedlab.core.disk import as_reading_errors, read_sealed_json, sole_writer, write_json
from embedlab.core.errors import EmbedlabError
from embedlab.core.paths import state_folder

VERSION = 2
_MOST_PLACES = 50  # data folders that are remembered, the newest
EVERYWHERE = "everywhere"  # what is remembered of no folder
_PLACE = "choose another folder with XDG_STATE_HOME"
_WHAT = "the file of what the dashboard remembers"
_ANEW = "it begins anew; the damaged file is set aside with the next change"


def _read(path: Path) -> dict[str, dict[str, Any]]:
    if not path.exists():
        return {}
    with as_reading_errors(path, hint=_ANEW, what=_WHAT):
        values = read_sealed_json(path, hint=_ANEW)
        if values["version"] != VERSION:
            raise ValueError("another version")
        return {place: dict(remembered) for place, remembered in values["places"].items()}


class Memory:
    """Values by name, of this data folder and of all; a change is written with `write`."""

    def __init__(self, place: str, path: Path | None = None) -> None:
        self._path = path or state_folder() / "dashboard-2.json"
        self._place = hashlib.sha256(place.encode()).hexdigest()[:16]
        self.trouble: EmbedlabError | None = None  # why nothing is remembered
        stored: dict[str, dict[str, Any]] = {}
        try:
            stored = _read(self._path)
        except EmbedlabError as error:
            self.trouble = error
        self._values = {place: stored.get(place, {}) for place in (EVERYWHERE, self._place)}
        self._changed: set[tuple[str, str]] = set()  # places with names

    def get(self, name: str, default: Any = None, *, everywhere: bool = False) -> Any:
        """The value called NAME; one of another type than DEFAULT is damaged, and not used."""
        value = self._values[EVERYWHERE if everywhere else self._place].get(name, default)
        return value if default is None or type(value) is type(default) else default

    def set(self, name: str, value: Any, *, everywhere: bool = False) -> None:
        """Remember VALUE, which JSON can hold, under NAME."""
        place = EVERYWHERE if everywhere else self._place
        if self._values[place].get(name) != value:
            self._values[place][name] = value
            self._changed.add((place, name))

    def write(self) -> None:
        """Write what was changed since the last time into what the file holds now."""
        changed, self._changed = self._changed, set()
        if not changed:
            return
        with sole_writer(self._path, hint=_PLACE):
            try:
                places = _read(self._path)
            except EmbedlabError:
                self._path.replace(self._path.with_suffix(".damaged.json"))
                places = {}
            for place, name in changed:  # the newest place is last
                places[place] = {**places.pop(place, {}), name: self._values[place][name]}
            folders = [place for place in places if place != EVERYWHERE]
            for oldest in folders[:-_MOST_PLACES]:
                del places[oldest]
            write_json(self._path, {"version": VERSION, "places": places}, indent=1, hint=_PLACE)
