"""A run that was stopped, in whichever way, ends as if it had not been."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from torch import Tensor

from embedlab.errors import ExitCode, Interrupted, UsageError
from embedlab.runs import events
from embedlab.runs.status import status
from embedlab.runs.store import RunFolder
from embedlab.training.checkpointing import Checkpoints
from embedlab.training.meter import Meter
from tests.training.small_runs import joint_stages, length_of_a_vector, mixed_stages, recipe_of, saved_bytes, stage, two_stages

Train = Callable[..., RunFolder]


@pytest.mark.parametrize("moment", ["epoch", "checkpoint"])
def test_a_killed_process_loses_nothing(moment: str, train: Train, tiny_encoder: Path, tmp_path: Path) -> None:
    recipe = two_stages(tiny_encoder)
    whole = train(recipe, "whole", dev_score=length_of_a_vector)
    ends = [event.step for event in events.follow(whole.events_file)[0] if isinstance(event, events.Checkpoint)]
    kill_at = ends[5] + 1  # in the second stage, one step after a checkpoint
    assert kill_at not in ends
    run = RunFolder.of(tmp_path / "runs", "small", 1)
    child = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("killed_run.py")), str(tiny_encoder), str(run.path), moment],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "KILL_AT": str(kill_at)},
    )
    assert child.returncode == -signal.SIGKILL, child.stderr
    complete = [int(line) for line in child.stdout.split()]
    assert Checkpoints(run.checkpoints).steps()[-1] == complete[-1]
    assert complete == ends[: len(complete)]
    assert status(run).state == "crashed"
    with pytest.raises(UsageError, match="begun before"):
        train(recipe)
    assert saved_bytes(train(recipe, resume=True, dev_score=length_of_a_vector)) == saved_bytes(whole)
    assert status(run).state == "finished"
    assert not list(run.checkpoints.glob(".*"))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_stops_after_the_step_with_a_checkpoint(number: signal.Signals, train: Train, tiny_encoder: Path, tmp_path: Path) -> None:
    recipe = recipe_of(tiny_encoder, stage(rows=320, negatives=3))
    before = signal.getsignal(number)

    def stop_at_a_step(event: events.Event) -> None:
        if isinstance(event, events.Step) and event.step < event.steps:
            os.kill(os.getpid(), number)

    with pytest.raises(Interrupted, match=rf"stopped by {number.name} after step \d+ of \d+; a checkpoint is saved") as stop:
        train(recipe, report=stop_at_a_step)
    assert stop.value.exit_code == ExitCode.INTERRUPTED
    assert "--resume" in stop.value.hint
    assert signal.getsignal(number) is before
    run = RunFolder.of(tmp_path / "runs", "small", 1)
    assert status(run).state == "interrupted"
    assert saved_bytes(train(recipe, resume=True)) == saved_bytes(train(recipe, "whole"))


@pytest.mark.parametrize("at", ["before a turn", "after a turn", "within a turn", "the end of the block", "the next block"])
def test_a_run_that_mixes_signals_goes_on_where_it_stopped(
    at: str, train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = mixed_stages(tiny_encoder)
    whole = train(recipe, "whole", dev_score=length_of_a_vector)
    steps = [event for event in events.follow(whole.events_file)[0] if isinstance(event, events.Step)]
    end = max(event.step for event in steps if event.stage < 2)
    step = {"before a turn": 3, "after a turn": 4, "within a turn": 6, "the end of the block": end, "the next block": end + 1}[at]
    taken, count = Meter.add, iter(range(1, 1000))

    def stop_there(meter: Meter, losses: Tensor, rows: int) -> None:
        taken(meter, losses, rows)
        if next(count) == step:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Meter, "add", stop_there)
    with pytest.raises(Interrupted, match=f"after step {step} of"):
        train(recipe, dev_score=length_of_a_vector)
    monkeypatch.undo()
    assert saved_bytes(train(recipe, resume=True, dev_score=length_of_a_vector)) == saved_bytes(whole)


@pytest.mark.parametrize("at", ["the first joint step", "a later one"])
def test_gradient_surgery_goes_on_where_it_stopped(at: str, train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = joint_stages(tiny_encoder)
    whole = train(recipe, "whole", dev_score=length_of_a_vector)
    first = min(event.step for event in events.follow(whole.events_file)[0] if isinstance(event, events.Step) and event.stage == 1)
    step = max(first, 4) if at == "the first joint step" else first + 3
    taken, count = Meter.add, iter(range(1, 1000))

    def stop_there(meter: Meter, losses: Tensor, rows: int) -> None:
        taken(meter, losses, rows)
        if next(count) == step:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(Meter, "add", stop_there)
    with pytest.raises(Interrupted, match=f"after step {step} of"):
        train(recipe, dev_score=length_of_a_vector)
    monkeypatch.undo()
    assert saved_bytes(train(recipe, resume=True, dev_score=length_of_a_vector)) == saved_bytes(whole)


def test_a_second_ctrl_c_does_not_wait(train: Train, tiny_encoder: Path) -> None:
    def twice(event: events.Event) -> None:
        if isinstance(event, events.Step):
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(recipe_of(tiny_encoder), report=twice)


def test_a_damaged_newest_checkpoint_is_passed_over_with_a_note(train: Train, tiny_encoder: Path, tmp_path: Path) -> None:
    recipe = recipe_of(tiny_encoder, every=0.25)
    scores = iter([9.0, 1.0, 1.0, 1.0])  # so that the first checkpoint is kept as the best
    stopped = 0

    def stop_at_the_third(event: events.Event) -> None:
        nonlocal stopped
        stopped += isinstance(event, events.Dev)
        if stopped == 3:
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(Interrupted):
        train(recipe, dev_score=lambda _: next(scores), report=stop_at_the_third)
    run = RunFolder.of(tmp_path / "runs", "small", 1)
    best, newest = Checkpoints(run.checkpoints).steps()
    damaged = Checkpoints(run.checkpoints).path(newest) / "optimizer.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:100])
    scores = iter([1.0] * 3)
    told: list[events.Event] = []
    train(recipe, resume=True, dev_score=lambda _: next(scores), report=told.append)
    assert next(event.step for event in told if isinstance(event, events.Started)) == best
    assert any(isinstance(event, events.Note) and "damaged" in event.text for event in told)
    assert saved_bytes(run) == saved_bytes(train(recipe, "whole", dev_score=length_of_a_vector))


def test_another_recipe_is_not_resumed(train: Train, tiny_encoder: Path) -> None:
    train(recipe_of(tiny_encoder, stage(rows=16)))
    with pytest.raises(UsageError, match="another recipe"):
        train(recipe_of(tiny_encoder, stage(rows=32)), resume=True)


def test_resuming_what_was_never_begun_begins_it(train: Train, tiny_encoder: Path) -> None:
    run = train(recipe_of(tiny_encoder, stage(rows=16)), resume=True)
    assert status(run).state == "finished"
