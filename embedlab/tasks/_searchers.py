"""What a model finds for the queries of a set, however it searches: by vectors, pair by pair, by an
index, in a file, or as a reranker.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.progress import StartProgress
from embedlab.core.settings import Settings
from embedlab.data.queries import Places, Queries, Run
from embedlab.encoders.encoder import Described, Encoder, EncoderFacts, PairScorer
from embedlab.encoders.exact_search import (
    NONE,
    OfIndex,
    OfTexts,
    OfVectors,
    Relevant,
    Scores,
    Similarities,
    first_documents,
    in_order,
    ranks_in_run,
    relevant_ranks,
)
from embedlab.models.catalog import ModelSpec
from embedlab.models.encoder_kind import combined_fingerprint
from embedlab.models.fingerprint import spec_fingerprint
from embedlab.models.grammar import RERANK, title_of
from embedlab.tasks._roles import DOCUMENT, QUERY, RoleEncoders

MOST_PAIRS = 5_000_000  # that a model reads one by one: hours on a processor
_KIND = "Retrieval"  # as mteb calls tasks of this kind, by which folders may state prompts

Ranks = NDArray[np.float64]


class DocumentOrder(Protocol):
    """The order of the documents of each query of a set."""

    @property
    def ranks(self) -> Ranks:
        """The rank of the document of each item, infinite where it was not found; (items,)."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What a model and a set do not share."""

    def first(self, count: int) -> Places:
        """Return the first COUNT documents of each query in order, and NONE where there are fewer;
        (queries, count).
        """


class Searcher(Described, Protocol):
    """A model that puts the documents of each query in order."""

    @property
    def notes(self) -> Sequence[str]:
        """What is to be said of how it was used."""

    def search(self, queries: Queries) -> DocumentOrder:
        """Return the order of all documents of a set."""


def relevant_of(queries: Queries) -> Relevant:
    """Return which documents of a set are relevant, of those that have a text."""
    is_there = queries.relevant < len(queries.candidates)
    return Relevant(
        query=queries.query[is_there],
        document=queries.relevant[is_there],
        grade=queries.grade[is_there],
        excluded=queries.excluded,
    )


def ranks_of_items(queries: Queries, ranks: Ranks) -> Ranks:
    """Return RANKS of relevant documents with infinite ones of those without a text."""
    every = np.full(len(queries.relevant), np.inf)
    every[queries.relevant < len(queries.candidates)] = ranks
    return every


def similarities_of(
    query: PairScorer, document: PairScorer, queries: Queries, start_progress: StartProgress
) -> Similarities:
    """Return the similarities of all queries with all documents: by vectors where there are any."""
    if not hasattr(query, "encode"):
        return OfTexts(
            scorer=query,
            first=queries.texts,
            second=queries.candidates,
            progress=start_progress("pairs"),
        )
    ours, theirs = cast("Encoder", query), cast("Encoder", document)
    if ours is theirs:  # at once: whitening that is fitted to the texts needs all of them
        vectors = ours.encode([*queries.texts, *queries.candidates], start_progress("sentences"))
        first, second = np.split(vectors, [len(queries.texts)])
    else:
        first, second = (
            encoder.encode(texts, start_progress(f"{title} texts"))
            for encoder, texts, title in (
                (ours, queries.texts, QUERY),
                (theirs, queries.candidates, DOCUMENT),
            )
        )
    return OfVectors(first=first, second=second, similarity=ours.similarity)


@dataclass(frozen=True, kw_only=True, eq=False)
class OfSimilarities:
    """The order by similarities of all queries with all documents."""

    found: Similarities
    queries: Queries
    start_progress: StartProgress
    notes: tuple[str, ...] = ()

    @cached_property
    def ranks(self) -> Ranks:
        """The rank of the document of each item."""
        relevant, progress = relevant_of(self.queries), self.start_progress("ranks")
        return ranks_of_items(self.queries, relevant_ranks(self.found, relevant, progress))

    def first(self, count: int) -> Places:
        """Return the first COUNT documents of each query."""
        return first_documents(self.found, relevant_of(self.queries), count)


