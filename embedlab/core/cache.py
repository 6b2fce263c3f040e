"""The cache folder, which is ours alone: what was used least recently goes first, and all of it can
be computed again.

A folder that the user named and that holds files of others is used through a folder of ours in it,
so that nothing of theirs is ever deleted.
"""

import os
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from embedlab.core.disk import write_atomic
from embedlab.core.errors import EmbedlabError

V = TypeVar("V")

TAG = "CACHEDIR.TAG"  # programs that make backups know it too
_TAG_LINES = (
    "Signature: 8a477f597d28d172789f06886806bc55\n"
    "# The cache of embedlab: all in this folder can be computed again.\n"
)
MODELS = "models"  # the scores and answers of models other than runs
TINY_ENCODER = "tiny-encoder"  # runs start from it by its path
EMBEDDINGS, TOKENS = "embeddings", "tokens"
NAME_FILE = "model.txt"  # in a folder of vectors: the name under which the encoder was used last
_TRIMMED = (EMBEDDINGS, TOKENS, "similar-sentences", "training-text", "pairs", "comparisons")
_ENTRY = re.compile(r"\..*|[0-9a-f]{8,64}(\.(parquet|json))?")


def cache_folder(chosen: Path) -> Path:
    """Return the cache folder where the user names CHOSEN: it, or a folder in it if others use it
    too.
    """
    try:
        content = [*chosen.iterdir()]
        if not content or ((chosen / TAG).is_file() and (chosen / TAG).read_text() == _TAG_LINES):
            return chosen
        # As it was made before it had a tag: folders of these names, with our names in them alone.
        holds_only_cache = all(
            kind.name in {MODELS, TINY_ENCODER, *_TRIMMED}
            and all(_ENTRY.fullmatch(entry.name) for entry in kind.iterdir())
            for kind in content
        )
    except (OSError, ValueError):  # absent; or whoever writes there says what it is
        return chosen if not chosen.is_dir() else chosen / "embedlab"
    return chosen if holds_only_cache else chosen / "embedlab"


def read_cached(path: Path, load: Callable[[Path], V]) -> V | None:
    """Return what LOAD gives of PATH in the cache; None where there is nothing, or it is
    damaged.
    """
    try:
        value = load(path)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, EmbedlabError):
        return None
    with suppress(OSError):  # another user's, or a read-only disk
        os.utime(path)  # recently used
    return value


def cache_entries(cache: Path) -> list[Path]:
    """Return all that is stored in the folder CACHE, by kind and name."""
    kinds = [cache / kind for kind in (EMBEDDINGS, MODELS, TINY_ENCODER, *_TRIMMED[1:])]
    return [
        entry
        for kind in kinds
        if kind.is_dir()
        for entry in sorted(kind.iterdir())
        if not entry.name.startswith(".")
    ]


def trim(cache: Path, *, limit_bytes: int, newest: Path | None = None) -> None:
    """Delete the least recently used entries until the folder CACHE is under the limit, and tag it
    as ours. The entry NEWEST stays, and so do scores of models and the encoders that runs started
    from.
    """
    with suppress(OSError, EmbedlabError):  # another process deletes too, or the disk refuses it
        if not (cache / TAG).exists():
            write_atomic(cache / TAG, _TAG_LINES)
        entries = [entry for entry in cache_entries(cache) if entry.parent.name in _TRIMMED]
        sizes = {entry: size_of(entry) for entry in entries}
        excess = sum(sizes.values()) - limit_bytes
        for entry in sorted(entries, key=lambda entry: entry.stat().st_mtime):
            if excess > 0 and entry != newest:
                with suppress(OSError):  # another user's
                    remove(entry)
                    excess -= sizes[entry]


def size_of(entry: Path) -> int:
    """Return the bytes of an ENTRY, a file or a folder."""
    files = [Path(parent, name) for parent, _, names in os.walk(entry) for name in names]
    return sum(file.stat().st_size for file in files or [entry])


def remove(entry: Path) -> None:
    """Delete an ENTRY, a file or a folder; a link is deleted, not what it leads to."""
    if entry.is_dir() and not entry.is_symlink():
        shutil.rmtree(entry)
    else:
        entry.unlink(missing_ok=True)
