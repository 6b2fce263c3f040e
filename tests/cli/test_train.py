from __future__ import annotations

import os
import re
import shutil
import signal
import time
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from embedlab.commands.training import settings_of_run
from embedlab.core.settings import Settings
from embedlab.runs.status import run_status
from embedlab.runs.store import RunFolder

if TYPE_CHECKING:
    from tests.cli.conftest import Answer, Embedlab

pytestmark = pytest.mark.usefixtures("small_world")

# Small enough that training itself takes a second.
TINY = ("--data", "tiny", "--threads", "1", "--set", "data.rows=96")
SMALL = (*TINY, "--set", "optim.batch_size=32")
LONG = (*TINY, "--set", "optim.epochs=500", "--set", "evaluate.dev=none")


@pytest.fixture
def quick(embedlab: Embedlab, tiny_encoder: Path) -> Embedlab:
    """Train with the tiny encoder on a few rows."""
    return lambda *arguments: embedlab(
        "train", "snli-ce", *SMALL, "--encoder", str(tiny_encoder), *arguments
    )


def stopped_in_mid_training(
    embedlab: Embedlab, encoder: Path, monkeypatch: pytest.MonkeyPatch, presses: int
) -> Answer:
    """How a training ends that gets Ctrl-C so often after its second step."""
    from embedlab.training.meter import Meter

    taken, count = Meter.add, iter(range(1, 1000))

    def press(*arguments: Any) -> None:
        taken(*arguments)
        for _ in range(presses if next(count) == 2 else 0):
            os.kill(os.getpid(), signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Meter, "add", press)
        return embedlab("train", "snli-ce", *SMALL, "--encoder", str(encoder), "--seeds", "2")


def test_training_ends_in_a_table(quick: Embedlab, embedlab: Embedlab) -> None:
    first = quick("--json")
    assert first.code == 0, first.err
    assert first.err.startswith("training snli-ce")
    assert {row["setting"] for row in first.rows} == {"all", "mean", "wmean"}
    assert "[generated]" in first.json["title"]
    run = Path("runs/snli-ce/seed-1")
    assert (run / "evaluations/sts.json").is_file()
    assert (run / "heads.safetensors").stat().st_mode == (run / "events.jsonl").stat().st_mode
    facts = embedlab("runs", "show", "snli-ce", "--data", "tiny", "--json").json
    used = [(part["name"], part["split"], part["used"]) for part in facts["data"]]
    assert used == [("snli", "train", 96)]


def test_the_same_line_with_resume_starts_ends_and_reports_a_run(quick: Embedlab) -> None:
    first = quick("--resume", "--json")
    assert first.code == 0, first.err
    run = RunFolder(Path("runs/snli-ce/seed-1"))
    assert not run.checkpoints.exists()
    # As one that is killed after its training leaves it.
    shutil.rmtree(run.evaluations)
    (run.checkpoints / "step-0000003").mkdir(parents=True)
    again = quick("--resume", "--json")
    assert (again.code, again.json["title"]) == (0, first.json["title"])
    assert [row["setting"] for row in again.rows] == [row["setting"] for row in first.rows]
    assert "snli-ce@1 is finished already" in again.err
    assert (run.evaluations / "sts.json").is_file()
    assert not run.checkpoints.exists()


def test_several_seeds_are_one_model_with_a_spread(quick: Embedlab, embedlab: Embedlab) -> None:
    assert quick("--seeds", "2", "-q", "--set", "evaluate.tasks=[]").code == 0
    words = ("evaluate", "snli-ce", "--data", "tiny", "--task", "sts12", "--aggregate", "all")
    (row,) = embedlab(*words, "--json").rows
    assert (row["seeds"], row["sd"] >= 0) == (2, True)


def test_dry_run_prints_a_recipe_that_can_be_trained_and_an_example(embedlab: Embedlab) -> None:
    words = ("train", "snli-supcl", "--data", "tiny", "--dry-run", "--set", "optim.lr=1e-4")
    answer, values = embedlab(*words), embedlab(*words, "--json").json
    assert tomllib.loads(answer.out) == values["recipe"]
    assert "#   anchor " in answer.out
    (recipe,), (stage,) = values["recipe"]["stage"], values["stages"]
    assert (recipe["optim"]["lr"], recipe["optim"]["batch_size"]) == (1e-4, stage["batch_size"])
    assert stage["steps"] > 0
    assert stage["example"][0]["role"] == "anchor"
    assert not Path("runs").exists()


