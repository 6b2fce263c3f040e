import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest

from embedlab.core.errors import MissingError
from embedlab.runs import events
from embedlab.runs.status import run_status
from embedlab.runs.store import RunFolder
from tests.refusal import refused
from tests.runs.conftest import STEP
from tests.stored_scores import say

STARTED = events.Started(time=1.0, pid=1, host="here", steps=9)
INTERRUPTED = events.RunInterrupted(time=6.0, step=3)


@pytest.mark.parametrize(
    ("logged", "state"),
    [
        ([], "crashed"),
        ([STARTED, STEP], "crashed"),
        ([STARTED, STEP, events.Finished(step=9)], "finished"),
        ([STARTED, events.Failed(message="diverged")], "failed"),
        ([STARTED, events.Cancelled(), events.Failed(message="diverged")], "failed"),
        ([STARTED, INTERRUPTED], "interrupted"),
        ([STARTED, events.Cancelled(), INTERRUPTED], "cancelled"),
        ([STARTED, events.Cancelled(), events.Finished(step=9)], "finished"),
        ([STARTED, INTERRUPTED, STARTED, STEP], "crashed"),
        ([events.Failed(message="no data", exit_code=3)], "failed"),
        ([events.Failed(message="stopped by SIGTERM", exit_code=130)], "interrupted"),
        (
            [events.Cancelled(), events.Failed(message="stopped by SIGTERM", exit_code=130)],
            "cancelled",
        ),
        ([STARTED, INTERRUPTED, events.Failed(message="no data", exit_code=3)], "failed"),
        (
            [STARTED, events.Finished(step=9), events.Failed(message="no test data", exit_code=3)],
            "finished",
        ),
    ],
)
def test_the_state_of_a_run_without_a_process_is_its_last_ending(
    run: RunFolder, logged: list[events.Event], state: str
) -> None:
    say(run, *logged)
    assert run_status(run).state == state


def test_a_held_run_is_running_until_it_falls_silent(run: RunFolder) -> None:
    say(run, STARTED, INTERRUPTED, STARTED, STEP)
    with run.lock():
        assert run_status(run, now=10.0).state == "running"
        assert run_status(run, now=700.0).state == "silent"
        holder = run.holder()
        assert holder is not None
        assert (holder.pid, holder.host) == (os.getpid(), socket.gethostname())


def test_the_latest_facts_come_with_the_state(run: RunFolder) -> None:
    failed = events.Failed(time=5.5, message="the loss is not finite")
    scores = [events.Dev(time=2.0, step=1, score=70.0), events.Dev(time=3.0, step=2, score=60.0)]
    say(run, STARTED, *scores, STEP, failed)
    facts = run_status(run)
    assert (facts.step, facts.message) == (STEP, failed.message)
    assert facts.is_unfinished
    assert facts.dev is not None
    assert facts.best_dev is not None
    assert (facts.dev.score, facts.best_dev.score, facts.last_s) == (60.0, 70.0, 5.5)


@pytest.mark.parametrize(("resumed_at", "best"), [(0, 65.0), (1, 65.0), (2, 70.0)])
def test_a_resumed_run_has_the_dev_scores_up_to_its_checkpoint(
    run: RunFolder, resumed_at: int, best: float
) -> None:
    before = [events.Dev(step=1, score=60.0), events.Dev(step=2, score=70.0)]
    again = replace(STARTED, time=7.0, step=resumed_at)
    say(run, STARTED, *before, INTERRUPTED, again, events.Dev(step=4, score=65.0))
    found = run_status(run)
    assert found.resumed_at == resumed_at
    assert (found.dev.step, found.best_dev.score) == (4, best)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("later", "step"),
    [
        ([events.Checkpoint(step=4)], 4),
        ([events.Progress(step=5, steps=9, eta_s=1.0)], 5),
        ([events.Checkpoint(step=4), events.RunInterrupted(step=5)], 5),
        ([events.Finished(step=9), events.Noted(text="x")], 9),
    ],
)
def test_the_step_is_where_the_run_got_to(
    run: RunFolder, later: list[events.Event], step: int
) -> None:
    say(run, STARTED, STEP, *later)
    found = run_status(run).step
    assert found is not None
    assert (found.step, found.loss) == (step, STEP.loss)


def test_a_process_that_was_killed_before_it_began_its_run_is_not_running(tmp_path: Path) -> None:
    run = RunFolder.of(tmp_path, "mine", 1)
    run.path.mkdir(parents=True)
    run.log_file.write_text("training mine\n")
    assert run_status(run).state == "crashed"
    assert run_status(run).is_unfinished
    with pytest.raises(MissingError, match="killed before it started"):
        run.recipe()


def test_a_run_that_was_cancelled_before_it_began_has_lost_nothing(tmp_path: Path) -> None:
    run = RunFolder.of(tmp_path, "mine", 1)
    say(run, events.Cancelled(), events.Failed(message="stopped", exit_code=130))
    assert run_status(run).state == "cancelled"
    with refused("before it started", "start it again with `embedlab train`", MissingError):
        run.recipe()


def test_a_folder_that_is_not_a_run_or_is_gone_is_unreadable(tmp_path: Path) -> None:
    empty = RunFolder.of(tmp_path, "empty", 1)
    empty.path.mkdir(parents=True)
    assert run_status(empty).state == "unreadable"
    assert run_status(RunFolder.of(tmp_path, "gone", 1)).state == "unreadable"
    odd = RunFolder.of(tmp_path, "odd", 1)
    odd.events_file.mkdir(parents=True)
    assert run_status(odd).state == "unreadable"
