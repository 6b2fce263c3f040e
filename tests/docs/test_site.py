"""The site: built strictly, without a network, and complete in itself."""

import json
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from docs.blocks import ROOT
from docs.hooks import GENERATED, PLACED, on_page_markdown
from tests.docs.site_links import broken, read_pages


def test_every_page_has_a_place_in_the_navigation() -> None:
    settings = (ROOT / "mkdocs.yml").read_text("utf-8")
    listed = set(re.findall(r": (\S+\.md)$", settings.partition("\nnav:\n")[2], re.MULTILINE))
    own = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    made = {name for name in GENERATED if name.endswith(".md")} | {
        place for name, place in PLACED.items() if (ROOT / name).exists()
    }
    assert listed == own | made, "add it to `nav` in mkdocs.yml"


def test_every_package_is_in_the_picture() -> None:
    from docs.reference.imports import layers

    assert {path.parent.name for path in (ROOT / "embedlab").glob("*/__init__.py")} <= set(layers())


def test_every_section_of_the_reference_leads_to_a_generated_page() -> None:
    sections = re.findall(
        r"^## (\w+)$", (ROOT / "docs" / "reference" / "README.md").read_text("utf-8"), re.MULTILINE
    )
    assert {f"reference/{one.lower()}.md" for one in sections} == {
        name for name in GENERATED if name.startswith("reference/")
    }


def test_a_link_to_a_section_of_the_reference_is_one_to_its_page_on_the_site() -> None:
    page = SimpleNamespace(file=SimpleNamespace(src_uri="guides/own-data.md"), meta={})
    assert (
        on_page_markdown("[Recipes](../reference/README.md#recipes)", page)
        == "[Recipes](../reference/recipes.md)"
    )
    assert (
        on_page_markdown("[All](../reference/README.md)", page) == "[All](../reference/README.md)"
    )


def test_a_reference_to_nothing_is_found_in_a_site(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<a href="b.html#two">x</a><a href="#one">x</a><img src="c.svg"><a href="https://example.org/d">x</a>'
    )
    (tmp_path / "b.html").write_text('<h1 id="one">x</h1><a href="a.html?q=1">x</a>')
    pages = read_pages(tmp_path)
    assert broken(tmp_path, pages) == ["a.html: b.html#two", "a.html: #one", "a.html: c.svg"]
    assert pages[tmp_path / "a.html"].silent_images == ["c.svg"]


@pytest.mark.slow
def test_the_site_builds_without_a_network_and_needs_none(site: Path) -> None:
    loads = re.compile(
        r'<(?:script|link|img|iframe)[^>]+(?:src|href)="(?:https?:)?//[^"]+"|url\("?(?:https?:)?//'
    )
    for path in [*site.rglob("*.html"), *site.rglob("*.svg"), *site.rglob("*.css")]:
        assert not loads.search(path.read_text("utf-8")), path
    assert not list(site.rglob("__pycache__"))


@pytest.mark.slow
def test_every_reference_of_the_site_leads_somewhere(site: Path) -> None:
    """Read by an HTML parser; test_site_in_browser.py looks at the pages where there is a
    browser.
    """
    pages = read_pages(site)
    assert len(pages) > 50
    assert sum(len(page.targets) for page in pages.values()) > 1000
    assert not broken(site, pages)
    assert not [(path, page.silent_images) for path, page in pages.items() if page.silent_images]
    titles = [page.title for page in pages.values()]
    assert all(titles)
    assert len(set(titles)) == len(titles), (
        "two pages of one title cannot be distinguished in a search"
    )


@pytest.mark.slow
def test_the_search_knows_each_page_and_section(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text("utf-8")
    entries = {one["location"]: one["text"] for one in json.loads(index)["docs"]}
    pages = {path.relative_to(site).as_posix() for path in read_pages(site)}
    assert pages == {location.partition("#")[0] or "index.html" for location in entries}
    assert "reference/commands.html#embedlab-power" in entries
    assert entries["reference/settings.html"].strip()
    assert (site / "search" / "search_index.js").read_text("utf-8").startswith("var __index = ")
