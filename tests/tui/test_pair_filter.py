"""The filter of the dashboard reads the properties that a comparison reads."""

from pathlib import Path

import polars as pl
import pytest

from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.outcomes.property import property_named
from embedlab.tui.pair_table.data import load_pairs
from embedlab.tui.pair_table.view import PairView

PAIRS = """sentence1,sentence2,score
a dog sleeps,a dog does not sleep,1
is he tall?,is he tall or is he short?,4
two cats eat,three cats never eat,2
she reads,she reads a very long book,3
"""


@pytest.fixture
def view(tmp_path: Path) -> PairView:
    file = tmp_path / "mine.csv"
    file.write_text(PAIRS)
    return PairView(data=load_pairs(Settings(), file))


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("negation:one", [0, 2]),
        ("negation:one number:other*", [2]),
        ("question:both", [1]),
        ("words>5 gold<4 or question:both", [1, 3]),
        ("length>=4 -negation:one", [1, 3]),
        ("", [0, 1, 2, 3]),
    ],
)
def test_a_filter_reads_properties(query: str, rows: list[int], view: PairView) -> None:
    view.refine(query)
    assert view.rows().tolist() == rows


def test_a_property_is_computed_once_for_all_filters(
    view: PairView, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    words = property_named("words")
    monkeypatch.setattr(
        type(words),
        "_values",
        lambda self, _: calls.append(self.name) or pl.Series(self.name, [3.0, 6.0, 4.0, 6.0]),
    )
    for query, rows in (("words>5", [1, 3]), ("words<4", [0])):
        view.refine(query)
        assert view.rows().tolist() == rows
    assert calls == ["words"]


def test_what_no_pair_has_and_unknown_fields_are_refused_and_leave_the_view(view: PairView) -> None:
    view.refine("negation:one")
    for query, reason in (
        ("phenomenon:negation", r"no item of mine\.csv has the property"),
        ("negated:one", "unknown field 'negated'"),
    ):
        with pytest.raises(UsageError, match=reason):
            view.refine(query)
        assert view.rows().tolist() == [0, 2]
