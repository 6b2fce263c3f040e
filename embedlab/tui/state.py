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
        values_of_place: dict[str, dict[str, Any]] = {}
        try:
            values_of_place = _read(self._path)
        except EmbedlabError as error:
            self.trouble = error
        self._values: dict[str, dict[str, Any]] = {
            key: dict(values_of_place.get(key, {})) for key in (EVERYWHERE, self._place)
        }
        self._changed: dict[str, dict[str, Any]] = {EVERYWHERE: {}, self._place: {}}

    def get(self, name: str, default: Any = None, *, everywhere: bool = False) -> Any:
        """The value called NAME; one of another type than DEFAULT is damaged, and not used."""
        value = self._values[EVERYWHERE if everywhere else self._place].get(name, default)
        return value if default is None or type(value) is type(default) else default

    def set(self, name: str, value: Any, *, everywhere: bool = False) -> None:
        """Remember VALUE, which JSON can hold, under NAME."""
        place = EVERYWHERE if everywhere else self._place
        if self._values[place].get(name) != value:
            self._values[place][name] = self._changed[place][name] = value

    def write(self) -> None:
        """Write what was changed since the last time into what the file holds now."""
        changes = {place: values for place, values in self._changed.items() if values}
        if not changes:
            return
        self._changed = {place: {} for place in self._changed}
        with sole_writer(self._path, hint=_PLACE):
            try:
                values_of_place = _read(self._path)
            except EmbedlabError:
                self._path.replace(self._path.with_suffix(".damaged.json"))
                values_of_place = {}
            for place, values in changes.items():
                values_of_place[place] = {
                    **values_of_place.pop(place, {}),
                    **values,
                }  # the newest is last
            for oldest in [place for place in values_of_place if place != EVERYWHERE][
                :-_MOST_PLACES
            ]:
                del values_of_place[oldest]
            values_now = {"version": VERSION, "places": values_of_place}
            write_json(self._path, values_now, indent=1, hint=_PLACE)
