"""The gate of `compare` ends as the interval of CANDIDATE − BASE says."""

from pathlib import Path

import polars as pl
import pytest

from embedlab.commands.compare import GateRow
from embedlab.core.errors import ExitCode
from tests.cli.conftest import Embedlab
from tests.stored_json import stored_values

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


def test_a_candidate_without_vectors_of_some_items_does_not_pass(embedlab: Embedlab) -> None:
    numbers = range(60)
    pairs = [
        (f"dog{number} runs{' far' * (number % 7)}", f"cat{number} runs") for number in numbers
    ]
    rows = [f"{first},{second},{first.count('far')}" for first, second in pairs]
    Path("p.csv").write_text("\n".join(["sentence1,sentence2,score", *rows]), encoding="utf-8")
    texts = [text for pair in pairs[1:] for text in pair]
    vectors = [[1.0, 1 + text.count("far") + len(text) / 9] for text in texts]
    pl.DataFrame({"sentence": texts, "vector": vectors}).write_parquet("theirs.parquet")
    words = ("--task", "p.csv", "--fail-if-worse", "99", "--json")
    answer = embedlab("compare", "vectors:theirs.parquet", "dice", *words)
    (gate,) = answer.json["gate"]
    assert gate["low"] > -99
    assert (answer.code, gate["result"], gate["items"]) == (ExitCode.UNKNOWN, "undecided", 59)
    common = embedlab("compare", "vectors:theirs.parquet", "dice", "--task", "p.csv", "--common")
    assert "59 of 60 items" in common.out
    # what only BASE lacks says nothing against CANDIDATE
    assert embedlab("compare", "dice", "vectors:theirs.parquet", *words).code == ExitCode.OK


def test_models_are_compared_on_the_items_that_all_of_them_score(
    embedlab: Embedlab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    pairs = [f"a dog{number},a cat{number},{number}" for number in range(60)]
    for name, lines in (("p.csv", pairs), ("part.csv", pairs[:40])):
        Path(name).write_text("\n".join(["sentence1,sentence2,score", *lines]), encoding="utf-8")
    for command in ("evaluate", "compare"):
        words = ("scores:part.csv", "dice", "--task", "p.csv", "--common", "--json")
        assert {row["items"] for row in embedlab(command, *words).rows} == {40}
    stored = [stored_values(path)["scores"] for path in tmp_path.rglob("p.csv.json")]
    whole = [score for scores in stored for score in scores if score["by"] == "dataset"]
    assert {score["items"] for score in whole} == {60}  # of the whole file
