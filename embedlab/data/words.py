"""The words of a sentence, and the key by which two sentences are equal."""

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the words of a sentence need no polars
    import polars as pl

# words that negate
NEGATING = r"(?i)\b(?:no(?:t|r|ne|thing|body|where)?|never|neither|without|cannot)\b|n['’]t\b"
_WORD = re.compile(r"\w+")
_CORE = re.compile(r"\w(?:.*\w)?")
# Scripts that put no blanks between words: a character is the smallest part that a reader can leave
# out.
_UNSPACED = r"[぀-ヿ㐀-䶿一-鿿豈-﫿]"
_UNBROKEN = re.compile(rf"{_UNSPACED}|(?:(?!{_UNSPACED}).)+")


@dataclass(frozen=True, kw_only=True)
class ShownWord:
    """A word as the reader of a sentence sees it."""

    text: str
    start: int  # in the sentence
    end: int

    @property
    def span(self) -> tuple[int, int]:
        """Where it is in the sentence."""
        return self.start, self.end


def distinct_words(sentence: str) -> frozenset[str]:
    r"""Return the distinct words of a sentence: lower-cased runs of `\w`."""
    return frozenset(_WORD.findall(sentence.lower()))


def normalise(sentence: str) -> str:
    """Return the key by which two sentences count as the same text: case-folded words joined by
    blanks.
    """
    return " ".join(_WORD.findall(sentence.casefold()))


def shown_words(sentence: str) -> list[ShownWord]:
    """Return the words of a sentence in order, as blanks separate them, without the punctuation
    around each: "don't", "3.5", "e-mail".

    Signs between blanks are a word; of Chinese and Japanese each character is one.
    """
    words: list[ShownWord] = []
    for chunk in re.finditer(r"\S+", sentence):
        core = _CORE.search(chunk[0])
        start, text = (
            (chunk.start(), chunk[0]) if core is None else (chunk.start() + core.start(), core[0])
        )
        parts = _UNBROKEN.finditer(text) if core is not None else re.finditer(r".+", text)
        words += [
            ShownWord(text=part[0], start=start + part.start(), end=start + part.end())
            for part in parts
        ]
    return words


def without_word(sentence: str, word: ShownWord) -> str:
    """Return a sentence without one of its words, and without the blank that would then be doubled
    or at its edge.
    """
    before, after = sentence[: word.start], sentence[word.end :]
    if after[:1].isspace() and (not before or before[-1].isspace()):
        after = after[1:]
    elif not after and before[-1:].isspace():
        before = before[:-1]
    return before + after


def without_each(sentence: str) -> tuple[str, ...]:
    """Return a sentence, and the sentence without each of its words."""
    return sentence, *(without_word(sentence, word) for word in shown_words(sentence))


def nearer(text: str, first: str, second: str) -> int:
    """Return which of two sentences TEXT has more in common with, 0 or 1, by the words of both in
    order; 1 where neither is nearer.
    """
    from difflib import SequenceMatcher

    words = [word.text.lower() for word in shown_words(text)]
    ratios = [
        SequenceMatcher(a=[word.text.lower() for word in shown_words(other)], b=words).ratio()
        for other in (first, second)
    ]
    return int(ratios[1] >= ratios[0])


def negating_words(sentences: "pl.Series") -> "pl.Series":
    """The negating words of each sentence, separated by blanks."""
    return sentences.str.to_lowercase().str.extract_all(NEGATING).list.join(" ")
