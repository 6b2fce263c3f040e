"""The transfer task on small corpora in SentEval's layout and on `--data tiny`."""

from pathlib import Path

import numpy as np
import pytest

from embedlab.choices import SettingName
from embedlab.core.errors import MissingError
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.tasks import _labelled
from embedlab.tasks._labelled import (
    drop_small_tasks,
    task_features,
)
from embedlab.tasks.transfer import (
    TASK,
    TRANSFER_AVERAGES,
    TRANSFER_TASKS,
    open_transfer,
)
from tests.tasks.evaluated import DICE, evaluated
from tests.tasks.labelled_sentences import (
    WordEncoder,
    partial_source,
    sentence,
    write_lines,
    write_mr,
    write_mrpc,
    write_sst2,
)

SMALL = ("mr", "sst2", "mrpc")


@pytest.fixture
def small(tmp_path: Path) -> Source:
    write_mr(tmp_path)
    write_sst2(tmp_path)
    write_mrpc(tmp_path)
    return partial_source(tmp_path)


def scores(found: Evaluation) -> dict[tuple[str, str, str | None], StoredScore]:
    return {(score.slice, score.metric, score.split): score for score in found.scores}


@pytest.mark.parametrize("setting", ["prototyping", "exact"])
def test_every_accuracy_says_what_it_was_scored_on_and_is_that_of_its_items(
    setting: SettingName, small: Source
) -> None:
    encoder, opened = WordEncoder(), open_transfer(small, SMALL)
    done = TASK.evaluated(encoder, opened, setting)
    found = scores(done.evaluation)
    assert {score.setting for score in found.values()} == {setting}
    assert done.evaluation.marks == ("partial",)
    texts = [{text for side in task.sides for text in task.frame[side]} for task in opened.tasks]
    assert len(encoder.selected) == sum(map(len, texts))  # each sentence of a task once
    # rows are numbered among those of all splits
    rows = {"mr": range(80), "sst2": range(120, 180), "mrpc": range(60, 120)}
    for outcomes, gold in zip(done.outcomes, TASK.items(small, SMALL), strict=True):
        name, items = outcomes.dataset, outcomes.items
        split = "cv" if name == "mr" else "test"
        assert items["item"].to_list() == gold.rows.tolist() == [*rows[name]]
        assert (name, outcomes.split, gold.split) == (gold.dataset, split, split)
        assert tuple(outcomes.classes[int(index)] for index in items["gold"]) == gold.labels
        assert items["sentence1"].to_list() == gold.part.frame.to_series(0).to_list()
        scored = found[name, "accuracy", split]
        assert (items["gold"] == items["predicted"]).mean() == pytest.approx(scored.value)
        assert 0.8 < scored.value <= 1
        assert scored.items == found[name, "accuracy", "dev"].items == len(rows[name])
    f1 = pytest.importorskip("sklearn.metrics").f1_score(items["gold"], items["predicted"])
    assert found["mrpc", "f1", "test"].value == pytest.approx(f1)


def test_trained_relatedness_has_its_own_name_and_no_part_in_the_averages(tmp_path: Path) -> None:
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
    for file in ("SICK_train", "SICK_trial", "SICK_test_annotated"):
        rows = (
            f"{n}\t{sentence(0, n)} {file}\t{sentence(n % 2, n)}\t{5 - 4 * (n % 2)}\tNEUTRAL"
            for n in range(40)
        )
        write_lines(tmp_path / f"SICK/{file}.txt", [header, *rows])
    opened = open_transfer(partial_source(tmp_path), ("sick-r-supervised",))
    done = TASK.evaluated(WordEncoder(), opened)
    found = {(one.metric, one.split): one.value for one in done.evaluation.scores}
    assert found.keys() == {("pearson", "test"), ("spearman", "test"), ("pearson", "dev")}
    assert {(one.slice, one.setting) for one in done.evaluation.scores} == {
        ("sick-r-supervised", "supervised")
    }
    (outcomes,) = done.outcomes
    assert outcomes.items["item"].to_list() == [*range(80, 120)]
    gold, predicted = (outcomes.items[name].cast(float) for name in ("gold", "predicted"))
    assert np.corrcoef(gold, predicted)[0, 1] == pytest.approx(found["pearson", "test"])
    assert found["pearson", "test"] > 0.5


def test_a_missing_task_skips_only_itself_and_the_average_says_so(small: Source) -> None:
    opened = open_transfer(small)
    assert set(opened.missing) == set(TRANSFER_TASKS) - set(SMALL)
    found = TASK.evaluated(WordEncoder(), opened, "exact").evaluation
    averages = {score.slice: score for score in found.scores if score.by == "average"}
    assert [*averages] == [
        f"{name}, 3 of {len(members)}" for name, members in TRANSFER_AVERAGES.items()
    ]
    own = {key: score.value for key, score in scores(found).items()}
    chosen = [own[name, "accuracy", "cv" if name == "mr" else "test"] for name in SMALL]
    average = averages["average of 8 (liao, with SST5), 3 of 8"]
    assert average.value == pytest.approx(np.mean(chosen))
    assert (average.items, average.split) == (200, "cv and test")
    assert any("mpqa skipped" in note and "download it" in note for note in found.notes)


@pytest.mark.parametrize(
    ("rows", "setting", "fault"),
    [
        (8, "literature", "mr has 8 rows: too few for 10 folds"),
        (22, "literature", "mr has 22 rows: too few for 5% to hold out"),
        (24, "literature", None),
        (10, "exact", "mr has 10 rows: too few for 10 folds"),  # nine are left beside each
        (12, "exact", None),
    ],
)
def test_rows_of_which_a_fold_would_be_empty_are_refused(
    rows: int,
    setting: SettingName,
    fault: str | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_labelled, "load_member", lambda *_: (WordEncoder(), None))
    write_mr(tmp_path, rows // 2)
    write_sst2(tmp_path)
    settings = Settings(data=tmp_path, offline=True, allow_partial=True)
    result = evaluated("transfer", DICE, "mr", "sst2", settings=settings, setting=setting)
    assert [error.message for error in result.missing] == ([fault] if fault else [])
    found = {score.slice: score.value for score in result.evaluation.scores}
    assert found.keys() == ({"sst2"} if fault else {"mr", "sst2"})
    assert np.isfinite([*found.values()]).all()


def test_train_rows_of_which_a_fold_would_be_empty_are_refused(tmp_path: Path) -> None:
    write_mrpc(tmp_path, 9)
    opened = open_transfer(partial_source(tmp_path), ("mrpc",))
    with pytest.raises(MissingError, match="mrpc has 9 rows: too few for 10 folds"):
        drop_small_tasks(opened, "literature")


def test_the_features_of_a_pair_are_its_distance_and_its_product_by_a_loop(small: Source) -> None:
    (task,) = open_transfer(small, ["mrpc"]).tasks
    sides = (WordEncoder().encode(task.frame[side].to_list()) for side in task.sides)
    expected = []
    for first, second in zip(*sides, strict=True):
        both = [*zip(first.tolist(), second.tolist(), strict=True)]
        expected.append([*(abs(a - b) for a, b in both), *(a * b for a, b in both)])
    features, _ = task_features(WordEncoder(), task)
    np.testing.assert_allclose(features, expected, rtol=1e-6)
