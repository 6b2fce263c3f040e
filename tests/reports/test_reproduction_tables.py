"""The tables of a reproduction."""

from math import nan

import pytest

from embedlab.analysis.ordering import Order, RankAgreement
from embedlab.experiments.paper_file import load_paper, paper_names, published_texts, select_tables
from embedlab.experiments.paper_table import Deviation, PaperTable
from embedlab.experiments.row_order import ComparedNumber, PairOrder, Ranking, RowOrder
from embedlab.reports.latex import to_latex
from embedlab.reports.layout import plain_text
from embedlab.reports.papers import (
    brief,
    deviations_table,
    numbers_table,
    orders_table,
    printed_table,
)
from embedlab.reports.tables import Table


def ordered(difference: float, p: float, **more: bool) -> PairOrder:
    ours = Order(difference=difference, low=nan, high=nan, probability=nan)
    return PairOrder(
        columns=("STS12",), better="0.1", worse="0.3", printed=1.0, ours=ours, claim="", p=p, **more
    )


def test_the_answer_counts_the_pairs_by_what_is_known_of_their_order() -> None:
    (table,) = select_tables("liao", "table6")
    pairs = (
        ordered(1.0, 0.01),
        ordered(-1.0, 0.01),
        ordered(1.0, 0.5),
        ordered(0.0, nan, is_equal=True),
        ordered(2.0, nan),
        ordered(2.0, 0.01, is_inconclusive=True),
    )
    numbers = {
        (row, "Avg."): ComparedNumber(printed=70.0, values=(value,))
        for row, value in (("0.1", 68.5), ("0.3", 71.25))
    }
    order = RowOrder(pairs=pairs, rankings=())
    assert numbers_table(table, numbers, (), (), order).answer == [
        "The order of 6 pairs of rows: 1 as printed, 1 reversed, 1 open, 1 equal, "
        "1 not tested, 1 not concluded.",
        "Ours minus the published values, Avg.: -1.50 to +1.25.",
    ]
    assert [row["verdict"].value for row in orders_table(table, order).rows[3:5]] == [
        "equal",
        "same sign",
    ]
    assert numbers_table(table, {}, (), ()).answer == ["No row has a number here."]


def test_people_see_the_answer_and_the_numbers_first() -> None:
    (table,) = select_tables("liao", "table6")
    deviation = Deviation(what="optim.lr", paper="1", here="2", rows=("0.1",))
    numbers = {("0.1", "Avg."): ComparedNumber(printed=70.0, values=(68.5,))}
    listed = deviations_table(table, [deviation], ["0.1"])
    order = RowOrder(pairs=(), rankings=())
    tables = (listed, numbers_table(table, numbers, (), ()), orders_table(table, order))
    (shown,) = brief(table, tables)
    whats = [(row["row"], row["what"]) for row in shown.rows]
    assert whats == [("0.1", "published"), ("0.1", "ours")]
    assert shown.notes[0] == "--notes shows the order of pairs, deviations (1)"


@pytest.mark.parametrize(
    "name", ["tsukagoshi table3", "tsukagoshi table6", "liao table2", "liao table3", "chen table2"]
)
def test_of_many_rows_people_see_the_average_and_at_most_25_lines(name: str) -> None:
    (table,) = select_tables(*name.split())
    assert table.average is not None
    numbers = {
        (row, column): ComparedNumber(printed=published.get(column), values=(50.0, 51.0))
        for row, published in table.printed.items()
        for column in table.columns
    }
    listed = deviations_table(table, [], [])
    whole = numbers_table(
        table, numbers, ["generated", "overlap"], [f"a note {i}" for i in range(9)]
    )
    (shown,) = brief(table, (listed, whole))
    text = plain_text(shown, 80)
    assert len(text.splitlines()) <= 25
    assert len(shown.notes) <= 5
    assert all(row in text for row in table.printed)
    assert ", notes (" in shown.notes[0]
    assert [column.title for column in shown.columns[1:]] == ["published", "ours", "difference"]
    published = {row: values.get(table.average) for row, values in table.printed.items()}
    assert {row["row"]: row.get("published") for row in shown.rows} == published


def test_rows_that_score_alike_have_no_tau() -> None:
    (table,) = select_tables("liao", "table6")
    ranking = Ranking(
        columns=("STS12",), group="", rows=3, kendall=RankAgreement(tau=nan, low=nan, high=nan)
    )
    notes = orders_table(table, RowOrder(pairs=(), rankings=(ranking,))).notes
    assert notes[0].endswith("3 rows, STS12: none, all rows score alike")


@pytest.mark.parametrize(
    ("trained", "note"), [([], "no row has a finished run here"), (["0.1"], "none is known")]
)
def test_without_a_deviation_the_reason_is_there_in_place_of_an_empty_table(
    trained: list[str], note: str
) -> None:
    (table,) = select_tables("liao", "table6")
    assert (
        plain_text(deviations_table(table, [], trained))
        == f"liao {table.name}: deviations from the paper\n\n{note}\n"
    )


@pytest.mark.parametrize(
    "table",
    [table for paper in paper_names() for table in load_paper(paper).values()],
    ids=lambda table: table.name,
)
def test_published_numbers_are_those_of_the_file_and_names_of_rows_are_written_as_there(
    table: PaperTable,
) -> None:
    if table.sources and not table.printed:
        return  # the paper prints no numbers of it
    shown, written = printed_table(table).texts()[1:], published_texts(table.paper, table.name)
    for row, texts in zip(shown, written.iter_rows(named=True), strict=True):
        for text, (column, expected) in zip(row, texts.items(), strict=True):
            if column in table.key:
                assert text == expected
            elif expected is not None:
                assert text == expected or float(text) == float(expected)


@pytest.mark.parametrize(
    ("paper", "name", "texts"),
    [
        (
            "sedghamiz",
            "table4",
            ["5e-05", "1e-4", "1e-4", "1e-4", "5e-05", "1e-04", "5e-05", "5e-05", "5e-05"],
        ),
        ("chen", "table10", ["1e-5", "2e-5", "3e-5"]),
    ],
)
def test_powers_of_ten_are_shown_as_they_are_written(
    paper: str, name: str, texts: list[str]
) -> None:
    (table,) = select_tables(paper, name)
    published = printed_table(table)
    place = [column.key for column in published.columns].index("learning_rate")
    assert [row[place] for row in published.texts()[1:]] == texts
    assert all(text in to_latex(published) for text in texts)


def test_published_numbers_have_the_digits_that_a_file_of_numbers_drops() -> None:
    (table,) = select_tables("liao", "table7")
    assert all(
        len(text.partition(".")[2]) == 2
        for row in printed_table(table).texts()[1:]
        for text in row[1:]
    )


def test_an_ensemble_of_some_of_its_rows_says_which_are_there() -> None:
    (table,) = select_tables("chen", "table2")
    columns = ("sentiment_acc", "paraphrase_acc", "sts_corr")

    def shown(rows: tuple[str, ...]) -> Table:
        numbers = {
            (row, column): ComparedNumber(printed=None, values=(0.5,))
            for row in (*rows, "Ensemble (dev)")
            for column in columns
        }
        return numbers_table(table, numbers, (), ())

    some = shown(("NLI", "3 Given"))
    assert "ours, of 2 of 4 rows" in plain_text(some)
    assert some.notes[-1] == (
        "Ensemble (dev): the best of NLI, 3 Given alone, without None (Baseline), "
        "3 Given (Single Task)"
    )
    whole = shown(("None (Baseline)", "NLI", "3 Given", "3 Given (Single Task)"))
    assert "of 4 rows" not in plain_text(whole)
