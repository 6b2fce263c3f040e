"""The tables of a reproduction."""

from math import nan

import pytest

from embedlab.analysis.ordering import RankAgreement
from embedlab.papers.file import select_tables
from embedlab.papers.order import Ranking, RowOrder
from embedlab.reports.layout import plain_text
from embedlab.reports.reproduction_tables import deviations_table, orders_table, printed_table


def test_rows_that_score_alike_have_no_tau() -> None:
    (table,) = select_tables("liao", "table6")
    ranking = Ranking(columns=("STS12",), group="", rows=3, kendall=RankAgreement(tau=nan, low=nan, high=nan))
    notes = orders_table(table, RowOrder(pairs=(), rankings=(ranking,))).notes
    assert notes[0].endswith("3 rows, STS12: none, all rows score alike")


@pytest.mark.parametrize(("trained", "note"), [([], "no row has a finished run here"), (["0.1"], "none is known")])
def test_without_a_deviation_the_reason_is_there_in_place_of_an_empty_table(trained: list[str], note: str) -> None:
    (table,) = select_tables("liao", "table6")
    assert plain_text(deviations_table(table, [], trained)) == f"liao {table.name}: deviations from the paper\n\n{note}\n"


def test_published_numbers_have_the_digits_that_a_file_of_numbers_drops() -> None:
    (table,) = select_tables("liao", "table7")
    assert all(len(text.partition(".")[2]) == 2 for row in printed_table(table).texts()[1:] for text in row[1:])
