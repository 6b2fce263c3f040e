import csv
import io
import json
import math

import pytest
from rich.console import Console

from embedlab.reports.layout import plain_text, to_rich
from embedlab.reports.tables import Column, Table, TableCell, columns_of


@pytest.fixture
def table() -> Table:
    return Table(
        title="STS [test]",
        columns=columns_of("dataset", "pairs", "score = Spearman", "delta = Δ .1"),
        rows=[
            {
                "dataset": "sts12",
                "pairs": 3108,
                "score": TableCell(value=0.1 + 0.2, text="30.0 ± 0.3 a"),
                "delta": 2.345,
            },
            {
                "dataset": "a|b [bold]",
                "pairs": 7,
                "score": TableCell(value=math.nan, text="–"),
                "delta": math.inf,
                "p_holm": 0.25,
            },
            {"dataset": "sick-r"},
        ],
        notes=["a: cannot be told apart"],
    )


def lines(table: Table, width: int = 80) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    console.print(to_rich(table, width))
    return [line.rstrip() for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_json_and_csv_keep_full_precision_and_stable_keys(table: Table) -> None:
    found = json.loads(table.to_json())
    assert (found["title"], found["notes"]) == ("STS [test]", ["a: cannot be told apart"])
    first, *others = found["rows"]
    assert [*first] == ["dataset", "pairs", "score", "delta", "p_holm"]
    assert {tuple(row) for row in others} == {(*first,)}
    assert (first["score"], first["delta"]) == (0.1 + 0.2, 2.345)
    assert [(row["score"], row["delta"]) for row in others] == [(None, None)] * 2
    rows = list(csv.DictReader(io.StringIO(table.to_csv())))
    assert float(rows[0]["score"]) == 0.1 + 0.2
    assert [row["p_holm"] for row in rows] == ["", "0.25", ""]


def test_markdown_aligns_numbers_and_escapes_bars(table: Table) -> None:
    assert table.to_markdown().splitlines() == [
        "**STS [test]**",
        "",
        "| dataset | pairs | Spearman | Δ |",
        "| --- | ---: | ---: | ---: |",
        "| sts12 | 3108 | 30.0 ± 0.3 a | 2.3 |",
        "| a\\|b [bold] | 7 | – | – |",
        "| sick-r | – | – | – |",
        "",
        "- a: cannot be told apart",
    ]


def test_terminal_table_aligns_numbers_and_takes_brackets_as_text(table: Table) -> None:
    found = lines(table)
    assert (found[0], found[-1]) == ("STS [test]", "a: cannot be told apart")
    first, last = (next(line for line in found if name in line) for name in ("sts12", "a|b [bold]"))
    assert first.index("3108") + 4 == last.index(" 7") + 2
    assert "30.0 ± 0.3 a" in "\n".join(lines(table, width=44))  # never cut


SENTENCE = "A man with a hat is playing a long and slow song on an old guitar."
PAIRS = Table(
    title="Pairs",
    columns=columns_of(
        "dataset",
        "sentence [sentence]",
        *(f"n{number} = number {number}" for number in range(4)),
    ),
    rows=[
        {"dataset": "sts-benchmark", "sentence": SENTENCE}
        | {f"n{number}": 123450 + number for number in range(4)}
    ]
    * 2,
    notes=["a note"],
)


@pytest.mark.parametrize("width", [30, 60, 80, 100])
def test_whole_numbers_and_sentences_are_shown_at_any_width(width: int) -> None:
    found = lines(PAIRS, width)
    assert max(map(len, found)) <= width
    assert (found[0], found[-1]) == ("Pairs", "a note")
    text = " ".join(" ".join(found).split())
    for word in ("sts-benchmark", "123450", "123451", "123452", "123453", *SENTENCE.split()):
        assert text.count(word) >= 2, word


def test_a_row_becomes_a_block_only_where_its_columns_need_more_than_the_terminal_has() -> None:
    assert lines(PAIRS, 80)[3].split() == ["dataset", "sentence", "0", "1", "2", "3"]
    assert lines(PAIRS, 60)[2:6] == [
        " dataset sts-benchmark · number 0 123450 · number 1 123451",
        " number 2 123452 · number 3 123453",
        "   A man with a hat is playing a long and slow song on an",
        "   old guitar.",
    ]


def test_truth_is_said_in_words_and_not_aligned_as_a_number() -> None:
    table = Table(
        columns=columns_of("best"),
        rows=[{"best": True}, {"best": False}, {"best": None}],
    )
    assert table.to_markdown() == "| best |\n| --- |\n| yes |\n| no |\n| – |\n"
    assert json.loads(table.to_json())["rows"][0] == {"best": True}


def test_without_rows_there_is_a_header_and_without_columns_only_title_and_notes() -> None:
    empty = Table(columns=columns_of("run"), rows=[])
    assert empty.to_csv() == "run\n"
    assert any("run" in line for line in lines(empty))
    assert json.loads(empty.to_json()) == {"title": "", "rows": [], "notes": []}
    said = Table(title="mine", columns=[], rows=[], notes=["4 of 4 cells are done"])
    assert plain_text(said) == "mine\n4 of 4 cells are done\n"
    assert lines(said) == ["mine", "4 of 4 cells are done"]
    assert said.to_markdown() == "**mine**\n\n- 4 of 4 cells are done\n"


def test_columns_are_described_by_key_title_role_digits_and_side() -> None:
    assert columns_of("run [key]", "steps = of", "loss = last loss [minor] .4 >", "score <") == [
        Column("run", "run", "key"),
        Column("steps", "of"),
        Column("loss", "last loss", "minor", "right", 4),
        Column("score", "score", align="left"),
    ]
    assert columns_of("score = score [95% interval]") == [Column("score", "score [95% interval]")]
