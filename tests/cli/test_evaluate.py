from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scipy import stats

from embedlab.analysis.overlap import dice

if TYPE_CHECKING:
    from tests.cli.conftest import Embedlab

PAIRS = [
    ("A cat sleeps.", "A cat is asleep.", 4.5),
    ("A dog runs.", "The dog is running fast.", 4.0),
    ("It rains.", "The sun shines.", 0.5),
    ("A man plays a guitar.", "A man eats.", 1.0),
    ("Two boys play football.", "Two boys play football.", 5.0),
]


@pytest.fixture
def my_pairs(tmp_path: Path) -> Path:
    path = tmp_path / "mine.tsv"
    path.write_text(
        "sentence1\tsentence2\tscore\n" + "".join(f"{a}\t{b}\t{gold}\n" for a, b, gold in PAIRS)
    )
    return path


@pytest.mark.parametrize("metric", ["spearman", "pearson"])
def test_the_numbers_are_those_of_an_independent_script(
    embedlab: Embedlab, my_pairs: Path, metric: str
) -> None:
    (row,) = embedlab(
        "evaluate", "dice", "--task", "mine.tsv", "--aggregate", "all", "--metric", metric, "--json"
    ).rows
    correlation = stats.spearmanr if metric == "spearman" else stats.pearsonr
    expected = correlation(
        [dice(a, b) for a, b, _ in PAIRS], [gold for _, _, gold in PAIRS]
    ).statistic
    assert row["score"] == pytest.approx(100 * expected)


def test_a_slice_is_measured_by_the_correlation_that_is_typed(
    embedlab: Embedlab, my_pairs: Path
) -> None:
    call = ("evaluate", "dice", "--task", "mine.tsv", "--where", "gold>0.7", "--metric", "pearson")
    picked = [(a, b, gold) for a, b, gold in PAIRS if gold > 0.7]
    row = embedlab(*call, "--json").rows[0]
    expected = stats.pearsonr([dice(a, b) for a, b, _ in picked], [gold for *_, gold in picked])
    assert row["metric"] == "pearson"
    assert row["score"] == pytest.approx(100 * expected.statistic)


def test_brought_scores_keep_the_digits_that_order_them(embedlab: Embedlab, my_pairs: Path) -> None:
    lines = [f"{a},{b},{100_000 + dice(a, b) / 1000}" for a, b, _ in PAIRS]
    Path("theirs.csv").write_text("\n".join(["sentence1,sentence2,score", *lines]))
    rows = embedlab(
        "evaluate", "dice", "scores:theirs.csv", "mine.tsv", "--aggregate", "all", "--json"
    ).rows
    assert len(rows) == 2
    assert rows[0]["score"] == rows[1]["score"]


def test_what_is_missing_is_reported_after_the_others_are_done(
    embedlab: Embedlab, my_pairs: Path
) -> None:
    answer = embedlab(
        "evaluate", "dice", "--task", "sts12", "--task", "mine.tsv", "--offline", "--json"
    )
    assert answer.code == 3
    assert "'sts12' (test) is missing" in answer.err
    assert [row["slice"] for row in answer.rows] == ["mine.tsv"]


def test_pairs_filters_sorts_and_limits(embedlab: Embedlab, my_pairs: Path) -> None:
    call = ("pairs", "dice", "--dataset", "mine.tsv", "--json")
    assert [row["pair"] for row in embedlab(*call, "--sort", "gold", "--limit", "2").rows] == [4, 0]
    falling = embedlab(*call, "--sort", "-gold", "--limit", "2").rows
    assert [row["pair"] for row in falling] == [2, 3]
    found = embedlab(*call, "--where", "gold>3 -football", "--limit", "1")
    assert found.json["title"].startswith("2 of 5 pairs match, 1 shown")
    assert embedlab(*call).rows == embedlab(*call, "--sort", "error(dice)").rows
    assert "did you mean 'gold'?" in embedlab(*call, "--where", "glod>3").err
    assert "did you mean 'gap'?" in embedlab(*call, "--sort", "gapp").err


def test_score_gives_one_row_a_model(embedlab: Embedlab, tiny_encoder: Path) -> None:
    Path("mine.csv").write_text("sentence1,sentence2,cosine\na dog,a cat,0.5\n")
    models = ("-m", "dice", "-m", f"{tiny_encoder}?pooling=cls", "-m", "scores:mine.csv")
    answer = embedlab("score", "A cat sleeps.", "A cat sleeps.", *models, "--json")
    *similarities, missing = (row["similarity"] for row in answer.rows)
    assert similarities == pytest.approx([1.0, 1.0])
    assert missing is None
    assert "scores:mine.csv: no similarity of these sentences" in answer.json["notes"]


@pytest.mark.parametrize("words", ["evaluate bm25 --by words", "compare bm25"])
def test_a_task_that_no_model_can_do_is_what_was_typed_wrong(
    words: str, embedlab: Embedlab
) -> None:
    answer = embedlab(*words.split(), "--task", "sts-benchmark", "--data", "starter")
    assert answer.code == 2
    assert "nothing to evaluate on sts" in answer.err
