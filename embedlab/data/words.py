"""The words of a sentence, and the key under which two sentences count as the same."""

import re

_WORD = re.compile(r"\w+")


def distinct_words(sentence: str) -> frozenset[str]:
    r"""The distinct words of a sentence: lower-cased runs of `\w`."""
    return frozenset(_WORD.findall(sentence.lower()))


def normalise(sentence: str) -> str:
    """The key under which two sentences count as the same text: case-folded words joined by one blank."""
    return " ".join(_WORD.findall(sentence.casefold()))
