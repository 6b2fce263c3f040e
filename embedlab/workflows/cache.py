"""What the cache folder holds, and how it is emptied."""

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from embedlab.store.files import disk_errors
from embedlab.store.marks import KINDS, NAME_FILE, own_files, remove_own


@dataclass(frozen=True, kw_only=True)
class CacheEntry:
    """One fingerprint's files in the cache."""

    path: Path
    files: tuple[Path, ...]  # that embedlab wrote; others may be beside them
    kind: str
    model: str  # the name under which the model was used; empty where none is known
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


def cache_state(folder: Path, runs: Path | None = None) -> CacheState:
    """Return what the cache FOLDER holds, with the names of models that it, or evaluations in the
    folder of RUNS, records.
    """
    names = _model_names(
        [*folder.glob("models/*"), *(runs.glob("*/seed-*") if runs is not None else ())]
    )
    paths = [
        (kind, path)
        for kind in KINDS
        if (folder / kind).is_dir()
        for path in sorted((folder / kind).iterdir())
    ]
    ours = (
        (kind, path, own_files(kind, path)) for kind, path in paths if not path.name.startswith(".")
    )
    return CacheState(
        folder=folder,
        entries=tuple(_entry(kind, path, files, names) for kind, path, files in ours if files),
    )


def clear_cache(state: CacheState) -> None:
    """Delete what embedlab wrote of all entries of a state."""
    for entry in state.entries:
        with disk_errors(entry.path):
            remove_own(entry.files, entry.path)


def _model_names(folders: Iterable[Path]) -> dict[str, str]:
    """Return the names of models by the fingerprint of their vectors, and by the name of the folder
    of their scores.
    """
    names: dict[str, str] = {}
    for folder in folders:
        for facts in (
            *map(_outcome_facts, sorted(folder.glob("evaluations/*/*.parquet"))[:1]),
            *map(_evaluation_facts, sorted(folder.glob("evaluations/*.json"))[:1]),
        ):
            if name := facts.get("model"):
                names |= {folder.name: name, facts.get("fingerprint", folder.name): name}
    return names


def _outcome_facts(path: Path) -> dict[str, str]:
    with suppress(OSError, ValueError, KeyError, pl.exceptions.PolarsError):
        return dict(json.loads(pl.read_parquet_metadata(path)["embedlab"]))
    return {}


def _evaluation_facts(path: Path) -> dict[str, str]:
    with suppress(OSError, ValueError):
        facts = json.loads(path.read_text(encoding="utf-8"))
        return {key: str(facts[key]) for key in ("model", "fingerprint") if key in facts}
    return {}


def _entry(kind: str, path: Path, files: Sequence[Path], names: Mapping[str, str]) -> CacheEntry:
    model = names.get(path.name, "") if kind in {"embeddings", "models"} else ""
    with suppress(OSError):
        model = (
            (path / NAME_FILE).read_text(encoding="utf-8", errors="replace")
            if (path / NAME_FILE).is_file()
            else model
        )
    size = sum(file.stat().st_size for file in files)
    return CacheEntry(
        path=path,
        files=tuple(files),
        kind=kind,
        model=model,
        mib=size / 2**20,
        used_s=path.stat().st_mtime,
    )
