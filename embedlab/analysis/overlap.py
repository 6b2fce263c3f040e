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
        # of many sentences the numbers of words take less memory than their hashes or their text
        parts = [
            _numbered(_words(sentences[start : start + _AT_ONCE]))
            for start in range(0, len(sentences), _AT_ONCE)
        ]
        hashes = np.concatenate([np.zeros(0, np.uint64), *(known for _, _, known in parts)])
        first, numbers_of_hashes = _by_appearance(hashes)
        sizes, numbers, end = [np.zeros(1, np.int64)], [np.zeros(0, np.int32)], 0
        for part_sizes, part_numbers, known in parts:
            start, end = end, end + len(known)
            distinct_numbers = numbers_of_hashes[start:end][part_numbers]
            rows = np.repeat(np.arange(len(part_sizes)), part_sizes)
            keys = np.sort(rows * len(first) + distinct_numbers, kind="stable")  # rows are short
            key_rows, key_numbers = np.divmod(keys[np.diff(keys, prepend=-1) != 0], len(first) or 1)
            sizes.append(np.bincount(key_rows, minlength=len(part_sizes)))
            numbers.append(key_numbers.astype(np.int32))
        starts = np.cumsum(np.concatenate(sizes))
        word_sets = cls(numbers=np.concatenate(numbers), starts=starts, distinct=len(first))
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


def _numbered(words: pl.Series) -> tuple[NDArray[Any], NDArray[np.int32], NDArray[np.uint64]]:
    """Return how many words each sentence has, the number of each of them, from 0 as they first
    appear, and the hashes of these numbers.
    """
    hashes = words.explode().drop_nulls().hash().to_numpy()
    first, numbers = _by_appearance(hashes)
    return words.list.len().to_numpy(), numbers.astype(np.int32), hashes[first]


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
