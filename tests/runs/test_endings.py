"""Why a process ended, reported as an event in the file that the process which started it named."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from embedlab.cli.app import main
from embedlab.core.errors import ExitCode
from embedlab.runs import events, launch
from embedlab.runs.events import EndingReport
from embedlab.runs.status import run_status
from embedlab.runs.store import RunFolder
from tests.stored_scores import say


def test_a_command_that_fails_reports_message_hint_and_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDLAB_ERRORS_TO", str(tmp_path / "errors.jsonl"))
    assert main(["data", "check", "--offline"]) == 3
    written = json.loads((tmp_path / "errors.jsonl").read_text())
    assert (written["event"], written["exit_code"]) == ("failed", 3)
    assert written["message"] == "no data folder is set, and no dataset is named"
    assert "--data DIR" in written["hint"]


def test_a_bug_reports_its_exception(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(*_: object, **__: object) -> None:
        raise ZeroDivisionError("division by zero")

    ending = EndingReport(tmp_path / "errors.jsonl")
    monkeypatch.setenv("EMBEDLAB_ERRORS_TO", str(ending.file))
    monkeypatch.setattr("embedlab.commands.recipes.recipe_names", break_down)
    assert main(["recipes"]) == 1
    failed = ending.failed
    assert failed is not None
    assert failed.message == "unforeseen: ZeroDivisionError: division by zero"
    assert failed.exit_code == 1
    assert Path(failed.hint.rpartition(": ")[2]).is_file()


@pytest.mark.parametrize("own", [events.Failed(message="diverged"), events.RunInterrupted(step=3)])
def test_the_end_that_a_run_reported_itself_is_not_reported_again(
    run: RunFolder, own: events.Event
) -> None:
    report = EndingReport(run.events_file)
    say(run, own)
    before = run.events_file.read_bytes()
    report.write("diverged", exit_code=1)
    assert run.events_file.read_bytes() == before
    attempt = EndingReport(run.events_file)  # has an end of its own
    attempt.write("no data", exit_code=3)
    assert attempt.failed is not None
    assert attempt.failed.message == "no data"


def test_of_processes_that_work_together_the_first_error_is_the_cause(tmp_path: Path) -> None:
    file = tmp_path / "errors.jsonl"
    EndingReport(file).write("out of an earlier start", exit_code=1)
    first, second = EndingReport(file), EndingReport(file)
    first.write("the loss is not finite", exit_code=1)
    second.write("connection closed by peer", exit_code=1)
    assert second.failed is not None
    assert second.failed.message == "the loss is not finite"


def test_a_detached_process_that_fails_before_its_run_begins_is_a_failed_run(
    run: RunFolder,
) -> None:
    started = launch.start_run(["train", "no-such-recipe"], run)
    code = started.process.wait(120)
    error = started.error("training")
    assert (code, error.message) == (ExitCode.USAGE, "no recipe named 'no-such-recipe'")
    assert "embedlab recipes" in error.hint
    run.log_file.unlink()  # the state does not depend on what was printed
    assert (run_status(run).state, run_status(run).message) == ("failed", error.message)


def test_a_process_that_is_killed_is_an_error_with_its_log(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"])
    started = launch.Detached(
        process=process, log=tmp_path / "log.txt", ending=EndingReport(tmp_path / "errors.jsonl")
    )
    process.wait()
    error = started.error("scoring 'mine'")
    assert f"scoring 'mine' failed: process {process.pid}: killed by SIGKILL" in error.message
    assert str(tmp_path / "log.txt") in error.hint