class ModelSearcher:
    """A model that reads texts: an encoder, a pair scorer, or one that makes an index of the
    documents.
    """

    def __init__(self, spec: ModelSpec, settings: Settings, start_progress: StartProgress) -> None:
        from embedlab.encoders.loading import scorer_for  # heavy

        self._spec, self._start = spec, start_progress
        self.name = spec.name
        self._encoders = (
            None
            if spec.shipped.index is not None
            else RoleEncoders(spec, lambda spec: scorer_for(spec, settings, cache=settings.cache))
        )
        usual = self._encoders.usual if self._encoders is not None else None
        self.fingerprint = (
            usual.fingerprint
            if usual is not None
            else spec_fingerprint(spec, precision=EncoderFacts().precision)
        )

    @property
    def facts(self) -> EncoderFacts:
        """The facts of what computed the similarities."""
        return self._encoders.usual.facts if self._encoders is not None else EncoderFacts()

    @property
    def notes(self) -> Sequence[str]:
        """Its prompts that are not the usual ones."""
        return [*self._encoders.notes] if self._encoders is not None else []

    def search(self, queries: Queries) -> DocumentOrder:
        """Return the order by the similarities of all queries with all documents."""
        return OfSimilarities(
            found=self._similarities(queries), queries=queries, start_progress=self._start
        )

    def scores(self, queries: Queries, query: Places, document: Places) -> Scores:
        """Return the similarity of each of these pairs of a query and a document; (pairs,)."""
        if (
            self._encoders is not None and not self._spec.is_fitted
        ):  # an index weighs words by all documents
            needed, document = np.unique(document, return_inverse=True)
            queries = replace(
                queries, candidates=tuple(queries.candidates[index] for index in needed)
            )
        return self._similarities(queries).of(query, document)

    def _similarities(self, queries: Queries) -> Similarities:
        if not queries.has_texts:
            what = (
                f"{queries.part.state.name} has qrels alone, no texts that {self.name!r} could read"
            )
            raise UsageError(what, hint="compare runs: trec:FILE")
        if self._encoders is None:
            index = self._spec.shipped.index
            assert index is not None
            built = index(self._spec.location, queries.candidates)
            return OfIndex(index=built, first=queries.texts, second=queries.candidates)
        return similarities_of(*self._of_roles(queries.part.state.name), queries, self._start)

    def _of_roles(self, name: str) -> tuple[PairScorer, PairScorer]:
        """Return what reads queries and what reads documents of the set called NAME."""
        assert self._encoders is not None
        if self._spec.is_fitted:
            return self._encoders.usual, self._encoders.usual
        query, document = (self._encoders.of(name, _KIND, role) for role in (QUERY, DOCUMENT))
        return query, document


@dataclass(frozen=True, kw_only=True, eq=False)
class FoundBefore:
    """The order in what another program found."""

    query: Places
    document: Places  # NONE: not in the corpus
    score: NDArray[np.float64]
    queries: Queries
    notes: tuple[str, ...]

    @cached_property
    def ranks(self) -> Ranks:
        """The rank of the document of each item, infinite where it was not found."""
        every = Relevant(
            query=self.queries.query,
            document=self.queries.relevant,
            grade=self.queries.grade,
            excluded=self.queries.excluded,
        )
        return ranks_in_run(self.query, self.document, self.score, every)

    def first(self, count: int) -> Places:
        """Return the first COUNT documents of each query, of those that are in the corpus and
        count.
        """
        base = len(self.queries.candidates)
        excluded = self.queries.excluded[0] * base + self.queries.excluded[1]
        has_text = (self.document != NONE) & (self.document < base)
        stays = has_text & ~np.isin(self.query * base + self.document, excluded)
        query, document, score = self.query[stays], self.document[stays], self.score[stays]
        return in_order(
            query,
            document,
            score,
            relevant_of(self.queries),
            queries=len(self.queries.texts),
            count=count,
        )


