"""A cache of which sentences are nearly the same: finding them takes a third of a second a dataset,
and equal sentences have equal links.

A file is called by a hash of the sentences and of the method that found the links.
"""

from pathlib import Path

import polars as pl

from embedlab.analysis.near_duplicates import (
    METHOD,
    Links,
    links_key,
    links_of,
    remembered,
    similar_pairs,
)
from embedlab.store.entries import EntryKind, Store
from embedlab.store.tables import StoredTable, TableFormat

_FEWEST = 200  # sentences; fewer are compared as quickly as a file is read
_SCHEMA = {"first": pl.Int32(), "second": pl.Int32(), "cosine": pl.Float32()}


def _table(links: Links) -> StoredTable:
    columns = {"first": links.first, "second": links.second, "cosine": links.cosine}
    return StoredTable(frame=pl.DataFrame(columns, schema=_SCHEMA), facts=METHOD)


def _links(table: StoredTable, _path: Path) -> Links:
    """Return the links of a table; one that links cannot make is a ValueError."""
    frame = table.frame
    if dict(frame.schema) != _SCHEMA or sum(frame.null_count().row(0)):
        raise ValueError("not a table of links")
    first, second, cosine = (frame[name].to_numpy() for name in _SCHEMA)
    if len(frame) and not (first.min() >= 0 and (first < second).all()):
        raise ValueError("not in order")
    return Links(first=first, second=second, cosine=cosine)


LINKS: EntryKind[Links] = EntryKind(
    folder="similar-sentences",
    format=TableFormat(facts="embedlab-similar-sentences", to_table=_table, from_table=_links),
    is_cache=True,
    most_entries=64,  # of at most some 300 KB each
)


def stored_links(sentences: pl.Series, cache: Path) -> Links:
    """Return the links between SENTENCES, which are distinct, from the folder CACHE, or found and
    stored there.
    """
    if len(sentences) < _FEWEST:
        return links_of(sentences)
    key = links_key(sentences)
    return remembered((key, cache), lambda: _from_store(sentences, key, Store(cache)))


def _from_store(sentences: pl.Series, key: str, store: Store) -> Links:
    found = store.get(LINKS, key)
    if found is None or (len(found.second) and found.second.max() >= len(sentences)):
        found = similar_pairs(sentences)
        store.put(LINKS, key, found)
    return found
