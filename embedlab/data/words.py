"""The words of a sentence, the key by which two sentences are equal, the bytes by which what is
computed of a text is stored, and edits of a sentence by rule.
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from embedlab.choices import EditRule

if TYPE_CHECKING:  # the words of a sentence need no polars
    import polars as pl

APART = b"\xff"  # between texts: no UTF-8 text contains it
# Earlier versions gave what follows a separator in a text another type, and counted a padding token
# in it as a position.
_MISREAD = ("[SEP]", "</s>", "<sep>", "[PAD]", "<pad>")


def text_bytes(text: str) -> bytes:
    """Return bytes that are different for different texts; what earlier versions stored of a text
    they misread, and cut at U+001F, has other ones.
    """
    content = text.encode("utf-8", "surrogatepass")
    return APART * any(sign in text for sign in ("\x1f", *_MISREAD)) + content


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
        """The start and end of the word in the sentence."""
        return self.start, self.end


def normalise(sentence: str) -> str:
    """Return the key by which two sentences count as the same text: case-folded words joined by
    blanks, with letters and their accents composed (NFC).
    """
    return " ".join(_WORD.findall(unicodedata.normalize("NFC", sentence.casefold())))


def shown_words(sentence: str) -> list[ShownWord]:
    """Return the words of a sentence in order, split at blanks, without the punctuation around
    each: "don't", "3.5", "e-mail". Signs between blanks are a word; each Chinese or Japanese
    character is a word.
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


def nearer_sentence(text: str, first: str, second: str) -> int:
    """Return which of two sentences TEXT has more in common with, 0 or 1, by the words of both in
    order; 1 where neither is nearer.
    """
    from difflib import SequenceMatcher

    words = [word.text.lower() for word in shown_words(text)]
    ratios = [
        SequenceMatcher(a=[word.text.lower() for word in shown_words(sentence)], b=words).ratio()
        for sentence in (first, second)
    ]
    return int(ratios[1] >= ratios[0])


def negating_words(sentences: "pl.Series") -> "pl.Series":
    """The negating words of each sentence, separated by blanks."""
    return sentences.str.to_lowercase().str.extract_all(NEGATING).list.join(" ")


# Forms of be and modals are auxiliaries in any case; forms of have and do are verbs as often.
_AUXILIARY = "is|are|was|were|am|can|could|will|would|should|must|may|might"
_THERE = re.compile(r"(?i)\b(there (?:is|are|was|were)) (?:(?:an?|some|any) )?(?=\w)")
_ANY_AUXILIARY = re.compile(rf"(?i)\b(?:{_AUXILIARY})\b(?!['’])")
_NOT = re.compile(rf"(?i)\b({_AUXILIARY}) not\b ?")
_CONTRACTED = re.compile(r"(?i)\b(is|are|was|were|could|would|should|must)n['’]t\b")
# from 2 on
NUMBERS = (
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_NUMBER = re.compile(
    rf"(?i)(?<![\w.,:/$€£+−-])(?:[2-9]|[1-9][0-9]|{'|'.join(NUMBERS)})(?![\w%°:/-]|[.,][0-9])"
)


def edit_sentence(sentence: str, rule: EditRule) -> str | None:
    """Return SENTENCE as RULE changes it; None where the rule is not safe there."""
    return _negated(sentence) if rule == "negate" else _with_another_number(sentence)


def _negated(sentence: str) -> str | None:
    """Return the opposite: "not" is put behind the only auxiliary, or removed there; "there is a"
    becomes "there is no".
    """
    negations = len(re.findall(NEGATING, sentence.lower()))
    if negations == 1:
        for pattern in (_NOT, _CONTRACTED):
            if len(pattern.findall(sentence)) == 1:
                return pattern.sub(r"\1 " if pattern is _NOT else r"\1", sentence)
    matches = list(_ANY_AUXILIARY.finditer(sentence))
    # a question begins with it
    if negations or len(matches) != 1 or not sentence[: matches[0].start()].strip():
        return None
    if existential := _THERE.search(sentence):
        return (
            f"{sentence[: existential.start()]}{existential[1]} no {sentence[existential.end() :]}"
        )
    return f"{sentence[: matches[0].end()]} not{sentence[matches[0].end() :]}"


def _with_another_number(sentence: str) -> str | None:
    """Return SENTENCE with its first number one larger, in digits or in words; twelve becomes
    eleven, so that it stays a word.
    """
    order = _NUMBER.search(sentence)
    if order is None:
        return None
    text = order[0]
    if text.isdigit():
        replacement = str(int(text) + 1)
    else:
        word = (*NUMBERS, NUMBERS[-2])[NUMBERS.index(text.lower()) + 1]
        replacement = word.capitalize() if text[0].isupper() else word
    return f"{sentence[: order.start()]}{replacement}{sentence[order.end() :]}"
