"""How tables of several models fit the width there is, whatever the command."""

import re

import pytest
from rich.cells import cell_len

from embedlab.core.note import Note
from embedlab.reports.layout import plain_text, table_lines
from embedlab.reports.scores import with_model_rows
from embedlab.reports.tables import Table, TableCell, columns_of, score_columns

DATASETS = ("sts12", "sts13", "sts-benchmark", "sick-r", "average of seven")
MODELS = ("snli-supcl", "sbert-defsent-multi", "sup-simcse-bert-base?pooling=cls", "dice")


def compared(count: int) -> Table:
    """The table of a comparison of COUNT models."""
    models = MODELS[:count]
    columns = columns_of("slice = dataset [key]", "pairs")
    columns += score_columns(dict(zip(models, models, strict=True)), "left")
    columns += columns_of(
        *(f"{name}.delta = {name} − {models[0]} [difference] <" for name in models[1:])
    )
    cells = {
        name: TableCell(value=70.5, text=f"70.5{place}† ± 0.3{place} ab")
        for place, name in enumerate(models)
    }
    cells |= {
        f"{name}.delta": TableCell(value=1.0, text=f"+1.0{place} [−10.55, +12.75]*")
        for place, name in enumerate(models)
    }
    return Table(
        title="Spearman x 100",
        columns=columns,
        rows=[{"slice": name, "pairs": 1379, **cells} for name in DATASETS],
    )


def shown(table: Table, width: int) -> str:
    text = plain_text(table, width)
    assert max(map(cell_len, text.splitlines())) <= width
    return text


@pytest.mark.parametrize("width", [60, 80, 100, 200])
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_up_to_four_models_are_tables_of_whole_numbers_in_any_width(count: int, width: int) -> None:
    text = shown(compared(count), width)
    assert "·" not in text  # a block a row would have it
    assert text.count("70.50†") == len(DATASETS)
    assert text.count("[−10.55, +12.75]*") == len(DATASETS) * (count - 1)
    spread_over = [line for line in text.splitlines() if re.search(r"\[[^\]]*$", line)]
    assert not spread_over


def test_scores_and_differences_that_do_not_fit_together_are_parts_below_each_other() -> None:
    lines = [line.text for line in table_lines(compared(3), 100) if line.kind == "header"]
    assert [line.split()[0] for line in lines if line.split()[0] == "dataset"] == [
        "dataset",
        "dataset",
    ]
    assert "−" not in lines[0]


def test_a_part_of_texts_lists_the_rows_that_have_one() -> None:
    columns = columns_of("dataset [key]", "skipped [text]", "note [text]")
    rows = [
        {"dataset": "whole", "skipped": "", "note": ""},
        {"dataset": "short", "skipped": "2 blank", "note": "a hash is not recorded anywhere"},
    ]
    text = shown(Table("Checked", columns, rows), 40)
    assert (text.count("whole"), text.count("short")) == (1, 2)


def test_models_can_be_the_rows_without_differences() -> None:
    crossed = with_model_rows(compared(3))
    assert [column.title for column in crossed.columns] == ["model", *DATASETS]
    assert [row[""] for row in crossed.rows] == [*MODELS[:3]]


@pytest.mark.parametrize("text", ["-0.00", "+0.00", "−0.00", "-0.00 [-0.00, +0.12]*", "−0.0 ± 0.1"])
def test_no_number_is_minus_zero(text: str) -> None:
    row = {"a": TableCell(value=-0.001, text=text), "b": -0.001, "c": "a-0.00 stays -0.00"}
    table = Table(columns=columns_of("a", "b .2", "c"), rows=[row])
    for written in (plain_text(table), table.to_markdown()):
        numbers, word, _ = written.partition("a-0.00 stays -0.00")
        assert word
        assert not re.search(r"[-−+]0\.0+(?!\d)", numbers)
    assert ("+0.12" in plain_text(table)) == ("0.12" in text)


NOTES = [
    "sample: generated data",
    Note(
        "/a/b: pooling mean, precision bf16",
        models=("/a/b",),
        short_texts=("pooling mean", "precision bf16"),
    ),
    Note("dice: precision bf16", models=("dice",), short_texts=("precision bf16",)),
    Note("/a/b: its starting encoder's training text is unknown", models=("/a/b",)),
]
TITLES = {"/a/b": "b", "dice": "dice"}


def noted(**more: bool) -> Table:
    return Table(columns=columns_of("a"), rows=[{"a": 1}], notes=NOTES, titles=TITLES, **more)


def test_notes_are_grouped_over_models_under_the_names_of_the_table() -> None:
    assert noted().shown_notes == [
        "sample: generated data",
        "b: pooling mean",
        "precision bf16",
        "--notes shows 1 more note",
    ]


def test_all_notes_are_in_json_and_with_the_option() -> None:
    assert noted().data()["notes"] == NOTES
    assert noted(has_all_notes=True).shown_notes == NOTES


def test_columns_that_are_all_minor_are_shown_row_by_row_where_they_do_not_fit() -> None:
    columns = columns_of("first [minor]", "second [minor]")
    text = shown(Table(columns=columns, rows=[{"first": "1.234567", "second": "8.901234"}]), 17)
    assert text.split() == ["first", "1.234567", "second", "8.901234"]
