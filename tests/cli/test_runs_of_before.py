"""Runs, caches and grids that were written before the layout changed are read, compared and resumed as before."""

import json
from pathlib import Path

import pytest

from embedlab.runs.store import RunFolder
from tests.cli import conftest
from tests.cli.conftest import Embedlab
from tests.runs_of_before import CUT, OPTIONS, PRINTED, unpack

embedlab = conftest.embedlab  # a fixture


@pytest.fixture
def before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of then, as the working folder."""
    unpack(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EMBEDLAB_CACHE", "cache")
    return tmp_path


@pytest.mark.parametrize("name", PRINTED)
def test_stored_results_are_the_same_numbers_and_nothing_is_computed_again(name: str, embedlab: Embedlab, before: Path) -> None:
    printed = json.loads((before / name).read_text())
    answer = embedlab(*PRINTED[name])
    assert answer.code == 0, answer.err
    assert answer.json["rows"] == printed["rows"]
    assert "scoring" not in answer.err


def test_an_interrupted_run_goes_on(embedlab: Embedlab, before: Path) -> None:
    recipe = before / "runs-sample" / "cut" / "seed-1" / "recipe.toml"
    own_lines = (line for line in recipe.read_text().splitlines(keepends=True) if not line.startswith("# "))
    recipe.write_text("".join(own_lines).replace("/home/lab/project", str(before)))  # the encoder has moved with the runs
    answer = embedlab("train", "snli-supcl", "--encoder", "tiny", *OPTIONS, *CUT, "--resume")
    assert answer.code == 0, answer.err
    assert "finished after 20 steps" in answer.err
    assert RunFolder.of(before / "runs-sample", "cut", 1).model.is_dir()


def test_its_runs_and_cells_are_listed(embedlab: Embedlab, before: Path) -> None:
    listed = {row["run"] for row in embedlab("runs", "ls", "--sample", "--json").json["rows"]}
    assert {"whole@1", "cut@1"} <= listed
    assert embedlab("grid", "status", "rates", "--sample", "--json").json["notes"] == ["2 done"]
