"""`embedlab compare` on several tasks: tested item by item, stored, and only what is missing
evaluated.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from embedlab.runs.outcomes import StoredOutcomes
from embedlab.scoring import results
from tests.cli.conftest import Embedlab
from tests.tasks.labelled_sentences import write_mr, write_mrpc, write_sst2

pytestmark = pytest.mark.usefixtures("quick_fits", "small_world")


@pytest.fixture
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Small corpora in SentEval's layout, and the flags that find them."""
    for write in (write_mr, write_sst2, write_mrpc):
        write(tmp_path / "data")
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    words = "--data data --offline --allow-partial --setting exact --threads 1 --json"
    return words.split()


def stored_outcomes(cache: Path, dataset: str) -> list[StoredOutcomes]:
    return [
        StoredOutcomes.load(path)
        for path in sorted(cache.glob(f"models/*/evaluations/transfer-exact/{dataset}.parquet"))
    ]


def test_accuracies_are_tested_item_by_item_and_evaluated_once(
    embedlab: Embedlab,
    corpora: list[str],
    tiny_encoder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    models = [str(tiny_encoder), f"{tiny_encoder}?pooling=cls"]
    first = embedlab("compare", *models, "--task", "sst2", "--task", "mrpc", *corpora)
    assert first.code == 0, first.err
    rows = [row for row in first.rows if row["model"] == models[1]]
    assert [(row["task"], row["slice"], row["metric"], row["test"]) for row in rows] == [
        ("transfer", "sst2", "accuracy", "dyadic"),
        ("transfer", "mrpc", "accuracy", "dyadic"),
        ("transfer", "mrpc", "f1", "dyadic"),
    ]
    right = [
        (one.items["gold"] == one.items["predicted"]).mean()
        for one in stored_outcomes(tmp_path / "cache", "sst2")
    ]
    accuracies = [first.row(slice="sst2", model=model)["score"] for model in models]
    assert sorted(accuracies) == pytest.approx(sorted(100 * share for share in right))

    selected: list[Sequence[str]] = []
    evaluate_task = results.evaluate_task

    def recorded(*words: Any, **named: Any) -> object:
        selected.append(tuple(words[4]))
        return evaluate_task(*words, **named)

    monkeypatch.setattr(results, "evaluate_task", recorded)
    again = embedlab("compare", *models, "--task", "sst2", "--task", "mrpc", *corpora)
    assert again.json == first.json
    assert selected == []
    more = embedlab("compare", *models, "--task", "sst2", "--task", "mr", *corpora)
    assert selected == [("mr",), ("mr",)]
    assert [row["slice"] for row in more.rows if row["model"] == models[0]] == ["sst2", "mr"]
