"""The user's notes on pairs: one file by the text of the pairs, so that they survive reloads, other
datasets and other models.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import polars as pl

from embedlab.analysis.expressions import NOTE
from embedlab.core.disk import as_reading_errors, read_sealed_json, sole_writer, write_json
from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.paths import state_folder
from embedlab.data.words import MISREAD_SIGNS, text_bytes

SCHEMA = 1
_WHERE = "choose another folder with XDG_STATE_HOME"
_KEYS_AT_ONCE = 50_000  # pairs


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
        pair_note = self.notes.get(int(pair_key(first, second)))
        return pair_note.note if pair_note is not None else ""

    def change(self, first: str, second: str, text: str) -> None:
        """Set the note on a pair, or delete it where TEXT is empty; notes that another process
        wrote meanwhile stay.
        """
        key = int(pair_key(first, second))
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

    def joined(self, table: pl.DataFrame, *, always: bool = False) -> pl.DataFrame:
        """TABLE with its notes in the column NOTE; without the column, unless it is wanted ALWAYS,
        where no pair of it has one.
        """
        keys = list(self.notes)
        noted_keys = pl.Series(keys, dtype=pl.UInt64)
        bare_table = table.drop(NOTE, strict=False)
        if not always and not bare_table["pair_key"].is_in(noted_keys.implode()).any():
            return bare_table
        texts = pl.Series([note.note for note in self.notes.values()], dtype=pl.String)
        return bare_table.with_columns(
            bare_table["pair_key"]
            .replace_strict(noted_keys, texts, default=None, return_dtype=pl.String)
            .alias(NOTE)
        )


def _set_aside(path: Path) -> Path:
    return path.with_suffix(".damaged.json")


def pair_key(first: str, second: str) -> np.uint64:
    """Return the number that identifies the note on an ordered pair of sentences: 8 bytes
    of BLAKE2.
    """
    return np.uint64(_key(first, second))


def pair_keys(pairs: pl.DataFrame) -> pl.Series:
    """Return the key of each row's sentence1 and sentence2."""
    sides = pl.col("sentence1", "sentence2")
    keys = np.empty(len(pairs), np.uint64)
    for start in range(0, len(pairs), _KEYS_AT_ONCE):
        pair = pairs[start : start + _KEYS_AT_ONCE]
        contents = pair.select(pl.concat_str(sides, separator="\x1f").cast(pl.Binary)).to_series()
        digests = b"".join([_digest(content) for content in contents.to_list()])
        keys[start : start + len(pair)] = np.frombuffer(digests, "<u8")
        # The few texts whose bytes are others, by what all of those contain.
        for row in (
            pair.select(pl.any_horizontal(sides.str.contains_any(list(MISREAD_SIGNS))))
            .to_series()
            .arg_true()
            .to_list()
        ):
            keys[start + row] = _key(pair["sentence1"][row], pair["sentence2"][row])
    return pl.Series("pair_key", keys)


def _key(first: str, second: str) -> int:
    return int.from_bytes(_digest(b"\x1f".join((text_bytes(first), text_bytes(second)))), "little")


def _digest(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=8).digest()
