"""What a model finds for the queries of a set, however it searches: by vectors, pair by pair, by an
index, in a file, or as a reranker.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.printable import count_text
from embedlab.core.session import StartProgress
from embedlab.core.settings import Settings
from embedlab.data.queries import PAIR, Queries, Run
from embedlab.encoders.encoder import Encoder, EncoderFacts, PairScorer
from embedlab.encoders.exact_search import (
    IndexSearch,
    Scores,
    Similarities,
    TextSearch,
    VectorSearch,
    first_documents,
    rank_documents,
    ranks_in_run,
    relevant_ranks,
)
from embedlab.encoders.kinds.live import roles_of
from embedlab.models.catalog import ModelSpec
from embedlab.models.encoder_kind import combined_fingerprint
from embedlab.models.grammar import RERANK, title_of
from embedlab.models.location import model_folder, spec_fingerprint
from embedlab.models.modules import routes, stated_prompts
from embedlab.models.published import BY_REPOSITORY

QUERY, DOCUMENT = PAIR  # as mteb and sentence-transformers call them
MODELS_WITH_FOLDER = ("run", "folder", "hub", "sentence-transformers")


class RoleEncoders:
    """The encoders of a member; a typed prompt or role holds for every text, otherwise each task
    and role has its own.
    """

    def __init__(self, spec: ModelSpec, load: Callable[[ModelSpec], Any]) -> None:
        self._spec, self._load = spec, cache(load)
        self.usual: PairScorer = self._load(spec)
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
            role_spec = replace(role_spec, prompt=self._prompt(task, kind, role))
        return self._load(role_spec)

    def _prompt(self, task: str, kind: str, role: str | None) -> str | None:
        """Return the name of the folder's prompt for a task, otherwise the catalog's text. A prompt
        that is not the usual one is noted.
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
        """The roles for which sentence-transformers chooses other modules, or a live object has
        methods.
        """
        if self._spec.kind == "live":
            return roles_of(self._spec.location)
        is_sentence_transformers = self._spec.kind == "sentence-transformers"
        return routes(Path(self._spec.location)) if is_sentence_transformers else frozenset()


def listed_prompts(spec: ModelSpec) -> Mapping[str, str]:
    """Return the prompts that the catalog lists for a model by name; none where one was typed, or
    where a typed hub id takes none.
    """
    entry = BY_REPOSITORY.get(spec.location) if spec.kind == "hub" else None
    if entry is None or spec.has_typed_prompt or spec.prompt != entry.prompts.get("sts"):
        return {}
    return entry.prompts


