"""Reads a built site as a browser would follow it: what each page refers to, and where a reader can
be sent.
"""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass(kw_only=True)
class SitePage:
    """A page's references to other files, its anchors, and the images without a text for those who
    do not see them.
    """

    targets: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    silent_images: list[str] = field(default_factory=list)
    title: str = ""


class _Reader(HTMLParser):
    """Collects a page."""

    def __init__(self) -> None:
        super().__init__()
        self.page = SitePage()
        self._in_title = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Take what a tag refers to and the anchor that it has."""
        values = {name: value or "" for name, value in attributes}
        self._in_title = tag == "title"
        self.page.targets += [values[name] for name in ("href", "src") if values.get(name)]
        self.page.anchors |= {values[name] for name in ("id", "name") if values.get(name)}
        if tag == "img" and not values.get("alt"):
            self.page.silent_images.append(values.get("src", ""))

    def handle_data(self, data: str) -> None:
        """Take the title."""
        if self._in_title:
            self.page.title += data

    def handle_endtag(self, tag: str) -> None:
        """Leave the title."""
        self._in_title = False


def read_pages(site: Path) -> dict[Path, SitePage]:
    """Return every page of a site that has addresses of its own; the page for unknown addresses has
    absolute ones.
    """
    return {path: _read(path) for path in sorted(site.rglob("*.html")) if path.name != "404.html"}


def _read(path: Path) -> SitePage:
    reader = _Reader()
    reader.feed(path.read_text("utf-8"))
    return reader.page


def broken(site: Path, pages: dict[Path, SitePage]) -> list[str]:
    """Return each reference within the site that leads to no file, or to no anchor of its page."""
    found = []
    for path, page in pages.items():
        for target in page.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                continue
            place = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            is_there = place.is_file() and place.is_relative_to(site)
            if not is_there or (
                parts.fragment
                and place in pages
                and unquote(parts.fragment) not in pages[place].anchors
            ):
                found.append(f"{path.relative_to(site)}: {target}")
    return found
