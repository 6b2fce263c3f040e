"""The tables of results agree with themselves."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parents[1]).glob("*.md"))
Row = dict[str, str]

_COLUMNS = re.compile(r"(?<!\\)\|")  # \| is a bar inside a cell
_LETTERS = re.compile(r" ([a-z]+)°?$")


def tables(page: str) -> Iterator[list[Row]]:
    """Yield the rows of each Markdown table of a PAGE, by the titles of their columns."""
    for block in re.findall(r"(?:^\|.*\|\n)+", page, re.MULTILINE):
        header, _, *rows = (
            [cell.strip() for cell in _COLUMNS.split(line)[1:-1]] for line in block.splitlines()
        )
        yield [dict(zip(header, row, strict=True)) for row in rows]


def contradictions(row: Row) -> list[str]:
    """Return the differences of a ROW whose star says other than the letters of the two models."""
    letters = {
        title: set(found[1]) for title, cell in row.items() if (found := _LETTERS.search(cell))
    }
    pairs = {title: title.split(" − ") for title in row if title.count(" − ") == 1}
    known = {title: pair for title, pair in pairs.items() if set(pair) <= letters.keys()}
    starred = {title: row[title].rstrip("=§").endswith(("*", "°")) for title in known}
    return [
        title
        for title, (one, other) in known.items()
        if starred[title] == bool(letters[one] & letters[other])
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem)
def test_no_letter_contradicts_a_star(page: Path) -> None:
    rows = [row for table in tables(page.read_text("utf-8")) for row in table]
    assert rows
    assert [
        (next(iter(row.values())), contradictions(row)) for row in rows if contradictions(row)
    ] == []


def test_a_contradiction_is_found() -> None:
    row = {
        "dataset": "sts12",
        "a": "80.00 b",
        "b": "70.00‡ ± 0.10 ab",
        "b − a": "-10.00 [-12.00, -8.00]*",
    }
    assert contradictions(row) == ["b − a"]
    assert contradictions(row | {"b": "70.00 c"}) == []
    assert contradictions(row | {"b": "70.00 c°", "b − a": "-10.00 [-12.00, -8.00]°§"}) == []
    assert contradictions(row | {"b": "70.00 ab°", "b − a": "-10.00 [-12.00, -8.00]°"}) == ["b − a"]
    assert contradictions(row | {"b": "70.00 c", "b − a": "-10.00 [-21.00, +1.00]"}) == ["b − a"]
