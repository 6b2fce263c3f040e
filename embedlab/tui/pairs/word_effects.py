"""What each word of a pair does to the rank that a model gives it, and what separates two models.
State without Textual.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from embedlab.analysis.word_effects import Deletions, Floats, percentile_ranks
from embedlab.data.words import ShownWord, shown_words, without_each
from embedlab.tui.pairs.what_if import RankedModel, WhatIf

WordView = Literal["difference", "A", "B"]


def next_view(view: WordView | None, models: int) -> WordView | None:
    """Return the view after VIEW; None is without word effects. Of one model there is A alone."""
    order: list[WordView | None] = [None, "difference", "A", "B"] if models > 1 else [None, "A"]
    return order[(order.index(view) + 1) % len(order)] if view in order else order[1]


@dataclass(frozen=True, kw_only=True, eq=False)
class PairWords:
    """The words of two sentences, and the percentile ranks of the pair without each of them, as far
    as they are known.
    """

    sentences: tuple[str, str]
    dataset: str  # whose pairs are the reference of ranks
    models: tuple[RankedModel, ...]  # A, and B where there are two
    view: WordView
    ranks: Mapping[str, Deletions] = field(default_factory=dict)  # by model
    troubles: Mapping[str, str] = field(default_factory=dict)  # by model, why it has no ranks

    @classmethod
    def of(cls, pair: WhatIf, names: Sequence[str], view: WordView) -> "PairWords":
        """Return the words of PAIR under the models NAMES, of which the first is A; nothing is
        known of their effects.
        """
        known = {model.name: model for model in pair.models}
        return cls(
            sentences=pair.sentences,
            dataset=pair.dataset,
            models=tuple(known[name] for name in names),
            view=view,
        )

    def is_about(self, other: "PairWords") -> bool:
        """Return whether OTHER is about the same sentences, models and reference."""

        def facts(pair_words: PairWords) -> object:
            return (
                pair_words.sentences,
                pair_words.dataset,
                [(model.name, len(model.reference)) for model in pair_words.models],
            )

        return facts(self) == facts(other)

    @property
    def is_complete(self) -> bool:
        """Whether each model has answered."""
        return all(model.name in self.ranks or model.name in self.troubles for model in self.models)

    @property
    def words(self) -> tuple[list[ShownWord], list[ShownWord]]:
        """The words of each sentence."""
        return shown_words(self.sentences[0]), shown_words(self.sentences[1])

    @property
    def variants(self) -> list[tuple[str, str]]:
        """The pair, then without each word of the first sentence, then without each of the
        second.
        """
        (first, *shorter), (second, *others) = (
            without_each(sentence) for sentence in self.sentences
        )
        return [
            (first, second),
            *((shortened, second) for shortened in shorter),
            *((first, other) for other in others),
        ]

    def with_similarities(self, model: str, similarities: Sequence[float]) -> "PairWords":
        """Return these with what MODEL gives the variants, in their order."""
        reference = next(ranked.reference for ranked in self.models if ranked.name == model)
        if not len(reference):
            return self.with_trouble(
                model, "has no scores of any pairs, so that nothing can be ranked"
            )
        if np.isnan(similarities).any():
            return self.with_trouble(model, "gives no score of some variants of the sentences")
        return replace(
            self,
            ranks={
                **self.ranks,
                model: _deletions(percentile_ranks(similarities, reference), len(self.words[0])),
            },
        )

    def with_trouble(self, model: str, trouble: str) -> "PairWords":
        """Return these with the reason why MODEL has no ranks."""
        return replace(self, troubles={**self.troubles, model: trouble})

    @property
    def shown_models(self) -> tuple[RankedModel, ...]:
        """The models that the view is about."""
        return (
            self.models
            if self.view == "difference"
            else self.models[:1]
            if self.view == "A"
            else self.models[1:]
        )

    @property
    def effects(self) -> tuple[Floats, Floats] | None:
        """Points of rank by which each word brings the sentences together, of the difference B
        minus A; None until known.
        """
        model_deletions = [self.ranks.get(model.name) for model in self.shown_models]
        known = [deletions for deletions in model_deletions if deletions is not None]
        if len(known) < len(model_deletions):
            return None
        if self.view == "difference":
            return known[1].first - known[0].first, known[1].second - known[0].second
        return known[0].first, known[0].second

    @property
    def whole(self) -> float | None:
        """The percentile rank of the pair, of the difference that by B minus that by A; None until
        known.
        """
        similarities = [
            self.ranks[model.name].whole for model in self.shown_models if model.name in self.ranks
        ]
        if len(similarities) < len(self.shown_models):
            return None
        return similarities[1] - similarities[0] if self.view == "difference" else similarities[0]


def _deletions(ranks: Floats, first: int) -> Deletions:
    """The RANKS of the variants as a table, in which no two words are left out at once; FIRST:
    words of the first sentence.
    """
    table = np.full((first + 1, len(ranks) - first), np.nan)
    table[0, 0], table[1:, 0], table[0, 1:] = ranks[0], ranks[1 : first + 1], ranks[first + 1 :]
    return Deletions(table=table)
