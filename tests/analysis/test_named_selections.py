"""Selections with names: stored expressions that any filter can use."""

import polars as pl
import pytest

from embedlab.analysis.expressions import compile_expression, meanings, refuse_unnamable
from embedlab.analysis.named_selections import named_selections, store_selection
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.paths import state_folder


def test_a_name_holds_where_its_expression_does(table: pl.DataFrame) -> None:
    store_selection("short", "gold>5")
    store_selection("either", "dice<0.3 or gold>4")

    def rows_of(expression: str) -> list[int]:
        holds = pl.arg_where(compile_expression(expression, table.columns))
        return table.select(holds).to_series().to_list()

    either, source = rows_of("dice<0.3 or gold>4"), rows_of("source:OnWN")
    assert rows_of("@either source:OnWN") == [row for row in source if row in either]
    assert rows_of("-@either") == [row for row in range(table.height) if row not in either]
    assert meanings("-@either dice>0.1 @other") == {"either": "dice<0.3 or gold>4"}
    assert [*named_selections()] == ["either", "short"]
    with pytest.raises(UsageError, match="no selection is called 'shrt'") as error:
        compile_expression("@shrt", ["gold"])
    assert "named: either, short" in error.value.hint


@pytest.mark.parametrize(
    ("name", "expression", "reason"),
    [
        ("a b", "gold>2", "cannot name a selection"),
        ("1st", "gold>2", "cannot name a selection"),
        ("mine", " ", "needs items to store"),
        ("mine", "@other gold>2", "holds @other, another stored selection"),
        ("mine", "-@other", "holds @other, another stored selection"),
    ],
)
def test_what_cannot_be_a_name_picks_nothing_or_reads_another_is_refused(
    name: str, expression: str, reason: str
) -> None:
    with pytest.raises(UsageError, match=reason):
        refuse_unnamable(name, expression)


def test_an_at_sign_in_quotes_or_a_regular_expression_is_text() -> None:
    store_selection("home", "gold>2")
    assert meanings('"me @home now" s1:"@home" /see @home today/') == {}
    refuse_unnamable("mail", '"write to @home today"')


def test_a_damaged_file_is_refused() -> None:
    store_selection("mine", "gold>2")
    path = state_folder() / "selections.json"
    path.write_text(path.read_text().replace("gold", "glod"))
    with pytest.raises(MissingError, match="is damaged"):
        named_selections()
