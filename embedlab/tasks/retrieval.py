"""The task `retrieval`: how highly each query ranks the documents that are relevant to it, among all documents.

Queries and documents are those of a set that is made of a corpus, of a folder in BEIR's layout, or of a user's own file of (anchor,
positive) pairs or triplets. An item is a query with one relevant document, its prediction that document's rank, from which all measures
follow. What other programs found, `trec:FILE`, is a model too.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.measures import MEASURES
from embedlab.analysis.retrieval import CUTS, FIRST, query_gold
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.progress import StartProgress
from embedlab.core.settings import Settings
from embedlab.data.queries import Queries
from embedlab.data.query_file import holds_queries
from embedlab.data.query_sets import SETS, open_queries
from embedlab.data.source import Source, available
from embedlab.data.trec_files import Run
from embedlab.encoders.encoder import Encoder, PairScorer
from embedlab.encoders.exact_search import OfTexts, OfVectors, Relevant, Similarities, ranks_in_run, relevant_ranks
from embedlab.models.catalog import ModelSpec
from embedlab.models.encoder_kind import computes_pairs, found_documents
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.outcomes import StoredOutcomes, items_frame
from embedlab.tasks._roles import DOCUMENT, QUERY, RoleEncoders
from embedlab.tasks.task import GoldItems, Selection, Task, TaskResult, Texts, brought_evaluation, evaluation_of

if TYPE_CHECKING:
    from embedlab.objectives.objective import Trained

METRICS = (f"ndcg@{FIRST}", f"mrr@{FIRST}", "map", *(f"recall@{cut}" for cut in CUTS))
DEV_METRIC = "mrr"  # without a cut, so that it also moves where nothing is found among the first ten
SPLIT = "test"  # all queries are scored
MOST_PAIRS = 5_000_000  # that a model reads one by one: hours on a processor
_KIND = "Retrieval"  # as mteb calls tasks of this kind, by which folders may state prompts

Ranks = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranked:
    """The ranks of the items of one dataset."""

    queries: Queries
    ranks: Ranks
    notes: tuple[str, ...] = ()


def ranks_by(
    query: PairScorer, queries: Queries, start_progress: StartProgress | None = None, *, document: PairScorer | None = None
) -> Ranks:
    """Return the rank of each item's document by the scorer of QUERY texts, and that of DOCUMENT texts where it is another one."""
    start = start_progress or (lambda _: lambda *_: None)
    found = _similarities(query, document or query, queries, start)
    return relevant_ranks(found, _relevant(queries), start("ranks"))


def _relevant(queries: Queries) -> Relevant:
    return Relevant(query=queries.query, document=queries.relevant, grade=queries.grade, excluded=queries.excluded)


def _similarities(query: PairScorer, document: PairScorer, queries: Queries, start_progress: StartProgress) -> Similarities:
    """Return the similarities of all queries with all documents: by vectors where there are any."""
    if not hasattr(query, "encode"):
        return OfTexts(scorer=query, first=queries.texts, second=queries.candidates)
    ours, theirs = cast("Encoder", query), cast("Encoder", document)
    if ours is theirs:  # at once: whitening that is fitted to the texts needs all of them
        vectors = ours.encode([*queries.texts, *queries.candidates], start_progress("sentences"))
        first, second = np.split(vectors, [len(queries.texts)])
    else:
        first, second = (
            own.encode(texts, start_progress(f"{title} texts"))
            for own, texts, title in ((ours, queries.texts, QUERY), (theirs, queries.candidates, DOCUMENT))
        )
    return OfVectors(first=first, second=second, similarity=ours.similarity)


