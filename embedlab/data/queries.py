"""Queries with the documents that are relevant to each, as the task of retrieval reads them,
whatever they come from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.data.dataset import Part
from embedlab.data.overlaps import text_keys

MOST_RELEVANT = 1024  # the highest grade that a document can have
SENTENCES = ("sentence1", "sentence2")

Places = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True, eq=False)
class Queries:
    """Queries and documents, and the items: a query with a document that is relevant to it."""

    # an item a row: sentence1 the query, sentence2 the document, or its id where it has no text;
    # without these columns where only ids are known
    part: Part
    texts: tuple[str, ...]  # the queries
    candidates: tuple[str, ...]  # the documents
    query: Places  # (items,)
    relevant: Places  # (items,) beyond the candidates where the text is absent: it is never found
    grade: NDArray[np.int64]  # (items,) from 1
    excluded: tuple[
        Places, Places
    ]  # pairs of a query and a document that does not count: the query's own text
    # of the queries and of the documents, those without a text last
    ids: tuple[Sequence[str], Sequence[str]]

    @property
    def has_texts(self) -> bool:
        """Return whether more than the ids is known."""
        return SENTENCES[0] in self.part.frame.columns

    @property
    def keys(self) -> NDArray[np.uint64]:
        """Return hashes of the query and the document of each item, (items, 2), the same on every
        machine.
        """
        if self.has_texts:
            return text_keys(self.part.frame)
        both = zip(("query", "document"), self.ids, (self.query, self.relevant), strict=True)
        columns = [[_key(f"{kind} {ids[index]}") for index in places] for kind, ids, places in both]
        return np.array(columns, np.uint64).T


def _key(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def own_texts(
    texts: Sequence[str],
    candidates: Sequence[str],
    query: Places,
    relevant: Places,
    more: Sequence[tuple[int, int]] = (),
) -> tuple[Places, Places]:
    """Return the pairs of a query and a document that is the query's own text, and MORE; not those
    that are said to be relevant.
    """
    places: dict[str, list[int]] = {}
    for index, text in enumerate(candidates):
        if text:
            places.setdefault(text, []).append(index)
    graded = {*zip(query.tolist(), relevant.tolist(), strict=True)}
    all_pairs = {
        (number, index) for number, text in enumerate(texts) for index in places.get(text, ())
    } | {*more}
    pairs = np.array(sorted(all_pairs - graded), np.intp).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def numbered(count: int) -> list[str]:
    """Return the ids of texts that have none of their own: their numbers from 1."""
    return [str(number) for number in range(1, count + 1)]


def item_frame(
    texts: Sequence[str], candidates: Sequence[str], query: Places, relevant: Places
) -> pl.DataFrame:
    """Return the texts of each item."""
    columns = zip(SENTENCES, (texts, candidates), (query, relevant), strict=True)
    return pl.DataFrame(
        {
            name: pl.Series([values[index] for index in places], dtype=pl.String)
            for name, values, places in columns
        }
    )


def queries_of_pairs(part: Part, candidates: Sequence[str]) -> Queries:
    """Return the queries of the pairs in PART, whose first text is a query and whose second, one of
    CANDIDATES, is relevant to it.
    """
    first, second = (part.frame[name].to_list() for name in SENTENCES)
    numbers: dict[str, int] = {}
    query = np.array([numbers.setdefault(text, len(numbers)) for text in first], np.intp)
    places = {text: index for index, text in enumerate(candidates)}
    relevant = np.array([places[text] for text in second], np.intp)
    return Queries(
        part=part,
        texts=tuple(numbers),
        candidates=tuple(candidates),
        query=query,
        relevant=relevant,
        grade=np.ones(len(query), np.int64),
        excluded=own_texts([*numbers], candidates, query, relevant),
        ids=(numbered(len(numbers)), numbered(len(candidates))),
    )
