"""The probing task on small files in SentEval's format."""

from pathlib import Path

import pytest

from embedlab.core.errors import MissingError, UsageError
from embedlab.data.source import Source
from embedlab.tasks.probing import TASK, evaluate_probing, open_probing
from embedlab.tasks.task import Selection
from tests.tasks.labelled_sentences import WordEncoder, write_probing


def test_a_folder_of_probing_files_is_scored_under_its_own_name(tmp_path: Path) -> None:
    for task in ("past_present", "tree_depth"):
        write_probing(tmp_path / f"probing_mine/{task}.txt")
    opened = open_probing(Source(folder=tmp_path, offline=True), "mine-probing")
    found = evaluate_probing(WordEncoder(), opened, "prototyping", name="mine-probing").evaluation
    assert found.task == "mine-probing-prototyping"
    assert [score.slice for score in found.scores if score.by == "average"] == ["average of 2 (mine-probing)"]
    assert {(score.slice, score.split) for score in found.scores if score.by == "dataset"} == {
        (f"mine-probing/{task}", split) for task in ("past-present", "tree-depth") for split in ("test", "dev")
    }
    assert "senteval" not in str(found).lower()
    assert found.marks == ()


def test_one_of_sentevals_ten_is_enough_and_the_average_says_one_of_ten(tmp_path: Path) -> None:
    write_probing(tmp_path / "SentEval/probing/bigram_shift.txt")
    opened = open_probing(Source(folder=tmp_path, offline=True, allow_partial=True))
    assert len(opened.missing) == 9
    found = evaluate_probing(WordEncoder(), opened, "exact").evaluation
    assert [score.slice for score in found.scores if score.by == "average"] == ["average of 10 (SentEval probing), 1 of 10"]
    assert found.marks == ("partial",)


def test_where_every_task_is_missing_all_are_named(tmp_path: Path) -> None:
    with pytest.raises(MissingError, match=r"sentence_length.txt.*, and word-content, .*, coordination-inversion cannot be read either$"):
        open_probing(Source(folder=tmp_path, offline=True))
    with pytest.raises(MissingError, match=r"tree_depth.txt' in '.*'$"):
        open_probing(Source(folder=tmp_path, offline=True), tasks=("tree-depth",))


def test_an_unknown_task_of_a_suite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="past-presence"):
        open_probing(Source(folder=tmp_path), tasks=("past-presence",))


def test_other_sets_of_a_folder_are_those_beside_senteval(tmp_path: Path) -> None:
    for name in ("probing", "probing_gum", "SentEval/probing"):
        (tmp_path / name).mkdir(parents=True)
    assert TASK.in_all(tmp_path) == [(), ("gum-probing",)]
    assert TASK.in_all(None) == [()]


def test_sentevals_ten_are_in_alphabetical_order() -> None:
    assert len(TASK.datasets) == 10
    assert list(TASK.datasets) == sorted(TASK.datasets)


def test_scores_are_of_the_test_rows_and_name_them(tmp_path: Path) -> None:
    for task in ("past_present", "tree_depth"):
        write_probing(tmp_path / f"probing_mine/{task}.txt")
    opened = open_probing(Source(folder=tmp_path, offline=True), "mine-probing")
    found = evaluate_probing(WordEncoder(), opened, "prototyping", name="mine-probing")
    assert [(part.state.name, part.state.split) for part in found.tested] == [
        ("mine-probing/past-present", "test"),
        ("mine-probing/tree-depth", "test"),
    ]
    for part, outcomes in zip(found.tested, found.outcomes, strict=True):
        assert outcomes.split == "test"
        assert outcomes.items["gold"].to_list() == part.frame["label"].to_list()


def test_the_texts_of_tasks_are_those_of_all_their_splits_and_of_no_other_task(tmp_path: Path) -> None:
    write_probing(tmp_path / "probing_mine/past_present.txt", rows=60)
    write_probing(tmp_path / "probing_mine/tree_depth.txt", rows=90)
    assert TASK.texts is not None
    found = TASK.texts(Source(folder=tmp_path, offline=True), Selection(names=("mine-probing/past-present",)))
    written = [line.split("\t")[2] for line in (tmp_path / "probing_mine/past_present.txt").read_text().splitlines()]
    assert [list(column) for column in found.columns] == [[text.strip() for text in written]]
    assert {state.name for state in found.states} == {"mine-probing/past-present"}
