"""Paper files: every printed table is covered, every name in them exists, and what is wrong is said
by its place.
"""

import shutil
from decimal import Decimal
from pathlib import Path

import pytest
from polars import concat_str

from embedlab.core.errors import UsageError
from embedlab.experiments.paper_file import (
    PAPER_FILE,
    load_paper,
    paper_folder,
    paper_names,
    published_scores,
    published_tables,
    published_texts,
    select_tables,
)
from embedlab.experiments.paper_table import PaperTable
from embedlab.experiments.paper_trainings import expected_recipe, trainings
from tests.experiments.paper_texts import is_said

TABLES = [table for paper in paper_names() for table in load_paper(paper).values()]
SCORED = [table for table in TABLES if table.printed and not table.pairs and table.by != "minutes"]


def of_the_user(folder: Path, text: str) -> str:
    """The path of a user's own paper: this TEXT beside the tables that liao prints."""
    own = folder / "liao"
    if not own.is_dir():
        shutil.copytree(paper_folder("liao"), own)
    (own / PAPER_FILE).write_text(text)
    return str(own)


def named(table: PaperTable) -> str:
    return f"{table.paper}-{table.name}"


@pytest.mark.parametrize("paper", paper_names())
def test_every_printed_table_is_covered(paper: str) -> None:
    assert set(published_tables(paper)) <= set(load_paper(paper))


@pytest.mark.parametrize("table", SCORED, ids=named)
def test_every_printed_number_has_one_of_ours_beside_it(table: PaperTable) -> None:
    points = {(point.row, point.column) for point in table.points}
    for row, own in table.printed.items():
        for column, value in own.items():
            assert value is None or (row, column) in points
    assert not all(source.lacks for source in table.sources.values())
    assert table.ranked_by


@pytest.mark.parametrize("table", TABLES, ids=named)
def test_every_recipe_takes_what_a_row_sets(table: PaperTable) -> None:
    for _, source in trainings(table).values():
        assert expected_recipe(source).stages


def test_a_table_is_found_by_its_number() -> None:
    found = [table.name for table in select_tables("tsukagoshi", "table2")]
    assert found == ["table2_example_pairs", "table2_mean_cosines"]
    assert [table.name for table in select_tables("chen", "table1")] == ["table1_unsupervised"]
    assert len(select_tables("chen", None)) >= 10  # "table10" among them


CLAIMED = [(table, name) for table in TABLES if table.printed for name in table.claims]


@pytest.mark.parametrize(("table", "name"), CLAIMED, ids=[name for _, name in CLAIMED])
def test_a_claim_has_the_direction_of_its_printed_difference(table: PaperTable, name: str) -> None:
    """To the digit where it is one of two printed numbers of one column, the paper's own averages
    included; else it names its columns.
    """
    claim = table.claims[name]
    printed = table.printed_difference(claim)
    assert printed is not None
    if claim.direction == "equal":
        assert abs(printed) <= (claim.size or 0)
    else:
        assert (printed > 0) == (claim.direction == "above")
    columns = table.columns_of(claim)
    column = columns[0] if len(columns) == 1 else table.average
    if column is None or (len(columns) > 1 and {*columns} != {*table.columns} - {column}):
        assert ", ".join(columns) in table.statement(claim)
        return
    frame = published_texts(table.paper, table.name)
    rows = frame.select(concat_str(*table.key, separator=" ")).to_series()
    texts = dict(zip(rows, frame[column], strict=True))
    exact = Decimal(texts[claim.first]) - Decimal(texts[claim.second])
    assert abs(Decimal(printed) - exact) < Decimal("1e-9")


@pytest.mark.parametrize("paper", paper_names())
def test_every_quotation_is_in_the_named_section_of_the_text(paper: str) -> None:
    for table in load_paper(paper).values():
        for name, claim in table.claims.items():
            assert is_said(paper, claim.quotation, claim.source), (name, claim.quotation)


def test_the_five_claims_whose_averages_left_columns_out_print_the_papers_own() -> None:
    table = load_paper("liao")["table3_transfer"]
    printed = table.printed_difference(table.claims["term-over-ce-transfer"])
    assert printed == pytest.approx(1.08)
    assert table.printed_mean("SBERT baseline", ["MR", "CR"]) == pytest.approx((66.1 + 80.34) / 2)
    assert load_paper("chen")["table2_supervised"].printed_mean(
        "3 Given (Single Task)", ["sentiment_acc", "paraphrase_acc", "sts_corr"]
    ) == pytest.approx(0.66)


