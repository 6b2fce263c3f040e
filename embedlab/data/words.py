"""The words of a sentence, and the key by which two sentences are equal."""

import re

_WORD = re.compile(r"\w+")


def distinct_words(sentence: str) -> frozenset[str]:
    r"""Return the distinct words of a sentence: lower-cased runs of `\w`."""
    return frozenset(_WORD.findall(sentence.lower()))


def normalise(sentence: str) -> str:
    """Return the key by which two sentences count as the same text: case-folded words joined by blanks."""
    return " ".join(_WORD.findall(sentence.casefold()))
