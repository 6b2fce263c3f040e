"""The user's notes on pairs: one file by the text of the pairs, so that they survive reloads, other datasets and other models."""

from collections.abc import Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from embedlab.analysis.expressions import NOTE
from embedlab.analysis.scores import pair_key
from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.paths import state_folder
from embedlab.core.seal import sealed_json
from embedlab.store.files import disk_errors, write_atomic
from embedlab.store.sealed import read_sealed_json

SCHEMA = 1
HINT = "choose another folder with XDG_STATE_HOME"


@dataclass(frozen=True, kw_only=True)
class PairNote:
    """A note with the pair that it is about, so that the file can be read without the datasets."""

    note: str
    sentence1: str
    sentence2: str


@dataclass
class PairNotes:
    """All notes by pair key; every change is written at once."""

    path: Path
    notes: Mapping[int, PairNote]
    trouble: EmbedlabError | None = None  # why the file could not be read; it is set aside before another is written

    @classmethod
    def load(cls) -> "PairNotes":
        """Read the notes of all sessions."""
        path = state_folder() / "pair-notes.json"
        try:
            return cls(path=path, notes=_read(path))
        except (OSError, ValueError, RecursionError, EmbedlabError) as error:
            hint = f"the first new note moves it to {_set_aside(path).name!r}"
            trouble = MissingError(f"the notes on pairs in {str(path)!r} are unusable", hint=hint)
            trouble.__cause__ = error
            return cls(path=path, notes={}, trouble=trouble)

    def text(self, first: str, second: str) -> str:
        """The note on a pair; empty without one."""
        found = self.notes.get(int(pair_key(first, second)))
        return found.note if found is not None else ""

    def change(self, first: str, second: str, text: str) -> None:
        """Set the note on a pair, or delete it where TEXT is empty; notes that another process wrote meanwhile stay."""
        key = int(pair_key(first, second))
        with self._sole_writer():
            if self.trouble is not None:
                self.path.replace(_set_aside(self.path))
                self.trouble = None
            notes = {**_read(self.path)}
            if text:
                notes[key] = PairNote(note=text, sentence1=first, sentence2=second)
            else:
                notes.pop(key, None)
            stored = {f"{one:016x}": asdict(note) for one, note in notes.items()}
            write_atomic(self.path, sealed_json({"schema": SCHEMA, "notes": stored}, indent=1), hint=HINT)
            self.notes = notes

    def joined(self, table: pl.DataFrame, *, always: bool = False) -> pl.DataFrame:
        """TABLE with its notes in the column NOTE; without the column, unless it is wanted ALWAYS, where no pair of it has one."""
        keys = list(self.notes)
        known = pl.Series(keys, dtype=pl.UInt64)
        bare = table.drop(NOTE, strict=False)
        if not always and not bare["pair_key"].is_in(known.implode()).any():
            return bare
        texts = pl.Series([note.note for note in self.notes.values()], dtype=pl.String)
        return bare.with_columns(bare["pair_key"].replace_strict(known, texts, default=None, return_dtype=pl.String).alias(NOTE))

    @contextmanager
    def _sole_writer(self) -> Any:
        from filelock import FileLock

        with disk_errors(self.path, hint=HINT):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self.path.with_name(f".{self.path.name}.lock")):
                yield


def _set_aside(path: Path) -> Path:
    return path.with_suffix(".damaged.json")


def _read(path: Path) -> dict[int, PairNote]:
    """The notes in a file, none where it does not exist; one of another shape is a ValueError."""
    if not path.exists():
        return {}
    values = read_sealed_json(path, hint="")
    try:
        if values["schema"] != SCHEMA:
            raise ValueError("another schema")
        return {int(key, 16): PairNote(**note) for key, note in values["notes"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("not a file of notes") from error
