"""Finds what is known about one pair besides its scores; in a thread, the quick facts first."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import polars as pl

from embedlab.analysis.appearances import appearances
from embedlab.analysis.tags import tags_of
from embedlab.choices import Similarity
from embedlab.core.errors import EmbedlabError
from embedlab.core.settings import Settings
from embedlab.data.overlaps import with_text_keys
from embedlab.data.shared_text import Overlap
from embedlab.outcomes.frame import KEYS
from embedlab.runs.outcomes import stored_facts
from embedlab.scoring.trained_pairs import trained_column
from embedlab.tui.pair_table.data import PairData
from embedlab.tui.pairs.pair_facts import ModelNeighbours, PairFacts
from embedlab.tui.stored_models import OVERLAP_OF_ITEMS, WORD_OVERLAP, StoredModel, find_model
from embedlab.tui.training_texts import TrainingTexts
from embedlab.workflows.neighbours import Corpus, Search, find_neighbours

if TYPE_CHECKING:
    from embedlab.models.catalog import ModelSpec

NEAREST = 5  # neighbours of each sentence
_NO_VECTORS = "its vectors are not cached"


class FactFinder:
    """Finds the facts of the pairs of DATA with the models among STORED; the work that all pairs
    share is done once.
    """

    def __init__(
        self,
        data: PairData,
        stored: Sequence[StoredModel],
        settings: Settings,
        before: "FactFinder | None" = None,
        texts: TrainingTexts | None = None,
    ) -> None:
        self._data, self._settings = data, settings
        self._stored = {model.name: model for model in stored}
        self._searches: dict[str, list[Search]] = {}
        self._vectors: dict[tuple[str, Similarity], Search] = {}  # by fingerprint
        self._texts = texts or TrainingTexts(settings)
        if before is not None and before._data.table["pair_key"].equals(data.table["pair_key"]):
            self.corpus, self._vectors = before.corpus, before._vectors

    @cached_property
    def corpus(self) -> Corpus:
        """The sentences of all pairs."""
        return Corpus.of(
            self._data.table["sentence1"].to_list(), self._data.table["sentence2"].to_list()
        )

    def find(self, row: int) -> Iterator[PairFacts]:
        """Yield the facts of the pair in ROW, each time more of them."""
        table, models = self._data.table, [model.name for model in self._data.models]
        pair = (table["sentence1"][row], table["sentence2"][row])
        facts = PairFacts(tags=tags_of(*pair), appearances=appearances(table, row))
        yield facts
        shared = {
            name: self._shared(name, row)
            for name in models
            if name not in {WORD_OVERLAP.name, OVERLAP_OF_ITEMS}
        }
        facts = replace(facts, shared=shared, corpus=self.corpus)
        yield facts
        for name in models:
            facts = replace(
                facts, neighbours={**facts.neighbours, name: self._neighbours(name, pair)}
            )
            yield facts

    def trained(self) -> pl.Series | None:
        """The models that were trained on each pair († the pair, ‡ a sentence of it); None if none
        was trained on any.
        """
        texts = {
            model.name: text
            for model in self._data.models
            if (text := self._texts.of(model.name)) is not None
        }
        if not texts:
            return None
        keys = with_text_keys(self._data.table.select("sentence1", "sentence2"))
        column = trained_column(keys.select(KEYS), texts)
        return column if column.null_count() < len(column) else None

    def _shared(self, name: str, row: int) -> Overlap | None:
        text = self._texts.of(name)
        return (
            text.row_overlaps(self._data.table.select("sentence1", "sentence2")[row : row + 1])[0]
            if text is not None
            else None
        )

    def _neighbours(self, name: str, pair: tuple[str, str]) -> ModelNeighbours:
        try:
            searches = self._searches_of(name)
            if not searches:
                return ModelNeighbours(trouble=_NO_VECTORS)
            neighbours = find_neighbours(
                pair, self.corpus, searches, NEAREST, itself=False, partners=pair[::-1]
            )
            if not any(
                of_sentence.searched for of_sentence in neighbours
            ):  # those of other sentences alone are cached
                return ModelNeighbours(trouble=_NO_VECTORS)
        except (EmbedlabError, OSError, ValueError) as error:  # deleted or damaged meanwhile
            return ModelNeighbours(trouble=f"its vectors cannot be read: {error}")
        return ModelNeighbours(of_sentences=tuple(neighbours))

    def _searches_of(self, name: str) -> list[Search]:
        """The search of each member of a model, opened again where the cache has changed; none
        where one of them has no vectors.
        """
        known = self._searches.get(name)
        if known is None or not all(search.is_current for search in known):
            known = self._searches[name] = self._opened(name)
        return known

    def _opened(self, name: str) -> list[Search]:
        if name in {WORD_OVERLAP.name, OVERLAP_OF_ITEMS}:
            return [self.corpus.words]
        similarity, members = self._similarity(name), self._members(name)
        searches: list[Search | None]
        if any(member.is_derived for member in members):
            searches = [
                self.corpus.derived_vectors(member, self._settings, similarity)
                for member in members
            ]
        else:
            model = self._stored.get(name) or find_model(name, self._settings)
            facts = (
                [next(stored_facts(path)) for path in model.files.values()]
                if model is not None
                else []
            )
            searches = [self._vectors_of(fact.fingerprint, similarity) for fact in facts]
            if len(members) == 1 and searches == [None]:
                searches = [self.corpus.static_vectors(members[0], similarity)]
        return (
            [search for search in searches if search is not None]
            if all(search is not None for search in searches)
            else []
        )

    def _vectors_of(self, fingerprint: str, similarity: Similarity) -> Search | None:
        known = self._vectors.get((fingerprint, similarity))
        if known is not None and known.is_current:
            return known
        search = self.corpus.vectors(fingerprint, self._settings, similarity)
        if search is not None:
            self._vectors[fingerprint, similarity] = search
        return search

    def _members(self, name: str) -> "Sequence[ModelSpec]":
        """The members of a model; none of one that is gone, whose scores and vectors are still
        there.
        """
        from embedlab.models.catalog import resolve

        try:
            return resolve(name, self._settings.runs).members
        except EmbedlabError:
            return ()

    def _similarity(self, name: str) -> Similarity:
        """How the model compares two vectors: the cosine unless its folder states another."""
        from embedlab.models.folder import read_usage
        from embedlab.models.location import model_folder

        try:
            member = self._members(name)[0].untransformed
            return read_usage(model_folder(member, offline=True), member.wishes).similarity
        except (EmbedlabError, OSError, IndexError):
            return "cosine"
