"""The probing task on small files in SentEval's format."""

from pathlib import Path

import pytest
import torch

from embedlab.core.settings import Settings
from embedlab.tasks import _labelled
from embedlab.tasks.probing import TASK
from tests.tasks.evaluated import DICE, evaluated
from tests.tasks.labelled_sentences import WordEncoder, write_probing


def test_other_sets_of_a_folder_are_those_beside_senteval(tmp_path: Path) -> None:
    for name in ("probing", "probing_gum", "SentEval/probing"):
        (tmp_path / name).mkdir(parents=True)
    assert TASK.in_all(tmp_path) == [(), ("gum-probing",)]
    assert TASK.in_all(None) == [()]


def test_a_suite_is_evaluated_under_the_title_of_its_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for task in ("past_present", "tree_depth"):
        write_probing(tmp_path / f"probing_mine/{task}.txt", rows=30)
        write_probing(tmp_path / f"SentEval/probing/{task}.txt", rows=30)
    monkeypatch.setattr(_labelled, "load_member", lambda *_: (WordEncoder(), torch.device("cpu")))
    settings = Settings(data=tmp_path, offline=True, device="cpu", threads=1, allow_partial=True)
    options = {"settings": settings, "setting": "prototyping"}
    found = evaluated("probing", DICE, "mine-probing", **options)  # type: ignore[arg-type]
    tasks = ["mine-probing/past-present", "mine-probing/tree-depth"]
    assert found.evaluation.task == "mine-probing-prototyping"
    assert (found.averages, found.missing) == ({"average of 2 (mine-probing)": tasks}, ())
    for name, part, outcomes in zip(tasks, found.tested, found.outcomes, strict=True):
        assert (part.state.name, part.state.split) == (name, "test")
        assert (outcomes.dataset, outcomes.split) == (name, "test")
        assert len(outcomes.items) == part.frame.height
    assert TASK.evaluation_name(["mine-probing/tree-depth"]) == "mine-probing"

    whole = evaluated("probing", DICE, **options)  # type: ignore[arg-type]
    assert (whole.evaluation.task, len(whole.missing)) == ("probing-prototyping", 8)
    (average,) = (one.slice for one in whole.evaluation.scores if one.by == "average")
    assert average == "average of 10 (SentEval probing), 2 of 10"
    assert whole.evaluation.marks == ("partial",)
    # as the paper has them
    assert [part.state.name for part in whole.tested] == ["tree-depth", "past-present"]
