"""The cached vectors of sentences, under the fingerprint of their encoder, read by row, and the
encoder that computes no vector twice, in this process or another.

A fingerprint is a folder of segments that are written once and in one step, so that any number of
processes may read and write at once. A segment is a file of keys, 128-bit hashes of the sentences
in order, checksums of the rows, vectors and truncation flags. Every row is verified when read; a
damaged one counts as unknown.
"""

import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import xxhash
from numpy.typing import NDArray

from embedlab.choices import Similarity
from embedlab.core.cache import EMBEDDINGS, NAME_FILE, size_of, trim
from embedlab.core.disk import write_atomic
from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.session import ProgressCallback
from embedlab.encoders.encoder import (
    Encoder,
    EncoderFacts,
    RefusedTextsError,
    Text,
    TextKeys,
    Vectors,
    count_characters,
    distinct_texts,
    sentence_keys,
    shift_progress,
)

SUFFIX = ".rows"  # of a segment, after the length of its vectors
MOST_SEGMENTS = 32  # small segments of an encoder before they are merged
SMALL_BYTES = 4 * 2**20
# odd, 2⁶⁴ over the golden ratio: decorrelates the two halves of a key
_MIX = np.uint64(0x9E3779B97F4A7C15)
STALE_S = 3_600  # another process may be writing a segment for this long


