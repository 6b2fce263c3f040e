from __future__ import annotations

import fcntl
import json
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from embedlab.runs.store import RunFolder
from tests.cli.conftest import Embedlab
from tests.stored_json import store_values


def test_ls_of_no_runs_says_how_to_start_one(embedlab: Embedlab) -> None:
    answer = embedlab("runs", "ls")
    assert answer.code == 0
    assert "embedlab train RECIPE" in answer.out


def test_ls_shows_state_and_latest_numbers(embedlab: Embedlab, finished_run: RunFolder) -> None:
    (row,) = embedlab("runs", "ls", "--json").rows
    assert row["run"] == "mine@1"
    assert (row["state"], row["step"], row["steps"], row["loss"], row["dev"]) == (
        "finished",
        9,
        9,
        0.5,
        61.25,
    )


@pytest.mark.parametrize("damage", ["gone", "half", "folder"])
def test_ls_survives_damaged_run_folders(
    embedlab: Embedlab, finished_run: RunFolder, damage: str
) -> None:
    other = finished_run.path.with_name("seed-2")
    other.mkdir()
    if damage == "half":
        (other / "recipe.toml").write_text("[[stage")
        (other / "events.jsonl").write_bytes(b'{"event": "st\xff')
    if damage == "folder":
        (other / "events.jsonl").mkdir()
    rows = embedlab("runs", "ls", "--json").rows
    assert [row["run"] for row in rows] == ["mine@1", "mine@2"]
    assert rows[1]["state"] == ("crashed" if damage == "half" else "unreadable")


def test_a_hint_names_the_place_that_was_typed(embedlab: Embedlab, finished_run: RunFolder) -> None:
    assert "`embedlab runs ls` " in embedlab("runs", "resume", "mine").err
    finished_run.path.parents[1].rename("my runs")
    answer = embedlab("runs", "resume", "mine", "--runs", "my runs")
    command = "embedlab runs ls --runs 'my runs'"
    assert f"`{command}` shows" in answer.err
    assert "mine@1" in embedlab(*shlex.split(command)[1:]).out


def test_show_prints_recipe_data_and_marks(embedlab: Embedlab, finished_run: RunFolder) -> None:
    facts = embedlab("runs", "show", "mine", "--json").json
    assert facts["state"] == "finished"
    assert [(part["name"], part["split"], part["rows"]) for part in facts["data"]] == [
        ("snli", "train", 3)
    ]
    assert facts["marks"] == ["partial"]
    assert facts["recipe"] == finished_run.recipe().hash
    shown = embedlab("runs", "show", "mine").out
    assert "data" in shown
    assert "snli train: 3 rows" in shown


def test_show_of_several_seeds_is_one_object_too(
    embedlab: Embedlab, finished_run: RunFolder
) -> None:
    shutil.copytree(finished_run.path, finished_run.path.with_name("seed-2"))
    answer = embedlab("runs", "show", "mine", "--json")
    assert [run["run"] for run in answer.json["runs"]] == ["mine@1", "mine@2"]
    assert embedlab("runs", "show", "mine@2", "--json").json["run"] == "mine@2"


def test_show_of_a_newer_run_folder_says_so(embedlab: Embedlab, finished_run: RunFolder) -> None:
    store_values(finished_run.environment_file, {"schema": 99})
    assert "newer embedlab" in embedlab("runs", "show", "mine").out


def test_log_prints_words_or_json_lines(embedlab: Embedlab, finished_run: RunFolder) -> None:
    assert "dev" in embedlab("runs", "log", "mine").out
    lines = embedlab("runs", "log", "mine@1", "--json").out.splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["started", "step", "dev", "finished"]
    finished_run.log_file.write_text("what it printed")
    assert embedlab("runs", "log", "mine", "--follow").out.rstrip().endswith("what it printed")


def test_rm_wants_a_confirmation_and_without_a_terminal_yes(
    embedlab: Embedlab, finished_run: RunFolder
) -> None:
    refused = embedlab("runs", "rm", "mine")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert finished_run.path.exists()
    assert embedlab("runs", "rm", "mine", "--yes", "--json").json == {"deleted": ["mine@1"]}
    assert not finished_run.path.parent.exists()


