"""The task `retrieval`: how highly each query ranks the documents that are relevant to it, among
all documents.

Queries and documents are those of a set that is made of a corpus, of a folder in BEIR's layout, or
of a user's own file of (anchor, positive) pairs or triplets. An item is a query with one relevant
document, its prediction that document's rank, from which all measures follow. What other programs
found, `trec:FILE`, is a model too.
"""

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import log2
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.measures import CUTS, FIRST, MEASURES, query_gold
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.session import StartProgress, unseen
from embedlab.core.settings import Settings
from embedlab.data.derived import SETS, open_queries
from embedlab.data.own_files import holds_queries
from embedlab.data.queries import PAIR, Places, Queries
from embedlab.data.source import Source, open_available
from embedlab.data.words import normalise
from embedlab.encoders.encoder import PairScorer, RefusedTextsError
from embedlab.encoders.exact_search import ranks_in_run
from embedlab.models.catalog import ModelSpec
from embedlab.models.grammar import RERANK
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.outcomes import StoredOutcomes
from embedlab.tasks._searchers import (
    MOST_PAIRS,
    Ranks,
    Searcher,
    SimilarityOrder,
    count_read_pairs,
    refuse_reranking,
    similarities_of,
)
from embedlab.tasks.task import (
    GoldItems,
    Selection,
    Task,
    TaskResult,
    Texts,
    evaluation_of,
    outcomes_of,
    part_items,
    skipped_notes,
)

if TYPE_CHECKING:
    from embedlab.objectives.objective import TrainedEncoder

METRICS = (f"ndcg@{FIRST}", f"mrr@{FIRST}", "map", *(f"recall@{cut}" for cut in CUTS))
# without a cut, so that it also moves where nothing is found among the first ten
DEV_METRIC = "mrr"
SPLIT = "test"  # all queries are scored


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranked:
    """The ranks of the items of one dataset that a model can read."""

    queries: Queries
    rows: Places  # the numbers of the items among those of the whole set
    gold: NDArray[np.float64]
    ranks: Ranks
    notes: tuple[str, ...] = ()


def gold_of(queries: Queries) -> NDArray[np.float64]:
    """Return the gold value of each item."""
    query, _ = queries.numbers(queries.items)
    return query_gold(query, queries.items["grade"])


def ranks_by(scorer: PairScorer, queries: Queries) -> Ranks:
    """Return the rank of each item's document by SCORER."""
    found = similarities_of(scorer, scorer, queries, unseen)
    return SimilarityOrder(found=found, queries=queries, start_progress=unseen).ranks


def _rank_items(searcher: Searcher, queries: Queries, lost_texts: Sequence[str]) -> Ranked:
    """Return the ranks of the items of QUERIES, without items with texts that the model refuses, or
    that another model refused (LOST TEXTS).
    """
    refused = {*lost_texts} if queries.has_texts else set()
    while True:
        readable, rows = queries.without(refused)
        try:
            order = searcher.search(readable)
            break
        except RefusedTextsError as error:  # of the queries, then of the documents
            refused |= {text for text, _ in error.refused}
            if not len(queries.without(refused)[1]):
                raise
    notes = [*order.notes]
    if refused:
        counts = [
            f"{whole.height - read.height} of {whole.height}"
            for whole, read in (
                (queries.queries, readable.queries),
                (queries.documents, readable.documents),
            )
        ]
        notes.append(
            f"{queries.part.state.name}: {' queries and '.join(counts)} documents left out, "
            f"without a vector"
        )
    return Ranked(
        queries=readable,
        rows=rows,
        gold=gold_of(queries)[rows],
        ranks=order.ranks,
        notes=tuple(notes),
    )


def _outcomes(evaluation: Evaluation, ranked: Ranked) -> StoredOutcomes:
    queries = ranked.queries
    outcomes = outcomes_of(
        evaluation,
        queries.part,
        ranked.gold,
        ranked.ranks,
        is_class=False,
        split=SPLIT,
        rows=ranked.rows,
        text_ids=None if queries.has_texts else queries.keys,
    )
    return replace(outcomes, notes=ranked.notes)