class RunSearcher:
    """A file of what another program found for queries."""

    notes: Sequence[str] = ()
    facts = EncoderFacts()

    def __init__(self, spec: ModelSpec, run: Run) -> None:
        self.name, self._run = spec.name, run
        self.fingerprint = spec_fingerprint(spec, precision=self.facts.precision)

    def search(self, queries: Queries) -> DocumentOrder:
        """Return the order in the file, with notes on what the program and the data do not
        share.
        """
        numbers, places = ({key: index for index, key in enumerate(ids)} for ids in queries.ids)
        rows = self._run.rows.with_columns(
            number=pl.col("query").replace_strict(numbers, default=None, return_dtype=pl.Int64),
            place=pl.col("document").replace_strict(places, default=NONE, return_dtype=pl.Int64),
        )
        known = rows.drop_nulls("number")
        if known.is_empty():
            raise MissingError(
                f"{self._run.path} has no query of {queries.part.state.name}",
                hint=f"its queries have ids such as {queries.ids[0][0]!r}",
            )
        unknown_documents = (
            int((known["place"] == NONE).sum()) if queries.has_texts else 0
        )  # qrels alone name few of the documents
        counts = {
            f"of {len(numbers)} queries it has no document for {{}}": len(numbers)
            - known["number"].n_unique(),
            "its documents of {} other queries are not read": rows.filter(
                pl.col("number").is_null()
            )["query"].n_unique(),
            "{} of its lines name documents that are not in the corpus": unknown_documents,
        }
        query, document, score = (known[name].to_numpy() for name in ("number", "place", "score"))
        return FoundBefore(
            query=query,
            document=document,
            score=score,
            queries=queries,
            notes=tuple(
                f"{queries.part.state.name}: {text.format(count)}"
                for text, count in counts.items()
                if count
            ),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Reranked:
    """The order of a first search, the first documents of each query in that of another model."""

    before: DocumentOrder
    query: Places  # of the documents that were read again
    document: Places
    score: Scores
    depth: int  # documents of a query that were read again, where there are so many
    queries: Queries
    notes: tuple[str, ...]

    @cached_property
    def ranks(self) -> Ranks:
        """The rank of the document of each item: of one that was not read again it is that of the
        first search.
        """
        score = self.score.astype(np.float64)
        again = ranks_of_items(
            self.queries,
            ranks_in_run(self.query, self.document, score, relevant_of(self.queries)),
        )
        return np.where(np.isfinite(again), again, self.before.ranks)

    def first(self, count: int) -> Places:
        """Return the first COUNT documents of each query; those that were not read again come after
        the others, as they were.
        """
        size = len(self.queries.texts)
        documents = in_order(
            self.query,
            self.document,
            self.score,
            relevant_of(self.queries),
            queries=size,
            count=count,
        )
        if count <= self.depth:
            return documents
        return np.concatenate(
            [documents[:, : self.depth], self.before.first(count)[:, self.depth :]], axis=1
        )


class Reranker:
    """A model that puts the first documents that another one finds in a new order."""

    def __init__(self, spec: ModelSpec, model: ModelSearcher, before: Searcher) -> None:
        assert spec.depth is not None
        self.name = spec.name
        self.fingerprint = combined_fingerprint(
            spec.kind, model.fingerprint, before.fingerprint, str(spec.depth)
        )
        self._model, self._before, self._depth = model, before, spec.depth

    @property
    def facts(self) -> EncoderFacts:
        """The facts of the model that reads again."""
        return self._model.facts

    @property
    def notes(self) -> Sequence[str]:
        """The notes of both models."""
        return [
            f"{title_of(searcher.name)}: {note}"
            for searcher in (self._model, self._before)
            for note in searcher.notes
        ]

    def search(self, queries: Queries) -> DocumentOrder:
        """Return the new order."""
        before = self._before.search(queries)
        first = before.first(self._depth)
        query, column = np.nonzero(first != NONE)
        document = first[query, column]
        score = self._model.scores(queries, query, document)
        available = np.bincount(queries.excluded[0], minlength=len(queries.texts))
        fewer = int(
            (
                (first != NONE).sum(axis=1)
                < np.minimum(self._depth, len(queries.candidates) - available)
            ).sum()
        )
        few = (
            [
                f"{queries.part.state.name}: {fewer} queries have fewer than {self._depth} "
                f"documents to rerank"
            ]
            if fewer
            else []
        )
        return Reranked(
            before=before,
            query=query,
            document=document,
            score=score,
            depth=self._depth,
            queries=queries,
            notes=(*before.notes, *few),
        )


def searcher_of(spec: ModelSpec, settings: Settings, start_progress: StartProgress) -> Searcher:
    """Load what SPEC searches with."""
    if spec.kind == RERANK:
        model, before = spec.parts
        return Reranker(
            spec,
            ModelSearcher(model, settings, start_progress),
            searcher_of(before, settings, start_progress),
        )
    if (run := spec.shipped.found(spec.location)) is not None:
        return RunSearcher(spec, run)
    return ModelSearcher(spec, settings, start_progress)


def refuse_reranking(spec: ModelSpec) -> None:
    """Refuse a reranker of which a part cannot do its part; nothing is loaded."""
    if spec.kind != RERANK:
        return
    model, before = spec.parts
    if model.kind == RERANK or model.shipped.found(model.location) is not None:
        raise UsageError(
            f"{model.name!r} has no similarities of a query and a document, which "
            f"{spec.name!r} needs",
            hint=f"let it find the documents: {RERANK}:MODEL,{model.name},{spec.depth}",
        )
    if before.shipped.scorer is not None:
        raise UsageError(
            f"{before.name!r} reads each query with each document: nothing is left to rerank",
            hint=f"let an encoder or bm25 find the documents: "
            f"{RERANK}:{model.name},bm25,{spec.depth}",
        )
    refuse_reranking(before)


def pairs_read(spec: ModelSpec, queries: Queries) -> int:
    """Return how many pairs of a query and a document a model of SPEC reads together; 0 of one with
    vectors.
    """
    if spec.kind == RERANK:
        assert spec.depth is not None
        deepest = len(queries.texts) * min(spec.depth, len(queries.candidates))
        return (deepest if spec.parts[0].shipped.scorer is not None else 0) + pairs_read(
            spec.parts[1], queries
        )
    return len(queries.texts) * len(queries.candidates) if spec.shipped.scorer is not None else 0
