"""The items of a task from what its members got."""

from pathlib import Path

import numpy as np
import pytest

from embedlab.comparison.evidence import outcome_evidence
from embedlab.core.errors import MissingError
from embedlab.encoders.encoder import EncoderFacts
from embedlab.runs.outcomes import StoredOutcomes, items_frame, stored_outcomes
from embedlab.scoring.selection import SelectedTask
from embedlab.scoring.task_comparison import item_outcomes
from embedlab.tasks.task import TaskResult, evaluation_without_scores
from tests.stored_scores import outcomes as outcomes_on


def classified(task: str, dataset: str) -> StoredOutcomes:
    gold = np.arange(20) % 2
    facts = {"base_task": "transfer", "split": "test", "classes": ("no", "yes")}
    return outcomes_on(dataset, items_frame(np.arange(20), gold, gold), task=task, **facts)


@pytest.mark.parametrize("task", ["transfer", "transfer-prototyping"])
def test_a_task_has_its_averages_in_every_setting(task: str) -> None:
    selected = SelectedTask(task="transfer")
    names = selected.definition.datasets
    result = TaskResult(
        evaluation=evaluation_without_scores(task, "m", "f", EncoderFacts()),
        outcomes=tuple(classified(task, name) for name in names),
    )
    outcomes = item_outcomes(selected, {"m": result}, ["m"])
    assert outcomes is not None
    titles = [each.key for each in outcome_evidence(outcomes, ["m"]) if each.averaged_keys]
    assert titles == [*selected.definition.averages(names, "transfer")]
    assert titles


def test_of_many_stored_datasets_those_that_are_named_are_read(tmp_path: Path) -> None:
    for name in ("mr", "a/b.tsv", "a/c.tsv"):
        classified("transfer", name).save(tmp_path)
    damaged: list[MissingError] = []
    (tmp_path / "transfer" / "mr.parquet").write_bytes(b"PAR1")
    found = stored_outcomes(tmp_path, "transfer", damaged.append, names=["a/c.tsv", "other"])
    assert [each.name for each in found] == ["a/c.tsv"]
    assert damaged == []
    assert len([*stored_outcomes(tmp_path, "transfer", damaged.append)]) == 2
    assert len(damaged) == 1
