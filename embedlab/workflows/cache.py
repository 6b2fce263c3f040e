"""What the cache folder holds, and how it is emptied."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from embedlab.core.paths import disk_errors

# What embedlab stores in the cache folder: vectors by encoder, scores by model, tokenised sentences, encoders of the sample world.
# Anything else there belongs to others and is not deleted.
KINDS = ("embeddings", "models", "tokens", "sample-encoders")


@dataclass(frozen=True, kw_only=True)
class CacheEntry:
    """One fingerprint's files in the cache."""

    path: Path
    kind: str
    mib: float
    used_s: float  # seconds since 1970


@dataclass(frozen=True, kw_only=True)
class CacheState:
    """All that the cache folder holds, by kind."""

    folder: Path
    entries: tuple[CacheEntry, ...]

    @property
    def mib(self) -> float:
        """The size of all entries."""
        return sum(entry.mib for entry in self.entries)


def cache_state(folder: Path) -> CacheState:
    """Return what the cache FOLDER holds."""
    paths = [(kind, path) for kind in KINDS if (folder / kind).is_dir() for path in sorted((folder / kind).iterdir())]
    return CacheState(folder=folder, entries=tuple(_entry(kind, path) for kind, path in paths if not path.name.startswith(".")))


def clear_cache(state: CacheState) -> None:
    """Delete all entries of a state."""
    for entry in state.entries:
        with disk_errors(entry.path):
            shutil.rmtree(entry.path) if entry.path.is_dir() else entry.path.unlink()


def _entry(kind: str, path: Path) -> CacheEntry:
    size = sum(file.stat().st_size for file in (path, *path.rglob("*")) if file.is_file())
    return CacheEntry(path=path, kind=kind, mib=size / 2**20, used_s=path.stat().st_mtime)
