"""Partial vectors of a file: a folder next to the output that one process at a time fills chunk by
chunk. Shards have folders of their own, whose chunks the process that joins them takes over.

A chunk's name holds a hash of its job, and the file its checksum: a damaged chunk, or one of
another job, is encoded again. Chunks are joined only when every row exists, and only files written
by embedlab are removed.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import polars as pl

from embedlab.core.disk import as_disk_errors, sole_holder, sync_folder
from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.foreign_files import refuse_foreign
from embedlab.core.frame_files import join_parquet, read_table, write_table
from embedlab.core.printable import count_text
from embedlab.encoders.encoder import Vectors

PLACE = "choose another place with --out"
CHUNK = 8_192  # sentences between two saves: about a minute of a large encoder on a CPU
SCHEMA = 3  # 2: chunks were listed by a job.json

_TRUNCATED = "truncated"  # metadata key of the number of truncated sentences
_LOCK = "lock"
_CHUNK = re.compile(r"\d{12}\.[0-9a-f]{32}\.parquet")
_OURS = re.compile(
    rf"{_CHUNK.pattern}|{_LOCK}|job\.json|whole\.(npy|parquet)\.tmp|\.{_CHUNK.pattern}\..*tmp.*"
)


@dataclass(frozen=True, kw_only=True)
class Job:
    """Everything that decides the vectors; chunks of another job are not used."""

    fingerprint: str
    input_sha256: str
    column: str | None
    sentences: int
    chunk: int  # sentences
    schema: int = SCHEMA

    @property
    def key(self) -> str:
        """Thirty-two hex digits, which are in the names of its chunks."""
        return hashlib.sha256(json.dumps(asdict(self)).encode()).hexdigest()[:32]


@dataclass(frozen=True, kw_only=True)
class Shard:
    """One of several processes that share the chunks of a job."""

    number: int  # from 1
    count: int

    @classmethod
    def read(cls, text: str) -> "Shard":
        """Return the shard that 2/8 means."""
        match = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            raise UsageError(
                f"--shard is {text!r}", hint="for example --shard 2/8, the second of eight"
            )
        return cls(number=int(match[1]), count=int(match[2]))

    def has(self, start: int, job: Job) -> bool:
        """Return whether the chunk of JOB that begins at START is this shard's."""
        return start // job.chunk % self.count == self.number - 1


@dataclass(frozen=True, kw_only=True)
class PartialVectors:
    """The folder of a job's chunks, locked by this process."""

    folder: Path
    job: Job
    notes: tuple[str, ...]  # remarks about the folder's previous content

    @classmethod
    @contextmanager
    def open_locked(
        cls, out: Path, job: Job, *, is_replaced: bool, shard: Shard | None = None
    ) -> Iterator["PartialVectors"]:
        """Lock the folder of the vectors that go to OUT, or of a SHARD of them, until the block
        ends. Chunks of a killed job with the same settings, or of its shards, are reused. A foreign
        folder, or one that another process has locked, is refused.
        """
        of_shard = f".shard-{shard.number}-of-{shard.count}" if shard is not None else ""
        folder = out.with_name(f"{out.name}{of_shard}.partial")
        with ExitStack() as stack:
            with as_disk_errors(out, hint=PLACE):
                _refuse_foreign(folder)
                if not stack.enter_context(sole_holder(folder / _LOCK)):
                    hint = "wait for its end, or choose another name with --out"
                    raise EmbedlabError(f"another process is writing {str(out)!r}", hint=hint)
                stack.callback(_remove_if_empty, folder)
                # the process that held the folder before may have written it
                refuse_existing(out, is_replaced=is_replaced)
                if shard is None:
                    _take_over_shards(out, folder)
                notes = _begin(folder, job)
            yield cls(folder=folder, job=job, notes=notes)

    def holds(self, start: int, sentences: Sequence[str]) -> bool:
        """Return whether the chunk of these SENTENCES, numbered from START, exists and is
        complete.
        """
        try:
            return self._read(start)[0]["sentence"].to_list() == list(sentences)
        except MissingError:
            return False

    def write(
        self, start: int, sentences: Sequence[str], vectors: Vectors, truncated_count: int
    ) -> None:
        """Save a chunk with TRUNCATED_COUNT truncated sentences, replacing a damaged one."""
        columns = {
            "sentence": list(sentences),
            "vector": pl.Series(vectors, dtype=pl.Array(pl.Float32, vectors.shape[1])),
        }
        facts = {_TRUNCATED: str(truncated_count)}
        write_table(self._path(start), pl.DataFrame(columns), facts, hint=PLACE)

    def assemble(self, out: Path, dim: int) -> int:
        """Join the chunks into OUT, one at a time, remove the folder, and return the number of
        truncated sentences.
        """
        starts = range(0, self.job.sentences, self.job.chunk)
        assembled = self.folder / f"whole{out.suffix}.tmp"
        with as_disk_errors(out, hint=PLACE):
            if out.suffix == ".npy":
                truncated = self._write_array(assembled, starts, dim)
            else:
                truncated = sum(self._read(start)[1] for start in starts)
                join_parquet([self._path(start) for start in starts], assembled)
            with assembled.open("rb") as file:
                os.fsync(file.fileno())
            assembled.replace(out)
            sync_folder(out.parent)
            _remove(self.folder)
        return truncated

    def _write_array(self, path: Path, starts: Sequence[int], dim: int) -> int:
        """Write all vectors into an npy file, without a memory map: with one, a full disk ends the
        process.
        """
        header = {
            "descr": np.lib.format.dtype_to_descr(np.dtype(np.float32)),
            "fortran_order": False,
            "shape": (self.job.sentences, dim),
        }
        truncated = 0
        with path.open("wb") as file:
            np.lib.format.write_array_header_1_0(file, header)
            for start in starts:
                frame, truncated_in_chunk = self._read(start)
                truncated += truncated_in_chunk
                file.write(np.ascontiguousarray(frame["vector"].to_numpy()).data)
        return truncated

    def _path(self, start: int) -> Path:
        return self.folder / f"{start:012d}.{self.job.key}.parquet"

    def _read(self, start: int) -> tuple[pl.DataFrame, int]:
        """Return the rows of a chunk and the number of truncated ones; an absent or damaged chunk
        is a MissingError.
        """
        hint = "the same command encodes them again"
        try:
            frame, facts = read_table(self._path(start), hint=hint)
        except (OSError, ValueError, MissingError) as error:
            raise MissingError(
                f"the sentences from number {start + 1} on are missing or damaged in "
                f"{str(self.folder)!r}",
                hint=hint,
            ) from error
        return frame, int(facts[_TRUNCATED])