class Retrieval(Task):
    """The ranks of the relevant documents of queries; each set, folder or file is a dataset."""

    name = "retrieval"
    summary = (
        "search: nDCG@10, MRR@10, MAP and recall of the documents relevant to queries; "
        "captions, questions, your own folder or file"
    )
    datasets = tuple(SETS)
    is_each_alone = True
    searches = True

    def has_dataset(self, name: str) -> bool:
        """Return whether NAME is a set, a folder of queries, or a user's own file of anchors and
        positives, or of triplets.
        """
        return name in self.datasets or holds_queries(name)

    def in_all(self, folder: Path | None) -> Sequence[tuple[str, ...]]:
        """Return nothing: search over tens of thousands of documents takes much longer than the
        rest, and is selected by name.
        """
        return ()

    def texts(self, source: Source, selection: Selection) -> Texts:
        """Return the states of the data. The task encodes the texts itself, as queries and
        documents may have different prompts.
        """
        opened, missing_errors = _open_queries(source, selection.names or self.datasets)
        return Texts(
            columns=(),
            states=tuple(queries.part.state for queries in opened),
            missing=tuple(missing_errors),
            notes=tuple(_notes_on(opened)),
        )

    def items(self, source: Source, names: Sequence[str]) -> list[GoldItems]:
        """Return the items of those of NAMES whose texts are known; their labels are the ids of the
        queries.
        """
        opened = [queries for queries in _open_queries(source, names)[0] if queries.has_texts]
        return [part_items(queries.part, queries.items["query"], SPLIT) for queries in opened]

    def evaluate(
        self,
        spec: ModelSpec,
        settings: Settings,
        start_progress: StartProgress,
        selection: Selection,
    ) -> TaskResult:
        """Return the ranks of one member on the selected datasets."""
        opened, missing_errors = _open_queries(
            Source.from_settings(settings), selection.names or self.datasets
        )
        states = [queries.part.state for queries in opened]
        for queries in opened:
            _refuse_many_pairs(spec, queries)
        searcher = Searcher(spec, settings, start_progress)
        ranked = [_rank_items(searcher, queries, spec.refused_texts) for queries in opened]
        notes = [
            *searcher.notes,
            *skipped_notes(missing_errors),
            *_notes_on(opened),
            *(note for dataset_ranks in ranked for note in dataset_ranks.notes),
        ]
        evaluation = evaluation_of(self.name, searcher, states, notes=notes)
        return TaskResult(
            evaluation=evaluation,
            missing=tuple(missing_errors),
            tested=tuple(queries.part for queries in opened if queries.has_texts),
            outcomes=tuple(_outcomes(evaluation, dataset_ranks) for dataset_ranks in ranked),
        )

    def check(self, spec: ModelSpec, settings: Settings) -> None:
        """Refuse a reranker whose parts cannot be put together so."""
        refuse_reranking(spec)

    def cost(self, spec: ModelSpec, source: Source, names: Sequence[str]) -> tuple[str, ...]:
        """Return how many pairs of texts are read together, where some are: each takes as long as a
        sentence.
        """
        opened, _ = _open_queries(source, names or self.datasets)
        counts = {queries.part.state.name: count_read_pairs(spec, queries) for queries in opened}
        return tuple(
            f"reads {count:,} pairs of a query and a document of {name}"
            for name, count in counts.items()
            if count
        )

    def measures(self, dataset: str) -> tuple[str, ...]:
        """Return nDCG@10, then the others."""
        return METRICS

    def dev_score(self, source: Source, name: str) -> "Callable[[TrainedEncoder], float]":
        """Return MRR x 100 on the dataset NAME as a function; it is opened once."""
        queries = open_queries(source, name)
        gold = gold_of(queries)

        def reciprocal_rank(trained: "TrainedEncoder") -> float:
            return 100 * MEASURES[DEV_METRIC].value(gold, ranks_by(trained.encoder, queries))

        return reciprocal_rank


def _notes_on(opened: Sequence[Queries]) -> Iterator[str]:
    """Yield the notes on sets that hold for every model: what is skipped, and copies of documents
    and queries.
    """
    for queries in opened:
        state = queries.part.state
        for reason, count in state.skipped.items():
            yield f"{state.name}: {reason}: {count} skipped"
        if queries.has_texts:
            yield from _notes_on_copies(queries)
            keys = [normalise(text) or text for text in queries.texts]
            if repeats := len(keys) - len({*keys}):
                yield f"{state.name}: a query has the words of another: {repeats} of {len(keys)}"


def _notes_on_copies(queries: Queries) -> Iterator[str]:
    """Yield how many documents have the text of a document that is relevant to a query to which
    they are not, and the best score that they leave possible, as ties count in the worst order.
    Then yield how many more have only the same words.
    """
    name = queries.part.state.name
    copies = 0
    words = [normalise(text) or text for text in queries.candidates]
    for form, texts in (("text", queries.candidates), ("words", words)):
        total, best = _cost_of_copies(queries, texts)
        new = total - copies
        if not new:
            continue
        copies = total
        subject, verb = ("document has", "is") if new == 1 else ("documents have", "are")
        note = (
            f"{name}: {new} {subject} the {form} of a relevant one but {verb} not marked relevant"
        )
        if form == "text":
            note += f": the best possible {METRICS[0]} is {100 * best:.2f}"
        yield note


