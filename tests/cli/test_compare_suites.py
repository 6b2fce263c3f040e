"""`embedlab compare` on several tasks: tested item by item, stored, and only what is missing
evaluated.
"""

from collections.abc import Sequence
from pathlib import Path

import pytest

from embedlab.core.settings import Settings
from embedlab.runs.outcomes import StoredOutcomes
from embedlab.scoring import results
from tests.cli.conftest import Embedlab
from tests.tasks.labelled_sentences import write_mr, write_mrpc, write_sst2

pytestmark = pytest.mark.usefixtures("quick_fits", "small_world")


@pytest.fixture
def corpora(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Small corpora in SentEval's layout, and the flags that find them."""
    folder = tmp_path / "data"
    for write in (write_mr, write_sst2, write_mrpc):
        write(folder)
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    return [
        "--data",
        str(folder),
        "--offline",
        "--allow-partial",
        "--setting",
        "exact",
        "--threads",
        "1",
        "--json",
    ]


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
    rows = {
        (row["task"], row["slice"], row["metric"]): row
        for row in first.rows
        if row["model"] == models[1]
    }
    assert list(rows) == [
        ("transfer", "sst2", "accuracy"),
        ("transfer", "mrpc", "accuracy"),
        ("transfer", "mrpc", "f1"),
    ]
    right = [
        (one.items["gold"] == one.items["predicted"]).to_numpy()
        for one in stored_outcomes(tmp_path / "cache", "sst2")
    ]
    assert rows["transfer", "sst2", "accuracy"]["test"] == "dyadic"
    assert rows["transfer", "mrpc", "f1"]["test"] == "dyadic"
    assert sorted(
        first.row(slice="sst2", model=model)["score"] for model in models
    ) == pytest.approx(sorted(100 * each.mean() for each in right))

    selected: list[Sequence[str]] = []
    evaluate_task = results.evaluate_task

    def recorded(
        task: str,
        spec: object,
        settings: Settings,
        start_progress: object,
        names: Sequence[str],
        setting: object,
        opened: object = (),
    ) -> object:
        selected.append(tuple(names))
        return evaluate_task(task, spec, settings, start_progress, names, setting)  # type: ignore[arg-type]

    monkeypatch.setattr(results, "evaluate_task", recorded)
    assert (
        embedlab("compare", *models, "--task", "sst2", "--task", "mrpc", *corpora).json
        == first.json
    )
    assert selected == []
    more = embedlab("compare", *models, "--task", "sst2", "--task", "mr", *corpora)
    assert selected == [("mr",), ("mr",)]
    assert [row["slice"] for row in more.rows if row["model"] == models[0]] == ["sst2", "mr"]


AGGREGATES = """
from embedlab.data.source import Source
from embedlab.runs.evaluations import StoredScore
from embedlab.tasks.task import Task, TaskResult, evaluation_of, load_member

PLUGINS = {"tasks": {"aggregates": "TASK"}}
VALUES = [("labelled", "dev", 0.9), ("labelled", "test", 0.5), ("unlabelled", "dev", 0.7), ("timed", "test", 12.5)]


class Aggregates(Task):
    name, summary, outcomes = "aggregates", "numbers of two splits", "none"

    def evaluate(self, spec, settings, start_progress, selection):
        part, (encoder, _) = Source.from_settings(settings).open("sts-benchmark"), load_member(spec, settings)
        facts = {"by": "dataset", "setting": "", "items": 9}
        scores = [
            StoredScore(slice=name, split=split, value=value, metric="seconds" if name == "timed" else "accuracy", **facts)
            for name, split, value in VALUES
        ]
        return TaskResult(evaluation=evaluation_of(self.name, encoder, [part.state], scores))

    def scale_of(self, metric):
        return 1 if metric == "seconds" else 100


TASK = Aggregates()
"""


def test_a_score_that_chose_a_setting_is_compared_only_where_there_is_no_test_score(
    embedlab: Embedlab, tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    (tmp_path / "aggregates.py").write_text(AGGREGATES, encoding="utf-8")
    monkeypatch.setenv("EMBEDLAB_PLUGINS", str(tmp_path / "aggregates.py"))
    words = [
        "compare",
        str(tiny_encoder),
        f"{tiny_encoder}?pooling=cls",
        "--suite",
        "aggregates",
        "--data",
        "tiny",
        "--threads",
        "1",
        "--json",
    ]
    for _ in ("evaluated", "stored"):
        rows = embedlab(*words).rows
        assert {(row["slice"], row["score"]) for row in rows} == {
            ("labelled", 50.0),
            ("unlabelled", 70.0),
            ("timed", 12.5),
        }
        assert len(rows) == 6
    shown = embedlab(
        "evaluate",
        str(tiny_encoder),
        "--suite",
        "aggregates",
        "--data",
        "tiny",
        "--threads",
        "1",
        "--json",
    ).rows
    assert {row["score"] for row in shown} == {90.0, 50.0, 70.0, 12.5}


@pytest.mark.parametrize(("option", "way"), [("--by", "group"), ("--where", "pick")])
def test_a_task_without_items_is_not_taken_apart(embedlab: Embedlab, option: str, way: str) -> None:
    answer = embedlab("compare", "dice", "--data", "tiny", "--suite", "geometry", option, "words>3")
    assert answer.code == 2
    assert f"geometry has no items to {way} by 'words>3'" in answer.err