def test_prune_leaves_a_running_run_alone(embedlab: Embedlab, finished_run: RunFolder) -> None:
    (finished_run.checkpoints / "step-0000001").mkdir(parents=True)
    with finished_run.lock():
        assert embedlab("runs", "prune", "mine", "--json").json == {
            "freed_bytes": 0,
            "pruned": [],
            "running": ["mine@1"],
        }
    assert list(finished_run.checkpoints.iterdir())
    assert embedlab("runs", "prune", "yours").code == 2


KILLED_REMOVAL = """
import os, shutil, signal
shutil.rmtree = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
from embedlab.cli.app import main
main(["runs", "rm", "mine@1", "--yes"])
"""


def test_prune_clears_what_a_killed_removal_left(
    embedlab: Embedlab, finished_run: RunFolder
) -> None:
    assert (
        subprocess.run([sys.executable, "-c", KILLED_REMOVAL], check=False).returncode
        == -signal.SIGKILL
    )
    (left,) = finished_run.path.parent.iterdir()
    assert left.name.startswith(".seed-1.tmp-")
    held = left / "lock"
    with held.open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # as a removal under way does
        assert embedlab("runs", "prune", "--json").json["pruned"] == []
    answer = embedlab("runs", "prune", "--json").json
    assert answer["pruned"] == ["mine@1"]
    assert answer["freed_bytes"] > 0
    assert not finished_run.path.parent.exists()


def test_rename_moves_a_run(embedlab: Embedlab, finished_run: RunFolder) -> None:
    assert embedlab("runs", "rename", "mine", "yours", "--json").json == {
        "run": "mine",
        "new": "yours",
    }
    assert [row["run"] for row in embedlab("runs", "ls", "--json").rows] == ["yours@1"]


@pytest.mark.parametrize("name", ["dice", "a b/c"])
def test_rename_to_what_cannot_name_a_run_names_no_option(
    embedlab: Embedlab, finished_run: RunFolder, name: str
) -> None:
    answer = embedlab("runs", "rename", "mine", name)
    assert answer.code == 2
    refusals = (f"{name!r} cannot name a run", f"no run can be called {name!r}")
    assert any(refusal in answer.err for refusal in refusals)
    assert "--name" not in answer.err


def test_cancel_and_resume_refuse_a_finished_run(
    embedlab: Embedlab, finished_run: RunFolder
) -> None:
    for command in ("cancel", "resume"):
        answer = embedlab("runs", command, "mine")
        assert answer.code == 2
        assert "embedlab runs ls" in answer.err


def test_cancel_answers_with_an_object(
    embedlab: Embedlab, finished_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedlab.runs.launch.cancel_run", lambda _run, force: 7)
    answer = embedlab("runs", "cancel", "mine", "--json")
    assert answer.json == {"cancelled": ["mine@1"]}
    assert "requested the stop of mine@1 (process 7)" in answer.err


def test_runs_may_live_elsewhere(
    embedlab: Embedlab, finished_run: RunFolder, tmp_path: Path
) -> None:
    finished_run.path.parents[1].rename(tmp_path / "elsewhere")
    assert len(embedlab("runs", "ls", "--runs", "elsewhere", "--json").rows) == 1


@pytest.mark.parametrize(
    "line",
    [
        '{"event": "finished", "time": 1e300, "step": 9}',
        '{"event": "finished", "time": -1e300, "step": 9}',
        '{"event": "finished", "time": null, "step": 9}',
        '{"event": "finished", "time": 5.0, "step": 1e300}',
        '{"event": "failed", "time": 5.0, "message": {"a": []}}',
        '{"event": ["finished"], "time": 5.0}',
        '{"event": {}, "time": 5.0}',
        "[" * 10_000,
        "\x00\xff",
    ],
)
def test_no_event_of_one_run_hides_the_others(
    embedlab: Embedlab, finished_run: RunFolder, line: str
) -> None:
    other = finished_run.path.parent / "seed-2"
    other.mkdir()
    for name in ("recipe.toml", "environment.json", "events.jsonl"):
        (other / name).write_bytes((finished_run.path / name).read_bytes())
    with (other / "events.jsonl").open("a", encoding="utf-8", errors="surrogateescape") as file:
        file.write(f"{line}\n")
    for words in (
        ["runs", "ls", "--json"],
        ["runs", "show", "mine@2", "--json"],
        ["runs", "log", "mine@2"],
    ):
        answer = embedlab(*words)
        assert answer.code == 0, answer.err
    rows = embedlab("runs", "ls", "--json").rows
    assert [(row["run"], row["state"]) for row in rows] == [
        ("mine@1", "finished"),
        ("mine@2", "finished"),
    ]
