"""Datasets that are made of corpora whose texts belong together.

Sets of queries: captions of one picture, questions that people say are the same; every text is a
document, and a query if there is another one that belongs to it.

Contrasts: a sentence that people say follows from an anchor, next to one that they say contradicts
it. Those of corpora are made of labelled pairs: every two of an anchor's sentences of which one was
labelled entailment and the other contradiction; one set has contradicted sentences that a rule
makes of the entailed ones. A user's own file has them as columns. Columns: sentence1 (the anchor),
sentence2 (entailed), contradicted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.choices import EditRule
from embedlab.core.errors import MissingError
from embedlab.core.paths import TINY_FOLDER
from embedlab.data.dataset import SIDES, ParsedRows, Part
from embedlab.data.overlaps import sentence_columns, topics_of
from embedlab.data.own_columns import TRIPLETS, own_data
from embedlab.data.own_files import open_query_file, own_data_or_none
from embedlab.data.queries import Queries, queries_of_pairs
from embedlab.data.source import Source, dataset
from embedlab.data.words import edit_sentence, text_bytes

PREFIX = "contrast:"  # before the path of a file of triplets, which are otherwise queries
COLUMNS = ("sentence1", "sentence2", "contradicted")
_CLOSE = 4.5  # a score of two sentences that mean the same
_NOT_THREE = "triple with two equal sentences"


@dataclass(frozen=True, kw_only=True)
class LabelledSource:
    """The labelled pairs of a corpus that contrasts are made of."""

    corpus: str
    splits: tuple[str, ...]
    is_either: bool  # whether the second sentence of a pair is an anchor too
    # the dataset with human scores of the same pairs: entailed sentences have a high one, as a
    # sentence may entail one that says much less, which people do not call close
    scores: str | None = None
    # makes the contradicted sentence of the entailed one; None: people wrote it
    rule: EditRule | None = None


SOURCES: Mapping[str, LabelledSource] = {
    # contradictions that add or remove a negation
    "contrast-sick": LabelledSource(
        corpus="sick-e", splits=("train", "dev", "test"), is_either=True, scores="sick-r"
    ),
    # pairs that people revised with few words until the label changed
    "contrast-counterfactual": LabelledSource(
        corpus="snli-counterfactual", splits=("train", "dev", "test"), is_either=True
    ),
    # the hypotheses that people wrote for one premise
    "contrast-snli": LabelledSource(corpus="snli", splits=("dev",), is_either=False),
    # the first number of the entailed sentence, raised
    "contrast-number": LabelledSource(
        corpus="sick-e",
        splits=("train", "dev", "test"),
        is_either=False,
        scores="sick-r",
        rule="number",
    ),
}


def holds_contrasts(name: str) -> bool:
    """Return whether NAME means a user's own file of contrasts: by its prefix, or by what its
    columns are called.
    """
    if name.startswith(PREFIX):
        return True
    if (data := own_data_or_none(name)) is None:
        return False
    column_names = [data.columns.get(role, "").strip().lower() for role in ("positive", "negative")]
    return data.kind == TRIPLETS and column_names == ["entailed", "contradicted"]


def open_contrasts(source: Source, name: str) -> Part:
    """Return the contrasts of a corpus or of a user's own file, each different triple once."""
    return _open_corpus(source, name) if name in SOURCES else _open_file(name)


def contrasts_of(pairs: pl.DataFrame, *, is_either: bool) -> pl.DataFrame:
    """Return every contrast of labelled PAIRS, which have the columns first, second and label; in
    their order, each once.
    """
    if is_either:
        reversed_pairs = pairs.select(first="second", second="first", label="label")
        pairs = pl.concat([pairs.select("first", "second", "label"), reversed_pairs])
    entailed = _with_label(pairs, "entailment", "sentence2").unique(maintain_order=True)
    contradicted = _with_label(pairs, "contradiction", "contradicted").unique(maintain_order=True)
    return entailed.join(contradicted, on="sentence1", maintain_order="left_right").select(COLUMNS)


def _with_label(pairs: pl.DataFrame, label: str, second: str) -> pl.DataFrame:
    """Return the PAIRS with a LABEL, with their second sentence as the column SECOND."""
    is_called = pl.col("label").str.to_lowercase() == label
    return pairs.filter(is_called).select(sentence1="first", **{second: "second"})


def _open_corpus(source: Source, name: str) -> Part:
    labelled_source = SOURCES[name]
    # generated pairs of SICK share no anchor
    if source.folder == TINY_FOLDER and labelled_source.scores is not None:
        labelled_source = replace(
            SOURCES["contrast-snli"], splits=("test",), rule=labelled_source.rule
        )
    parts = [
        source.open_split(dataset(labelled_source.corpus), split)
        for split in labelled_source.splits
    ]
    pairs = pl.concat([_stripped(part.frame, "label") for part in parts])
    if labelled_source.scores is not None:
        scores = dataset(labelled_source.scores)
        score_frames = [source.open_split(scores, split).frame for split in labelled_source.splits]
        pairs = _without_distant(pairs, score_frames)
    if labelled_source.rule is None:
        rows = _distinct_triples(contrasts_of(pairs, is_either=labelled_source.is_either))
    else:
        entailed = _with_label(pairs, "entailment", "sentence2")
        changed = [
            edit_sentence(sentence, labelled_source.rule) for sentence in entailed["sentence2"]
        ]
        contradicted = pl.Series("contradicted", changed, dtype=pl.String)
        rows = _distinct_triples(entailed.with_columns(contradicted).drop_nulls())
    states = [part.state for part in parts]
    expected_rows = [state.expected_rows for state in states if state.expected_rows is not None]
    state = replace(
        states[0],
        name=name,
        split="test",
        rows=sum(state.rows for state in states),
        expected_rows=sum(expected_rows) if len(expected_rows) == len(states) else None,
        partial=any(state.partial for state in states),
        sha256={
            **{file: digest for state in states for file, digest in state.sha256.items()},
            "contrasts": _digest(rows),
        },
        skipped={},
        empty=0,
    )
    return Part(frame=_refuse_empty(name, rows), state=state)


