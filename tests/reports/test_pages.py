"""Pages: whole, in one file, with nothing in them that could load or run."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from embedlab.core.errors import UsageError
from embedlab.reports.pages import Section, check_page_path, page, write_page
from embedlab.reports.series import Plot, Series
from embedlab.reports.tables import Column, Table, TableCell

HOSTILE = '<script>alert("x")</script> & <img src=http://there/x.png>'
CONTROLS = "a\x00\x1b[2J\x85\u202e\ud800b"  # no page and no plot can hold them as they are
VOID = {"meta", "br", "img", "link", "hr"}


class Outline(HTMLParser):
    """The elements of a page in order; an element that is not closed in its turn is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert tag in VOID or self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def text() -> str:
    table = Table(
        title=f"Scores {HOSTILE}",
        columns=[
            Column(key="model", title="model"),
            Column(key="score", title=HOSTILE, align="right"),
        ],
        rows=[{"model": HOSTILE, "score": TableCell(value=1.0, text="78.40 ± 0.31 ab")}],
        notes=("one note", HOSTILE, CONTROLS),
    )
    plot = Plot(
        kind="dots",
        title=HOSTILE,
        series=[
            Series.of("$x$ & <b>", [(HOSTILE, [1.0]), ("b", [2.0])]),
            Series.of(CONTROLS, [(HOSTILE, [2.0]), ("b", [1.0])]),
        ],
        axis="points",
    )
    sections = [
        Section(title=HOSTILE, table=table, plots=(plot, plot)),
        *(Section(title=name) for name in "bcd"),
    ]
    return page(
        HOSTILE, sections, facts={"command": f"embedlab compare {HOSTILE}", CONTROLS: CONTROLS}
    )


def test_a_page_is_well_formed_and_runs_and_loads_nothing(text: str) -> None:
    outline = Outline(text)
    assert outline.open == []
    assert not {"script", "link", "img", "iframe", "object", "image"} & set(outline.tags)
    assert outline.tags.count("style") == 1
    links = [value for name, value in outline.attributes if name in {"href", "src", "xlink:href"}]
    assert links
    assert all(value is not None and value.startswith("#") for value in links)
    assert not re.search(r"url\((?!#)|@import", text)
    assert "default-src 'none'" in text


def test_names_are_shown_as_they_are(text: str) -> None:
    shown = Outline(text).texts
    assert shown.count(HOSTILE) >= 7  # title twice, heading, contents, cell, column, note, captions
    assert "78.40 ± 0.31 ab" in shown
    assert "one note" in shown
    assert text.count("a\\u0000\\u001b[2J\\u0085\\u202e\\ud800b") >= 4  # fact, note, mark
    assert not {"\x00", "\x1b", "\x85", "\u202e", "\ud800"} & set(text)


def test_a_page_replaces_a_page_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_page(path, "one", [], facts={})
    write_page(path, "two", [], facts={})
    assert "<h1>two</h1>" in path.read_text(encoding="utf-8")
    path.write_text("my own notes")
    with pytest.raises(UsageError, match="is not a page of embedlab"):
        write_page(path, "three", [], facts={})
    assert path.read_text() == "my own notes"


@pytest.mark.parametrize(
    ("name", "message"), [("", "a folder"), ("nowhere/page.html", "there is no folder")]
)
def test_a_place_where_no_page_can_go_is_refused(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_page_path(tmp_path / name)
