"""What the words of two sentences do to their similarity: by leaving each of them out, and by the
exact sum over pairs of tokens.

Leaving out is the effect of a word. The sum over token pairs is how a mean of token vectors adds
up, which is something else: a token's vector holds its whole sentence, so that a part of the sum
does not follow from its word.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embedlab.choices import EditRule
from embedlab.data.words import ShownWord

Floats = NDArray[np.float64]


def percentile_ranks(values: ArrayLike, reference: ArrayLike) -> Floats:
    """Return the percentile rank of each of VALUES among the numbers of REFERENCE, 0–100; equal
    numbers count half.

    This is scipy.stats.percentileofscore(kind="mean"), which is slow for many values.
    """
    numbers = np.asarray(values, np.float64)
    ordered = np.sort(np.asarray(reference, np.float64))
    count_below = np.searchsorted(ordered, numbers, side="left")
    count_not_above = np.searchsorted(ordered, numbers, side="right")
    return 50 * (count_below + count_not_above) / len(ordered)


def without_each(table: Floats) -> Floats:
    """Return the number without each word, those of the first sentence first; (…, n + m).

    table: (…, n + 1, m + 1) of two sentences; [0, 0] is of both whole, [i, 0] without the i-th word
    of the first, [0, j] without the j-th of the second, and [i, j] without both.
    """
    return np.concatenate([table[..., 1:, 0], table[..., 0, 1:]], axis=-1)


def effects_of(table: Floats) -> Floats:
    """Return the effect of each word, (…, n + m): what is lost without it."""
    effects: Floats = table[..., :1, 0] - without_each(table)
    return effects


def interactions_of(table: Floats) -> Floats:
    """Return the interaction of each two words, (…, n, m): what is lost without both, less what is
    lost without each.
    """
    loss: Floats = table[..., :1, :1] - table
    return loss[..., 1:, 1:] - loss[..., 1:, :1] - loss[..., :1, 1:]


@dataclass(frozen=True, kw_only=True, eq=False)
class WeightedTokens:
    """The token vectors that a sentence vector is the weighted sum of, up to a factor."""

    vectors: NDArray[np.float32]  # (tokens, dim)
    weights: Floats  # (tokens,)
    spans: tuple[
        tuple[int, int] | None, ...
    ]  # of each token in its sentence; None: a special token, or one of a prompt


def token_pair_sum(first: WeightedTokens, second: WeightedTokens) -> Floats:
    """Return the part of each two tokens in the cosine of two sentences, (tokens, tokens); the
    parts add up to it exactly.

    The cosine of two weighted sums is the sum over pairs of tokens of weight · weight · dot
    product, divided by both lengths; a sentence whose sum is zero has zeros.
    """
    a, b = (
        weighted_tokens.vectors.astype(np.float64) * weighted_tokens.weights[:, None]
        for weighted_tokens in (first, second)
    )
    length = np.linalg.norm(a.sum(axis=0)) * np.linalg.norm(b.sum(axis=0))
    return np.zeros((len(a), len(b))) if length == 0 else a @ b.T / length


def words_of_tokens(
    tokens: Sequence[tuple[int, int] | None], words: Sequence[tuple[int, int]]
) -> NDArray[np.intp]:
    """Return which word each token belongs to, by their spans in the sentence; (tokens,), the
    number of words for none of them.

    A token that touches several words belongs to the first, so that a word of several pieces is
    whole.
    """
    owner = np.full(len(tokens), len(words), np.intp)
    for index, span in enumerate(tokens):
        if span is not None:
            touched_words = (
                number
                for number, (start, end) in enumerate(words)
                if start < span[1] and span[0] < end
            )
            owner[index] = next(touched_words, len(words))
    return owner


def sum_by_word(
    parts: Floats, first: NDArray[np.intp], second: NDArray[np.intp], sizes: tuple[int, int]
) -> Floats:
    """Return the PARTS of tokens summed by the words that own them, (n + 1, m + 1): the last row
    and column are of tokens of no word.
    """
    table = np.zeros((sizes[0] + 1, sizes[1] + 1))
    np.add.at(table, (first[:, None], second[None]), parts)
    return table


@dataclass(frozen=True, kw_only=True)
class EditedSentence:
    """A sentence in place of one of the two."""

    text: str
    replaces: int  # 0 or 1
    rule: EditRule | None = None  # None: the user wrote it


@dataclass(frozen=True, kw_only=True, eq=False)
class ExplainedModel:
    """What each member of a model gives two sentences, their variants and their edits."""

    name: str
    similarities: Floats  # (members, n + 1, m + 1), as `without_each` has them
    ranks: Floats  # the same as percentile ranks, each member's among its own reference
    edited: Floats  # (members, edits) similarities
    edited_ranks: Floats  # (members, edits)

    @classmethod
    def of(
        cls, name: str, members: Sequence[tuple[ArrayLike, ArrayLike, ArrayLike]]
    ) -> "ExplainedModel":
        """Return the model of which each member gave a table of similarities, those of edited
        pairs, and those of the reference.
        """
        tables, edited, references = zip(*members, strict=True)
        ranks, edited_ranks = (
            np.array(list(map(percentile_ranks, values, references))) for values in (tables, edited)
        )
        return cls(
            name=name,
            similarities=np.array(tables, np.float64),
            ranks=ranks,
            edited=np.array(edited, np.float64),
            edited_ranks=edited_ranks,
        )

    @cached_property
    def mean_ranks(self) -> Floats:
        """The percentile ranks, means over the members; (n + 1, m + 1)."""
        average: Floats = self.ranks.mean(axis=0)
        return average

    @property
    def rank(self) -> float:
        """The percentile rank of both sentences whole."""
        return float(self.mean_ranks[0, 0])

    @property
    def effects(self) -> Floats:
        """The effect of each word in points of percentile rank, those of the first sentence first;
        (n + m,).
        """
        return effects_of(self.mean_ranks)


@dataclass(frozen=True, kw_only=True, eq=False)
class WordEffects:
    """What the words of two sentences do under each of some models."""

    sentences: tuple[str, str]
    words: tuple[tuple[ShownWord, ...], tuple[ShownWord, ...]]
    models: tuple[ExplainedModel, ...]
    reference: str  # the dataset whose pairs similarities are ranked among
    pairs: int  # of it
    edits: tuple[EditedSentence, ...] = ()

    @property
    def places(self) -> list[tuple[int, ShownWord]]:
        """Each word with the number of its sentence, 1 or 2, as effects have them."""
        return [
            (side + 1, word) for side, side_words in enumerate(self.words) for word in side_words
        ]

    def difference(self, model: ExplainedModel) -> Floats:
        """By how much more each word brings the sentences together under MODEL than under the first
        one; (n + m,).
        """
        return model.effects - self.models[0].effects

    def together(self, model: ExplainedModel) -> Floats:
        """The interactions of MODEL, or of a further model by how much more they are than those of
        the first; (n, m).
        """
        first_model = self.models[0]
        interactions = interactions_of(model.mean_ranks)
        if model is not first_model:
            interactions -= interactions_of(first_model.mean_ranks)
        return interactions


@dataclass(frozen=True, kw_only=True, eq=False)
class TokenView:
    """How the cosine of two sentences adds up over their words under one model."""

    name: str
    cosine: float
    parts: Floats  # (n + 1, m + 1): the last row and column are of special tokens
