"""Sentences of the README and of results that order models are made of claims; every other one is
listed with its reason.
"""

import tomllib
from collections import Counter
from pathlib import Path

import pytest
from ordering_words import ROOT, ordering_lines, pages

EXCEPTIONS = tomllib.loads((Path(__file__).parent / "ordering_words.toml").read_text("utf-8"))[
    "exceptions"
]


def named(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", pages(), ids=named)
def test_a_sentence_that_orders_models_is_made_of_claims_or_listed_with_its_reason(
    page: Path,
) -> None:
    listed = [own["text"] for own in EXCEPTIONS if own["page"] in {named(page), "*"}]
    found = [
        line
        for _, line in ordering_lines(page.read_text("utf-8"))
        if not any(text in line for text in listed)
    ]
    assert found == [], (
        "make it of claims (research/programs/stored_claims.py), or list it in ordering_words.toml "
        "with the reason"
    )


def test_every_listed_exception_is_used_and_has_a_reason() -> None:
    lines = {
        named(page): [line for _, line in ordering_lines(page.read_text("utf-8"))]
        for page in pages()
    }
    for own in EXCEPTIONS:
        there = [
            line
            for page, of_page in lines.items()
            if own["page"] in {page, "*"}
            for line in of_page
        ]
        assert any(own["text"] in line for line in there), own
        assert len(own["why"]) > 10, own
    assert max(Counter((own["page"], own["text"]) for own in EXCEPTIONS).values()) == 1


def test_ordering_words_are_found_outside_of_what_is_made_again() -> None:
    page = """One is better.
It is <!-- claim:x -->above that
and below this<!-- /claim -->, not worse.
<!-- table scores/x.parquet a b -->
- letters: above
<!-- end of table -->
```
best
```
| worse | 1 |
See [this](compare.md) and `best`, which nothing orders.
"""
    assert [number for number, _ in ordering_lines(page)] == [1, 3]


def test_no_line_starts_with_a_claim() -> None:
    """Markdown would take the line for HTML, and end the paragraph."""
    for page in pages():
        for line in page.read_text("utf-8").splitlines():
            assert not line.lstrip("- ").startswith("<!-- claim:"), (named(page), line)
