"""The one store: get and put of a kind's entry by its key, below a folder that is the cache, the
state, a run's or a model's own.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from errno import ENOENT
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.store.eviction import evict_above, evict_beyond
from embedlab.store.files import ELSEWHERE, disk_errors
from embedlab.store.locks import sole_writer

V = TypeVar("V")


class EntryFormat(Protocol[V]):
    """How the entries of a kind are written, in one step and with a seal, and read."""

    @property
    def suffix(self) -> str:
        """The end of an entry's name; empty for a folder."""

    def write(self, path: Path, value: V, *, hint: str) -> None:
        """Put VALUE in the place of what is at PATH; a disk that refuses it is a MissingError with
        this HINT.
        """

    def read(self, path: Path, *, hint: str) -> V:
        """Return what is at PATH; a broken seal is a MissingError with this HINT, any other content
        a ValueError or one of its like.
        """


@dataclass(frozen=True, kw_only=True)
class EntryKind(Generic[V]):
    """What is stored under one name: its place and format, and what its damage and its age mean."""

    format: EntryFormat[V]
    folder: str = ""  # below the store's; in the cache the name of the kind
    title: str = ""  # before its path, in messages
    again: str = ""  # the hint for a damaged entry
    place: str = ELSEWHERE  # the hint where the disk refuses one
    # it is computed again where it is absent: damage and a full disk cost time alone
    is_cache: bool = False
    most_entries: int | None = None  # the least recently used beyond them are deleted
    most_bytes: int | None = None


@dataclass(frozen=True)
class Store:
    """What is stored below a folder."""

    folder: Path

    def path(self, kind: EntryKind[V], key: str) -> Path:
        """Return where an entry is, whether it exists or not."""
        return self.folder / kind.folder / f"{key}{kind.format.suffix}"

    def get(self, kind: EntryKind[V], key: str) -> V | None:
        """Return an entry; None where there is none. A damaged one is a MissingError, in a cache it
        is as if there were none.
        """
        path = self.path(kind, key)
        try:
            value = kind.format.read(path, hint=kind.again)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, EmbedlabError) as error:
            if kind.is_cache:
                return None
            raise (
                error if isinstance(error, EmbedlabError) else unusable(kind, path, error)
            ) from error
        if kind.most_entries or kind.most_bytes:
            with suppress(OSError):  # another user's, or a read-only disk
                os.utime(path)  # recently used
        return value

    def load(self, kind: EntryKind[V], key: str) -> V:
        """Return an entry; an absent one is a MissingError too."""
        entry = self.get(kind, key)
        if entry is None:
            raise unusable(
                kind, self.path(kind, key), FileNotFoundError(ENOENT, os.strerror(ENOENT))
            )
        return entry

    def put(self, kind: EntryKind[V], key: str, value: V) -> Path:
        """Put VALUE in the place of an entry, and return where it is; the oldest others beyond the
        kind's limits are deleted.
        """
        path = self.path(kind, key)
        try:
            kind.format.write(path, value, hint=kind.place)
            if kind.most_entries is not None:
                evict_beyond(
                    path.parent, kind.folder, kind.format.suffix, entries=kind.most_entries
                )
            if kind.most_bytes is not None:
                evict_above(path.parent, kind.folder, size=kind.most_bytes, newest=path)
        except (OSError, EmbedlabError):
            if not kind.is_cache:
                raise
        return path

    def change(
        self,
        kind: EntryKind[V],
        key: str,
        change: Callable[[V | None], V],
        *,
        aside: Path | None = None,
    ) -> V:
        """Put what CHANGE makes of an entry in its place, and return it; processes that change one
        entry wait for each other.

        A damaged entry is an error, or is moved ASIDE and counts as absent.
        """
        path = self.path(kind, key)
        with disk_errors(path, hint=kind.place):
            path.parent.mkdir(parents=True, exist_ok=True)
            with sole_writer(path):
                value = change(
                    self.get(kind, key) if aside is None else self._got_or_moved(kind, key, aside)
                )
                self.put(kind, key, value)
        return value

    def _got_or_moved(self, kind: EntryKind[V], key: str, aside: Path) -> V | None:
        try:
            return self.get(kind, key)
        except EmbedlabError:
            self.path(kind, key).replace(aside)
            return None


def unusable(kind: EntryKind[V], path: Path, error: Exception) -> MissingError:
    """Return the error of an entry that was opened, and is not what its kind holds."""
    what = f"{kind.title} {str(path)!r}".strip()
    if isinstance(error, OSError):
        return MissingError(f"cannot read {what}: {error.strerror}", hint=kind.again)
    return MissingError(f"{what} is unusable", hint=kind.again)