def row_sums(keys: TextKeys, vectors: Vectors, is_cut: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a checksum of each row: of its vector, seeded by its key and whether its sentence was
    cut.
    """
    seeds = keys[:, 0] ^ (keys[:, 1] * _MIX) ^ is_cut.astype(np.uint64)
    digests = map(xxhash.xxh3_64_intdigest, np.ascontiguousarray(vectors), seeds.tolist())
    return np.fromiter(digests, np.uint64, len(keys))


@dataclass(frozen=True, kw_only=True, eq=False)
class Segment:
    """Memory-mapped vectors of some sentences; they stay readable after the files are deleted."""

    path: Path
    keys: TextKeys  # in order of their first half
    sums: NDArray[np.uint64]
    vectors: Vectors
    is_cut: NDArray[np.uint8]

    @classmethod
    def map(cls, path: Path, dim: int) -> Self:
        """Map the segment of vectors of DIM numbers at PATH; a file that does not hold whole rows
        is a ValueError.
        """
        content = np.memmap(path, np.uint8, mode="r").view(np.ndarray)
        lengths = np.array([16, 8, 4 * dim, 1])  # of the parts of a row
        rows, rest = divmod(len(content), int(lengths.sum()))
        if rest:
            raise ValueError(f"{path}: not whole rows")
        keys, sums, vectors, is_cut = np.split(content, rows * lengths.cumsum()[:-1])
        return cls(
            path=path,
            keys=keys.view(np.uint64).reshape(rows, 2),
            sums=sums.view(np.uint64),
            vectors=vectors.view(np.float32).reshape(rows, dim),
            is_cut=is_cut,
        )

    def read(
        self, positions: NDArray[np.intp]
    ) -> tuple[Vectors, NDArray[np.bool_], NDArray[np.bool_]]:
        """Return the vectors at POSITIONS, which of those sentences were cut, and which of those
        rows are intact.
        """
        vectors, is_cut = self.vectors[positions], self.is_cut[positions]
        is_intact = row_sums(self.keys[positions], vectors, is_cut) == self.sums[positions]
        return vectors, is_cut.astype(np.bool_), is_intact


def locate_keys(
    keys: TextKeys, is_known: NDArray[np.bool_], segments: Iterable[Segment]
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp], Segment]]:
    """Yield the indices of KEYS that each segment adds to the earlier ones, with their rows;
    IS_KNOWN is updated.
    """
    for segment in segments:
        positions = np.searchsorted(segment.keys[:, 0], keys[:, 0]).clip(max=len(segment.keys) - 1)
        found_rows = np.flatnonzero(~is_known & (segment.keys[positions] == keys).all(axis=1))
        is_known[found_rows] = True
        yield found_rows, positions[found_rows], segment


class EmbeddingCache:
    """The vectors of one encoder in the folder CACHE, by sentence, which stays under a size
    limit.
    """

    def __init__(
        self, cache: Path, fingerprint: str, *, dim: int, limit_bytes: int, name: str = ""
    ) -> None:
        self.dim = dim
        self._name = name
        self._cache = cache
        self.fingerprint = fingerprint
        self._folder = cache / EMBEDDINGS / fingerprint
        self._limit_bytes = limit_bytes

    @staticmethod
    def stored_dim(cache: Path, fingerprint: str) -> int | None:
        """Return the length of the vectors that are cached under FINGERPRINT; None if none are."""
        files = (cache / EMBEDDINGS / fingerprint).glob(f"*{SUFFIX}")
        return next((int(file.name.split(".")[1]) for file in files), None)

    def find(self, keys: TextKeys) -> tuple[NDArray[np.bool_], Vectors, NDArray[np.bool_]]:
        """Return which KEYS are known, their vectors (unknown rows undefined), and which of those
        sentences were truncated.
        """
        is_known, is_cut = np.zeros((2, len(keys)), np.bool_)
        vectors = np.empty((len(keys), self.dim), np.float32)
        for found_rows, positions, segment in locate_keys(keys, is_known, self.segments()):
            vectors[found_rows], is_cut[found_rows], is_intact = segment.read(positions)
            is_known[found_rows] = is_intact  # a later segment may contain the row again
        return is_known, vectors, is_cut

    def knows(self, keys: TextKeys) -> NDArray[np.bool_]:
        """Return which KEYS are known."""
        is_known = np.zeros(len(keys), np.bool_)
        for _ in locate_keys(keys, is_known, self.segments()):
            pass
        return is_known

    def store(self, keys: TextKeys, vectors: Vectors, is_cut: NDArray[np.bool_]) -> None:
        """Store these vectors, and delete the least recently used ones above the size limit."""
        # Another process may merge or delete files meanwhile, or own some: lost vectors are
        # computed again.
        with suppress(OSError):
            self._write(keys, vectors, is_cut)
            if self._name:
                path = self._folder / NAME_FILE
                path.write_text(self._name, encoding="utf-8", errors="replace")
            self._merge()
            self._trim()

    def segments(self) -> Iterator["Segment"]:
        """Yield the readable segments; the vectors count as recently used."""
        if self._folder.is_dir():
            with suppress(OSError):  # another user's folder, or a read-only disk
                os.utime(self._folder)
        for path in self._paths():
            try:
                yield Segment.map(path, self.dim)
            except PermissionError:  # another user's
                continue
            except (FileNotFoundError, ValueError):  # damaged, or just merged by another process
                _remove(path)

    def _write(self, keys: TextKeys, vectors: Vectors, is_cut: NDArray[np.bool_]) -> None:
        order = np.argsort(keys[:, 0], kind="stable")
        keys, vectors, is_cut = keys[order], vectors[order], is_cut[order]
        parts = (keys, row_sums(keys, vectors, is_cut), vectors, is_cut)
        content = b"".join(part.tobytes() for part in parts)
        write_atomic(self._folder / f"{uuid.uuid4().hex}.{self.dim}{SUFFIX}", content)

    def _merge(self) -> None:
        """Merge all small segments into one, so that a search does not open hundreds of files."""
        small = {path for path in self._paths() if path.stat().st_size < SMALL_BYTES}
        if len(small) <= MOST_SEGMENTS:
            return
        segments = [segment for segment in self.segments() if segment.path in small]
        if not segments:
            return  # another process was faster
        contents = [segment.read(np.arange(len(segment.keys))) for segment in segments]
        vectors, is_cut, is_intact = (
            np.concatenate(parts) for parts in zip(*contents, strict=True)
        )
        rows = np.flatnonzero(is_intact)
        keys = np.concatenate([segment.keys for segment in segments])
        _, first_rows = np.unique(keys[rows], axis=0, return_index=True)
        rows = rows[first_rows]
        self._write(keys[rows], vectors[rows], is_cut[rows])
        for path in small:
            _remove(path)

    def _trim(self) -> None:
        """Delete what a killed process left; then delete the oldest cached entries, this encoder's
        segments last, until the size is under the limit.
        """
        for file in self._folder.iterdir():
            is_ours = file.name == NAME_FILE or file.suffix == SUFFIX
            if not is_ours and time.time() - file.stat().st_mtime > STALE_S:
                file.unlink(missing_ok=True)
        trim(self._cache, limit_bytes=self._limit_bytes, newest=self._folder)
        for path in sorted(self._paths(), key=lambda path: path.stat().st_mtime):
            if size_of(self._folder) <= self._limit_bytes:
                return
            _remove(path)

    def _paths(self) -> list[Path]:
        return sorted(self._folder.glob(f"*.{self.dim}{SUFFIX}"))


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


SENTENCES_PER_SAVE = 16_384  # computed and stored together, so that interrupted work is not lost


@dataclass(kw_only=True, eq=False)
class CachedEncoder(Encoder):
    """An encoder that reads known vectors from the cache and stores new ones as they are computed.

    LOAD is called when the first sentence is new. The encoder must not change: one in training has
    other vectors than its fingerprint says. Of vectors that are cut to DIM numbers the whole ones
    are cached, so that none is computed again for another length.
    """

    name: str
    fingerprint: str
    dim: int
    stated: EncoderFacts
    load: Callable[[], Any]
    cache: EmbeddingCache
    similarity: Similarity = "cosine"
    per_save: int | None = None

    @property
    def facts(self) -> EncoderFacts:
        """The encoder's facts; sentences from the cache count as if they had been computed."""
        facts = super().facts
        if "_encoder" not in self.__dict__:  # absent while the cache knows every sentence
            return facts
        computed: EncoderFacts = self._encoder.facts
        notes = (*self.stated.notes, *computed.notes, *self.number_notes)
        return replace(
            facts,
            unknown_texts=computed.unknown_texts,
            refused=computed.refused,
            notes=tuple(dict.fromkeys(notes)),
        )

    def embed(self, sentences: Sequence[Text], progress: ProgressCallback | None = None) -> Vectors:
        """A vector for each of these distinct sentences."""
        keys = sentence_keys(sentences)
        is_known, vectors, is_cut = self.cache.find(keys)
        for rows, new_vectors, new_cut in self._compute(sentences, keys, is_known, progress):
            vectors[rows], is_cut[rows] = new_vectors, new_cut
        vectors = vectors[:, : self.dim]
        self.count("truncated", sentences, is_cut)
        self.inspect_vectors(sentences, vectors)
        return vectors

    def knows(self, sentences: Sequence[Text]) -> NDArray[np.bool_]:
        """Return which of SENTENCES have a cached vector; (sentences,)."""
        return self.cache.knows(sentence_keys(sentences))

    def store(self, sentences: Sequence[Text], progress: ProgressCallback | None = None) -> None:
        """Cache the vectors of these sentences without holding them in memory: new ones are
        computed, longest first.
        """
        self.refuse_others(sentences)
        unique, _ = distinct_texts(sentences)
        keys = sentence_keys(unique)
        for _ in self._compute(unique, keys, self.cache.knows(keys), progress):
            pass

    @cached_property
    def _encoder(self) -> Any:
        encoder = self.load()
        if encoder.fingerprint != self.cache.fingerprint:
            raise MissingError(
                f"{self.name!r} was changed while it was in use", hint="type the command again"
            )
        return encoder

    def _compute(
        self,
        unique: Sequence[Text],
        keys: TextKeys,
        is_known: NDArray[np.bool_],
        progress: ProgressCallback | None,
    ) -> Iterator[tuple[NDArray[np.intp], Vectors, NDArray[np.bool_]]]:
        """Yield the rows that are not known, by IS_KNOWN, piece by piece with their vectors and
        truncation flags; each piece is stored.

        Texts that the encoder refuses alone are raised at the end, when all others are stored.
        """
        refusals: list[RefusedTextsError] = []
        size = self.per_save or SENTENCES_PER_SAVE
        unknown_rows = np.flatnonzero(~is_known)
        known_count = len(unique) - len(unknown_rows)
        # Sentences of similar length together need hardly any padding.
        lengths = [count_characters(unique[row]) for row in unknown_rows.tolist()]
        unknown_rows = unknown_rows[np.argsort(np.negative(lengths), kind="stable")]
        for start in range(0, len(unknown_rows), size):
            rows = unknown_rows[start : start + size]
            texts = [unique[row] for row in rows]
            shifted = shift_progress(progress, known_count + start, len(unique))
            try:
                vectors = self._encoder.embed(texts, shifted)
            except RefusedTextsError as error:
                refusals.append(error)
                refused_texts = {text for text, _ in error.refused}
                rows = rows[[text not in refused_texts for text in texts]]
                vectors = error.vectors
                if not len(rows):
                    continue
            truncated_texts = self._encoder.counted["truncated"]
            is_cut = np.array([unique[row] in truncated_texts for row in rows], np.bool_)
            if vectors.shape[1] != self.cache.dim:
                raise EmbedlabError(
                    f"{self.name!r} gives vectors of {vectors.shape[1]} numbers, after "
                    f"others of {self.cache.dim}",
                    hint="if its model changed, `embedlab cache clear` removes the vectors of the "
                    "old one",
                )
            with suppress(MissingError):  # an unwritable cache costs time, not the result
                self.cache.store(keys[rows], vectors, is_cut)
            yield rows, vectors, is_cut
        if refusals:
            all_refused = [text for error in refusals for text in error.refused]
            raise RefusedTextsError(refusals[0].encoder_name, all_refused) from refusals[0]
        if progress is not None and not len(unknown_rows):
            progress(known_count, len(unique))
