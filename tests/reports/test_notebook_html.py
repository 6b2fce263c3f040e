"""Results in a notebook: what people read, with intervals where the pointer rests, and nothing that
a name could add.
"""

from xml.etree import ElementTree

from embedlab.core.note import Note
from embedlab.reports.pages import report_html
from embedlab.reports.tables import Column, Table, TableCell


def table(rows: int = 2, name: str = "one") -> Table:
    cell = TableCell(
        value=91.2, text="91.20‡ a", raised="a", is_best=True, hover="95% interval 90.00 to 92.00"
    )
    columns = [
        Column(key="model", title="model", role="key"),
        Column(key="x", title="sts12", align="right", role="score"),
    ]
    notes = ["plain", Note("full", models=["one"], short=["short"]), Note("detail", models=["one"])]
    return Table(
        title="Scores <x>",
        columns=columns,
        rows=[{"model": name, "x": cell}] * rows,
        notes=notes,
        titles={"one": "one"},
    )


def parsed(html: str) -> ElementTree.Element:
    return ElementTree.fromstring(html)


def test_a_score_says_its_interval_where_the_pointer_rests_and_the_best_is_bold() -> None:
    root = parsed(report_html([table()]))
    cells = [cell for cell in root.iter("td") if cell.get("title")]
    assert len(cells) == 2
    assert cells[0].get("title") == "95% interval 90.00 to 92.00"
    assert cells[0].find("b").text == "91.20‡"  # type: ignore[union-attr]
    assert cells[0].find("sup").text == "a"  # type: ignore[union-attr]
    assert [cell.get("class") for cell in root.iter("th")] == [None, "number"]
    assert root.find(".//caption").text == "Scores <x>"  # type: ignore[union-attr]


def test_a_name_is_never_markup_and_no_colour_is_set() -> None:
    html = report_html([table(name="<script>alert(1)</script>")])
    assert "<script" not in html
    style = parsed(html).find("style").text or ""  # type: ignore[union-attr]
    assert "#" not in style  # the theme's own colours, light or dark
    assert "currentColor" in style