def test_a_dry_run_cuts_a_very_long_text_aloud(embedlab: Embedlab, tmp_path: Path) -> None:
    text = "word " * 19_999 + "word"
    rows = "".join(f"{text},a cat sat {number},{number % 6}\n" for number in range(60))
    path = tmp_path / "long.csv"
    path.write_text(f"sentence1,sentence2,score\n{rows}")
    words = ("train", str(path), "--data", "tiny", "--dry-run", "--set", "optim.batch_size=64")
    answer = embedlab(*words).out
    assert re.search(r"stage 0: (\d\d) rows, \d+ steps of \1 rows", answer)  # fewer than a batch
    lines = [line for line in answer.splitlines() if "word word" in line]
    assert len(lines) == 3  # two rows as they are read, and the example of a batch
    assert all("… and 99,599 more characters" in line and len(line) < 500 for line in lines)
    example = embedlab(*words, "--json").json["stages"][0]["example"]
    assert example[0]["sentence"] == text


@pytest.mark.parametrize(("typed", "threads"), [(Settings(), 1), (Settings(threads=3), 3)])
def test_resume_computes_as_the_run_was_begun(
    finished_run: RunFolder, typed: Settings, threads: int
) -> None:
    settings = settings_of_run(finished_run, typed, 8)
    assert (settings.precision, settings.threads) == ("float32", threads)
    absent = RunFolder(finished_run.path.with_name("seed-2"))
    assert settings_of_run(absent, Settings(), 8).threads == 8


def test_ctrl_c_saves_a_checkpoint_and_says_how_to_go_on(
    embedlab: Embedlab, tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = stopped_in_mid_training(embedlab, tiny_encoder, monkeypatch, presses=1)
    assert stopped.code == 130
    assert "a checkpoint is saved" in stopped.err
    run = RunFolder(tmp_path / "runs" / "snli-ce" / "seed-1")
    assert run_status(run).state == "interrupted"
    assert list(run.checkpoints.glob("step-*"))
    without = embedlab("train", "snli-ce", *SMALL, "--encoder", str(tiny_encoder), "-q")
    assert without.code == 2
    assert "--resume" in without.err
    resumed = embedlab("runs", "resume", "snli-ce", "--data", "tiny", "--json")
    assert (resumed.code, run_status(run).state) == (0, "finished"), resumed.err
    assert {row["setting"] for row in resumed.rows} == {"all", "mean", "wmean"}
    assert {row["seeds"] for row in resumed.rows} == {2}  # with the one that was not begun
    second = RunFolder(run.path.with_name("seed-2")).environment()
    assert (second.seed, second.threads) == (2, 1)


def test_a_second_ctrl_c_stops_in_mid_step(
    embedlab: Embedlab, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = stopped_in_mid_training(embedlab, tiny_encoder, monkeypatch, presses=2)
    assert stopped.code == 130
    assert "a checkpoint is saved" not in stopped.err
    assert stopped.err.endswith("embedlab: interrupted\n")


def test_a_detached_run_is_followed_and_cancelled(
    embedlab: Embedlab, tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("train", "snli-ce", *LONG, "--encoder", str(tiny_encoder), "--detach")
    monkeypatch.setattr("sys.argv", ["embedlab", *words])
    started = embedlab(*words)
    assert started.code == 0, started.err
    assert "embedlab runs log snli-ce@1 --follow" in started.err
    run = RunFolder(tmp_path / "runs" / "snli-ce" / "seed-1")
    process = psutil.Process(int(started.err.split()[1]))
    (row,) = embedlab("runs", "ls", "--data", "tiny", "--json").rows
    assert (row["run"], row["state"]) == ("snli-ce@1", "starting")
    removed = embedlab("runs", "rm", "snli-ce", "--yes", "--data", "tiny")
    assert (removed.code, "embedlab runs cancel snli-ce@1" in removed.err) == (2, True)
    assert "is running" in embedlab("train", "snli-ce", "--data", "tiny", "--resume").err
    while run_status(run).step is None and process.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.1)
    assert embedlab("runs", "cancel", "snli-ce", "--data", "tiny").code == 0
    process.wait()
    assert run_status(run).state == "cancelled"
    assert "training snli-ce" in run.log_file.read_text()
