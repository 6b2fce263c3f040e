from __future__ import annotations

import os
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
SMALL = (
    "--data",
    "tiny",
    "--threads",
    "1",
    "--set",
    "data.rows=96",
    "--set",
    "optim.batch_size=32",
)
LONG = (
    *SMALL[:-1],
    "optim.batch_size=8",
    "--set",
    "optim.epochs=500",
    "--set",
    "evaluate.dev=none",
    "--set",
    "evaluate.log_every=1",
)


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
        return embedlab("train", "snli-ce", *SMALL, "--encoder", str(encoder))


def test_training_ends_in_a_table_and_is_not_repeated(quick: Embedlab, embedlab: Embedlab) -> None:
    first = quick("--json")
    assert first.code == 0, first.err
    assert first.err.startswith("training snli-ce")
    assert {row["setting"] for row in first.rows} == {"all", "mean", "wmean"}
    assert "[generated]" in first.json["title"]
    assert Path("runs/snli-ce/seed-1/evaluations/sts.json").is_file()
    heads, log = (
        Path("runs/snli-ce/seed-1/heads.safetensors"),
        Path("runs/snli-ce/seed-1/events.jsonl"),
    )
    assert heads.stat().st_mode == log.stat().st_mode
    facts = embedlab("runs", "show", "snli-ce", "--data", "tiny", "--json").json
    assert [(part["name"], part["split"], part["used"]) for part in facts["data"]] == [
        ("snli", "train", 96)
    ]
    again = quick("--json")
    assert (again.code, again.json["title"], len(again.rows)) == (
        0,
        first.json["title"],
        len(first.rows),
    )
    assert "finished already: skipped" in again.err
    other = quick("--set", "optim.lr=0.5")
    assert other.code == 2
    assert "stage.0.optim.lr was 2e-05, now 0.5" in other.err
    assert "--name snli-ce-2" in other.err
    compared = embedlab("compare", "snli-ce", "dice", "--data", "tiny", "--threads", "1", "--json")
    assert compared.code == 0, compared.err
    assert compared.row(model="dice", slice="sts12")["p_corrected"] is not None


def test_the_same_line_with_resume_starts_ends_and_reports_a_run(
    quick: Embedlab, embedlab: Embedlab
) -> None:
    first = quick("--resume", "--json")
    assert (first.code, "[generated]" in first.json["title"]) == (0, True), first.err
    run = RunFolder(Path("runs/snli-ce/seed-1"))
    assert not run.checkpoints.exists()
    # As one that is killed after its training leaves it.
    shutil.rmtree(run.evaluations)
    (run.checkpoints / "step-0000003").mkdir(parents=True)
    for words in (("--resume",), ("--resume", "--seeds", "1")):
        again = quick(*words, "--json")
        assert (again.code, again.json["title"]) == (0, first.json["title"])
        assert [row["setting"] for row in again.rows] == [row["setting"] for row in first.rows]
        assert "snli-ce@1 is finished already" in again.err
        assert (run.evaluations / "sts.json").is_file()
        assert not run.checkpoints.exists()
    other = quick("--resume", "--set", "optim.lr=0.5")
    assert (other.code, "stage.0.optim.lr was 2e-05, now 0.5" in other.err) == (2, True)


def test_several_seeds_are_one_model_with_a_spread(quick: Embedlab, embedlab: Embedlab) -> None:
    assert quick("--seeds", "2", "-q", "--set", "evaluate.tasks=[]").code == 0
    (row,) = embedlab(
        "evaluate", "snli-ce", "--data", "tiny", "--task", "sts12", "--aggregate", "all", "--json"
    ).rows
    assert (row["seeds"], row["sd"] >= 0) == (2, True)
    assert quick("--seed", "1", "--seeds", "2").code == 2


def test_dry_run_prints_a_recipe_that_can_be_trained_and_an_example(embedlab: Embedlab) -> None:
    answer = embedlab(
        "train", "snli-supcl", "--data", "tiny", "--dry-run", "--set", "optim.lr=1e-4"
    )
    assert answer.code == 0, answer.err
    assert tomllib.loads(answer.out)["stage"][0]["optim"]["lr"] == 1e-4
    assert "#   anchor " in answer.out
    assert "#   positive " in answer.out
    assert not Path("runs").exists()


def test_dry_run_is_one_object_in_json(embedlab: Embedlab) -> None:
    answer = embedlab(
        "train", "snli-supcl", "--data", "tiny", "--dry-run", "--set", "optim.lr=1e-4", "--json"
    ).json
    assert answer["recipe"]["stage"][0]["optim"]["lr"] == 1e-4
    (stage,) = answer["stages"]
    assert stage["batch_size"] == answer["recipe"]["stage"][0]["optim"]["batch_size"]
    assert stage["steps"] > 0
    assert stage["example"][0]["role"] == "anchor"


@pytest.mark.parametrize(("typed", "threads"), [(Settings(), 1), (Settings(threads=3), 3)])
def test_resume_computes_as_the_run_was_begun(
    finished_run: RunFolder, typed: Settings, threads: int
) -> None:
    settings = settings_of_run(finished_run, typed, 8)
    assert (settings.precision, settings.threads) == ("float32", threads)
    assert (
        settings_of_run(RunFolder(finished_run.path.with_name("seed-2")), Settings(), 8).threads
        == 8
    )


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["snli-cee"], 2, "did you mean 'snli-ce'"),
        ([__file__], 2, "is not a .toml file"),
        (["snli-ce", "--set", "optim.lrr=1"], 2, "did you mean 'lr'?"),
        (["snli-ce", "--set", 'data.datasets=["sts12"]'], 2, "needs column 'premise'"),
        (["snli-ce", "--encoder", "nobody"], 2, "no model named 'nobody'"),
        (["snli-ce", "--encoder", "dice"], 2, "not a transformer"),
        (["snli-ce", "--name", "a/b"], 2, "cannot name a run"),
        (["snli-ce", "--offline"], 3, "dataset 'snli' (train) is missing"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_two_lines(
    embedlab: Embedlab, arguments: list[str], code: int, message: str
) -> None:
    answer = embedlab("train", *arguments, "--dry-run" if code == 3 else "--quiet")
    assert (answer.code, answer.out) == (code, "")
    lines = answer.err.splitlines()
    assert message in answer.err
    assert lines[0].startswith("embedlab: error: ")
    assert len(lines) <= 2


def test_ctrl_c_saves_a_checkpoint_and_says_how_to_go_on(
    embedlab: Embedlab, tiny_encoder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stopped = stopped_in_mid_training(embedlab, tiny_encoder, monkeypatch, presses=1)
    assert stopped.code == 130
    assert "a checkpoint is saved" in stopped.err
    assert "--resume" in stopped.err
    run = RunFolder(tmp_path / "runs" / "snli-ce" / "seed-1")
    assert run_status(run).state == "interrupted"
    assert list(run.checkpoints.glob("step-*"))
    without = embedlab("train", "snli-ce", *SMALL, "--encoder", str(tiny_encoder), "-q")
    assert without.code == 2
    assert "--resume" in without.err
    resumed = embedlab("runs", "resume", "snli-ce", "--data", "tiny", "--threads", "1", "--json")
    assert (resumed.code, run_status(run).state) == (0, "finished"), resumed.err
    assert {row["setting"] for row in resumed.rows} == {"all", "mean", "wmean"}
    assert (run.evaluations / "sts.json").is_file()


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
