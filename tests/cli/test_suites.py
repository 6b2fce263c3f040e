"""Evaluations besides `sts`: shown side by side, kept, and refused by name."""

import importlib
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from embedlab.cli.app import app, main
from embedlab.names import task_names


@pytest.mark.parametrize("task", [name for name in task_names() if name != "sts"])
def test_every_other_task_judges_a_member_model(task: str) -> None:
    assert callable(importlib.import_module(f"embedlab.tasks.{task}").judge)


def test_geometry_is_shown_for_each_model_and_kept(tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMBEDLAB_CACHE", str(tmp_path / "cache"))
    words = ["evaluate", str(tiny_encoder), f"{tiny_encoder}?pooling=cls", "--suite", "geometry", "--sample", "--json"]
    answer = CliRunner().invoke(app, words, catch_exceptions=False)
    rows = json.loads(answer.stdout)["rows"]
    measured = {(row["slice"], row["metric"]): row for row in rows}
    assert 0 < measured["sts12", "mean cosine"][str(tiny_encoder)] <= 1
    assert measured["sts12", "uniformity"][f"{tiny_encoder}?pooling=cls"] < 0
    assert len(list((tmp_path / "cache" / "models").glob("*/evaluations/geometry.json"))) == 2


def test_an_unknown_suite_suggests_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "dice", "--suite", "geometri", "--sample"]) == 2
    assert "did you mean 'geometry'?" in capsys.readouterr().err


def test_a_task_that_a_model_cannot_do_is_one_clear_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "dice", "--suite", "glue", "--sample"]) == 2
    assert "no run" in capsys.readouterr().err
