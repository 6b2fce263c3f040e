"""Sets of queries that are made of corpora whose texts belong together: captions of one picture,
questions that people say are the same.

Every text is a document, and a query if there is another one that belongs to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from types import MappingProxyType

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.data.dataset import Part
from embedlab.data.own_files import open_query_file
from embedlab.data.queries import SENTENCES, Queries, item_frame, queries_of_pairs
from embedlab.data.source import Source, dataset
from embedlab.data.topics import topics_of
from embedlab.data.words import text_bytes


@dataclass(frozen=True, kw_only=True)
class QuerySet:
    """The corpus that a set is made of."""

    corpus: str
    split: str
    summary: str


SETS: Mapping[str, QuerySet] = MappingProxyType(
    {
        "retrieval-captions": QuerySet(
            corpus="captions",
            split="test",
            summary="a caption is a query, the other captions of its picture are relevant",
        ),
        "retrieval-questions": QuerySet(
            corpus="paraphrases",
            split="dev",
            summary="a question of Quora is a query, those that people call its duplicates are "
            "relevant",
        ),
    }
)


def open_queries(source: Source, name: str) -> Queries:
    """Return the queries of a set, or of a user's own file or folder."""
    return _of_corpus(source, name) if name in SETS else open_query_file(name)


def _of_corpus(source: Source, name: str) -> Queries:
    query_set = SETS[name]
    corpus = dataset(query_set.corpus)
    part = source.open_split(corpus, query_set.split)
    if corpus.kind == "sentences":
        documents, groups = _by_place(part.frame["sentence"].to_list(), corpus.unit)
    else:
        documents, groups = _by_duplicates(part.frame)
    first, second = _together(groups)
    frame = item_frame(documents, documents, first, second)
    made = "\0".join(text for column in SENTENCES for text in frame[column])
    state = replace(
        part.state,
        name=name,
        split="test",
        sha256={**part.state.sha256, "queries": sha256(text_bytes(made)).hexdigest()},
        empty=0,
    )
    return queries_of_pairs(Part(frame=frame, state=state), documents)


def _by_place(texts: Sequence[str], unit: int) -> tuple[list[str], NDArray[np.intp]]:
    """Return each different text once and the group of each: texts of one UNIT; a text that is in
    several units is of the first.
    """
    groups: dict[str, int] = {}
    for number, text in enumerate(texts):
        groups.setdefault(text, number // unit)
    return [*groups], np.array([*groups.values()], np.intp)


def _by_duplicates(pairs: pl.DataFrame) -> tuple[list[str], NDArray[np.intp]]:
    """Return each different text of PAIRS once and the group of each: texts that a chain of
    duplicates connects.
    """
    texts = list(
        dict.fromkeys(
            text for pair in pairs.select(SENTENCES).iter_rows() for text in pair if text.strip()
        )
    )
    duplicates = pairs.filter(pl.col("is_duplicate") == 1).select(SENTENCES)
    alone = pl.DataFrame(dict.fromkeys(SENTENCES, texts))
    groups = topics_of(pl.concat([alone, duplicates]), SENTENCES)[: len(texts)]
    return texts, groups


def _together(groups: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the places of all pairs of two texts of one group, in order."""
    members: dict[int, list[int]] = {}
    for index, group in enumerate(groups.tolist()):
        members.setdefault(group, []).append(index)
    pairs = [
        (index, other)
        for index, group in enumerate(groups.tolist())
        for other in members[group]
        if other != index
    ]
    array = np.array(pairs, np.intp).reshape(-1, 2)
    return array[:, 0], array[:, 1]