def test_a_claim_is_said_with_its_group_or_key_once() -> None:
    said = {
        name: table.statement(claim) for table in TABLES for name, claim in table.claims.items()
    }
    assert said["bert-base-s-d-over-sbert"] == "BERT-base: S+D above SBERT"
    assert said["lambda-sts-01"] == "lambda: 0.3 above 0.1"
    assert said["ce-over-term-sst2"] == "SBERT baseline above allpalln-lambda0.1-SCL (SST2)"
    assert said["defsent-over-untuned-sources"] == "DefSent above w/oFT (mean of 24 columns)"


ROW = 'rows = { "0.1" = { recipe = "snli-supcl" } }'
HEAD = 'summary = "s"\n[tables.table6_lambda_sts]\nsummary = "t"\nkey = ["lambda"]\n'
COLUMNS = 'columns = { STS12 = "sts12" }\n'
TABLE = HEAD + COLUMNS + ROW
CLAIM = (
    HEAD
    + COLUMNS
    + 'rows = { "0.1" = { recipe = "snli-supcl" }, "0.3" = { recipe = "snli-ce" } }\n'
    '[claims]\nx = { table = "table6_lambda_sts", source = "s", first = "0.1", second = "0.3", '
    'direction = "above" }'
)


@pytest.mark.parametrize(
    ("text", "old", "new", "said", "hint"),
    [
        (TABLE, "rows", 'juge = ["STS12"]\nrows', "juge", "judge"),
        (TABLE, "rows", 'judge = ["STS21"]\nrows', "no column 'STS21'", "STS1"),
        (TABLE, "STS12 =", "STS21 =", "no printed column 'STS21'", "STS1"),
        (TABLE, '"0.1"', '"0.2"', "no printed row '0.2'", "0."),
        (TABLE, "columns", 'task = "stss"\ncolumns', "no task 'stss'", "sts"),
        (TABLE, 'recipe = "snli-supcl"', "", "not exactly one of", "recipe"),
        (TABLE, '"sts12"', '{ metric = "pearson" }', "names no slice", "sts12"),
        (TABLE, COLUMNS + ROW, 'rows = "table7"', "no table 'table7'", ""),
        (TABLE, COLUMNS + ROW, "", "neither rows nor shown_by", "command"),
        (CLAIM, 'second = "0.3"', 'second = "0.33"', "claims.x: no row '0.33'", "0."),
        (CLAIM, "above", "over", "claims.x.direction", ""),
        (CLAIM, "above", "equal", "claims.x: 'equal' needs a size", "size"),
        (CLAIM, '"above"', '"above", colums = ["STS12"]', "colums", "columns"),
        (
            CLAIM,
            '"above"',
            '"above", columns = ["STS21"]',
            "claims.x: no column 'STS21'",
            "STS12",
        ),
        (CLAIM, "", "", "claims.x: 'table6_lambda_sts' has no order", "columns"),
        (CLAIM, 'source = "s"', 'source = ""', "claims.x: no source", "section"),
    ],
)
def test_what_is_wrong_in_a_paper_file_is_said_by_its_place(
    text: str, old: str, new: str, said: str, hint: str, tmp_path: Path
) -> None:
    own = of_the_user(tmp_path, text.replace(old, new, 1))
    with pytest.raises(UsageError) as error:
        load_paper(own)
    assert said in error.value.message
    assert "liao/paper.toml" in error.value.message
    assert hint in error.value.hint


