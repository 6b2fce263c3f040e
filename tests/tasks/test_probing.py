"""The probing task on small files in SentEval's format."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.models.catalog import ModelSpec
from embedlab.tasks import probing
from embedlab.tasks.probing import TASK, evaluate_probing, open_probing
from embedlab.tasks.task import Selection, TaskResult
from tests.tasks.labelled_sentences import WordEncoder, write_probing


def test_a_folder_of_probing_files_is_scored_under_its_own_name(tmp_path: Path) -> None:
    for task in ("past_present", "tree_depth"):
        write_probing(tmp_path / f"probing_mine/{task}.txt")
    opened = open_probing(Source(folder=tmp_path, offline=True), "mine-probing")
    found = evaluate_probing(WordEncoder(), opened, "prototyping", name="mine-probing").evaluation
    assert found.task == "mine-probing-prototyping"
    assert [score.slice for score in found.scores if score.by == "average"] == [
        "average of 2 (mine-probing)"
    ]
    assert {(score.slice, score.split) for score in found.scores if score.by == "dataset"} == {
        (f"mine-probing/{task}", split)
        for task in ("past-present", "tree-depth")
        for split in ("test", "dev")
    }
    assert "senteval" not in str(found).lower()
    assert found.marks == ()


def test_one_of_sentevals_ten_is_enough_and_the_average_says_one_of_ten(tmp_path: Path) -> None:
    write_probing(tmp_path / "SentEval/probing/bigram_shift.txt")
    opened = open_probing(Source(folder=tmp_path, offline=True, allow_partial=True))
    assert len(opened.missing) == 9
    found = evaluate_probing(WordEncoder(), opened, "exact").evaluation
    assert [score.slice for score in found.scores if score.by == "average"] == [
        "average of 10 (SentEval probing), 1 of 10"
    ]
    assert found.marks == ("partial",)


def test_where_every_task_is_missing_all_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        MissingError,
        match=r"sentence_length.txt.*, and word-content, .*, coordination-inversion cannot be read "
        r"either$",
    ):
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
        gold = [outcomes.classes[int(index)] for index in outcomes.items["gold"]]
        assert gold == part.frame["label"].to_list()


def test_the_texts_of_tasks_are_those_of_all_their_splits_and_of_no_other_task(
    tmp_path: Path,
) -> None:
    write_probing(tmp_path / "probing_mine/past_present.txt", rows=60)
    write_probing(tmp_path / "probing_mine/tree_depth.txt", rows=90)
    assert TASK.texts is not None
    found = TASK.texts(
        Source(folder=tmp_path, offline=True), Selection(names=("mine-probing/past-present",))
    )
    written = [
        line.split("\t")[2]
        for line in (tmp_path / "probing_mine/past_present.txt").read_text().splitlines()
    ]
    assert [list(column) for column in found.columns] == [[text.strip() for text in written]]
    assert {state.name for state in found.states} == {"mine-probing/past-present"}


def test_a_suite_is_evaluated_under_the_title_of_its_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, device, counted = tmp_path / "probing_mine", torch.device("cpu"), list[str]()
    ends: dict[str, tuple[int, int]] = {}
    for task in ("past_present", "tree_depth"):
        write_probing(own / f"{task}.txt", rows=30)
        write_probing(tmp_path / f"SentEval/probing/{task}.txt", rows=30)
    monkeypatch.setattr(probing, "load_member", lambda *_: (WordEncoder(), device))

    def start(name: str) -> Callable[[int, int], None]:
        counted.append(name)
        return lambda done, total: ends.update({name: (done, total)})

    def evaluated(*names: str) -> TaskResult:
        settings = Settings(
            data=tmp_path, offline=True, device="cpu", threads=1, allow_partial=True
        )
        return TASK.evaluate(
            ModelSpec(name="words", kind="folder"),
            settings,
            start,
            Selection(names=names, setting="prototyping"),
        )

    found = evaluated("mine-probing")
    tasks = ["mine-probing/past-present", "mine-probing/tree-depth"]
    assert found.evaluation.task == "mine-probing-prototyping"
    assert (found.averages, found.missing) == ({"average of ": tasks}, ())
    assert (
        [part.state.name for part in found.tested]
        == [one.dataset for one in found.outcomes]
        == tasks
    )
    assert counted == ["sentences", tasks[0], "sentences", tasks[1]]
    assert {name: done == total > 0 for name, (done, total) in ends.items()} == dict.fromkeys(
        tasks, True
    )  # the fits are counted
    assert TASK.evaluation_name(["mine-probing/tree-depth"]) == "mine-probing"
    assert TASK.evaluation_name(["tree-depth"]) == TASK.evaluation_name([]) == "probing"

    whole = evaluated()
    assert whole.evaluation.task == "probing-prototyping"
    assert len(whole.missing) == 8
    assert [part.state.name for part in whole.tested] == [
        "tree-depth",
        "past-present",
    ]  # as the paper has them


def test_items_are_those_of_the_named_tasks(tmp_path: Path) -> None:
    write_probing(tmp_path / "probing_mine/past_present.txt", rows=30)
    write_probing(tmp_path / "probing_mine/tree_depth.txt", rows=60)
    (items,) = TASK.items(Source(folder=tmp_path, offline=True), ["mine-probing/tree-depth"])
    assert (items.dataset, len(items.rows)) == ("mine-probing/tree-depth", 20)


def test_generated_data_has_sentevals_tasks_and_an_own_suite_stays_what_it_is(
    tmp_path: Path,
) -> None:
    write_probing(tmp_path / "probing_mine/past_present.txt", rows=30)
    (own,) = open_probing(Source(folder=tmp_path, offline=True), "mine-probing").tasks
    written = (tmp_path / "probing_mine/past_present.txt").read_text().splitlines()
    assert sum(len(part.frame) for part in own.parts.values()) == len(written)
    assert {task.name for task in open_probing(Source(folder=TINY_FOLDER)).tasks} == {
        *TASK.datasets
    }
