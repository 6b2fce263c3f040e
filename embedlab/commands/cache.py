"""`embedlab cache`: see and clear what is stored to be computed once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from embedlab.commands.command import command, confirm
from embedlab.commands.options import Confirmed
from embedlab.commands.terminal import Terminal
from embedlab.core.session import Session

if TYPE_CHECKING:
    from embedlab.reports.report import Report
    from embedlab.reports.tables import TableCell, Value


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


@command("runs", "output", examples=("embedlab cache ls", "embedlab cache ls --json"))
def ls(session: Session) -> Report:
    """List what is stored, of which model, its size and when it was last used."""
    from embedlab.models.grammar import title_of
    from embedlab.reports.report import Report
    from embedlab.reports.tables import Column, Table, TableCell

    state = cache_state(session.settings.cache, session.settings.runs)
    rows: list[dict[str, Value | TableCell]] = [
        {
            "entry": entry.path.name,
            "kind": entry.kind,
            "model": TableCell(value=entry.model or None, text=title_of(entry.model))
            if entry.model
            else None,
            "mib": entry.mib,
            "used": TableCell(
                value=(used := _time(entry.used_s)), text=used[:16].replace("T", " ")
            ),
        }
        for entry in sorted(state.entries, key=lambda entry: -entry.used_s)
    ]
    columns = (
        Column(key="entry", title="entry", role="minor"),
        Column(key="kind", title="kind"),
        Column(key="model", title="model"),
        Column(key="mib", title="MiB", digits=1),
        Column(key="used", title="last used"),
    )
    total = (
        f"{state.mib:.1f} MiB in {state.folder}; embeddings are trimmed to "
        f"{session.settings.cache_gib:g} GiB"
    )
    return Report.of([Table(title="Cache", columns=columns, rows=rows, notes=(total,))])


@command("output", examples=("embedlab cache clear", "embedlab cache clear --yes"))
def clear(options: Confirmed, session: Terminal) -> None:
    """Delete what embedlab has stored; it is computed again when it is needed. Other files in the
    folder stay.
    """
    from embedlab.store.files import disk_errors
    from embedlab.store.marks import remove_own

    state = cache_state(session.settings.cache)
    what = f"{len(state.entries)} entries, {state.mib:.1f} MiB"
    if state.entries:
        question = f"delete {what} in {state.folder}?"
        confirm(question, "nothing deleted", session, is_confirmed=options.yes)
    for entry in state.entries:
        with disk_errors(entry.path):
            remove_own(entry.files, entry.path)
    session.done(
        f"deleted {what}", folder=str(state.folder), deleted=len(state.entries), mib=state.mib
    )


def cache_state(folder: Path, runs: Path | None = None) -> CacheState:
    """Return what the cache FOLDER holds, with the names of models that it, or evaluations in the
    folder of RUNS, records.
    """
    from embedlab.store.marks import KINDS, own_files

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
    import polars as pl

    with suppress(OSError, ValueError, KeyError, pl.exceptions.PolarsError):
        return dict(json.loads(pl.read_parquet_metadata(path)["embedlab"]))
    return {}


def _evaluation_facts(path: Path) -> dict[str, str]:
    with suppress(OSError, ValueError):
        facts = json.loads(path.read_text(encoding="utf-8"))
        return {key: str(facts[key]) for key in ("model", "fingerprint") if key in facts}
    return {}


def _entry(kind: str, path: Path, files: Sequence[Path], names: Mapping[str, str]) -> CacheEntry:
    from embedlab.store.marks import NAME_FILE

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


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat()
