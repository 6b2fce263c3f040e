"""The tables of a reproduction."""

from dataclasses import replace
from math import nan
from pathlib import Path

import pytest

from embedlab.analysis.claims import Claim, ClaimedDifference, SettledClaim, settle_claims
from embedlab.analysis.rank_agreement import RankAgreement
from embedlab.experiments.paper_file import (
    PAPER_FILE,
    load_paper,
    paper_names,
    published_texts,
    select_tables,
)
from embedlab.experiments.paper_table import Deviation, PaperTable
from embedlab.experiments.row_order import Ranking, RowOrder, numbers_frame
from embedlab.reports.layout import plain_text
from embedlab.reports.papers import (
    Reproduction,
    brief,
    contents_table,
    deviations_table,
    numbers_table,
    orders_table,
    printed_table,
)
from embedlab.reports.tables import Table


def ordered(difference: float, p: float, *, is_inconclusive: bool = False) -> SettledClaim:
    claim = Claim(
        table="table6_lambda_sts", first="0.1", second="0.3", direction="above", columns=("STS12",)
    )
    ours = ClaimedDifference(delta=difference, last_digit=0.01, p=p)
    (settled,) = settle_claims({"a": claim}, {"a": ours}, ["a"] * is_inconclusive)
    return settled


def test_the_answer_counts_the_pairs_by_what_is_known_of_their_order() -> None:
    (table,) = select_tables("liao", "table6")
    pairs = (
        ordered(1.0, 0.01),
        ordered(-1.0, 0.01),
        ordered(1.0, 0.5),
        ordered(0.004, nan),
        ordered(2.0, nan),
        ordered(2.0, 0.01, is_inconclusive=True),
    )
    published = {"0.1": {"Avg.": 70.0}, "0.3": {"Avg.": 70.0}}
    values = {("0.1", "Avg."): (68.5,), ("0.3", "Avg."): (71.25,)}
    numbers = numbers_frame(replace(table, printed=published), values)
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
    assert numbers_table(table, numbers.clear(), (), ()).answer == ["No row has a number here."]


@pytest.mark.parametrize(
    "name", ["tsukagoshi table3", "tsukagoshi table6", "liao table2", "liao table3", "chen table2"]
)
def test_of_many_rows_people_see_the_average_and_at_most_25_lines(name: str) -> None:
    (table,) = select_tables(*name.split())
    values = {(row, column): (50.0, 51.0) for row in table.printed for column in table.columns}
    numbers = numbers_frame(table, values)
    deviation = Deviation(what="optim.lr", paper="1", here="2", rows=(*table.printed,))
    reproduction = Reproduction(
        table=table,
        deviations=deviations_table(table, [deviation], []),
        answers=(
            numbers_table(table, numbers, ["generated"], [f"a note {i}" for i in range(9)]),
            orders_table(table, RowOrder(pairs=(), rankings=())),
        ),
        has_failed=False,
        numbers=numbers,
    )
    (shown,) = brief(reproduction)
    text = plain_text(shown, 80)
    assert len(text.splitlines()) <= 25
    assert "the order of pairs, deviations (1), and " in text
    assert [column.title for column in shown.columns[1:]] == ["published", "ours", "difference"]
    published = {row: values.get(table.average) for row, values in table.printed.items()}
    assert {row["row"]: row["published"].value for row in shown.rows} == published
    assert all(row in text for row in published)


def test_rows_that_score_alike_have_no_tau() -> None:
    (table,) = select_tables("liao", "table6")
    ranking = Ranking(
        columns=("STS12",), group="", rows=3, kendall=RankAgreement(tau=nan, low=nan, high=nan)
    )
    notes = orders_table(table, RowOrder(pairs=(), rankings=(ranking,))).notes
    assert notes[0].endswith("3 rows, STS12: none, all rows score alike")


def test_without_a_deviation_the_reason_is_there_in_place_of_an_empty_table() -> None:
    (table,) = select_tables("liao", "table6")
    title = f"liao {table.name}: deviations from the paper"
    untrained, trained = (plain_text(deviations_table(table, [], own)) for own in ([], ["0.1"]))
    assert untrained == f"{title}\n\nno row has a finished run here\n"
    assert trained == f"{title}\n\nnone is known\n"


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


def test_a_table_without_a_file_is_shown_by_the_command_that_shows_it_here(tmp_path: Path) -> None:
    text = 'summary = "p"\n[tables.table1]\nsummary = "t"\nshown_by = "embedlab data ls"\n'
    (tmp_path / PAPER_FILE).write_text(text)
    paper = f"{tmp_path}/"
    (table,) = load_paper(paper).values()
    shown = printed_table(table)
    assert not shown.rows
    assert list(shown.notes) == [
        "the paper prints no numbers of it",
        "the same here: embedlab data ls",
    ]
    contents = contents_table(paper, [table], {}, "here", Path("my data"))
    (row,) = contents.rows
    assert (row["printed"], row["here"]) == (False, "embedlab data ls")
    assert " all --data 'my data' --html " in contents.notes[0]


def test_powers_of_ten_and_last_digits_are_shown_as_they_are_written() -> None:
    (rates,) = select_tables("sedghamiz", "table4")
    published = printed_table(rates)
    place = [column.key for column in published.columns].index("learning_rate")
    shown = [row[place] for row in published.texts()[1:]]
    assert [*map(shown.count, ("5e-05", "1e-4", "1e-04"))] == [5, 3, 1]
    (temperatures,) = select_tables("liao", "table7")
    for row in printed_table(temperatures).texts()[1:]:
        assert {len(text.partition(".")[2]) for text in row[1:]} == {2}


def test_an_ensemble_of_some_of_its_rows_says_which_are_there() -> None:
    (table,) = select_tables("chen", "table2")

    def shown(*rows: str) -> Table:
        columns = ("sentiment_acc", "paraphrase_acc", "sts_corr")
        cells = [(row, column) for row in (*rows, "Ensemble (dev)") for column in columns]
        return numbers_table(table, numbers_frame(table, dict.fromkeys(cells, (0.5,))), (), ())

    some = shown("NLI", "3 Given")
    assert "ours, of 2 of 4 rows" in plain_text(some)
    assert some.notes[-1] == (
        "Ensemble (dev): the best of NLI, 3 Given alone, without None (Baseline), "
        "3 Given (Single Task)"
    )
    whole = shown("None (Baseline)", "NLI", "3 Given", "3 Given (Single Task)")
    assert "of 4 rows" not in plain_text(whole)
