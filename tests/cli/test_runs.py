from __future__ import annotations

import fcntl
import json
import shutil
import signal
import subprocess
import sys

import pytest

from embedlab.runs.store import Holder, RunFolder
from tests.cli.conftest import Embedlab


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


def test_show_prints_recipe_data_and_marks(embedlab: Embedlab, finished_run: RunFolder) -> None:
    facts = embedlab("runs", "show", "mine", "--json").json
    assert facts["state"] == "finished"
    assert [(part["name"], part["split"], part["rows"]) for part in facts["data"]] == [
        ("snli", "train", 3)
    ]
    assert facts["marks"] == ["partial"]
    assert facts["recipe"] == finished_run.recipe().hash
    assert "snli train: 3 rows" in embedlab("runs", "show", "mine").out


def test_log_prints_words_or_json_lines(embedlab: Embedlab, finished_run: RunFolder) -> None:
    assert "dev" in embedlab("runs", "log", "mine").out
    lines = embedlab("runs", "log", "mine@1", "--json").out.splitlines()
    assert [json.loads(line)["event"] for line in lines] == ["started", "step", "dev", "finished"]
    finished_run.log_file.write_text("what it printed")
    assert embedlab("runs", "log", "mine", "--follow").out.rstrip().endswith("what it printed")
    assert "flaw" not in embedlab("runs", "log", "mine").out  # it has none


def test_a_log_says_that_it_is_of_one_seed_among_several(
    embedlab: Embedlab, finished_run: RunFolder
) -> None:
    assert not embedlab("runs", "log", "mine").err
    shutil.copytree(finished_run.path, finished_run.path.parent / "seed-2")
    err = embedlab("runs", "log", "mine").err
    assert "mine@1 alone, of 2 seeds" in err
    assert "mine@2` shows the next" in err


def test_rm_wants_a_confirmation_and_without_a_terminal_yes(
    embedlab: Embedlab, finished_run: RunFolder
) -> None:
    refused = embedlab("runs", "rm", "mine")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert finished_run.path.exists()
    assert embedlab("runs", "rm", "mine", "--yes", "--json").json == {"deleted": ["mine@1"]}
    assert not finished_run.path.parent.exists()


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


def test_prune_leaves_a_run_alone_that_a_process_holds(
    embedlab: Embedlab, finished_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RunFolder, "holder", lambda _: Holder(pid=1, host="elsewhere"))
    answer = embedlab("runs", "prune")
    assert answer.code == 0
    assert "left alone: mine@1" in answer.out + answer.err


def test_rename_moves_a_run(embedlab: Embedlab, finished_run: RunFolder) -> None:
    assert embedlab("runs", "rename", "mine", "yours", "--json").json == {
        "run": "mine",
        "new": "yours",
    }
    assert [row["run"] for row in embedlab("runs", "ls", "--json").rows] == ["yours@1"]


def test_cancel_answers_with_an_object(
    embedlab: Embedlab, finished_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedlab.runs.launch.cancel_run", lambda _run, force: 7)
    answer = embedlab("runs", "cancel", "mine", "--json")
    assert answer.json == {"cancelled": ["mine@1"]}
    assert "requested the stop of mine@1 (process 7)" in answer.err
