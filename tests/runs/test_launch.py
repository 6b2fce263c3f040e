import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import psutil
import pytest

from embedlab.core.errors import EmbedlabError, MissingError, UsageError
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings
from embedlab.runs import launch
from embedlab.runs.status import run_status
from embedlab.runs.store import Holder, RunFolder, process_start, remove_runs, rename_runs
from tests.runs.conftest import HOLD, child


@pytest.mark.parametrize("force", [False, True])
def test_cancelling_ends_the_process_and_the_run_says_so(run: RunFolder, force: bool) -> None:
    with child(HOLD, run, start_new_session=True) as process:
        assert launch.cancel_run(run, force=force) == process.pid
        assert process.wait(timeout=120) == (-signal.SIGKILL if force else 130)
    assert run_status(run).state == "cancelled"


HERE = Holder(pid=1, host=socket.gethostname(), started_s=process_start(1))


@pytest.mark.parametrize(
    ("holder", "error", "message"),
    [
        (None, OSError, "not running"),
        (HERE, ProcessLookupError, "is not running"),
        (HERE, PermissionError, "belongs to another user"),
        (Holder(pid=1, host="elsewhere"), OSError, "elsewhere"),
    ],
)
def test_what_cannot_be_cancelled_is_reported_in_one_line(
    run: RunFolder,
    monkeypatch: pytest.MonkeyPatch,
    holder: Holder | None,
    error: type[OSError],
    message: str,
) -> None:
    def fail(_: int) -> int:
        raise error

    monkeypatch.setattr(RunFolder, "holder", lambda _: holder)
    monkeypatch.setattr("os.getpgid", fail)
    with pytest.raises(EmbedlabError, match=message):
        launch.cancel_run(run)


@pytest.mark.parametrize("has_start", [True, False])
def test_a_process_that_is_not_the_runs_own_is_not_stopped(run: RunFolder, has_start: bool) -> None:
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as stranger, run.lock():
        # What a dead process left: its number belongs to another process now, while this one
        # has yet to write its own.
        left = json.loads(run.pid_file.read_text()) | {"pid": stranger.pid}
        started_s = left.pop("started_s")
        if has_start:
            left["started_s"] = started_s - 100
        run.pid_file.write_text(json.dumps(left))
        with pytest.raises(EmbedlabError, match=f"process {stranger.pid} is not that of run"):
            launch.cancel_run(run, force=True)
        assert stranger.poll() is None
        stranger.kill()


STRANGE = {
    "a link": lambda path: path.symlink_to(path.parents[2] / "of-the-user"),
    "a pipe": os.mkfifo,
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((name, "a link") for name in ("log.txt", "lock", "starting", "events.jsonl", "pid")),
        ("recipe.toml", "a pipe"),
        ("checkpoints", "a link"),
    ],
)
def test_what_is_not_a_runs_own_file_is_neither_read_nor_written(
    run: RunFolder, name: str, kind: str
) -> None:
    own = run.path.parents[1] / "of-the-user"
    own.write_text("mine\n")
    (run.path / name).unlink(missing_ok=True)
    STRANGE[kind](run.path / name)
    assert run_status(run).state == "unreadable"
    for use in (run.recipe, run.environment, lambda: launch.start_run(["--version"], run)):
        with pytest.raises(MissingError, match=f"{name}' is {kind}") as refused:
            use()
        assert refused.value.hint.endswith(f"rm {run.path / name}")
    with pytest.raises(MissingError, match=f"{name}' is {kind}"), run.lock():
        pass
    assert own.read_text() == "mine\n"


def test_a_team_ends_with_the_code_of_the_one_that_failed(
    capfd: pytest.CaptureFixture[str],
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert launch.run_together(["recipes", "no-such-recipe"], 2) == 2
    assert "no-such-recipe" in capfd.readouterr().err
    assert signal.getsignal(signal.SIGTERM) is before


def test_who_waits_for_a_lost_member_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "GRACE_S", 0.2)
    waiting = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    lost = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
    assert launch._first_failure([waiting, lost]) is lost
    assert waiting.returncode == -signal.SIGKILL


@pytest.fixture
def loading(run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> Iterator[psutil.Process]:
    """A process that was started for the run and still loads."""
    program = run.path.parent / "python"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    process = psutil.Process(launch.start_run(["train", "mine"], run).process.pid)
    yield process
    if process.is_running():
        process.kill()
        process.wait()


def test_a_detached_run_is_held_while_its_process_still_loads(
    run: RunFolder, loading: psutil.Process
) -> None:
    assert run_status(run).state == "starting"
    assert run.holder() == Holder(pid=loading.pid, host=socket.gethostname(), is_starting=True)
    with pytest.raises(UsageError, match="is running"):
        remove_runs([run])
    with pytest.raises(UsageError, match="is running"):
        rename_runs(run.path.parents[1], run.name, "other")
    with pytest.raises(EmbedlabError, match="another process"), run.lock():
        pass
    with pytest.raises(EmbedlabError, match="another process"):
        launch.start_run(["train", "mine"], run)


def test_a_process_that_dies_before_it_begins_leaves_the_run_free(
    run: RunFolder, loading: psutil.Process
) -> None:
    assert launch.cancel_run(run) == loading.pid
    loading.wait()
    assert run.holder() is None
    assert run_status(run).state == "cancelled"
    with run.lock():
        pass


def test_a_started_process_begins_the_run_that_was_reserved_for_it(run: RunFolder) -> None:
    words = [sys.executable, "-c", HOLD, str(run.path)]
    with run.claim() as claim:
        process = subprocess.Popen(
            words, stdout=subprocess.PIPE, start_new_session=True, pass_fds=(claim,)
        )
        run.hand_over(process.pid)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        assert run.holder() == Holder(pid=process.pid, host=socket.gethostname())
        process.kill()
    assert run.holder() is None


def test_a_process_gets_the_settings_that_change_its_numbers() -> None:
    settings = Settings(
        device="cpu", precision="bf16", threads=3, data=TINY_FOLDER, deterministic=True
    )
    flags = " ".join(launch.shared_flags(settings))
    for stated in (
        "--data tiny",
        "--deterministic",
        "--device cpu",
        "--precision bf16",
        "--threads 3",
    ):
        assert stated in flags
    assert "--offline" not in flags
