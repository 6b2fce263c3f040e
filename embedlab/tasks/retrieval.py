"""The task `retrieval`: how highly each query of a user's own file ranks the texts that are relevant to it, among the file's own.

A file of (anchor, positive) pairs, or of triplets, is a dataset. An anchor is a query; all its positives in the file are relevant; the
candidates are all different positives, and of triplets all different negatives, without the query's own text. An item is a query with
one relevant text, its prediction that text's rank: 1 + the number of other candidates that are at least as similar.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from embedlab.analysis.measures import MEASURES
from embedlab.analysis.retrieval import CUTS
from embedlab.choices import Similarity
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.progress import ProgressCallback, StartProgress
from embedlab.core.settings import Settings
from embedlab.data.dataset import Part
from embedlab.data.overlaps import text_keys
from embedlab.data.query_file import Queries, holds_queries, open_query_file
from embedlab.data.source import Source
from embedlab.encoders.encoder import Encoder, PairScorer, distinct, similarity_rows
from embedlab.models.catalog import ModelSpec
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import StoredOutcomes, items_frame
from embedlab.tasks.task import GoldItems, Selection, Task, TaskResult, Texts, evaluation_of, own_items

if TYPE_CHECKING:
    from embedlab.objectives.objective import Trained

METRICS = ("mrr", *(f"recall@{cut}" for cut in CUTS))
SPLIT = "test"  # of a file, all of whose rows are scored
QUERIES_AT_ONCE = 256  # 200 MB of float64 with 100,000 candidates

Ranks = NDArray[np.int64]
Places = NDArray[np.intp]


def relevant_ranks(
    rows_of: Callable[[slice], NDArray[np.float32]],
    query: Places,
    relevant: Places,
    own: Places,
    progress: ProgressCallback | None = None,
) -> Ranks:
    """Return the rank of each relevant candidate among those of its query, 1 = most similar; candidates of equal similarity rank before it.

    ROWS_OF gives the similarities of some queries with all candidates. QUERY and RELEVANT number the query and the candidate of each
    item, (items,); OWN the candidate that is the query's own text, (queries,), −1 where there is none: it does not count.
    """
    ranks = np.empty(len(query), np.int64)
    for start in range(0, len(own), QUERIES_AT_ONCE):
        part = slice(start, min(start + QUERIES_AT_ONCE, len(own)))
        similarity = rows_of(part)
        has_own = np.flatnonzero(own[part] >= 0)
        similarity[has_own, own[part][has_own]] = -np.inf
        items = np.flatnonzero((query >= part.start) & (query < part.stop))
        for some in np.split(items, range(QUERIES_AT_ONCE, len(items), QUERIES_AT_ONCE)):  # a query may have any number of them
            rows = similarity[query[some] - start]
            ranks[some] = (rows >= rows[np.arange(len(some)), relevant[some], None]).sum(axis=1)
        if progress is not None:
            progress(part.stop, len(own))
    return ranks


def ranks_by(scorer: PairScorer, queries: Queries, start_progress: StartProgress | None = None) -> tuple[NDArray[np.intp], Ranks]:
    """Return the number of each item's query, and the rank of its relevant text by SCORER."""
    frame, candidates = queries.part.frame, list(queries.candidates)
    anchors, query = distinct(frame["sentence1"].to_list())
    places = {text: place for place, text in enumerate(candidates)}
    relevant = np.array([places[text] for text in frame["sentence2"]], dtype=np.intp)
    own = np.array([places.get(text, -1) for text in anchors], dtype=np.intp)
    rows_of = _similarities(scorer, anchors, candidates, start_progress("sentences") if start_progress else None)
    return query, relevant_ranks(rows_of, query, relevant, own, start_progress("ranks") if start_progress else None)


def _similarities(
    scorer: PairScorer, anchors: Sequence[str], candidates: Sequence[str], progress: ProgressCallback | None
) -> Callable[[slice], NDArray[np.float32]]:
    """Return a function that gives the similarities of some ANCHORS with all CANDIDATES: by vectors where there are any."""
    if not hasattr(scorer, "encode"):
        return lambda part: _scored(scorer, anchors[part], candidates)
    encoder = cast("Encoder", scorer)
    sentences, index = distinct([*anchors, *candidates])
    vectors = encoder.encode(sentences, progress)
    first, second = vectors[index[: len(anchors)]], vectors[index[len(anchors) :]]
    similarity: Similarity = encoder.similarity
    return lambda part: similarity_rows(first[part], second, similarity)


