"""What the user trusts, as `embedlab trust` stored it: folders by what their settings decide, and
files with plug-ins by their content.

The settings of a folder that is not trusted decide how things are shown and computed. Where data,
runs and caches are, whether the network is used and which code runs is decided by the user alone:
whoever made the folder must not choose it. Trust in a folder is in the values of those keys: for
other values it must be given again, for another comment or format not.
"""

import hashlib
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from embedlab.core.paths import state_folder
from embedlab.core.seal import is_intact, json_values

# What the settings of any folder may decide. A setting that is added needs trust until it is in
# this list.
FREE = frozenset(
    {
        *("format", "quiet", "notes", "debug", "theme"),
        *(
            "sample",
            "allow_partial",
            "device",
            "precision",
            "deterministic",
            "threads",
            "device_map",
            "cpu_engine",
            "textual_tuning",
        ),
    }
)
TRUSTED = "trusted"
TRUST_FILE = "trusted-plugins"  # in the state folder; the name that an earlier version gave it


@dataclass(frozen=True, kw_only=True)
class TrustedFolder:
    """What was trusted of a folder."""

    settings: str  # the digest of its values that need trust
    plugins: tuple[str, ...] = ()  # its plug-in files that may change


@dataclass(frozen=True, kw_only=True)
class Trusted:
    """All that is trusted, by absolute path."""

    files: Mapping[str, str]  # SHA-256 of the content
    folders: Mapping[str, TrustedFolder]

    @property
    def values(self) -> Mapping[str, Any]:
        """What is stored of it."""
        return {
            "files": dict(self.files),
            "folders": {path: asdict(folder) for path, folder in self.folders.items()},
        }


def trusted() -> Trusted:
    """Return what is trusted: nothing where the list is damaged."""
    with suppress(OSError, ValueError, TypeError):
        content = (state_folder() / f"{TRUST_FILE}.json").read_bytes()
        if not is_intact(content):
            raise ValueError("damaged")
        values = json_values(content)
        files = {
            path: sha256 for path, sha256 in values["files"].items() if isinstance(sha256, str)
        }
        folders = {
            path: TrustedFolder(
                settings=str(value["settings"]), plugins=tuple(map(str, value["plugins"]))
            )
            for path, value in values.get("folders", {}).items()
        }
        return Trusted(files=files, folders=folders)
    return Trusted(files={}, folders={})


def needs_trust(key: str, value: Any) -> bool:
    """Return whether only a trusted folder may set KEY to VALUE; to stay offline is always
    allowed.
    """
    return key not in FREE and not (key == "offline" and value is True)


def digest_of(values: Any) -> str:
    """Return a digest of the VALUES that need trust; what is not a table, which settings refuse,
    has none.
    """
    needed = (
        {key: value for key, value in values.items() if needs_trust(key, value)}
        if isinstance(values, dict)
        else {}
    )
    return hashlib.sha256(json.dumps(needed, sort_keys=True, default=str).encode()).hexdigest()


def folder_state(folder: Path, values: Mapping[str, Any]) -> str:
    """Return "trusted", "changed since it was trusted" or "not trusted" for a FOLDER whose settings
    have these VALUES.
    """
    known = trusted().folders.get(str(folder.resolve()))
    if known is None:
        return "not trusted"
    return TRUSTED if known.settings == digest_of(values) else "changed since it was trusted"
