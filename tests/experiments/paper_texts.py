"""The texts of the four papers, where they are at hand, by section."""

import re
import unicodedata
from functools import cache

import pytest

from tests.conftest import SHARED

HEADING = re.compile(r"(?:#+ )?\**(\d(?:\.\d)*|[A-D])\** (?=[A-Z])[^\t.]*(?:\. [^\t.]*)?$")
LETTERS = {"\\lambda": "λ", "\\tau": "τ", "\\rho": "ρ", "’": "'", "‘": "'", "“": '"', "”": '"'}
PLACE = re.compile(
    r"§(?P<section>[\d.]*\d)|[Aa]ppendix (?P<appendix>[A-D])|table (?P<table>\d+)"
    r"|figure (?P<figure>\d+)|footnote (?P<footnote>\d)|eq\. (?P<equation>\d)|(?P<abstract>abstract)"
)


@cache
def text_of(paper: str) -> str:
    """The text of a paper; a test that needs it is skipped where it is not at hand."""
    path = SHARED / "papers" / f"{paper}.txt"
    if not path.is_file():
        pytest.skip("the papers' texts are not at hand")
    return path.read_text("utf-8")


def plain(text: str) -> str:
    """A text without its layout: spaces, hyphens, mathematical and bold marks."""
    for mark, letter in LETTERS.items():
        text = text.replace(mark, letter)
    text = unicodedata.normalize("NFKC", re.sub(r"</?\w+>", "", text))
    return re.sub(r"[\s$*_{}\\−-]", "", text)


@cache
def sections(paper: str) -> dict[str, str]:
    """The plain text of each section with its subsections, by number; of the abstract, too."""
    lines, begun = text_of(paper).splitlines(), {"abstract": 0}
    for number, line in enumerate(lines):
        heading = HEADING.match(line)
        if heading is not None:
            begun.setdefault(heading[1], number)
    ends = sorted([*begun.values(), len(lines)])
    return {
        name: plain(
            "\n".join(
                "\n".join(lines[start : ends[ends.index(start) + 1]])
                for other, start in begun.items()
                if other == name or other.startswith(f"{name}.")
            )
        )
        for name in begun
    }


def is_said(paper: str, words: str, source: str) -> bool:
    """Whether a paper has these WORDS in a section that SOURCE names; anywhere where it names
    none.
    """
    places = [
        place["section"] or place["appendix"] or place["abstract"]
        for place in PLACE.finditer(source)
    ]
    parts = [sections(paper)[place] for place in places if place] or [plain(text_of(paper))]
    return any(plain(words) in part for part in parts)
