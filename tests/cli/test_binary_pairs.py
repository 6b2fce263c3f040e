"""Pairs whose gold has two values are ranked and classified, not correlated."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from tests.cli.conftest import Embedlab

NAME = "pairs.csv?score=is_duplicate"


@pytest.fixture
def pairs(tmp_path: Path) -> pl.DataFrame:
    """120 questions, duplicates or not, with the scores of a model that has ties."""
    rng = np.random.default_rng(0)
    gold = (rng.random(120) < 0.4).astype(int)
    frame = pl.DataFrame(
        {
            "sentence1": [f"how does number {n} work" for n in range(120)],
            "sentence2": [f"what makes {n} go" for n in range(120)],
            "is_duplicate": gold,
            "good": np.round(rng.normal(gold, 1), 1),
            "bad": np.round(rng.normal(gold / 3, 1), 1),
        }
    )
    frame.select("sentence1", "sentence2", "is_duplicate").write_csv(tmp_path / "pairs.csv")
    for name in ("good", "bad"):
        frame.select("sentence1", "sentence2", name).write_csv(tmp_path / f"{name}.csv")
    return frame


def test_measures_equal_scikit_learn_with_intervals(
    pairs: pl.DataFrame, embedlab: Embedlab
) -> None:
    models = ("scores:good.csv#good", "scores:bad.csv#bad")
    answer = embedlab("compare", *models, "--task", NAME, "--json")
    assert answer.code == 0, answer.err
    gold = pairs["is_duplicate"].to_numpy()
    slow = {"average precision": average_precision_score, "roc auc": roc_auc_score}
    for model, name in zip(models, ("good", "bad"), strict=True):
        rows = {row["metric"]: row for row in answer.rows if row["model"] == model}
        assert list(rows) == ["average precision", "roc auc", "f1", "accuracy"]
        for metric, measure in slow.items():
            assert rows[metric]["score"] == pytest.approx(
                100 * measure(gold, pairs[name]), abs=1e-10
            )
        assert all(row["low"] < row["score"] < row["high"] for row in rows.values())
