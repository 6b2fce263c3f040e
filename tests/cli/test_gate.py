"""The gate of `compare` ends as the interval of CANDIDATE − BASE says."""

import pytest

from embedlab.commands.compare import GateRow
from embedlab.core.errors import ExitCode
from tests.cli.conftest import Embedlab

STARTER = ("--data", "starter", "--task", "sts-benchmark")


def row(difference: float, low: float, high: float, margin: float) -> GateRow:
    return GateRow(row="r", difference=difference, low=low, high=high, items=100, margin=margin)


@pytest.mark.parametrize(
    ("low", "high", "margin", "code"),
    [
        (-0.9, 0.5, 1, 0),
        (-1.0, 0.5, 1, 5),
        (-1.5, -0.5, 1, 5),
        (-3.0, -1.0, 1, 5),
        (-3.0, -1.1, 1, 4),
        (0.1, 2.0, 0, 0),
        (-0.1, 2.0, 0, 5),
        (-2.0, -0.1, 0, 4),
        (float("nan"), float("nan"), 1, 5),
    ],
)
def test_the_whole_interval_decides(low: float, high: float, margin: float, code: int) -> None:
    assert int(row((low + high) / 2, low, high, margin).exit_code) == code


@pytest.mark.parametrize(("difference", "items"), [(0.0, 400), (-3.0, 100), (1.0, 100), (0.3, 237)])
def test_so_many_items_would_bring_the_end_to_the_margin(difference: float, items: int) -> None:
    assert row(difference, difference - 2, difference + 2, 1.0).items_needed == items


@pytest.mark.parametrize(
    ("first", "second", "options", "code"),
    [
        ("wordllama", "dice", ("--fail-if-worse", "1"), ExitCode.OK),
        ("dice", "wordllama", ("--fail-if-worse", "1"), ExitCode.DIFFERENT),
        ("dice", "wordllama", ("--fail-if-worse", "20"), ExitCode.UNKNOWN),
        ("wordllama", "dice", ("--require-better",), ExitCode.OK),
        ("dice", "wordllama", ("--require-better",), ExitCode.DIFFERENT),
    ],
)
def test_the_gate_is_of_the_first_model(
    first: str, second: str, options: tuple[str, ...], code: int, embedlab: Embedlab
) -> None:
    answer = embedlab("compare", first, second, *STARTER, *options, "--json")
    assert answer.code == code
    (gate,) = answer.json["gate"]
    assert (gate["difference"] > 0) == (first == "wordllama")
    assert gate["low"] < gate["difference"] < gate["high"]
    (row,) = (row for row in answer.rows if row["model"] == first)  # the table has the same sign
    assert row["difference"] == pytest.approx(gate["difference"])
    assert f": {first} minus {second} is " in answer.err