def _scored(scorer: PairScorer, anchors: Sequence[str], candidates: Sequence[str]) -> NDArray[np.float32]:
    pairs = [anchor for anchor in anchors for _ in candidates], [*candidates] * len(anchors)
    scores = scorer.score(*pairs)
    if lacking := int(np.isnan(scores).sum()):
        message = f"{scorer.name!r} has no score of {lacking} of {len(scores)} pairs of a query and a candidate"
        raise UsageError(message, hint="a file of scores needs all of them; models with vectors need no file")
    return scores.reshape(len(anchors), len(candidates))


def query_scores(queries: Queries, query: NDArray[np.intp], ranks: Ranks) -> Iterator[StoredScore]:
    """Yield the mean of each measure over the queries."""
    name = queries.part.state.name
    for metric in METRICS:
        value = MEASURES[metric].value(query, ranks)
        yield StoredScore(by="dataset", slice=name, metric=metric, setting="", value=value, items=len(ranks), split=SPLIT)


def _outcomes(evaluation: Evaluation, part: Part, query: Places, ranks: Ranks) -> StoredOutcomes:
    rows = items_frame(np.arange(len(ranks)), query.astype(np.str_), ranks.astype(np.str_), text_keys(part.frame))
    return StoredOutcomes.of(evaluation, dataset=part.state.name, split=SPLIT, states=[part.state], classes=(), items=rows)


class Retrieval(Task):
    """The ranks of the positives of each anchor in files of the user's own; a dataset is a file."""

    name = "retrieval"
    summary = "MRR and recall@1, 5, 10 of the positives of each anchor in your own file of pairs or triplets, among the file's own texts"
    is_each_alone = True

    def has_dataset(self, name: str) -> bool:
        """Return whether NAME is a file of pairs of anchor and positive, or of triplets."""
        return holds_queries(name)

    def in_all(self, folder: Path | None) -> Sequence[tuple[str, ...]]:
        """Return nothing: a file is selected by its name."""
        return ()

    def texts(self, source: Source, selection: Selection) -> Texts:
        """Return the queries and the candidates of the selected files."""
        opened = [open_query_file(name) for name in _typed(selection.names)]
        columns = [column for queries in opened for column in (queries.part.frame["sentence1"].to_list(), queries.candidates)]
        return Texts(columns=tuple(columns), states=tuple(queries.part.state for queries in opened))

    def items(self, source: Source, names: Sequence[str]) -> list[GoldItems]:
        """Return the items of the files in NAMES."""
        return [replace(own_items(open_query_file(name).part, "sentence1"), split=SPLIT) for name in names]

    def evaluate(self, spec: ModelSpec, settings: Settings, start_progress: StartProgress, selection: Selection) -> TaskResult:
        """Return the ranks of one member in the selected files."""
        from embedlab.encoders.loading import scorer_for  # heavy

        opened = [open_query_file(name) for name in _typed(selection.names)]
        scorer = scorer_for(spec, settings, cache=settings.cache)
        ranked = [(queries, *ranks_by(scorer, queries, start_progress)) for queries in opened]
        scores = [score for queries, query, ranks in ranked for score in query_scores(queries, query, ranks)]
        parts = [queries.part for queries in opened]
        evaluation = evaluation_of(self.name, scorer, [part.state for part in parts], scores)
        outcomes = tuple(_outcomes(evaluation, queries.part, query, ranks) for queries, query, ranks in ranked)
        return TaskResult(evaluation=evaluation, tested=tuple(parts), outcomes=outcomes)

    def measures(self, dataset: str) -> tuple[str, ...]:
        """Return MRR, then recall at each cut."""
        return METRICS

    def dev_score(self, source: Source, name: str) -> "Callable[[Trained], float]":
        """Return MRR x 100 on the file NAME as a function; it is opened once."""
        queries = open_query_file(name)

        def score(trained: "Trained") -> float:
            query, ranks = ranks_by(trained.encoder, queries)
            return 100 * MEASURES[METRICS[0]].value(query, ranks)

        return score


def _typed(names: Sequence[str]) -> Sequence[str]:
    if not names:
        raise UsageError("no file to retrieve from was named", hint="name one with pairs of anchor and positive: --task FILE.csv")
    if other := next((name for name in names if not holds_queries(name)), None):
        raise MissingError(f"{other!r} holds no pairs of anchor and positive", hint="`embedlab data check FILE` says what a file holds")
    return names


TASK = Retrieval()