def _stripped(frame: pl.DataFrame, value: str) -> pl.DataFrame:
    """Return the two sentences of each row, without the blanks at their ends that one copy of a
    corpus has, and a value.
    """
    first, second = (pl.col(name).str.strip_chars() for name in sentence_columns(frame))
    return frame.select(value, first=first, second=second)


def _without_distant(pairs: pl.DataFrame, score_frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return labelled PAIRS without those of entailment whose score is low, or unknown."""
    scores = pl.concat([_stripped(frame, "gold") for frame in score_frames])
    best = scores.group_by("first", "second").agg(pl.col("gold").max())
    joined = pairs.join(best, on=["first", "second"], how="left", maintain_order="left")
    is_entailed = pl.col("label").str.to_lowercase() == "entailment"
    is_close = (pl.col("gold") >= _CLOSE).fill_null(value=False)
    return joined.filter(~is_entailed | is_close).drop("gold")


def _open_file(name: str) -> Part:
    data = own_data(name.removeprefix(PREFIX))
    if data.kind != TRIPLETS:
        hint = "name its columns anchor, entailed and contradicted"
        raise MissingError(
            f"{data.file.path} holds {data.kind.title}, not triples of an anchor and two sentences",
            hint=hint,
        )
    texts = data.frame.select(
        pl.col(column).cast(pl.String).alias(our_name)
        for column, our_name in zip(data.texts, COLUMNS, strict=True)
    )
    frame = _refuse_empty(name, _distinct_triples(texts))
    skipped = dict(data.skipped)
    if rejected := texts.unique().height - frame.height:
        skipped[_NOT_THREE] = rejected
    parsed = ParsedRows(frame=frame, skipped=skipped)
    dataset_name = PREFIX * name.startswith(PREFIX) + data.file.dataset
    return Part.of_file(data.file.path, parsed, name=dataset_name)


def _distinct_triples(triples: pl.DataFrame) -> pl.DataFrame:
    """Return each triple of three different sentences once: two equal ones say nothing of a
    model.
    """
    is_distinct = pl.concat_list(COLUMNS).list.n_unique() == len(COLUMNS)
    return triples.filter(is_distinct).unique(maintain_order=True)


def _refuse_empty(name: str, triples: pl.DataFrame) -> pl.DataFrame:
    if triples.is_empty():
        hint = "give one anchor, an entailed and a contradicted sentence a row"
        raise MissingError(
            f"{name} holds no anchor with a sentence that is entailed and one that is contradicted",
            hint=hint,
        )
    return triples


# the corpus and its split that a set of queries is made of
SETS: Mapping[str, tuple[str, str]] = {
    "retrieval-captions": ("captions", "test"),
    "retrieval-questions": ("paraphrases", "dev"),
}


def open_queries(source: Source, name: str) -> Queries:
    """Return the queries of a set, or of a user's own file or folder."""
    return _queries_of_corpus(source, name) if name in SETS else open_query_file(name)


def _queries_of_corpus(source: Source, name: str) -> Queries:
    corpus_name, split = SETS[name]
    corpus = dataset(corpus_name)
    part = source.open_split(corpus, split)
    if corpus.kind == "sentences":
        # each different text once; one that is in several units is of the first
        units: dict[str, int] = {}
        for number, text in enumerate(part.frame["sentence"].to_list()):
            units.setdefault(text, number // corpus.unit)
        documents = pl.Series([*units], dtype=pl.String)
        groups = np.array([*units.values()], np.intp)
    else:
        documents, groups = _by_duplicates(part.frame)
    frame = _group_pairs(documents, groups)
    hashes = {**part.state.sha256, "queries": _digest(frame)}
    state = replace(part.state, name=name, split="test", sha256=hashes, empty=0)
    return queries_of_pairs(Part(frame=frame, state=state), documents)


def _by_duplicates(pairs: pl.DataFrame) -> tuple[pl.Series, NDArray[np.intp]]:
    """Return each different text of PAIRS once and the group of each: texts that a chain of
    duplicates connects.
    """
    distinct = pl.concat_list(SIDES).explode().unique(maintain_order=True)
    texts = pairs.select(distinct).to_series()
    texts = texts.filter(texts.str.strip_chars() != "")
    duplicates = pairs.filter(pl.col("is_duplicate") == 1).select(SIDES)
    self_pairs = pl.DataFrame(dict.fromkeys(SIDES, texts))
    groups = topics_of(pl.concat([self_pairs, duplicates]), SIDES)[: len(texts)]
    return texts, groups


def _group_pairs(texts: pl.Series, groups: NDArray[np.intp]) -> pl.DataFrame:
    """Return all pairs of two of TEXTS of the same group, in order."""
    grouped = pl.DataFrame({"sentence1": texts, "group": groups})
    others = grouped.rename({"sentence1": "sentence2"})
    pairs = grouped.join(others, on="group", maintain_order="left_right")
    return pairs.filter(pl.col("sentence1") != pl.col("sentence2")).select(SIDES)


def _digest(frame: pl.DataFrame) -> str:
    """Return a hash of the texts in a FRAME made of a corpus; stored results hold only for this
    hash.
    """
    texts = "\0".join(text for column in frame for text in column)
    return sha256(text_bytes(texts)).hexdigest()
