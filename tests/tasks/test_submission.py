"""Predictions in GLUE's submission format."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.recipe import load_recipe
from embedlab.core.settings import Settings
from embedlab.models.catalog import ModelSpec, resolve
from embedlab.runs.store import RunFolder
from embedlab.tasks.glue import TASK, predictions_text
from embedlab.training.stages import train_run
from tests.training.small_runs import MACHINE, SAMPLE


def settings_of(folder: Path, data: Path = TINY_FOLDER) -> Settings:
    return Settings(
        data=data,
        runs=folder / "runs",
        cache=folder / "cache",
        offline=True,
        device="cpu",
        threads=1,
    )


def finished(folder: Path, encoder: Path, task: str, name: str = "") -> ModelSpec:
    changes = [f"data.task={task}", "data.rows=32", "encoder.max_tokens=32", "optim.epochs=1"]
    name = name or f"small-{task}"
    recipe = load_recipe("glue-finetune", changes, encoder=str(encoder))
    train_run(recipe, SAMPLE, MACHINE, RunFolder.of(folder / "runs", name, 1), 1)
    return resolve(f"{name}@1", folder / "runs").members[0]


def test_labels_are_glues_names_and_scores_stay_within_their_scale() -> None:
    assert (
        predictions_text(np.array([1, 0]), ("entailment", "not_entailment"))
        == "index\tprediction\n0\tnot_entailment\n1\tentailment\n"
    )
    assert (
        predictions_text(np.array([-0.2, 3.14159, 5.5]), ())
        == "index\tprediction\n0\t0.000\n1\t3.142\n2\t5.000\n"
    )


def test_each_test_split_has_a_file_with_a_line_an_item(tmp_path: Path, tiny_encoder: Path) -> None:
    specs = [finished(tmp_path, tiny_encoder, task) for task in ("mnli", "stsb")]
    written = TASK.submission().write(tmp_path / "out", specs, settings_of(tmp_path))
    assert {path.name: author for path, author in written.items()} == {
        "MNLI-m.tsv": "small-mnli@1",
        "MNLI-mm.tsv": "small-mnli@1",
        "STS-B.tsv": "small-stsb@1",
    }
    header, *lines = (tmp_path / "out" / "MNLI-m.tsv").read_text().splitlines()
    assert header == "index\tprediction"
    assert [line.split("\t")[0] for line in lines] == [str(index) for index in range(200)]
    assert {line.split("\t")[1] for line in lines} <= {"entailment", "neutral", "contradiction"}


def test_two_runs_on_one_task_and_a_missing_test_file_write_nothing(
    tmp_path: Path, tiny_encoder: Path
) -> None:
    one = finished(tmp_path, tiny_encoder, "rte", "one")
    shutil.copytree(tmp_path / "runs" / "one", tmp_path / "runs" / "two")
    two = resolve("two@1", tmp_path / "runs").members[0]
    submission, settings, out = TASK.submission(), settings_of(tmp_path), tmp_path / "out"
    for refused in (
        lambda: submission.check([one, two], settings),
        lambda: submission.write(out, [one, two], settings),
    ):
        with pytest.raises(UsageError, match=r"'one@1' and 'two@1' both predict RTE\.tsv"):
            refused()
    (tmp_path / "a file").touch()
    with pytest.raises(EmbedlabError) as unwritable:
        submission.write(tmp_path / "a file", [one], settings)
    assert unwritable.value.hint == "choose another folder with --submission"
    with pytest.raises(MissingError, match=r"no file 'GLUE/RTE/test\.tsv'"):
        submission.write(out, [one], settings_of(tmp_path, tmp_path))
    assert not out.exists()
