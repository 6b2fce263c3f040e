"""Edits of a sentence by rule, where a rule is safe: the opposite of its only auxiliary, and
another number.

A sentence that a rule does not fit is left to its reader: no rule guesses where a negation belongs.
"""

import re

import polars as pl

from embedlab.choices import EditRule
from embedlab.data.words import negating_words

# Forms of be and modals are auxiliaries in any case; forms of have and do are verbs as often.
_AUXILIARY = "is|are|was|were|am|can|could|will|would|should|must|may|might"
_THERE = re.compile(r"(?i)\b(there (?:is|are|was|were)) (?:(?:an?|some|any) )?(?=\w)")
_ANY_AUXILIARY = re.compile(rf"(?i)\b(?:{_AUXILIARY})\b(?!['’])")
_NOT = re.compile(rf"(?i)\b({_AUXILIARY}) not\b ?")
_CONTRACTED = re.compile(r"(?i)\b(is|are|was|were|could|would|should|must)n['’]t\b")
_NUMBERS = (
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
    rf"(?i)(?<![\w.,:/$€£+−-])(?:[2-9]|[1-9][0-9]|{'|'.join(_NUMBERS)})(?![\w%°:/-]|[.,][0-9])"
)


def edited(sentence: str, rule: EditRule) -> str | None:
    """Return SENTENCE as RULE changes it; None where the rule is not safe there."""
    return _negated(sentence) if rule == "negate" else _with_another_number(sentence)


def _negated(sentence: str) -> str | None:
    """Return the opposite: "not" is put behind the only auxiliary, or removed behind it; of "there
    is a" it is "there is no".
    """
    negations = len(str(negating_words(pl.Series([sentence]))[0]).split())
    if negations == 1:
        for pattern in (_NOT, _CONTRACTED):
            if len(pattern.findall(sentence)) == 1:
                return pattern.sub(r"\1 " if pattern is _NOT else r"\1", sentence)
    matches = list(_ANY_AUXILIARY.finditer(sentence))
    if (
        negations or len(matches) != 1 or not sentence[: matches[0].start()].strip()
    ):  # a question begins with it
        return None
    if there := _THERE.search(sentence):
        return f"{sentence[: there.start()]}{there[1]} no {sentence[there.end() :]}"
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
        other = str(int(text) + 1)
    else:
        index = _NUMBERS.index(text.lower())
        word = _NUMBERS[index + 1] if index + 1 < len(_NUMBERS) else _NUMBERS[index - 1]
        other = word.capitalize() if text[0].isupper() else word
    return f"{sentence[: order.start()]}{other}{sentence[order.end() :]}"
