"""The transfer task on small corpora in SentEval's layout and on `--data tiny`."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from embedlab.choices import SettingName
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.session import ProgressCallback
from embedlab.core.settings import Settings
from embedlab.data.dataset import DatasetState, Part
from embedlab.data.source import Source
from embedlab.encoders.encoder import Vectors
from embedlab.models.catalog import ModelSpec
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.tasks import _labelled
from embedlab.tasks._labelled import (
    ClassificationTask,
    OpenedTasks,
    drop_small_tasks,
    task_features,
)
from embedlab.tasks.glue import glue_f1
from embedlab.tasks.task import Selection
from embedlab.tasks.transfer import (
    TASK,
    TRANSFER_AVERAGES,
    TRANSFER_TASKS,
    open_transfer,
)
from tests.tasks.labelled_sentences import (
    WordEncoder,
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
    return Source(folder=tmp_path, offline=True, allow_partial=True)


def scores(found: Evaluation) -> dict[tuple[str, str, str | None], StoredScore]:
    return {(score.slice, score.metric, score.split): score for score in found.scores}


@pytest.mark.parametrize("setting", ["prototyping", "exact"])
def test_every_accuracy_says_what_it_was_scored_on(
    setting: SettingName, small: Source, tmp_path: Path
) -> None:
    done = TASK.evaluated(WordEncoder(), open_transfer(small, SMALL), setting)
    found = scores(done.evaluation)
    expected = {
        ("mr", "cv"),
        ("mr", "dev"),
        ("sst2", "test"),
        ("sst2", "dev"),
        ("mrpc", "test"),
        ("mrpc", "dev"),
    }
    assert {(name, split) for name, metric, split in found if metric == "accuracy"} == expected
    assert {score.setting for score in found.values()} == {setting}
    assert found["mr", "accuracy", "cv"].items == 80
    assert found["mr", "accuracy", "cv"].value > 0.8
    assert done.evaluation.marks == ("partial",)
    assert Evaluation.load(done.evaluation.save(tmp_path)) == Evaluation.load(
        tmp_path / f"transfer-{setting}.json"
    )


def test_each_sentence_of_a_task_is_encoded_once(small: Source) -> None:
    encoder = WordEncoder()
    opened = open_transfer(small, ("mrpc",))
    TASK.evaluated(encoder, opened, "exact")
    assert sorted(encoder.selected) == sorted(
        {text for column in opened.texts.columns for text in column}
    )


def test_trained_relatedness_has_its_own_name_and_no_part_in_the_averages(tmp_path: Path) -> None:
    for file in ("SICK_train", "SICK_trial", "SICK_test_annotated"):
        rows = (
            f"{n}\t{sentence(0, n)} {file}\t{sentence(n % 2, n)}\t{1 + 4 * (n % 2 == 0)}\tNEUTRAL"
            for n in range(40)
        )
        write_lines(
            tmp_path / f"SICK/{file}.txt",
            ["pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment", *rows],
        )
    opened = open_transfer(
        Source(folder=tmp_path, offline=True, allow_partial=True), ("sick-r-supervised",)
    )
    done = TASK.evaluated(WordEncoder(), opened)
    found = done.evaluation
    assert {(score.slice, score.metric, score.split, score.setting) for score in found.scores} == {
        ("sick-r-supervised", metric, split, "supervised")
        for metric, split in (("pearson", "test"), ("spearman", "test"), ("pearson", "dev"))
    }
    assert scores(found)["sick-r-supervised", "pearson", "test"].value > 0.5
    (outcomes,) = done.outcomes
    assert outcomes.items["item"].to_list() == [*range(80, 120)]
    gold, predicted = (
        outcomes.items[column].cast(float).to_numpy() for column in ("gold", "predicted")
    )
    assert np.corrcoef(gold, predicted)[0, 1] == pytest.approx(
        scores(found)["sick-r-supervised", "pearson", "test"].value
    )
    assert {str(state["name"]) for state in found.data} == {"sick-r-supervised"}


def test_the_items_behind_a_score_give_the_score(small: Source) -> None:
    done = TASK.evaluated(WordEncoder(), open_transfer(small, SMALL), "exact")
    by_name = {outcomes.dataset: outcomes.items for outcomes in done.outcomes}
    found = scores(done.evaluation)
    sst2, mrpc = by_name["sst2"], by_name["mrpc"]
    assert (sst2["gold"] == sst2["predicted"]).mean() == found["sst2", "accuracy", "test"].value
    metrics = pytest.importorskip("sklearn.metrics")
    assert found["mrpc", "f1", "test"].value == pytest.approx(
        metrics.f1_score(mrpc["gold"], mrpc["predicted"])
    )


@pytest.mark.parametrize("classes", [(0, 1), (0,), (1,), (0, 1, 2)])
def test_the_f1_of_the_second_class_is_scikit_learns(classes: tuple[int, ...]) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(1)
    for _ in range(20):
        gold, predicted = rng.choice(classes, 3), rng.choice(classes, 3)
        expected = metrics.f1_score(gold == 1, predicted == 1, zero_division=0)
        assert glue_f1(gold, predicted) == pytest.approx(expected)


def test_a_missing_task_skips_only_itself_and_the_average_says_so(small: Source) -> None:
    opened = open_transfer(small)
    assert set(opened.missing) == set(TRANSFER_TASKS) - set(SMALL)
    found = TASK.evaluated(WordEncoder(), opened, "exact").evaluation
    averages = {score.slice: score.value for score in found.scores if score.by == "average"}
    assert list(averages) == [
        f"{name}, 3 of {len(members)}" for name, members in TRANSFER_AVERAGES.items()
    ]
    chosen = [
        score.value
        for score in found.scores
        if score.metric == "accuracy" and score.split in {"cv", "test"} and score.by == "dataset"
    ]
    assert averages["average of 8 (liao, with SST5), 3 of 8"] == pytest.approx(np.mean(chosen))
    assert any("mpqa skipped" in note and "download it" in note for note in found.notes)


def test_nothing_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="'mr'"):
        open_transfer(Source(folder=tmp_path, offline=True))


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
    selection = Selection(names=("mr", "sst2"), setting=setting)
    result = TASK.evaluate(
        ModelSpec(name="words", kind="folder"), settings, lambda _: lambda *_: None, selection
    )
    assert [error.message for error in result.missing] == ([fault] if fault else [])
    assert {score.slice for score in result.evaluation.scores} == (
        {"sst2"} if fault else {"mr", "sst2"}
    )
    assert np.isfinite([score.value for score in result.evaluation.scores]).all()


def test_train_rows_of_which_a_fold_would_be_empty_are_refused(tmp_path: Path) -> None:
    write_mrpc(tmp_path, 9)
    opened = open_transfer(Source(folder=tmp_path, offline=True, allow_partial=True), ("mrpc",))
    with pytest.raises(MissingError, match="mrpc has 9 rows: too few for 10 folds"):
        drop_small_tasks(opened, "literature")


def test_an_unknown_task_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        open_transfer(Source(), ["sst-2"])
    assert "sst2" in caught.value.hint


class TableEncoder(WordEncoder):
    """Vectors that are written down in the sentence itself, as "1.5 -2"."""

    dim = 2

    def encode(self, sentences: Sequence[str], progress: ProgressCallback | None = None) -> Vectors:
        return np.array(
            [[float(number) for number in text.split()] for text in sentences], np.float32
        )


PAIRS = (
    ("0.5 1", "-0.5 1", "0"),
    ("1.5 1", "0.5 1", "1"),
    ("-1.5 1", "-0.5 1", "1"),
)  # equally far apart; the products' signs are the labels


def pair_splits(rows: int = 20) -> ClassificationTask:
    frame = pl.DataFrame(PAIRS * rows, schema=["sentence1", "sentence2", "label"], orient="row")
    states = {
        split: DatasetState(
            name="mrpc", split=split, rows=len(frame), expected_rows=None, origin="folder"
        )
        for split in ("train", "test")
    }
    return ClassificationTask(
        name="mrpc",
        parts={split: Part(frame=frame, state=state) for split, state in states.items()},
    )


def test_the_features_of_a_pair_are_its_distance_and_its_product_by_a_loop() -> None:
    task = pair_splits(1)
    expected = []
    for first, second, _ in PAIRS * 2:
        u, v = ([float(number) for number in text.split()] for text in (first, second))
        expected.append(
            [
                *(abs(a - b) for a, b in zip(u, v, strict=True)),
                *(a * b for a, b in zip(u, v, strict=True)),
            ]
        )
    assert task_features(TableEncoder(), task)[0].tolist() == expected


def test_a_classifier_of_pairs_learns_what_only_the_product_shows() -> None:
    done = TASK.evaluated(TableEncoder(), OpenedTasks(tasks=(pair_splits(),), missing={}), "exact")
    assert scores(done.evaluation)["mrpc", "accuracy", "test"].value == 1