def _cost_of_copies(queries: Queries, texts: Sequence[str]) -> tuple[int, float]:
    """Return how many documents have one of the TEXTS, (documents,), of a relevant document, and
    the highest score of a model that gives equal texts one rank.
    """
    documents = queries.documents.select(document="id", text=pl.Series(texts, dtype=pl.String))
    relevant_texts = queries.items.join(documents, on="document").select("query", "text").unique()
    rows = relevant_texts.join(documents, on="text").join(queries.excluded, on=PAIR, how="anti")
    rows = rows.join(queries.items, on=PAIR, how="left")
    copies = rows.filter(pl.col("grade").is_null())["document"].n_unique()
    if not copies:
        return 0, 1.0
    graded = rows.group_by("query", "text").agg(pl.col("grade").fill_null(0).sort())
    by_query = graded.group_by("query").agg("text", "grade")
    places = [_best_places(grades) for grades in by_query["grade"].to_list()]
    placed = by_query.with_columns(place=pl.Series(places)).explode("text", "place")
    rows = rows.join(placed.select("query", "text", "place"), on=["query", "text"])
    ranks = ranks_in_run(rows.select(*PAIR, score=-pl.col("place")), queries)
    return copies, MEASURES[METRICS[0]].value(gold_of(queries), ranks)


_Grades = tuple[tuple[float, ...], ...]  # of the documents with each text, in ascending order


def _best_places(texts: Sequence[Sequence[float]]) -> list[int]:
    """Return the place of each of a query's TEXTS in the order of the highest nDCG@10.

    A text is the grades of the documents that have it, in ascending order: copies tie, and what
    ties is in the worst order. Neither the highest grade nor the mean decides the order alone.
    """

    @cache
    def best_order(left: _Grades, rank: int) -> tuple[float, _Grades]:
        """The gain of what is LEFT, from a RANK on, and its order."""
        if not left or rank > FIRST:
            return 0.0, left
        choices = []
        for index, grades in enumerate(left):
            if grades in left[:index] or any(_comes_before(other, grades) for other in left):
                continue
            gains = (
                grade / log2(rank + 1 + at) for at, grade in enumerate(grades[: FIRST + 1 - rank])
            )
            later_gain, later = best_order(left[:index] + left[index + 1 :], rank + len(grades))
            choices.append((sum(gains) + later_gain, (grades, *later)))
        return max(choices)

    order: list[Sequence[float]] = [*best_order(tuple(sorted(map(tuple, texts))), 1)[1]]
    places = []
    for grades in texts:
        places.append(order.index(tuple(grades)))
        order[places[-1]] = ()
    return places


def _comes_before(first: tuple[float, ...], second: tuple[float, ...]) -> bool:
    """Return whether some best order has a text with the grades FIRST before one with SECOND: all
    of it is better, or it is as long and nowhere worse.
    """
    if len(first) == len(second):
        return first != second and all(map(operator.ge, first, second))
    return first[0] > second[-1] or (first[0] == second[-1] and len(first) < len(second))


def _refuse_many_pairs(spec: ModelSpec, queries: Queries) -> None:
    """Refuse a model that would read very many pairs of a query and a document together."""
    if (count := count_read_pairs(spec, queries)) > MOST_PAIRS:
        pairs = f"{count:,} pairs of {queries.part.state.name}, more than {MOST_PAIRS:,}"
        suggestion = f"rerank:{spec.name},bm25,100"
        if spec.kind == RERANK:
            model, first = spec.parts
            suggestion = f"rerank:{model.name},{first.name},20"
        raise UsageError(
            f"{spec.name!r} would read each pair by itself: {pairs}",
            hint=f"rerank the first documents of another: {suggestion}",
        )


def _open_queries(source: Source, names: Sequence[str]) -> tuple[list[Queries], list[MissingError]]:
    """Return the queries of NAMES that are available, and the errors of the others; if none is
    available, raise the first error.
    """

    def opened(name: str) -> Queries:
        if not (name in SETS or holds_queries(name)):
            raise MissingError(
                f"{name!r} holds no pairs of anchor and positive",
                hint="`embedlab data check FILE` says what a file holds",
            )
        return open_queries(source, name)

    return open_available(names, opened)


TASK = Retrieval()
