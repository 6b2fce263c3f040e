"""Results in a notebook: what people read, with intervals where the pointer rests, and nothing that
a name could add.
"""

from xml.etree import ElementTree

from embedlab.reports.pages import report_html
from embedlab.reports.tables import Table, TableCell, columns_of


def test_a_score_says_its_interval_where_the_pointer_rests_and_a_name_is_never_markup() -> None:
    cell = TableCell(
        value=91.2, text="91.20‡ a", raised="a", is_best=True, hover="95% interval 90.00 to 92.00"
    )
    columns = columns_of("model [key]", "x = sts12 [score] >")
    rows = [{"model": "<script>alert(1)</script>", "x": cell}]
    root = ElementTree.fromstring(report_html([Table(title="<x>", columns=columns, rows=rows)]))
    found = {element.tag: element for element in root.iter()}
    assert found["td"].get("title") == "95% interval 90.00 to 92.00"
    assert (found["b"].text, found["sup"].text) == ("91.20‡", "a")
    assert [cell.get("class") for cell in root.iter("th")] == [None, "number"]
    assert found["caption"].text == "<x>"
    assert "script" not in found
    style = found["style"].text or ""
    assert "#" not in style  # the theme's own colours, light or dark
    assert "currentColor" in style
