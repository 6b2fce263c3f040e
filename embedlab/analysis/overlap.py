"""Word overlap of sentence pairs: the Dice coefficient, 2|A∩B| / (|A|+|B|) of the sets of words,
from 0 to 1; of two sentences without any words it is 0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
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
# what is left of \w in a lower-case text of ASCII characters, or in words that Python split
_SPLIT_WORD = r"[0-9a-z_\x{80}-\x{10FFFF}]+"


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
        hashes = [np.zeros(0, np.uint64)]  # of millions of words less memory than their text
        sizes = [np.zeros(0, np.int64)]
        for start in range(0, len(sentences), _AT_ONCE):
            words = _words(sentences[start : start + _AT_ONCE])
            sizes.append(words.list.len().to_numpy())
            hashes.append(words.explode().drop_nulls().hash().to_numpy())
        first, numbers = _by_appearance(np.concatenate(hashes))
        distinct = max(len(first), 1)
        rows = np.repeat(np.arange(len(sentences)), np.concatenate(sizes))
        keys = np.sort(rows * distinct + numbers, kind="stable")  # each row is short
        rows, numbers = np.divmod(keys[np.diff(keys, prepend=-1) != 0], distinct)
        starts = np.append(0, np.cumsum(np.bincount(rows, minlength=len(sentences))))
        word_sets = cls(numbers=numbers.astype(np.int32), starts=starts, distinct=len(first))
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

    def occurrences(self, counts: NDArray[np.bool_] | None = None) -> NDArray[np.intp]:
        """Return how many sentences have each word, or how many of their entries that COUNT;
        (words,).
        """
        numbers = self.numbers if counts is None else self.numbers[counts]
        return np.bincount(numbers, minlength=self.distinct)

    def dice(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> Floats:
        """Return the Dice coefficient of each two sentences, given by their places; 0 where neither
        has a word; (pairs,).
        """
        total = self.sizes[first] + self.sizes[second]
        shared = row_products(self.matrix(), first, second)
        return quotient(2 * shared, total, where=total > 0)


def row_products(matrix: Any, first: NDArray[Any], second: NDArray[Any]) -> Floats:
    """Return the product of each two rows of a sparse MATRIX, given by their places; (pairs,)."""
    products = [np.zeros(0)]
    for start in range(0, len(first), _AT_ONCE):
        block = slice(start, start + _AT_ONCE)
        products.append(matrix[first[block]].multiply(matrix[second[block]]).sum(axis=1).A1)
    return np.concatenate(products)


def _by_appearance(keys: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where each distinct one of KEYS is first, and the number of each key, from 0 as they
    first appear.
    """
    _, positions, numbers = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(positions)
    return positions[order], np.argsort(order)[numbers]


_last: dict[str, WordSets] = {}  # what was found last, by its sentences


def digest_sentences(sentences: pl.Series, method: str = "") -> str:
    """Return what identifies SENTENCES in this order, and what a METHOD finds in them."""
    hashed = xxhash.xxh3_128(method.encode())
    for start in range(0, len(sentences), _DIGESTED_AT_ONCE):
        block = sentences[start : start + _DIGESTED_AT_ONCE]
        hashed.update(block.str.len_bytes().to_numpy().astype("<u4").tobytes())  # where each ends
        hashed.update("".join(block.to_list()).encode("utf-8"))
    return hashed.hexdigest()


def _words(sentences: pl.Series) -> pl.Series:
    """Return the words of each sentence as they come; those with other characters than ASCII are
    split by Python, whose words differ.
    """
    is_other = (sentences.str.len_bytes() != sentences.str.len_chars()).arg_true()
    texts = sentences.str.to_lowercase()
    if len(is_other):
        split = [" ".join(_WORD.findall(text.lower())) for text in sentences.gather(is_other)]
        texts = texts.scatter(is_other, split)
    return texts.str.extract_all(_SPLIT_WORD)


Texts = Sequence[str] | pl.Series


def dice(first: str, second: str) -> float:
    """Return the word overlap of two sentences."""
    return float(dice_of_rows([first], [second])[0])


def dice_of_rows(first: Texts, second: Texts) -> pl.Series:
    """Return the word overlap of the two sentences of each row."""
    texts = pl.concat([pl.Series(side, dtype=pl.String) for side in (first, second)])
    # as they first appear: links are found of the same sentences
    positions, numbers = _by_appearance(texts.hash().to_numpy())
    words = WordSets.of(texts.gather(positions))
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
