"""The site: built strictly, without a network, and complete in itself."""

import json
import re
from pathlib import Path

import pytest

from docs.blocks import ROOT
from docs.hooks import GENERATED, PLACED


def test_every_page_has_a_place_in_the_navigation() -> None:
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    listed = set(re.findall(r": (\S+\.md)$", settings.partition("\nnav:\n")[2], re.MULTILINE))
    own = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    made = {name for name in GENERATED if name.endswith(".md")} | {
        place for name, place in PLACED.items() if (ROOT / name).exists()
    }
    assert listed == own | made, "add it to `nav` in mkdocs.yml"


@pytest.mark.slow
def test_the_site_builds_without_a_network_and_needs_none(site: Path) -> None:
    loads = re.compile(
        r'<(?:script|link|img|iframe)[^>]+(?:src|href)="(?:https?:)?//[^"]+"|url\("?(?:https?:)?//'
    )
    for path in [*site.rglob("*.html"), *site.rglob("*.svg"), *site.rglob("*.css")]:
        assert not loads.search(path.read_text("utf-8")), path
    assert not list(site.rglob("__pycache__"))


@pytest.mark.slow
def test_the_search_knows_each_page_and_section(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text("utf-8")
    entries = {one["location"]: one["text"] for one in json.loads(index)["docs"]}
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")} - {"404.html"}
    assert len(pages) > 50
    assert pages == {location.partition("#")[0] or "index.html" for location in entries}
    assert "reference/commands.html#embedlab-power" in entries
    assert entries["reference/settings.html"].strip()
    assert (site / "search" / "search_index.js").read_text("utf-8").startswith("var __index = ")
