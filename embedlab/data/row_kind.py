"""The kinds of rows that a user's own file can hold."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, eq=False)  # each is there once
class RowKind:
    """One of the things that rows can be."""

    title: str
    columns: Mapping[
        str, str
    ]  # what a column can hold → the name that the recipes for own rows give it
    texts: tuple[str, ...]  # those that are sentences


SCORED = RowKind(
    title="scored pairs",
    columns={"s1": "sentence1", "s2": "sentence2", "score": "gold"},
    texts=("s1", "s2"),
)
LABELLED = RowKind(
    title="labelled pairs",
    columns={"s1": "premise", "s2": "hypothesis", "label": "label"},
    texts=("s1", "s2"),
)
PAIRS = RowKind(
    title="pairs of anchor and positive",
    columns={"anchor": "anchor", "positive": "positive"},
    texts=("anchor", "positive"),
)
TRIPLETS = RowKind(
    title="triplets",
    columns={"anchor": "anchor", "positive": "positive", "negative": "negative"},
    texts=("anchor", "positive", "negative"),
)
SENTENCES = RowKind(title="sentences", columns={"sentence": "sentence"}, texts=("sentence",))
KINDS = (SCORED, LABELLED, TRIPLETS, PAIRS, SENTENCES)
