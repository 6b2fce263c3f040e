"""`embedlab why`: where two models differ, and what the items have in common on which one alone is
right.
"""

import json
from pathlib import Path

import pytest

from embedlab.comparison.combinations import TESTED
from embedlab.outcomes.frame import Outcomes
from tests.cli.conftest import Embedlab
from tests.comparison.planted import made_pairs, questions


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    """A file of pairs, and the scores of two models of which the second is damaged on questions."""
    outcomes: Outcomes = made_pairs(400, 1, damage=questions)
    pairs = outcomes.sentences
    pairs.with_columns(score=outcomes.rows["gold"].round(3)).write_csv(tmp_path / "pairs.csv")
    for name in ("first", "second"):
        pairs.with_columns(score=outcomes.predictions[name]).write_csv(tmp_path / f"{name}.csv")
    return "scores:first.csv", "scores:second.csv", "pairs.csv"


def test_the_findings_come_first_in_words(embedlab: Embedlab, files: tuple[str, str, str]) -> None:
    first, second, pairs = files
    lines = embedlab("why", first, second, "--task", pairs).out.splitlines()
    assert len(lines) <= 20
    assert lines[1].startswith("second.csv gains ")
    assert any(line.startswith("confirmed on other topics: second.csv gains ") for line in lines)


def test_json_has_all_kinds_shares_and_typical_items_with_their_numbers(
    embedlab: Embedlab, files: tuple[str, str, str]
) -> None:
    first, second, pairs = files
    answer = embedlab(
        "why", first, second, "--task", pairs, "--rows", "1", "--examples", "2", "--json"
    )
    tables = _tables(answer.out)
    rows = [row for table in tables for row in table["rows"]]
    whole = embedlab("why", first, second, "--task", pairs, "--json")
    assert [row for row in rows if row["part"] != "typical"] == [
        row for table in _tables(whole.out) for row in table["rows"] if row["part"] != "typical"
    ]
    where = [row for row in rows if row["part"] == "where"]
    assert {row["by"] for row in where} >= {"question", "negation", "dice", "words", "gold"}
    by_question = next(row for row in where if (row["by"], row["slice"]) == ("question", "one"))
    assert by_question["difference"] == pytest.approx(by_question["second"] - by_question["first"])
    compared = embedlab("compare", first, second, "--task", pairs, "--by", "question", "--json")
    own = compared.row(slice="pairs.csv/question=one", model=second)
    assert (by_question["items"], by_question["second"]) == (
        own["items"],
        pytest.approx(own["score"]),
    )
    combined = [row for row in rows if row["part"] == "combination"]
    assert 0 < len(combined) <= TESTED
    confirmed = [row for row in combined if row["significant"]]
    assert any("question" in str(row["by"]) for row in confirmed)
    assert all(
        row["searched"] * row["contrast"] > 0 and row["p_corrected"] < 0.05 for row in confirmed
    )
    assert all(row["could_find"] > 0 for row in combined)
    assert not any(row["could_find"] for row in where)
    sides = {row["side"] for row in rows if row["part"] == "common"}
    assert first in sides  # the damaged model is wrong where the other is right
    assert 0 < len([row for row in rows if row["part"] == "typical" and row["side"] == first]) <= 2


def test_what_cannot_be_explained_is_refused_before_any_work(embedlab: Embedlab) -> None:
    for words, reason in (
        (("dice", "dice"), "named twice"),
        (("dice", "no-such-model"), "no-such-model"),
        (("dice", "minilm", "--suite", "geometry"), "no items"),
    ):
        answer = embedlab("why", *words, "--data", "tiny")
        assert answer.code == 2
        assert reason in answer.err


def _tables(text: str) -> list[dict[str, list[dict[str, object]]]]:
    tables: list[dict[str, list[dict[str, object]]]] = json.loads(text)["tables"]
    return tables


def test_a_figure_and_a_table_for_a_paper_have_the_same_caption(
    embedlab: Embedlab, files: tuple[str, str, str], tmp_path: Path
) -> None:
    first, second, pairs = files
    words = ("why", first, second, "--task", pairs, "--rows", "3")
    assert embedlab(*words, "--figure", "kinds.svg").code == 0
    drawn, table = (tmp_path / "kinds.svg").read_text(), embedlab(*words, "--latex").out
    for said in ("the 3 of ", "kinds of items", "items of one topic count as dependent"):
        assert said in drawn
        assert said in table
    assert r"\begin{tabular}" in table
    assert "Two properties together, confirmed" in drawn


def test_typical_items_of_a_search_have_the_rank_of_the_relevant_text_by_each_model(
    embedlab: Embedlab,
) -> None:
    words = (
        "why",
        "dice",
        "minilm",
        "--data",
        "tiny",
        "--task",
        "retrieval-captions",
        "--examples",
        "2",
    )
    rows = [
        row
        for table in _tables(embedlab(*words, "--json").out)
        for row in table["rows"]
        if row["part"] == "typical"
    ]
    assert rows
    for row in rows:
        own, other = ("first", "second") if row["side"] == "dice" else ("second", "first")
        assert row[own] == 1
        assert row[other] is None or row[other] > 10
    assert "numbers: the rank of the relevant text" in embedlab(*words, "--notes").out
