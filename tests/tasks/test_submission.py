"""Predictions in GLUE's submission format."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.tasks.glue import TASK, predictions_text
from tests.tasks.evaluated import SETTINGS, spec_of, trained


def test_labels_are_glues_names_and_scores_stay_within_their_scale() -> None:
    classes, numbers = (np.array([1, 0]), np.array([-0.2, 3.14159, 5.5]))
    assert (
        predictions_text(classes, ("entailment", "not_entailment"))
        == "index\tprediction\n0\tnot_entailment\n1\tentailment\n"
    )
    assert predictions_text(numbers, ()) == "index\tprediction\n0\t0.000\n1\t3.142\n2\t5.000\n"


def test_each_test_split_has_a_file_with_a_line_an_item(tmp_path: Path, tiny_encoder: Path) -> None:
    specs = [
        trained(tmp_path, tiny_encoder, "glue-finetune", f"data.task={task}", name=task)
        for task in ("mnli", "stsb")
    ]
    written = TASK.submission().write(tmp_path / "out", specs, SETTINGS)
    assert written == [
        f"{run}: predictions for GLUE's server in {tmp_path / 'out' / file}"
        for file, run in {
            "MNLI-m.tsv": "mnli@1",
            "MNLI-mm.tsv": "mnli@1",
            "STS-B.tsv": "stsb@1",
        }.items()
    ]
    header, *lines = (tmp_path / "out" / "MNLI-m.tsv").read_text().splitlines()
    assert header == "index\tprediction"
    indices, labels = zip(*(line.split("\t") for line in lines), strict=True)
    assert [*indices] == [str(index) for index in range(200)]
    assert {*labels} <= {"entailment", "neutral", "contradiction"}


def test_two_runs_on_one_task_and_a_missing_test_file_write_nothing(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    one = trained(tmp_path, tiny_encoder, "glue-finetune", "data.task=rte", name="one")
    shutil.copytree(tmp_path / "runs" / "one", tmp_path / "runs" / "two")
    two = spec_of("two@1", tmp_path / "runs")
    submission, out = TASK.submission(), tmp_path / "out"
    for refused in (
        lambda: submission.check([one, two], SETTINGS),
        lambda: submission.write(out, [one, two], SETTINGS),
    ):
        with pytest.raises(UsageError, match=r"'one@1' and 'two@1' both predict RTE\.tsv"):
            refused()
    (tmp_path / "a file").touch()
    with pytest.raises(EmbedlabError) as unwritable:
        submission.write(tmp_path / "a file", [one], SETTINGS)
    assert unwritable.value.hint == "choose another folder with --submission"
    with pytest.raises(MissingError, match=r"no file 'GLUE/RTE/test\.tsv'"):
        submission.write(out, [one], replace(SETTINGS, data=tmp_path))
    assert not out.exists()


def test_a_file_of_a_partial_test_split_says_how_many_rows_it_has(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    spec = trained(tmp_path, tiny_encoder, "glue-finetune", "data.task=rte")
    part = tmp_path / "data" / "GLUE" / "RTE" / "test.tsv"
    part.parent.mkdir(parents=True)
    part.write_text("index\tsentence1\tsentence2\n0\ta dog barks\ta dog\n1\ta cat\ta dog\n")
    settings = replace(SETTINGS, data=tmp_path / "data", allow_partial=True)
    (note,) = TASK.submission().write(tmp_path / "out", [spec], settings)
    assert note.endswith("RTE.tsv; glue-rte is partial: 2 of 3000 rows")
