"""Links between the pages of the repository lead somewhere, as its host shows them, without the
site.
"""

import posixpath
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from docs.blocks import ROOT

FOLDERS = ("*.md", "docs/**/*.md", "research/**/*.md", "benchmarks/results/*.md", ".github/**/*.md")
PAGES = sorted(path for pattern in FOLDERS for path in ROOT.glob(pattern))

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def links(page: Path) -> Iterator[str]:
    """The targets of a page's links within the repository."""
    for target in _LINK.findall(_FENCED.sub("", page.read_text("utf-8"))):
        if "://" not in target and not target.startswith("mailto:"):
            yield target


@cache
def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings: lower case, words joined by hyphens, without other
    signs.
    """
    headings = _HEADING.findall(_FENCED.sub("", page.read_text("utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page: Path) -> list[str]:
    """The targets of a page that do not exist."""
    found = []
    for target in links(page):
        file, _, anchor = target.partition("#")
        place = (
            ROOT / posixpath.normpath((page.parent / file).relative_to(ROOT).as_posix())
            if file
            else page
        )
        if not place.exists() or (anchor and anchor not in anchors(place)):
            found.append(target)
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_each_link_of_a_page_leads_to_a_file_and_heading_of_the_repository(page: Path) -> None:
    assert not broken(page)