def listed_prompt(prompts: Mapping[str, str], kind: str, role: str | None) -> str | None:
    """Return the catalog's prompt for a ROLE, or without a role for a KIND of tasks, which defaults
    to the prompt of STS.
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
    names = [f"{task}-{role}", task, f"{kind}-{role}", kind, role] if role else [task, kind]
    return next((name for name in names if name in prompts), None)


MOST_PAIRS = 5_000_000  # that a model reads one by one: hours on a processor
_KIND = "Retrieval"  # as mteb calls tasks of this kind, by which folders may state prompts

Ranks = NDArray[np.float64]


def similarities_of(
    query: PairScorer, document: PairScorer, queries: Queries, start_progress: StartProgress
) -> Similarities:
    """Return the similarities of all queries with all documents: by vectors where there are any."""
    if not (isinstance(query, Encoder) and isinstance(document, Encoder)):
        return TextSearch(
            scorer=query,
            first=queries.texts,
            second=queries.candidates,
            progress=start_progress("pairs"),
        )
    if query is document:
        # at once: whitening that is fitted to the texts needs all of them
        texts = [*queries.texts, *queries.candidates]
        vectors = query.encode(texts, start_progress("sentences"))
        first, second = np.split(vectors, [len(queries.texts)])
    else:
        first = query.encode(queries.texts, start_progress(f"{QUERY} texts"))
        second = document.encode(queries.candidates, start_progress(f"{DOCUMENT} texts"))
    return VectorSearch(first=first, second=second, similarity=query.similarity)


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

    def first(self, count: int) -> pl.DataFrame:
        """Return the first COUNT documents of each query: query, document, rank."""
        return first_documents(self.found, self.queries, count)


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoredOrder:
    """The order of documents by the scores of another program, or of a model that reranks them.
    Documents without a score come last, in the order that they had BEFORE, if any.
    """

    scored: pl.DataFrame  # query, document, score; the document may not be in the corpus
    queries: Queries
    notes: tuple[str, ...]
    before: "DocumentOrder | None" = None
    depth: int = 0  # documents of a query that were read again, where there are so many

    @cached_property
    def ranks(self) -> Ranks:
        """The rank of the document of each item, infinite where it was not found."""
        ranks = ranks_in_run(self.scored, self.queries)
        if self.before is None:
            return ranks
        return np.where(np.isfinite(ranks), ranks, self.before.ranks)

    def first(self, count: int) -> pl.DataFrame:
        """Return the first COUNT documents of each query among those that are in the corpus and
        not excluded: query, document, rank.
        """
        corpus = self.queries.documents.select(document="id")
        scored = self.scored.join(corpus, on="document", how="semi")
        documents = rank_documents(scored, self.queries).filter(pl.col("rank") <= count)
        if self.before is None or count <= self.depth:
            return documents
        later_documents = self.before.first(count).filter(pl.col("rank") > self.depth)
        return pl.concat([documents.filter(pl.col("rank") <= self.depth), later_documents])


DocumentOrder = SimilarityOrder | ScoredOrder
"""The order of the documents of each query of a set."""


class Searcher:
    """A model that ranks the documents of each query: an encoder, a pair scorer, an index of the
    documents, a file with results of another program, or a reranker.
    """

    def __init__(self, spec: ModelSpec, settings: Settings, start_progress: StartProgress) -> None:
        from embedlab.encoders.loading import scorer_for  # heavy

        self._spec = spec
        self._start = start_progress
        self.name = spec.name
        self.fingerprint: str
        self._parts: list[Searcher] = []
        self._encoders: RoleEncoders | None = None
        self._run = spec.shipped.found(spec.location)
        if spec.kind == RERANK:
            self._parts = [Searcher(part, settings, start_progress) for part in spec.parts]
            fingerprints = [part.fingerprint for part in self._parts]
            self.fingerprint = combined_fingerprint(spec.kind, *fingerprints, str(spec.depth))
        elif self._run is not None or spec.shipped.index is not None:
            self.fingerprint = spec_fingerprint(spec, precision=self.facts.precision)
        else:
            load = partial(scorer_for, settings=settings, cache=settings.cache)
            self._encoders = RoleEncoders(spec, load)
            self.fingerprint = self._encoders.usual.fingerprint

    @property
    def facts(self) -> EncoderFacts:
        """The facts of what computed the similarities."""
        if self._parts:
            facts = [part.facts for part in self._parts]
            refused = dict.fromkeys(text for part_facts in facts for text in part_facts.refused)
            return replace(facts[0], refused=tuple(refused))
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
            return IndexSearch(index=document_index, first=queries.texts)
        default_encoder, readers = self._encoders.usual, self._encoders
        if self._spec.is_fitted:
            return similarities_of(default_encoder, default_encoder, queries, self._start)
        query, document = (readers.of(name, _KIND, role) for role in (QUERY, DOCUMENT))
        return similarities_of(query, document, queries, self._start)

    def _scores(self, queries: Queries, pairs: pl.DataFrame) -> Scores:
        """Return the similarity of each of these PAIRS of a query and a document; (pairs,)."""
        # an index weighs words by all documents
        if self._encoders is not None and not self._spec.is_fitted:
            is_read = pl.col("id").is_in(pairs["document"].implode())
            queries = replace(queries, documents=queries.documents.filter(is_read))
        return self._similarities(queries).score_pairs(*queries.numbers(pairs))

    def _rerank(self, queries: Queries) -> DocumentOrder:
        """Return the order of the second model, with its first documents reordered by the first
        model.
        """
        model, first_searcher = self._parts
        depth = self._spec.depth
        assert depth is not None
        first_order = first_searcher.search(queries)
        documents = first_order.first(depth).sort("rank")
        in_order = queries.queries.select(query="id")
        pairs = in_order.join(documents, on="query", maintain_order="left_right")
        found, excluded = (
            np.bincount(next(queries.numbers(these)), minlength=in_order.height)
            for these in (pairs, queries.excluded)
        )
        is_short = found < np.minimum(depth, queries.documents.height - excluded)
        notes = [*first_order.notes]
        if short_queries := int(is_short.sum()):
            subject = f"{queries.part.state.name}: {count_text(short_queries, 'queries have')}"
            notes.append(f"{subject} fewer than {depth} documents to rerank")
        scored = pairs.with_columns(score=model._scores(queries, pairs))
        return ScoredOrder(
            before=first_order, scored=scored, depth=depth, queries=queries, notes=tuple(notes)
        )


def _stored_order(run: Run, queries: Queries) -> DocumentOrder:
    """Return the order in a file, with notes on what the program and the data do not share."""
    name = queries.part.state.name
    ids = queries.queries["id"]
    rows = run.rows.filter(pl.col("query").is_in(ids.implode()))
    if rows.is_empty():
        raise MissingError(
            f"{run.path} has no query of {name}", hint=f"its queries have ids such as {ids[0]!r}"
        )
    found_queries = rows["query"].n_unique()
    missing_queries = ids.len() - found_queries
    unknown_queries = run.rows["query"].n_unique() - found_queries
    # qrels alone name few of the documents
    known_documents = pl.concat([queries.documents["id"], queries.items["document"]])
    is_known = rows["document"].is_in(known_documents.implode())
    unknown = int((~is_known).sum()) if queries.has_texts else 0
    notes = {
        f"it has no documents for {missing_queries} of {ids.len()} queries": missing_queries,
        f"its documents for {unknown_queries} other queries are ignored": unknown_queries,
        f"{unknown} of its lines name documents that are not in the corpus": unknown,
    }
    return ScoredOrder(
        scored=rows,
        queries=queries,
        notes=tuple(f"{name}: {text}" for text, count in notes.items() if count),
    )


def refuse_reranking(spec: ModelSpec) -> None:
    """Refuse a reranker with a model that cannot rerank, or with nothing to rerank; nothing is
    loaded.
    """
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
    """Return how many pairs of a query and a document a model of SPEC reads together; 0 for a model
    with vectors.
    """
    if spec.kind != RERANK:
        reads_pairs = spec.shipped.scorer is not None
        return queries.queries.height * queries.documents.height * reads_pairs
    assert spec.depth is not None
    model, first = spec.parts
    count = count_read_pairs(first, queries)
    if model.shipped.scorer is not None:
        count += queries.queries.height * min(spec.depth, queries.documents.height)
    return count