def ranks_of_run(run: Run, queries: Queries) -> Ranked:
    """Return the ranks in what another program found, with notes on what the program and the data do not share."""
    numbers, places = ({own: place for place, own in enumerate(ids)} for ids in queries.ids)
    rows = run.rows.with_columns(
        number=pl.col("query").replace_strict(numbers, default=None, return_dtype=pl.Int64),
        place=pl.col("document").replace_strict(places, default=-1, return_dtype=pl.Int64),
    )
    known = rows.drop_nulls("number")
    if known.is_empty():
        raise MissingError(
            f"{run.path} has no query of {queries.part.state.name}", hint=f"its queries have ids such as {queries.ids[0][0]!r}"
        )
    unknown_documents = int((known["place"] < 0).sum()) if queries.has_texts else 0  # qrels alone name few of the documents
    counts = {
        f"of {len(numbers)} queries it has no document for {{}}": len(numbers) - known["number"].n_unique(),
        "its documents of {} other queries are not read": rows.filter(pl.col("number").is_null())["query"].n_unique(),
        "{} of its lines name documents that are not in the corpus": unknown_documents,
    }
    notes = [f"{queries.part.state.name}: {text.format(count)}" for text, count in counts.items() if count]
    query, document, score = (known[name].to_numpy() for name in ("number", "place", "score"))
    return Ranked(queries=queries, ranks=ranks_in_run(query, document, score, _relevant(queries)), notes=tuple(notes))


def query_scores(found: Ranked) -> Iterator[StoredScore]:
    """Yield the mean of each measure over the queries."""
    name, gold = found.queries.part.state.name, query_gold(found.queries.query, found.queries.grade)
    for metric in METRICS:
        value = MEASURES[metric].value(gold, found.ranks)
        yield StoredScore(by="dataset", slice=name, metric=metric, setting="", value=value, items=len(found.ranks), split=SPLIT)


def _outcomes(evaluation: Evaluation, found: Ranked) -> StoredOutcomes:
    queries, ranks = found.queries, found.ranks
    gold = query_gold(queries.query, queries.grade)
    is_graded = bool((queries.grade > 1).any())
    rows = items_frame(
        np.arange(len(ranks)),
        gold.astype(np.str_) if is_graded else queries.query.astype(np.str_),
        [str(int(rank)) if np.isfinite(rank) else "inf" for rank in ranks],
        queries.keys,
    )
    state = queries.part.state
    return StoredOutcomes.of(evaluation, dataset=state.name, split=SPLIT, states=[state], classes=(), items=rows)


