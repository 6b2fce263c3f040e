"""What main of 2026-11-27 has stored opens, resumes and evaluates; scores may be computed again."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from tests.cli import conftest
from tests.cli.conftest import Answer, Embedlab
from tests.stored_world import CUT, GRID_RUN, PRINTED, RUNS, environment, unpack

embedlab = conftest.embedlab  # a fixture


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stored")
    unpack(folder)
    return folder


@pytest.fixture
def world(
    unpacked: Path, tmp_path: Path, embedlab: Embedlab, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """A copy of the folder, as the working folder of its user."""
    shutil.copytree(unpacked, tmp_path, dirs_exist_ok=True)
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", f"{tmp_path}/huggingface/hub")
    return tmp_path


def weights(folder: Path) -> dict[str, bytes]:
    """The weights of the runs below FOLDER."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*.safetensors")
        if "checkpoints" not in path.parts
    }


def done(embedlab: Embedlab, *words: str) -> Answer:
    """The answer of a command that succeeds."""
    answer = embedlab(*words)
    assert answer.code == 0, answer.err
    return answer


def test_every_run_is_listed_with_its_state(embedlab: Embedlab, world: Path) -> None:
    states = {row["run"]: row["state"] for row in embedlab("runs", "ls", "--json").rows}
    assert {states[f"{name}@1"] for name in RUNS} == {"finished"}
    assert states["pairs@2"] == "finished"
    assert states["cut@1"] not in {"finished", "running"}


def test_every_model_encodes_as_it_did(embedlab: Embedlab, world: Path) -> None:
    for name in RUNS:
        done(embedlab, "encode", f"{name}@1", "sentences.txt", "-o", "again.npy", "--force")
        old, new = np.load(world / f"{name}.npy"), np.load(world / "again.npy")
        assert np.allclose(old, new, rtol=0, atol=1e-5)


@pytest.mark.parametrize("again", [(), ("--again",)])
@pytest.mark.parametrize("name", PRINTED)
def test_runs_heads_and_the_export_have_the_same_scores(
    name: str, again: tuple[str, ...], embedlab: Embedlab, world: Path
) -> None:
    stored = json.loads((world / name).read_text())["rows"]
    rows = done(embedlab, *PRINTED[name], *again, "--json").rows
    keys = ("model", "slice", "metric", "split", "items")
    assert [[row[key] for key in keys] for row in rows] == [
        [row[key] for key in keys] for row in stored
    ]
    # a head of a small encoder predicts nearly equal numbers, which rounding puts in another order
    # on another kind of processor
    tolerance = 1.0 if name == "tasks.json" else 0.01
    assert [row["score"] for row in rows] == pytest.approx(
        [row["score"] for row in stored], abs=tolerance
    )


def test_an_interrupted_run_goes_on_from_its_checkpoint(embedlab: Embedlab, world: Path) -> None:
    run = world / "runs" / "cut" / "seed-1"
    before = (run / "events.jsonl").read_text()
    (checkpoint,) = (run / "checkpoints").iterdir()
    done(embedlab, *CUT, "--resume")
    after = (run / "events.jsonl").read_text()
    assert after.startswith(before)
    events = [json.loads(line) for line in after[len(before) :].splitlines()]
    steps = [event["step"] for event in events if event["event"] == "step"]
    assert min(steps) > int(checkpoint.name.removeprefix("step-"))
    for part in ("model/model.safetensors", "heads.safetensors"):
        resumed, whole = load_file(run / part), load_file(world / "runs/whole/seed-1" / part)
        assert resumed.keys() == whole.keys()
        assert all(np.allclose(resumed[key], whole[key], rtol=0, atol=1e-5) for key in whole)


def test_a_grid_half_done_trains_what_is_left(embedlab: Embedlab, world: Path) -> None:
    before = weights(world / "runs")
    done(embedlab, *GRID_RUN)
    after = weights(world / "runs")
    assert {name: after[name] for name in before} == before
    (trained,) = {name.partition("/")[0] for name in after.keys() - before.keys()}
    assert trained.startswith("rates.lr-0.003.")
    table = done(embedlab, "grid", "table", "rates", "--task", "glue", "--json")
    assert len(table.rows) == 2
