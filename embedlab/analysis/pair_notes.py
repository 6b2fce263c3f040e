"""The user's notes on pairs: one file by the text of the pairs, so that they survive reloads, other
datasets and other models.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import polars as pl

from embedlab.analysis.expressions import NOTE
from embedlab.core.disk import as_reading_errors, read_sealed_json, sole_writer, write_json
from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.paths import state_folder
from embedlab.data.words import text_bytes

SCHEMA = 1
_WHERE = "choose another folder with XDG_STATE_HOME"


@dataclass(frozen=True, kw_only=True)
class PairNote:
    """A note with the pair that it is about, so that the file can be read without the datasets."""

    note: str
    sentence1: str
    sentence2: str


Notes = Mapping[int, PairNote]  # by pair key


def _read(path: Path) -> Notes:
    if not path.exists():
        return {}
    with as_reading_errors(path, hint="", what="the file of notes on pairs"):
        values = read_sealed_json(path, hint="")
        if values["schema"] != SCHEMA:
            raise ValueError("another schema")
        return {int(key, 16): PairNote(**note) for key, note in values["notes"].items()}


@dataclass
class PairNotes:
    """All notes by pair key; every change is written at once."""

    path: Path
    notes: Notes
    # why the file could not be read; it is set aside before another is written
    error: EmbedlabError | None = None

    @classmethod
    def load(cls) -> "PairNotes":
        """Read the notes of all sessions."""
        path = state_folder() / "pair-notes.json"
        try:
            return cls(path=path, notes=_read(path))
        except EmbedlabError as error:
            hint = f"the first new note moves it to {_set_aside(path).name!r}"
            trouble = MissingError(f"the notes on pairs in {str(path)!r} are unusable", hint=hint)
            trouble.__cause__ = error
            return cls(path=path, notes={}, error=trouble)

    def text(self, first: str, second: str) -> str:
        """The note on a pair; empty without one."""
        pair_note = self.notes.get(pair_key(first, second))
        return pair_note.note if pair_note is not None else ""

    def change(self, first: str, second: str, text: str) -> None:
        """Set the note on a pair, or delete it where TEXT is empty; notes that another process
        wrote meanwhile stay.
        """
        key = pair_key(first, second)
        with sole_writer(self.path, hint=_WHERE):
            try:
                notes = {
                    other_key: note
                    for other_key, note in _read(self.path).items()
                    if other_key != key
                }
            except EmbedlabError:
                if self.error is None:
                    raise
                self.path.replace(_set_aside(self.path))
                notes = {}
            if text:
                notes[key] = PairNote(note=text, sentence1=first, sentence2=second)
            stored = {f"{other_key:016x}": asdict(note) for other_key, note in notes.items()}
            write_json(self.path, {"schema": SCHEMA, "notes": stored}, indent=1, hint=_WHERE)
        self.notes, self.error = notes, None

    def of_pairs(self, pairs: pl.DataFrame) -> pl.Series:
        """Return the note on each row's sentence1 and sentence2, null without one; a file that is
        unusable is an error.
        """
        if self.error is not None:
            raise self.error
        sides = ["sentence1", "sentence2"]
        schema = dict.fromkeys([NOTE, *sides], pl.String)
        notes = pl.DataFrame(list(map(asdict, self.notes.values())), schema=schema)
        notes = notes.unique(sides, keep="last")
        return pairs.select(sides).join(notes, on=sides, how="left", maintain_order="left")[NOTE]


def _set_aside(path: Path) -> Path:
    return path.with_suffix(".damaged.json")


def pair_key(first: str, second: str) -> int:
    """Return the number that identifies the note on an ordered pair of sentences: 8 bytes
    of BLAKE2.
    """
    content = b"\x1f".join((text_bytes(first), text_bytes(second)))
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little")
