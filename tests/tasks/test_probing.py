"""The probing task on small files in SentEval's format."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.models.catalog import ModelSpec
from embedlab.tasks import _labelled
from embedlab.tasks.probing import TASK, open_probing
from embedlab.tasks.task import Selection, TaskResult
from tests.tasks.labelled_sentences import WordEncoder, write_probing


def test_one_of_sentevals_ten_is_enough_and_the_average_says_one_of_ten(tmp_path: Path) -> None:
    write_probing(tmp_path / "SentEval/probing/bigram_shift.txt")
    opened = open_probing(Source(folder=tmp_path, offline=True, allow_partial=True))
    assert len(opened.missing) == 9
    found = TASK.evaluated(WordEncoder(), opened, "exact").evaluation
    assert [score.slice for score in found.scores if score.by == "average"] == [
        "average of 10 (SentEval probing), 1 of 10"
    ]
    assert found.marks == ("partial",)


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
    found = TASK.evaluated(WordEncoder(), opened, "prototyping")
    assert [(part.state.name, part.state.split) for part in found.tested] == [
        ("mine-probing/past-present", "test"),
        ("mine-probing/tree-depth", "test"),
    ]
    for part, outcomes in zip(found.tested, found.outcomes, strict=True):
        assert outcomes.split == "test"
        gold = [outcomes.classes[int(index)] for index in outcomes.items["gold"]]
        assert gold == part.frame["label"].to_list()


def test_a_suite_is_evaluated_under_the_title_of_its_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, device, counted = tmp_path / "probing_mine", torch.device("cpu"), list[str]()
    ends: dict[str, tuple[int, int]] = {}
    for task in ("past_present", "tree_depth"):
        write_probing(own / f"{task}.txt", rows=30)
        write_probing(tmp_path / f"SentEval/probing/{task}.txt", rows=30)
    monkeypatch.setattr(_labelled, "load_member", lambda *_: (WordEncoder(), device))

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
