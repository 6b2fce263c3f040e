"""Trust in a folder or file: given, listed and ended."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.paths import state_folder
from embedlab.core.plugin_files import PluginFile, digest, trusted_with
from embedlab.core.schema import build
from embedlab.core.settings import Settings, folder_settings, plugins_of
from embedlab.core.trust import (
    TRUST_FILE,
    TRUSTED,
    Trusted,
    TrustedFolder,
    digest_of,
    folder_state,
    needs_trust,
    trusted,
)
from embedlab.store.entries import EntryKind, Store
from embedlab.store.json_files import JsonFormat

SETTINGS_FILES = ("embedlab.toml", "pyproject.toml")
# It is read in the core, by settings and plug-ins: what is damaged trusts nothing.
_TRUST: EntryKind[Trusted] = EntryKind(
    format=JsonFormat(
        to_values=lambda known: known.values,
        from_content=lambda _content, _path: trusted(),
        indent=1,
    ),
    place="what is trusted is stored in the state folder",
)


@dataclass(frozen=True, kw_only=True)
class TrustedPlace:
    """A folder or file that is trusted."""

    place: str  # its absolute path
    covers: str
    state: str  # "trusted", "changed since it was trusted" or "absent"


def trust_place(path: Path, *, plugins: bool) -> TrustedPlace:
    """Trust the settings of a folder, and with PLUGINS its plug-in files also when they change; or
    a file as it is now.
    """
    path = path.parent if path.name in SETTINGS_FILES else path
    if not path.is_dir():
        trust_file(path)
        return TrustedPlace(
            place=str(path.absolute()), covers="a plug-in file as it is now", state=TRUSTED
        )
    file, values = _settings(path)
    folder = path.resolve()
    inside = (
        [
            each
            for each in plugins_of(values, folder / file.name)
            if each.resolve().is_relative_to(folder)
        ]
        if plugins
        else []
    )
    known, trusted_folder = (
        trusted(),
        TrustedFolder(settings=digest_of(values), plugins=tuple(map(str, inside))),
    )
    _store(replace(known, folders={**known.folders, str(folder): trusted_folder}))
    shown = [
        f"{key} = {value}"
        for key, value in values.items()
        if needs_trust(key, value) and key != "plugins"
    ]
    return TrustedPlace(
        place=str(folder),
        covers="; ".join([*shown, *_plugins_shown(trusted_folder)]),
        state=TRUSTED,
    )


def trust_file(path: Path) -> str:
    """Trust the plug-in file at PATH as it is now, and return the SHA-256 of its content; one that
    is absent is a MissingError.
    """
    if not path.exists():
        raise MissingError(
            f"no file or folder {str(path)!r}",
            hint="name a folder with an embedlab.toml, or a plug-in file",
        )
    known = trusted_with(path)
    _store(known)
    return known.files[str(path.absolute())]


def end_trust(folder: Path) -> str:
    """End the trust in a folder or file, and return its path; one that is not trusted is a
    UsageError.
    """
    known = trusted()
    folder = folder.parent if folder.name in SETTINGS_FILES else folder
    for path in (str(folder.resolve()), str(folder.absolute())):
        if path in known.folders or path in known.files:
            folders = {key: value for key, value in known.folders.items() if key != path}
            _store(
                replace(
                    known,
                    folders=folders,
                    files={key: value for key, value in known.files.items() if key != path},
                )
            )
            return path
    raise UsageError(
        f"{str(folder.absolute())!r} is not trusted", hint="`embedlab trust --list` shows what is"
    )


def trusted_places() -> list[TrustedPlace]:
    """Return all that is trusted: folders, then files."""
    known = trusted()
    return [*_folders(known.folders), *_files(known.files)]


def _folders(folders: Mapping[str, TrustedFolder]) -> Iterator[TrustedPlace]:
    for path, folder in sorted(folders.items()):
        state = "absent"
        with suppress(EmbedlabError):
            file_settings = folder_settings(Path(path))
            state = (
                folder_state(Path(path), file_settings[1])
                if file_settings is not None
                else "absent"
            )
        yield TrustedPlace(
            place=path, covers="; ".join(["settings", *_plugins_shown(folder)]), state=state
        )


def _files(files: Mapping[str, str]) -> Iterator[TrustedPlace]:
    for path, sha256 in sorted(files.items()):
        state = "absent"
        with suppress(EmbedlabError):
            content = PluginFile(path=Path(path), needs_trust=True).read()
            state = TRUSTED if digest(content) == sha256 else "changed since it was trusted"
        yield TrustedPlace(place=path, covers="a plug-in file as it is now", state=state)


def _settings(folder: Path) -> tuple[Path, dict[str, Any]]:
    """Return the settings file of FOLDER and its values, checked; a folder with nothing to trust is
    a UsageError.
    """
    file_settings = folder_settings(folder)
    if file_settings is None:
        raise UsageError(
            f"{str(folder.absolute())!r} has no embedlab.toml",
            hint="give a folder that has one, or a Python file",
        )
    build(Settings, file_settings[1], where=str(file_settings[0]))
    if not any(needs_trust(key, value) for key, value in file_settings[1].items()):
        raise UsageError(
            f"{file_settings[0]} sets nothing that needs trust",
            hint="`embedlab config` shows what is in force",
        )
    return file_settings


def _plugins_shown(folder: TrustedFolder) -> list[str]:
    names = ", ".join(Path(path).name for path in folder.plugins)
    return [f"plug-in files {names}, also when they change"] if names else []


def _store(known: Trusted) -> None:
    """Store what is trusted in place of what was before."""
    Store(state_folder()).put(_TRUST, TRUST_FILE, known)