class Retrieval(Task):
    """The ranks of the relevant documents of queries; each set, folder or file is a dataset."""

    name = "retrieval"
    summary = "search: nDCG@10, MRR@10, MAP and recall of the documents relevant to queries; captions, questions, your own folder or file"
    datasets = tuple(SETS)
    text_datasets = tuple(SETS)
    is_each_alone = True

    def has_dataset(self, name: str) -> bool:
        """Return whether NAME is a set, a folder of queries, or a user's own file of anchors and positives, or of triplets."""
        return name in self.datasets or holds_queries(name)

    def in_all(self, folder: Path | None) -> Sequence[tuple[str, ...]]:
        """Return nothing: search over tens of thousands of documents takes much longer than the rest, and is selected by name."""
        return ()

    def texts(self, source: Source, selection: Selection) -> Texts:
        """Return the states of what is read; queries and documents may have different prompts, so that the task encodes them itself."""
        opened, missing = _opened(source, selection.names or self.datasets)
        return Texts(columns=(), states=tuple(queries.part.state for queries in opened), missing=tuple(missing))

    def items(self, source: Source, names: Sequence[str]) -> list[GoldItems]:
        """Return the items of those of NAMES of which the texts are known; their labels are the ids of the queries."""
        return [_gold_items(queries) for queries in _opened(source, names)[0] if queries.has_texts]

    def evaluate(self, spec: ModelSpec, settings: Settings, start_progress: StartProgress, selection: Selection) -> TaskResult:
        """Return the ranks of one member on the selected datasets."""
        opened, missing = _opened(Source.from_settings(settings), selection.names or self.datasets)
        states = [queries.part.state for queries in opened]
        skipped = [f"skipped: {error.message} ({error.hint})" for error in missing]
        skipped += [f"{state.name}: {reason}: {count} skipped" for state in states for reason, count in state.skipped.items()]
        if (run := found_documents(spec.kind, spec.location)) is not None:
            ranked = [ranks_of_run(run, queries) for queries in opened]
            scores = [score for one in ranked for score in query_scores(one)]
            notes = [*skipped, *(note for one in ranked for note in one.notes)]
            evaluation = brought_evaluation(self.name, spec, states, scores, notes)
        else:
            evaluation, ranked = self._ranked(spec, settings, start_progress, opened, skipped)
        return TaskResult(
            evaluation=evaluation,
            missing=tuple(missing),
            tested=tuple(queries.part for queries in opened if queries.has_texts),
            outcomes=tuple(replace(_outcomes(evaluation, one), notes=one.notes) for one in ranked),
        )

    def _ranked(
        self, spec: ModelSpec, settings: Settings, start_progress: StartProgress, opened: Sequence[Queries], notes: Sequence[str]
    ) -> tuple[Evaluation, list[Ranked]]:
        """Return the ranks by a model that reads texts."""
        from embedlab.encoders.loading import scorer_for  # heavy

        if without := next((queries.part.state.name for queries in opened if not queries.has_texts), None):
            raise UsageError(f"{without} has qrels alone, no texts that {spec.name!r} could read", hint="compare runs: trec:FILE")
        if computes_pairs(spec.kind):
            _refuse_many_pairs(spec, opened)
        encoders = RoleEncoders(spec, lambda wanted: scorer_for(wanted, settings, cache=settings.cache))
        ranked = []
        for queries in opened:
            name = queries.part.state.name
            query, document = (encoders.usual if spec.is_fitted else encoders.of(name, _KIND, role) for role in (QUERY, DOCUMENT))
            ranked.append(Ranked(queries=queries, ranks=ranks_by(query, queries, start_progress, document=document)))
        scores = [score for one in ranked for score in query_scores(one)]
        states = [queries.part.state for queries in opened]
        return evaluation_of(self.name, encoders.usual, states, scores, [*encoders.notes, *notes]), ranked

    def measures(self, dataset: str) -> tuple[str, ...]:
        """Return nDCG@10, then the others."""
        return METRICS

    def dev_score(self, source: Source, name: str) -> "Callable[[Trained], float]":
        """Return MRR x 100 on the dataset NAME as a function; it is opened once."""
        queries = open_queries(source, name)
        gold = query_gold(queries.query, queries.grade)

        def score(trained: "Trained") -> float:
            return 100 * MEASURES[DEV_METRIC].value(gold, ranks_by(trained.encoder, queries))

        return score


def _refuse_many_pairs(spec: ModelSpec, opened: Sequence[Queries]) -> None:
    """Refuse a model that would read each query with each document where these are very many pairs."""
    for queries in opened:
        if (count := len(queries.texts) * len(queries.candidates)) > MOST_PAIRS:
            pairs = f"{count:,} pairs of {queries.part.state.name}, more than {MOST_PAIRS:,}"
            raise UsageError(
                f"{spec.name!r} reads each query with each document: {pairs}",
                hint="name an encoder, or bring the first documents of one in the order of its scores: trec:FILE",
            )


def _gold_items(queries: Queries) -> GoldItems:
    labels = tuple(queries.ids[0][place] for place in queries.query)
    state = queries.part.state
    return GoldItems(
        dataset=state.name,
        split=SPLIT,
        part=queries.part,
        rows=np.arange(len(labels)),
        labels=labels,
        classes=tuple(sorted(set(labels))),
        states=(state,),
    )


def _opened(source: Source, names: Sequence[str]) -> tuple[list[Queries], list[MissingError]]:
    """Return the queries of NAMES that are available, and the errors of the others; where none is, the first is raised."""

    def opened(name: str) -> Queries:
        if not (name in SETS or holds_queries(name)):
            raise MissingError(f"{name!r} holds no pairs of anchor and positive", hint="`embedlab data check FILE` says what a file holds")
        return open_queries(source, name)

    return available(names, opened)


TASK = Retrieval()
