"""The tables of a reproduction."""

from math import nan

from embedlab.analysis.ordering import RankAgreement
from embedlab.papers.file import select_tables
from embedlab.papers.order import Ranking, RowOrder
from embedlab.reports.reproduction_tables import orders_table


def test_rows_that_score_alike_have_no_tau() -> None:
    (table,) = select_tables("liao", "table6")
    ranking = Ranking(columns=("STS12",), group="", rows=3, kendall=RankAgreement(tau=nan, low=nan, high=nan))
    notes = orders_table(table, RowOrder(pairs=(), rankings=(ranking,))).notes
    assert notes[0].endswith("3 rows, STS12: none, all rows score alike")
