"""What a model finds for the queries of a set, however it searches: by vectors, pair by pair, by an
index, in a file, or as a reranker.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.printable import count_text
from embedlab.core.session import StartProgress
from embedlab.core.settings import Settings
from embedlab.data.queries import Places, Queries, Run
from embedlab.encoders.encoder import Encoder, EncoderFacts, PairScorer
from embedlab.encoders.exact_search import (
    NONE,
    IndexSearch,
    Scores,
    Similarities,
    TextSearch,
    VectorSearch,
    best_documents,
    first_documents,
    ranks_in_run,
    relevant_ranks,
)
from embedlab.models.catalog import ModelSpec
from embedlab.models.encoder_kind import combined_fingerprint
from embedlab.models.grammar import RERANK, title_of
from embedlab.models.location import model_folder, spec_fingerprint
from embedlab.models.modules import routes, stated_prompts
from embedlab.models.published import BY_REPOSITORY

QUERY, DOCUMENT = ROLES = ("query", "document")  # as mteb and sentence-transformers call them
MODELS_WITH_FOLDER = ("run", "folder", "hub")


class RoleEncoders:
    """The encoders of a member; a typed prompt or role holds for every text, otherwise each task
    and role has its own.
    """

    def __init__(self, spec: ModelSpec, load: Callable[[ModelSpec], Any]) -> None:
        self._spec, self._load = spec, load
        self.usual: PairScorer = load(spec)
        self._loaded: dict[ModelSpec, Any] = {spec: self.usual}
        self.notes: dict[str, None] = {}  # on prompts, in the order of their first use

    def of(self, task: str, kind: str, role: str | None) -> Any:
        """Return the encoder of texts in a ROLE of a TASK, which is of a KIND as mteb calls them,
        such as Retrieval.
        """
        spec = self._spec
        if spec.has_typed_prompt or spec.role is not None:
            return self.usual
        role_spec = replace(spec, role=role if role in self._routes else None)
        if spec.kind in MODELS_WITH_FOLDER:
            role_spec = replace(spec, prompt=self._prompt(task, kind, role))
        if role_spec not in self._loaded:
            self._loaded[role_spec] = self._load(role_spec)
        return self._loaded[role_spec]

    def _prompt(self, task: str, kind: str, role: str | None) -> str | None:
        """Return the name of the folder's prompt for a task, otherwise the catalog's text; what is
        not the usual one is noted.
        """
        name = prompt_name(self._stated, task, kind, role)
        if name is not None:
            self.notes[f"prompt {name!r} of its folder"] = None
            return name
        text = listed_prompt(listed_prompts(self._spec), kind, role)
        if text is not None and text != self._spec.prompt:
            self.notes[f"prompt {text!r} of the catalog"] = None
        return text

    @cached_property
    def _stated(self) -> Mapping[str, Any]:
        return stated_prompts(model_folder(self._spec, offline=True))

    @cached_property
    def _routes(self) -> frozenset[str]:
        """The roles for which sentence-transformers chooses other modules."""
        is_sentence_transformers = self._spec.kind == "sentence-transformers"
        return routes(Path(self._spec.location)) if is_sentence_transformers else frozenset()


def listed_prompts(spec: ModelSpec) -> Mapping[str, str]:
    """Return the prompts that the catalog lists for a model by name; none where one was typed, or
    where a typed hub id takes none.
    """
    entry = BY_REPOSITORY.get(spec.location) if spec.kind == "hub" else None
    return (
        {}
        if entry is None or spec.has_typed_prompt or spec.prompt != entry.prompts.get("sts")
        else entry.prompts
    )


def listed_prompt(prompts: Mapping[str, str], kind: str, role: str | None) -> str | None:
    """Return the catalog's prompt of a KIND of tasks or of a ROLE; what has no role and no prompt
    of its own has that of STS.
    """
    if not prompts:
        return None
    if role is not None:
        return prompts.get(role, prompts.get("passage", "") if role == DOCUMENT else "")
    return prompts.get(kind.lower(), prompts.get("sts", ""))


def prompt_name(prompts: Mapping[str, Any], task: str, kind: str, role: str | None) -> str | None:
    """Return the most special of the PROMPTS that fit, in mteb's own order: task and role, task,
    kind and role, kind, role.
    """
    names = [
        name for base in (task, kind) for name in ((f"{base}-{role}", base) if role else (base,))
    ]
    return next((name for name in [*names, *([role] if role else [])] if name in prompts), None)


MOST_PAIRS = 5_000_000  # that a model reads one by one: hours on a processor
_KIND = "Retrieval"  # as mteb calls tasks of this kind, by which folders may state prompts

Ranks = NDArray[np.float64]


def similarities_of(
    query: PairScorer, document: PairScorer, queries: Queries, start_progress: StartProgress
) -> Similarities:
    """Return the similarities of all queries with all documents: by vectors where there are any."""
    if not hasattr(query, "encode"):
        return TextSearch(
            scorer=query,
            first=queries.texts,
            second=queries.candidates,
            progress=start_progress("pairs"),
        )
    query_encoder, document_encoder = cast("Encoder", query), cast("Encoder", document)
    if (
        query_encoder is document_encoder
    ):  # at once: whitening that is fitted to the texts needs all of them
        vectors = query_encoder.encode(
            [*queries.texts, *queries.candidates], start_progress("sentences")
        )
        first, second = np.split(vectors, [len(queries.texts)])
    else:
        first, second = (
            encoder.encode(texts, start_progress(f"{title} texts"))
            for encoder, texts, title in (
                (query_encoder, queries.texts, QUERY),
                (document_encoder, queries.candidates, DOCUMENT),
            )
        )
    return VectorSearch(first=first, second=second, similarity=query_encoder.similarity)


@dataclass(frozen=True, kw_only=True, eq=False)
class SimilarityOrder:
    """The order by similarities of all queries with all documents."""

    found: Similarities
    queries: Queries
    start_progress: StartProgress
    notes: tuple[str, ...] = ()

    @cached_property
    def ranks(self) -> Ranks:
        """The rank of the document of each item."""
        return relevant_ranks(self.found, self.queries, self.start_progress("ranks"))

    def first(self, count: int) -> Places:
        """Return the first COUNT documents of each query."""
        return first_documents(self.found, self.queries, count)


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredOrder:
    """The order of documents that have scores of another program, or of a model that read them
    again: those that have none come after the others, as they were BEFORE, if there was anything.
    """

    query: Places
    document: Places  # NONE: not in the corpus
    score: NDArray[np.floating]
    queries: Queries
    notes: tuple[str, ...]
    before: "DocumentOrder | None" = None
    depth: int = 0  # documents of a query that were read again, where there are so many

    @cached_property
    def ranks(self) -> Ranks:
        """The rank of the document of each item, infinite where it was not found."""
        score = self.score.astype(np.float64)
        ranks = ranks_in_run(self.query, self.document, score, self.queries)
        if self.before is None:
            return ranks
        return np.where(np.isfinite(ranks), ranks, self.before.ranks)

    def first(self, count: int) -> Places:
        """Return the first COUNT documents of each query, of those that are in the corpus and
        count.
        """
        queries, base = self.queries, len(self.queries.candidates)
        excluded = queries.excluded[0] * base + queries.excluded[1]
        has_text = (self.document != NONE) & (self.document < base)
        is_kept = has_text & ~np.isin(self.query * base + self.document, excluded)
        query, document, score = self.query[is_kept], self.document[is_kept], self.score[is_kept]
        size = len(queries.texts)
        documents = best_documents(query, document, score, queries, queries=size, count=count)
        if self.before is None or count <= self.depth:
            return documents
        later_documents = self.before.first(count)[:, self.depth :]
        return np.concatenate([documents[:, : self.depth], later_documents], axis=1)


DocumentOrder = SimilarityOrder | ScoredOrder
"""The order of the documents of each query of a set."""


class Searcher:
    """A model that puts the documents of each query in order: an encoder, a pair scorer, one that
    makes an index of the documents, a file of what another program found, or a reranker.
    """

    def __init__(self, spec: ModelSpec, settings: Settings, start_progress: StartProgress) -> None:
        from embedlab.encoders.loading import scorer_for  # heavy

        self._spec, self._start, self.name = spec, start_progress, spec.name
        is_reranker = spec.kind == RERANK
        parts = spec.parts if is_reranker else ()
        self._parts = [Searcher(part, settings, start_progress) for part in parts]
        self._run = spec.shipped.found(spec.location)
        self._encoders = (
            None
            if is_reranker or self._run is not None or spec.shipped.index is not None
            else RoleEncoders(spec, lambda spec: scorer_for(spec, settings, cache=settings.cache))
        )
        self.fingerprint: str = (
            combined_fingerprint(
                spec.kind, *(part.fingerprint for part in self._parts), str(spec.depth)
            )
            if is_reranker
            else spec_fingerprint(spec, precision=self.facts.precision)
            if self._encoders is None
            else self._encoders.usual.fingerprint
        )

    @property
    def facts(self) -> EncoderFacts:
        """The facts of what computed the similarities."""
        if self._parts:
            facts = [part.facts for part in self._parts]
            return replace(
                facts[0],
                refused=tuple({text for part_facts in facts for text in part_facts.refused}),
            )
        return EncoderFacts() if self._encoders is None else self._encoders.usual.facts

    @property
    def notes(self) -> Sequence[str]:
        """Its prompts that are not the usual ones."""
        if self._encoders is not None:
            return [*self._encoders.notes]
        return [f"{title_of(part.name)}: {note}" for part in self._parts for note in part.notes]

    def search(self, queries: Queries) -> DocumentOrder:
        """Return the order of all documents of a set."""
        if self._parts:
            return self._rerank(queries)
        if self._run is not None:
            return _stored_order(self._run, queries)
        return SimilarityOrder(
            found=self._similarities(queries), queries=queries, start_progress=self._start
        )

    def _similarities(self, queries: Queries) -> Similarities:
        name = queries.part.state.name
        if not queries.has_texts:
            raise UsageError(
                f"{name} has qrels but no texts that {self.name!r} could read",
                hint="compare runs: trec:FILE",
            )
        if self._encoders is None:
            index = self._spec.shipped.index
            assert index is not None
            document_index = index(self._spec.location, queries.candidates)
            return IndexSearch(index=document_index, first=queries.texts, second=queries.candidates)
        default_encoder, readers = self._encoders.usual, self._encoders
        if self._spec.is_fitted:
            return similarities_of(default_encoder, default_encoder, queries, self._start)
        query, document = (readers.of(name, _KIND, role) for role in (QUERY, DOCUMENT))
        return similarities_of(query, document, queries, self._start)

    def _scores(self, queries: Queries, query: Places, document: Places) -> Scores:
        """Return the similarity of each of these pairs of a query and a document; (pairs,)."""
        # an index weighs words by all documents
        if self._encoders is not None and not self._spec.is_fitted:
            distinct_documents, document = np.unique(document, return_inverse=True)
            texts = tuple(queries.candidates[index] for index in distinct_documents)
            queries = replace(queries, candidates=texts)
        return self._similarities(queries).score_pairs(query, document)

    def _rerank(self, queries: Queries) -> DocumentOrder:
        """Return the order of the second part, its first documents in that of the first part."""
        (model, first_searcher), depth, name = (
            self._parts,
            self._spec.depth,
            queries.part.state.name,
        )
        assert depth is not None
        first_order = first_searcher.search(queries)
        first_documents = first_order.first(depth)
        query, column = np.nonzero(first_documents != NONE)
        document = first_documents[query, column]
        excluded = np.bincount(queries.excluded[0], minlength=len(queries.texts))
        expected = np.minimum(depth, len(queries.candidates) - excluded)
        short_queries = int(((first_documents != NONE).sum(axis=1) < expected).sum())
        queries_text = count_text(short_queries, "queries have")
        note = f"{name}: {queries_text} fewer than {depth} documents to rerank"
        return ScoredOrder(
            before=first_order,
            query=query,
            document=document,
            score=model._scores(queries, query, document),
            depth=depth,
            queries=queries,
            notes=(*first_order.notes, *([note] if short_queries else [])),
        )


def _stored_order(run: Run, queries: Queries) -> DocumentOrder:
    """Return the order in a file, with notes on what the program and the data do not share."""
    name = queries.part.state.name
    numbers, positions = ({key: index for index, key in enumerate(ids)} for ids in queries.ids)
    rows = run.rows.with_columns(
        number=pl.col("query").replace_strict(numbers, default=None, return_dtype=pl.Int64),
        place=pl.col("document").replace_strict(positions, default=NONE, return_dtype=pl.Int64),
    )
    known_rows = rows.drop_nulls("number")
    if known_rows.is_empty():
        raise MissingError(
            f"{run.path} has no query of {name}",
            hint=f"its queries have ids such as {queries.ids[0][0]!r}",
        )
    missing_queries = len(numbers) - known_rows["number"].n_unique()
    unknown_queries = rows.filter(pl.col("number").is_null())["query"].n_unique()
    # qrels alone name few of the documents
    unknown = int((known_rows["place"] == NONE).sum()) if queries.has_texts else 0
    notes = {
        f"it has no documents for {missing_queries} of {len(numbers)} queries": missing_queries,
        f"its documents for {unknown_queries} other queries are ignored": unknown_queries,
        f"{unknown} of its lines name documents that are not in the corpus": unknown,
    }
    query, document, score = (known_rows[key].to_numpy() for key in ("number", "place", "score"))
    return ScoredOrder(
        query=query,
        document=document,
        score=score,
        queries=queries,
        notes=tuple(f"{name}: {text}" for text, count in notes.items() if count),
    )


def refuse_reranking(spec: ModelSpec) -> None:
    """Refuse a reranker of which a part cannot do its part; nothing is loaded."""
    if spec.kind != RERANK:
        return
    model, first_spec = spec.parts
    if model.kind == RERANK or model.shipped.found(model.location) is not None:
        raise UsageError(
            f"{model.name!r} cannot score a query with a document, which {spec.name!r} needs",
            hint=f"let it find the documents: {RERANK}:MODEL,{model.name},{spec.depth}",
        )
    if first_spec.shipped.scorer is not None:
        raise UsageError(
            f"{first_spec.name!r} reads each query with each document: nothing is left to rerank",
            hint=f"let an encoder or bm25 find the documents: "
            f"{RERANK}:{model.name},bm25,{spec.depth}",
        )
    refuse_reranking(first_spec)


def count_read_pairs(spec: ModelSpec, queries: Queries) -> int:
    """Return how many pairs of a query and a document a model of SPEC reads together; 0 of one with
    vectors.
    """
    if spec.kind == RERANK:
        assert spec.depth is not None
        deepest = len(queries.texts) * min(spec.depth, len(queries.candidates))
        return (deepest if spec.parts[0].shipped.scorer is not None else 0) + count_read_pairs(
            spec.parts[1], queries
        )
    return len(queries.texts) * len(queries.candidates) if spec.shipped.scorer is not None else 0