def refuse_existing(out: Path, *, is_replaced: bool) -> None:
    """Refuse an OUT that is no file, or exists and shall not be replaced."""
    if out.is_dir():
        raise UsageError(
            f"--out is {str(out)!r}, which is a folder", hint="choose the name of a file"
        )
    refuse_foreign(out)
    if out.exists() and not is_replaced:
        raise UsageError(
            f"--out is {str(out)!r}, which exists already",
            hint="choose another name, or replace it with --force",
        )


def _chunks(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if _CHUNK.fullmatch(path.name)]


def _refuse_foreign(folder: Path) -> None:
    """Raise a UsageError if FOLDER, or something in it, was not written by embedlab."""
    hint = "move it, or choose another name with --out"
    if folder.is_symlink() or (folder.exists() and not folder.is_dir()):
        raise UsageError(f"{str(folder)!r} is not a folder of unfinished vectors", hint=hint)
    for name in sorted(path.name for path in folder.glob("*")):
        if not _OURS.fullmatch(name):
            raise UsageError(
                f"{str(folder)!r} holds {name!r}, which embedlab did not write", hint=hint
            )


def _take_over_shards(out: Path, folder: Path) -> None:
    """Move the chunks of the shards of OUT into FOLDER."""
    shards = re.compile(rf"{re.escape(out.name)}\.shard-\d+-of-\d+\.partial")
    for shard in [path for path in out.parent.iterdir() if shards.fullmatch(path.name)]:
        _refuse_foreign(shard)
        with sole_holder(shard / _LOCK) as is_held:
            if not is_held:
                raise EmbedlabError(
                    f"another process is writing {str(shard)!r}",
                    hint="wait until every shard has ended",
                )
            for path in _chunks(shard):
                path.replace(folder / path.name)
            _remove(shard)


def _begin(folder: Path, job: Job) -> tuple[str, ...]:
    """Remove the chunks of other jobs from FOLDER, and return remarks on its previous content."""
    chunks = _chunks(folder)
    others = [path for path in chunks if job.key not in path.name]
    for path in others:
        path.unlink()
    notes = []
    if done := len(chunks) - len(others):
        notes.append(
            f"resuming {folder}: {count_text(done, 'chunks')} of {job.chunk} sentences done"
        )
    if others:
        notes.append(
            f"{folder} was made from another input, model or version: its {len(others)} chunks are "
            f"encoded again"
        )
    return tuple(notes)


def _remove_if_empty(folder: Path) -> None:
    """Remove FOLDER if it contains no chunk."""
    if folder.is_dir() and not _chunks(folder):
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove our own files, the lock last, then FOLDER if it is empty."""
    with suppress(FileNotFoundError):
        for path in sorted(folder.iterdir(), key=lambda path: path.name == _LOCK):
            if _OURS.fullmatch(path.name):
                path.unlink()
    with suppress(OSError):  # another process has started, or a user put a file there
        folder.rmdir()