@pytest.mark.parametrize(
    ("key", "message"),
    [(("modle",), "no column of liao"), (("Avg.",), "must name each column of words")],
)
def test_a_key_that_does_not_name_the_rows_of_a_printed_table_is_refused(
    key: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        published_scores("liao", "table2_sts", key)
    assert message in f"{caught.value.message} {caught.value.hint}"


OWN = """
summary = "mine"
[tables.table1]
summary = "own"
columns = { STS12 = "sts12" }
rows = { A = { model = "dice" }, B = { lacks = "its code" } }
"""
OF_PAIRS = OWN.replace('columns = { STS12 = "sts12" }', 'pairs = ["first", "second"]')
OF_MINUTES = OWN.replace('columns = { STS12 = "sts12" }', 'by = "minutes"')


def own_table(folder: Path, text: str, printed: str) -> PaperTable:
    """The table of a paper of the user's own, with what is PRINTED in it."""
    (folder / "paper.toml").write_text(text)
    (folder / "table1.csv").write_text(printed)
    return load_paper(f"{folder}/")["table1"]


@pytest.mark.parametrize(
    ("text", "printed", "said"),
    [
        (OWN, "", "table1.csv is not a readable csv file: empty CSV"),
        (OWN, "model,STS12\nA,1,2\nB,3\n", "table1.csv is not a readable csv file: found more"),
        (OWN, "model,STS12,STS12\nA,1,2\nB,3,4\n", "two columns are 'STS12'"),
        (OWN, "model,layers,STS12\nA,1,50\nA,2,60\nB,1,55\n", "two rows are 'A'"),
        (OWN, "model,STS12\nA,1\n,2\nB,3\n", "row 2 has no 'model'"),
        (OWN, "model,STS12\nA,nan\nB,2\n", "'nan' is no number"),
        (OWN, 'model,STS12\nA,1\nB,"2,5"\n', "table1, 'STS12' of 'B': '2,5' is not a number"),
        (OF_PAIRS, "first,second,A,B\nx,,0.5,0.1\n", "row 1 has no 'second'"),
        (OF_PAIRS, "first,second,A,B\nx,y,high,0.1\n", "'A': 'high' is not a number"),
        (OF_PAIRS, "first,second,A,B\n", "no pair"),
        (OF_MINUTES, "model,hours\nA,1\nB,2\n", "no printed column 'minutes'"),
    ],
)
def test_a_printed_table_that_cannot_be_read_row_by_row_is_refused(
    text: str, printed: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError) as error:
        own_table(tmp_path, text, printed)
    assert said in error.value.message
    assert error.value.hint


OF_ITSELF = 'A = { combine = "average", of = ["A", "B"] }'
OF_ANOTHER = 'A = { combine = "average", of = ["B", "C"] }'


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (OF_ITSELF, "row 'A' is combined of itself"),
        (f'{OF_ANOTHER}, C = {{ combine = "concat", of = ["A", "B"] }}', "'A' is combined of"),
        ('A = { combine = "average" }', "row 'A': 'combine' and 'of' go together"),
        ('A = { model = "dice", of = ["B", "C"] }', "row 'A': 'combine' and 'of' go together"),
        ('A = { model = "dice", columns = { STS13 = { split = "dev" } } }', "no column 'STS13'"),
    ],
)
def test_rows_that_cannot_be_made_are_refused(rows: str, said: str, tmp_path: Path) -> None:
    text = OWN.replace('A = { model = "dice" }', rows)
    if "C = " not in rows:
        text = text.replace("B = {", 'C = { model = "dice" }, B = {')
    with pytest.raises(UsageError) as error:
        own_table(tmp_path, text, "model,STS12\nA,1\nB,2\nC,3\n")
    assert said in error.value.message


@pytest.mark.parametrize("name", ["a/../../../x", "a/b"])
def test_a_table_has_the_name_of_a_file_so_that_nothing_is_written_elsewhere(
    name: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="cannot name a table"):
        own_table(tmp_path, OWN.replace("tables.table1", f'tables."{name}"'), "model,STS12\n")


def test_a_table_of_rows_without_columns_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has rows and no columns"):
        own_table(
            tmp_path, OWN.replace('columns = { STS12 = "sts12" }', ""), "model,STS12\nA,1\nB,2\n"
        )


def test_blank_lines_of_a_printed_table_are_no_rows(tmp_path: Path) -> None:
    table = own_table(tmp_path, OWN, "model,STS12\nA,1\n\nB,\n\n")
    assert table.printed == {"A": {"STS12": 1.0}, "B": {"STS12": None}}


def test_a_printed_row_that_the_paper_file_lacks_is_shown_as_printed(tmp_path: Path) -> None:
    table = own_table(tmp_path, OWN, "model,STS12\nA,1\nC,3\nB,2\n")
    assert "does not say" in str(table.sources["C"].lacks)


def test_a_column_of_ours_alone_must_say_so(tmp_path: Path) -> None:
    own = TABLE.replace('"sts12"', '"sts12", mine = { slice = "sts13", unprinted = true }')
    (table,) = load_paper(of_the_user(tmp_path, own)).values()
    assert table.columns == ("STS12", "mine")
    assert "mine" not in table.printed["0.1"]
    with pytest.raises(UsageError, match="no printed column 'mine'"):
        load_paper(of_the_user(tmp_path, own.replace(", unprinted = true", "")))


def test_a_column_of_ours_is_planned_where_the_row_prints_another_of_its_training() -> None:
    """The augmented row prints nothing of MNLI, so that nothing is trained for it there."""
    points = {(one.row, one.column) for one in load_paper("sedghamiz")["table2_glue"].points}
    assert ("SupCL-Seq", "MNLI_mismatched_acc") in points
    assert ("Dropout Augmented", "MNLI_mismatched_acc") not in points
    assert ("Dropout Augmented", "CoLA_mcc") in points
