"""The line below a comparison on what its datasets say of another one."""

from dataclasses import replace

from embedlab.comparison.comparison import Slicing
from embedlab.reports.scores import comparison_table
from embedlab.reports.tables import Table
from tests.analysis.test_another_dataset import A, B, datasets
from tests.stored_scores import compared_items


def table_of(count: int) -> Table:
    evidence = datasets(count)
    marks = {"b": {"training text unknown"}}
    slicing = Slicing(has_another=True)
    return comparison_table(compared_items(evidence, [A, B], slicing=slicing, model_marks=marks))


def test_five_datasets_have_a_line_and_a_record_on_another_one() -> None:
    table = table_of(5)
    (record,) = table.data()["another_dataset"]
    assert (record["model"], record["reference"], record["datasets"]) == (
        "b",
        "a",
        [f"set {number}" for number in range(5)],
    )
    assert record["new_low"] < record["low"] < record["mean"] < record["high"] < record["new_high"]
    line = (
        f"another dataset of this kind, difference from a: b {record['mean']:+.2f} "
        f"[{record['low']:+.2f}, {record['high']:+.2f}] on average, {record['new_low']:+.2f} "
        f"to {record['new_high']:+.2f} on another "
        "(random effects over set 0, set 1, set 2, set 3, set 4, which share no pairs; 95%)"
    )
    assert line in table.notes


def test_a_row_has_the_marks_of_its_model_alone() -> None:
    marks = {row["model"]: row["marks"] for row in table_of(1).data()["rows"]}
    assert marks == {"a": "", "b": "training text unknown"}


def test_models_that_are_called_as_columns_are_take_nothing_from_them() -> None:
    named = [replace(A, name="slice"), replace(B, name="items")]
    (evidence,) = datasets(1)
    table = comparison_table(compared_items([evidence], named))
    _, (name, items, *scores) = table.texts()
    assert (name, items) == (evidence.key, str(evidence.items))
    assert len({*scores, name, items}) == len(table.columns)


def test_fewer_datasets_say_nothing_of_another_one() -> None:
    table = table_of(4)
    assert "another_dataset" not in table.data()
    assert not any(note.startswith("another dataset") for note in table.notes)
