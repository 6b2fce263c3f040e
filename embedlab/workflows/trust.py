"""Trust in a folder or file: given, listed and ended."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from embedlab.core import plugin_files
from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.plugin_files import PluginFile, digest
from embedlab.core.schema import build
from embedlab.core.settings import Settings, folder_settings, plugins_of
from embedlab.core.trust import TRUSTED, TrustedFolder, digest_of, folder_state, needs_trust, trusted

SETTINGS_FILES = ("embedlab.toml", "pyproject.toml")


@dataclass(frozen=True, kw_only=True)
class TrustedPlace:
    """A folder or file that is trusted."""

    place: str  # its absolute path
    covers: str
    state: str  # "trusted", "changed since it was trusted" or "absent"


def trust_place(place: Path, *, plugins: bool) -> TrustedPlace:
    """Trust the settings of a folder, and with PLUGINS its plug-in files also when they change; or a file as it is now."""
    place = place.parent if place.name in SETTINGS_FILES else place
    if not place.is_dir():
        plugin_files.trust(place)
        return TrustedPlace(place=str(place.absolute()), covers="a plug-in file as it is now", state=TRUSTED)
    file, values = _settings(place)
    folder = place.resolve()
    inside = [file for file in plugins_of(values, folder / file.name) if file.resolve().is_relative_to(folder)] if plugins else []
    known, own = trusted(), TrustedFolder(settings=digest_of(values), plugins=tuple(map(str, inside)))
    replace(known, folders={**known.folders, str(folder): own}).write()
    shown = [f"{key} = {value}" for key, value in values.items() if needs_trust(key, value) and key != "plugins"]
    return TrustedPlace(place=str(folder), covers="; ".join([*shown, *_plugins_shown(own)]), state=TRUSTED)


def end_trust(place: Path) -> str:
    """End the trust in a folder or file, and return its path; one that is not trusted is a UsageError."""
    known = trusted()
    place = place.parent if place.name in SETTINGS_FILES else place
    for path in (str(place.resolve()), str(place.absolute())):
        if path in known.folders or path in known.files:
            folders = {key: value for key, value in known.folders.items() if key != path}
            replace(known, folders=folders, files={key: value for key, value in known.files.items() if key != path}).write()
            return path
    raise UsageError(f"{str(place.absolute())!r} is not trusted", hint="`embedlab trust --list` shows what is")


def trusted_places() -> list[TrustedPlace]:
    """Return all that is trusted: folders, then files."""
    known = trusted()
    return [*_folders(known.folders), *_files(known.files)]


def _folders(folders: Mapping[str, TrustedFolder]) -> Iterator[TrustedPlace]:
    for path, one in sorted(folders.items()):
        state = "absent"
        with suppress(EmbedlabError):
            own = folder_settings(Path(path))
            state = folder_state(Path(path), own[1]) if own is not None else "absent"
        yield TrustedPlace(place=path, covers="; ".join(["settings", *_plugins_shown(one)]), state=state)


def _files(files: Mapping[str, str]) -> Iterator[TrustedPlace]:
    for path, sha256 in sorted(files.items()):
        state = "absent"
        with suppress(EmbedlabError):
            content = PluginFile(path=Path(path), needs_trust=True).read()
            state = TRUSTED if digest(content) == sha256 else "changed since it was trusted"
        yield TrustedPlace(place=path, covers="a plug-in file as it is now", state=state)


def _settings(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return the settings file of FOLDER and its values, checked; a folder with nothing to trust is a UsageError."""
    found = folder_settings(folder)
    if found is None:
        raise UsageError(f"{str(folder.absolute())!r} has no embedlab.toml", hint="give a folder that has one, or a Python file")
    build(Settings, found[1], where=str(found[0]))
    if not any(needs_trust(key, value) for key, value in found[1].items()):
        raise UsageError(f"{found[0]} sets nothing that needs trust", hint="`embedlab config` shows what is in force")
    return found


def _plugins_shown(folder: TrustedFolder) -> list[str]:
    names = ", ".join(Path(path).name for path in folder.plugins)
    return [f"plug-in files {names}, also when they change"] if names else []
