"""The user's notes on pairs: one file by the text of the pairs, so that they survive reloads, other
datasets and other models.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from embedlab.analysis.expressions import NOTE
from embedlab.analysis.scores import pair_key
from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.paths import state_folder
from embedlab.core.seal import json_values
from embedlab.store.entries import EntryKind, Store
from embedlab.store.json_files import JsonFormat

SCHEMA = 1
_KEY = "pair-notes"


@dataclass(frozen=True, kw_only=True)
class PairNote:
    """A note with the pair that it is about, so that the file can be read without the datasets."""

    note: str
    sentence1: str
    sentence2: str


Notes = Mapping[int, PairNote]  # by pair key


def _values(notes: Notes) -> Mapping[str, Any]:
    return {"schema": SCHEMA, "notes": {f"{key:016x}": asdict(note) for key, note in notes.items()}}


def _notes(content: bytes, _path: Path) -> Notes:
    values = json_values(content)
    if values["schema"] != SCHEMA:
        raise ValueError("another schema")
    return {int(key, 16): PairNote(**note) for key, note in values["notes"].items()}


NOTES: EntryKind[Notes] = EntryKind(
    format=JsonFormat(to_values=_values, from_content=_notes, indent=1),
    title="the file of notes on pairs",
    place="choose another folder with XDG_STATE_HOME",
)


@dataclass
class PairNotes:
    """All notes by pair key; every change is written at once."""

    path: Path
    notes: Notes
    # why the file could not be read; it is set aside before another is written
    trouble: EmbedlabError | None = None

    @classmethod
    def load(cls) -> "PairNotes":
        """Read the notes of all sessions."""
        path = Store(state_folder()).path(NOTES, _KEY)
        try:
            return cls(path=path, notes=Store(path.parent).get(NOTES, _KEY) or {})
        except EmbedlabError as error:
            hint = f"the first new note moves it to {_set_aside(path).name!r}"
            trouble = MissingError(f"the notes on pairs in {str(path)!r} are unusable", hint=hint)
            trouble.__cause__ = error
            return cls(path=path, notes={}, trouble=trouble)

    def text(self, first: str, second: str) -> str:
        """The note on a pair; empty without one."""
        pair_note = self.notes.get(int(pair_key(first, second)))
        return pair_note.note if pair_note is not None else ""

    def change(self, first: str, second: str, text: str) -> None:
        """Set the note on a pair, or delete it where TEXT is empty; notes that another process
        wrote meanwhile stay.
        """
        key = int(pair_key(first, second))

        def changed(notes: Notes | None) -> Notes:
            others = {other: note for other, note in (notes or {}).items() if other != key}
            return (
                {**others, key: PairNote(note=text, sentence1=first, sentence2=second)}
                if text
                else others
            )

        aside = _set_aside(self.path) if self.trouble is not None else None
        self.notes, self.trouble = (
            Store(self.path.parent).change(NOTES, _KEY, changed, aside=aside),
            None,
        )

    def joined(self, table: pl.DataFrame, *, always: bool = False) -> pl.DataFrame:
        """TABLE with its notes in the column NOTE; without the column, unless it is wanted ALWAYS,
        where no pair of it has one.
        """
        keys = list(self.notes)
        known = pl.Series(keys, dtype=pl.UInt64)
        bare = table.drop(NOTE, strict=False)
        if not always and not bare["pair_key"].is_in(known.implode()).any():
            return bare
        texts = pl.Series([note.note for note in self.notes.values()], dtype=pl.String)
        return bare.with_columns(
            bare["pair_key"]
            .replace_strict(known, texts, default=None, return_dtype=pl.String)
            .alias(NOTE)
        )


def _set_aside(path: Path) -> Path:
    return path.with_suffix(".damaged.json")
