"""Word overlap of sentence pairs: the Dice coefficient, 2|A∩B| / (|A|+|B|) of the sets of words,
from 0 to 1; of two sentences without any words it is 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
import polars as pl
import xxhash
from numpy.typing import NDArray

from embedlab.analysis.influence import quotient

if TYPE_CHECKING:
    from embedlab.analysis.influence import Floats

_AT_ONCE = 50_000  # sentences, or pairs
_DIGESTED_AT_ONCE = 100_000
_WORD = re.compile(r"\w+")
_ASCII_WORD = r"[0-9a-z_]+"  # what is left of \w in a lower-case text of ASCII characters


@dataclass(frozen=True, kw_only=True, eq=False)
class WordSets:
    r"""The lower-cased runs of `\w` of sentences in order; numbered from 0 as they first appear."""

    numbers: NDArray[
        np.int32
    ]  # of the words of all sentences, one sentence after the other, each word of a sentence once
    starts: NDArray[np.int64]  # (sentences + 1,) where in them each sentence begins, and their end
    distinct: int  # words

    @classmethod
    def of(cls, sentences: pl.Series) -> Self:
        """Return the words of SENTENCES; of the same ones as the last time those found then."""
        key = digest_sentences(sentences)
        if (cached := _last.get(key)) is not None:
            return cast("Self", cached)
        vocabulary = _Vocabulary()
        parts = [
            _numbered(sentences[start : start + _AT_ONCE], vocabulary)
            for start in range(0, len(sentences), _AT_ONCE)
        ]
        sizes = np.concatenate([np.zeros(1, np.int64), *(sizes for _, sizes in parts)])
        numbers = np.concatenate([np.zeros(0, np.int32), *(numbers for numbers, _ in parts)])
        word_sets = cls(numbers=numbers, starts=np.cumsum(sizes), distinct=len(vocabulary))
        _last.clear()
        _last[key] = word_sets
        return word_sets

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of words of each sentence; (sentences,)."""
        return np.diff(self.starts)

    def matrix(self, values: NDArray[Any] | None = None) -> Any:
        """Return VALUES of each word of each sentence, ones without them; (sentences, words),
        sparse.
        """
        from scipy.sparse import csr_matrix

        if values is None:
            values = np.ones(len(self.numbers), np.int32)
        shape = (len(self.sizes), max(self.distinct, 1))
        return csr_matrix((values, self.numbers, self.starts), shape=shape)

    def dice(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> Floats:
        """Return the Dice coefficient of each two sentences, given by their places; 0 where neither
        has a word; (pairs,).
        """
        has_word = self.matrix()
        total = self.sizes[first] + self.sizes[second]
        shared = np.zeros(len(first))
        for start in range(0, len(first), _AT_ONCE):
            block = slice(start, start + _AT_ONCE)
            both = has_word[first[block]].multiply(has_word[second[block]])
            shared[block] = both.sum(axis=1).A1
        return quotient(2 * shared, total, where=total > 0)


_last: dict[str, WordSets] = {}  # what was found last, by its sentences


def digest_sentences(sentences: pl.Series, method: str = "") -> str:
    """Return what identifies SENTENCES in this order, and what a METHOD finds in them."""
    hashed = xxhash.xxh3_128(method.encode())
    for start in range(0, len(sentences), _DIGESTED_AT_ONCE):
        block = sentences[start : start + _DIGESTED_AT_ONCE]
        hashed.update(block.str.len_bytes().to_numpy().astype("<u4").tobytes())  # where each ends
        hashed.update("".join(block.to_list()).encode("utf-8"))
    return hashed.hexdigest()


class _Vocabulary:
    """The numbers of words by their hashes, in the order in which they first appeared: of millions
    of words less memory than their text.
    """

    def __init__(self) -> None:
        self._hashes = np.zeros(0, np.uint64)  # ascending
        self._numbers = np.zeros(0, np.int32)

    def __len__(self) -> int:
        return len(self._hashes)

    def numbers_of(self, hashes: NDArray[np.uint64]) -> NDArray[np.int32]:
        """Return the number of each of some words; a new one gets the next number."""
        distinct, first_positions, word_index = np.unique(
            hashes, return_index=True, return_inverse=True
        )
        slots = np.searchsorted(self._hashes, distinct)
        is_known = np.zeros(len(distinct), np.bool_)
        is_in_range = slots < len(self)
        is_known[is_in_range] = self._hashes[slots[is_in_range]] == distinct[is_in_range]
        numbers = np.empty(len(distinct), np.int32)
        numbers[is_known] = self._numbers[slots[is_known]]
        added = np.flatnonzero(~is_known)
        numbers[added[np.argsort(first_positions[added])]] = len(self) + np.arange(
            len(added), dtype=np.int32
        )
        self._numbers = np.insert(self._numbers, slots[added], numbers[added])
        self._hashes = np.insert(self._hashes, slots[added], distinct[added])
        return numbers[word_index]


def _numbered(
    sentences: pl.Series, vocabulary: _Vocabulary
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the numbers of the words of each sentence, and how many it has; words that are not
    in the VOCABULARY get the next numbers.
    """
    words = _words(sentences)
    row = np.repeat(np.arange(len(words)), words.list.len().to_numpy())
    word_numbers = vocabulary.numbers_of(words.explode().drop_nulls().hash().to_numpy())
    keys = np.sort(row * max(len(vocabulary), 1) + word_numbers, kind="stable")  # each row is short
    keys = keys[np.diff(keys, prepend=-1) != 0]
    key_rows, key_numbers = np.divmod(keys, max(len(vocabulary), 1))
    return key_numbers.astype(np.int32), np.bincount(key_rows, minlength=len(words)).astype(
        np.int64
    )


def _words(sentences: pl.Series) -> pl.Series:
    """Return the words of each sentence as they come; those with other characters than ASCII are
    split by Python, whose words differ.
    """
    is_plain = sentences.str.len_bytes() == sentences.str.len_chars()
    ascii_words = sentences.filter(is_plain).str.to_lowercase().str.extract_all(_ASCII_WORD)
    if is_plain.all():
        return ascii_words
    other_words = pl.Series(
        list(_split(sentences.filter(~is_plain).to_list())), dtype=pl.List(pl.String)
    )
    order = np.argsort(
        np.concatenate([is_plain.arg_true().to_numpy(), (~is_plain).arg_true().to_numpy()]),
        kind="stable",
    )
    return pl.concat([ascii_words, other_words]).gather(order)


def _split(texts: list[str]) -> Iterator[list[str]]:
    for text in texts:
        yield _WORD.findall(text.lower())


Texts = Sequence[str] | pl.Series


def dice(first: str, second: str) -> float:
    """Return the word overlap of two sentences."""
    return float(dice_of_rows([first], [second])[0])


def dice_of_rows(first: Texts, second: Texts) -> pl.Series:
    """Return the word overlap of the two sentences of each row."""
    texts = pl.concat([pl.Series(side, dtype=pl.String) for side in (first, second)])
    _, first_positions, numbers = np.unique(
        texts.hash().to_numpy(), return_index=True, return_inverse=True
    )
    # as they first appear: links are found of the same sentences
    order = np.argsort(first_positions)
    numbers = np.argsort(order)[numbers]
    words = WordSets.of(texts.gather(first_positions[order]))
    count = len(first)
    return pl.Series("dice", words.dice(numbers[:count], numbers[count:]))


def dice_table(first: Sequence[str], second: Sequence[str]) -> NDArray[np.float64]:
    """Return the word overlap of each text of FIRST with each of SECOND; (first, second)."""
    words = WordSets.of(pl.Series([*first, *second], dtype=pl.String))
    has_word = words.matrix()
    count = len(first)
    shared = (has_word[:count] @ has_word[count:].T).toarray()
    total = words.sizes[:count, None] + words.sizes[None, count:]
    return quotient(2 * shared, total, where=total > 0)
