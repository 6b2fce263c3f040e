"""A cache of which sentences are nearly the same: finding them takes a third of a second a dataset, and equal sentences have equal links.

A file is called by a hash of the sentences and of the method that found the links.
"""

from collections.abc import Sequence
from functools import lru_cache
from io import BytesIO
from pathlib import Path

import polars as pl
import xxhash

from embedlab.analysis.near_duplicates import LEAST_COSINE, METHOD, Links, links_of
from embedlab.core.errors import EmbedlabError
from embedlab.core.seal import KEY, UNSEALED, seal
from embedlab.store.files import write_atomic
from embedlab.store.marks import keep_newest
from embedlab.store.sealed import read_sealed

KIND = "similar-sentences"
_FILE_LIMIT = 64  # of at most some 300 KB each
_FEWEST = 200  # sentences; fewer are compared as quickly as a file is read
_SCHEMA = {"first": pl.Int32(), "second": pl.Int32(), "cosine": pl.Float32()}
_FACTS = "embedlab-similar-sentences"


@lru_cache(maxsize=64)
def stored_links(sentences: tuple[str, ...], cache: Path) -> Links:
    """Return the links between SENTENCES, which are distinct, from the folder CACHE, or found and stored there."""
    if len(sentences) < _FEWEST:
        return links_of(sentences)
    path = cache / KIND / f"{_digest(sentences)}.parquet"
    found = _read(path, len(sentences))
    if found is None:
        found = links_of(sentences)
        _write(found, path)
    return found


def _digest(sentences: Sequence[str]) -> str:
    digest = xxhash.xxh3_128(f"{METHOD} {LEAST_COSINE}\0".encode())
    for sentence in sentences:
        own = sentence.encode("utf-8", "surrogatepass")
        digest.update(f"{len(own)} ".encode() + own)
    return digest.hexdigest()


def _read(path: Path, sentences: int) -> Links | None:
    """Return the links stored at PATH; None where there are none, or not of as many sentences."""
    try:
        table = pl.read_parquet(BytesIO(read_sealed(path, hint="")))
        path.touch()  # the newest remain
    except (OSError, EmbedlabError, pl.exceptions.PolarsError):
        return None
    if dict(table.schema) != _SCHEMA or sum(table.null_count().row(0)):
        return None
    first, second, cosine = (table[name].to_numpy() for name in _SCHEMA)
    if len(table) and not (first.min() >= 0 and (first < second).all() and second.max() < sentences):
        return None
    return Links(first=first, second=second, cosine=cosine)


def _write(links: Links, path: Path) -> None:
    """Store links and remove the oldest others; a disk that cannot be written only makes the next process slower."""
    content = BytesIO()
    table = pl.DataFrame({"first": links.first, "second": links.second, "cosine": links.cosine}, schema=_SCHEMA)
    table.write_parquet(content, metadata={_FACTS: METHOD, KEY: UNSEALED})
    try:
        write_atomic(path, seal(content.getvalue()))
        keep_newest(path.parent, ".parquet", _FILE_LIMIT)
    except (OSError, EmbedlabError):
        return
