"""`embedlab why`: where two models differ, and what the items have in common on which one alone is
right.
"""

import re
from pathlib import Path
from typing import Any

import pytest

from embedlab.comparison.combinations import TESTED
from embedlab.outcomes.frame import Outcomes
from tests.cli.conftest import Answer, Embedlab
from tests.comparison.planted import QUESTIONS, made_pairs


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    """A file of pairs, and the scores of two models of which the second is damaged on questions."""
    outcomes: Outcomes = made_pairs(400, 1, damage=QUESTIONS)
    pairs = outcomes.sentences
    pairs.with_columns(score=outcomes.rows["gold"].round(3)).write_csv(tmp_path / "pairs.csv")
    for name in ("first", "second"):
        pairs.with_columns(score=outcomes.predictions[name]).write_csv(tmp_path / f"{name}.csv")
    return "scores:first.csv", "scores:second.csv", "pairs.csv"


PARTS = ("where", "combination", "common", "typical")


def _rows(answer: Answer) -> list[dict[str, Any]]:
    return [row for table in answer.json["tables"] for row in table["rows"]]


def test_the_findings_come_first_in_words(embedlab: Embedlab, files: tuple[str, str, str]) -> None:
    first, second, pairs = files
    lines = embedlab("why", first, second, "--task", pairs).out.splitlines()
    assert len(lines) <= 20
    assert re.match(r"first\.csv gains \d+\.\d points more on items with questions: ", lines[1])
    assert any(line.startswith("confirmed on other topics: second.csv gains ") for line in lines)


def test_json_has_all_kinds_shares_and_typical_items_with_their_numbers(
    embedlab: Embedlab, files: tuple[str, str, str]
) -> None:
    first, second, pairs = files
    words = ("why", first, second, "--task", pairs, "--rows", "1", "--examples", "2", "--json")
    rows = _rows(embedlab(*words))
    parts = {part: [row for row in rows if row["part"] == part] for part in PARTS}
    kinds = {row["by"] for row in parts["where"]}
    assert kinds >= {"question", "negation", "dice", "words", "gold"}  # more than a row each
    asked = next(row for row in parts["where"] if (row["by"], row["slice"]) == ("question", "one"))
    assert asked["difference"] == pytest.approx(asked["second"] - asked["first"])
    compared = embedlab("compare", first, second, "--task", pairs, "--by", "question", "--json")
    own = compared.row(slice="pairs.csv/question=one", model=second)
    assert (asked["items"], asked["second"]) == (own["items"], pytest.approx(own["score"]))
    combined = parts["combination"]
    assert 0 < len(combined) <= TESTED
    confirmed = [row for row in combined if row["significant"]]
    assert any("question" in str(row["by"]) for row in confirmed)
    for row in confirmed:
        assert row["searched"] * row["contrast"] > 0
        assert row["p_corrected"] < 0.05
    assert all(row["could_find"] > 0 for row in combined)
    # the damaged model is wrong where the other is right
    assert first in {row["side"] for row in parts["common"]}
    assert 0 < len([row for row in parts["typical"] if row["side"] == first]) <= 2


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
    words = ("why", "dice", "minilm", "--data", "tiny", "--task", "retrieval-captions")
    rows = _rows(embedlab(*words, "--examples", "2", "--json"))
    typical = [row for row in rows if row["part"] == "typical"]
    assert typical
    for row in typical:
        own, other = ("first", "second") if row["side"] == "dice" else ("second", "first")
        assert row[own] == 1
        assert row[other] is None or row[other] > 10
