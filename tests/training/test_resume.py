"""A run that was stopped, in whichever way, ends as if it had not been."""

import shutil
import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from embedlab.core.disk import CHECKSUMS, write_checksums
from embedlab.core.errors import ExitCode, Interrupted, MissingError, UsageError
from embedlab.core.recipe import Recipe
from embedlab.objectives.objective import TrainedEncoder
from embedlab.runs import events
from embedlab.runs.status import run_status
from embedlab.runs.store import RunFolder
from embedlab.training.blocks import plan_stages
from embedlab.training.checkpointing import Checkpoints, Snapshot
from tests.processes import process
from tests.refusal import refused
from tests.training import killed_run
from tests.training.small_runs import (
    SAMPLE,
    KilledError,
    Train,
    assert_resumes,
    events_of,
    fusion_stages,
    given_stages,
    interrupted,
    length_of_a_vector,
    mixed_stages,
    notes_of,
    recipe_of,
    save_checkpoints,
    saved_bytes,
    scores_in_turn,
    stage,
    train_in,
    two_stages,
)


def test_a_run_without_a_checkpoint_says_that_it_begins_again(
    train: Train, small: RunFolder, tiny_encoder: Path
) -> None:
    recipe = recipe_of(tiny_encoder, stage(rows=48))
    interrupted(train, recipe, 1)
    shutil.rmtree(small.checkpoints)
    train(recipe, resume=True)
    assert any("begins again from step 0" in note for note in notes_of(small))


def test_a_killed_process_loses_nothing(
    train: Train, small: RunFolder, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = two_stages(tiny_encoder)
    save_checkpoints(monkeypatch, every=killed_run.EVERY)
    whole = train(recipe, "whole", dev_score=length_of_a_vector)
    ends = [event.step for event in events_of(whole, events.Checkpoint)]
    kill_at = ends[5] + 1  # in the second stage, one step after a checkpoint
    assert kill_at not in ends
    runs = small.path.parents[1]
    for moment in ("while a checkpoint is written", "between two checkpoints"):
        child = process(killed_run.train_until, moment, kill_at, tiny_encoder, runs)
        child.start()
        child.join()
        assert child.exitcode == -signal.SIGKILL, moment
        complete = list(map(int, (runs / killed_run.COMPLETE).read_text().split()))
        assert Checkpoints(small.checkpoints).steps()[-1] == complete[-1]
        assert complete == ends[: len(complete)]
        assert run_status(small).state == "crashed"
    with pytest.raises(UsageError, match="exists already, unfinished"):
        train(recipe)
    train(recipe, resume=True, dev_score=length_of_a_vector)
    assert saved_bytes(small) == saved_bytes(whole)
    assert run_status(small).state == "finished"
    assert not list(small.checkpoints.glob(".*"))


SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGXCPU)


def test_a_signal_stops_after_the_step_with_a_checkpoint(
    train: Train, small: RunFolder, tiny_encoder: Path
) -> None:
    recipe = recipe_of(tiny_encoder, stage(rows=96, negatives=3))
    for done, number in enumerate(SIGNALS):
        before = signal.getsignal(number)
        stop = interrupted(train, recipe, 1, number, resume=done > 0)
        assert stop.message.startswith(f"stopped by {number.name} after step {done + 1} of ")
        assert stop.message.endswith("; a checkpoint is saved")
        assert stop.exit_code == ExitCode.INTERRUPTED
        assert "--resume" in stop.hint
        assert signal.getsignal(number) is before
        assert run_status(small).state == "interrupted"
    assert saved_bytes(train(recipe, resume=True)) == saved_bytes(train(recipe, "whole"))


def test_a_run_that_mixes_signals_goes_on_wherever_it_stopped(
    train: Train, tiny_encoder: Path
) -> None:
    recipe = mixed_stages(tiny_encoder)
    end = plan_stages(recipe, SAMPLE, 1)[0].steps
    # Before a turn, after one, within one, at the end of the block and in the next.
    steps = [3, 4, 6, end, end + 1]
    assert_resumes(train, recipe, steps, dev_score=length_of_a_vector)


@pytest.mark.parametrize("of", [fusion_stages, given_stages])
def test_stages_in_step_go_on_wherever_they_stopped(
    of: Callable[[Path], Recipe], train: Train, tiny_encoder: Path
) -> None:
    recipe = of(tiny_encoder)
    half = plan_stages(recipe, SAMPLE, 1)[-1].end // 2
    # Within a pair of steps, at an epoch's end and in the next.
    assert_resumes(train, recipe, [1, half, half + 1], dev_score=length_of_a_vector)


def test_a_signal_while_sentences_are_tokenised_does_not_wait_for_the_first_step(
    train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedlab.training.batching.TOKENISED_AT_ONCE", 8)

    def stop(_done: int, _total: int) -> None:
        signal.raise_signal(signal.SIGTERM)

    with pytest.raises(Interrupted, match="stopped by SIGTERM before step 1 of"):
        train(recipe_of(tiny_encoder, stage(rows=96)), progress=stop)


def test_a_signal_that_comes_too_late_for_a_run_ends_what_follows_it(
    train: Train, small: RunFolder, tiny_encoder: Path
) -> None:
    received: list[int] = []

    def stop(event: events.Event) -> None:
        if isinstance(event, events.Finished):
            signal.raise_signal(signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, lambda number, _: received.append(number))
    try:
        train(recipe_of(tiny_encoder), report=stop)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert received == [signal.SIGTERM]
    assert run_status(small).state == "finished"


def flip(file: Path, byte: int) -> None:
    content = bytearray(file.read_bytes())
    content[byte] ^= 1
    file.write_bytes(content)


def edit(folder: Path, part: str, change: Callable[[dict[str, torch.Tensor]], object]) -> None:
    """Change a part of a checkpoint to that of a run with another encoder or objective."""
    tensors = load_file(folder / f"{part}.safetensors")
    change(tensors)
    save_file(tensors, folder / f"{part}.safetensors")
    write_checksums(folder)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "a flipped bit in the random state": lambda folder: flip(folder / "random.safetensors", -9),
    "no checksums": lambda folder: (folder / CHECKSUMS).unlink(),
    "a missing weight": lambda folder: edit(folder, "encoder", lambda one: one.popitem()),
    "a weight of another shape": lambda folder: edit(
        folder, "heads", lambda one: one.update({name: one[name][:1] for name in list(one)})
    ),
}


def four_scores(encoder: Path, **evaluate: object) -> Recipe:
    """Dev scores after 3, 6, 9 and 11 steps."""
    return recipe_of(encoder, every=0.25, **evaluate)


@pytest.fixture(scope="module")
def stopped_run(tiny_encoder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The runs of a training that was stopped after 7 steps, and of one that was not."""
    recipe, folder = four_scores(tiny_encoder), tmp_path_factory.mktemp("stopped")
    train_here = partial(train_in, folder, dev_score=lambda _: 1.0)
    train_here(recipe, "whole")
    with pytest.MonkeyPatch.context() as patch:
        save_checkpoints(patch, every=3)
        interrupted(train_here, recipe, 7)
    return folder


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_gives_way_to_the_one_before_with_a_note(
    damage: str,
    train: Train,
    small: RunFolder,
    stopped_run: Path,
    tiny_encoder: Path,
    tmp_path: Path,
) -> None:
    shutil.copytree(stopped_run, tmp_path / "runs")
    checkpoints = Checkpoints(small.checkpoints)
    assert checkpoints.steps() == [6, 7]
    DAMAGES[damage](checkpoints.path(7))
    reported: list[events.Event] = []
    train(four_scores(tiny_encoder), resume=True, dev_score=lambda _: 1.0, report=reported.append)
    assert next(event.step for event in reported if isinstance(event, events.Started)) == 6
    (note,) = [event.text for event in reported if isinstance(event, events.Noted)]
    assert "step-0000007" in note
    assert "damaged" in note or "cannot read" in note
    assert note.endswith("; training goes on from step 6")
    assert saved_bytes(small) == saved_bytes(RunFolder.of(stopped_run, "whole", 1))


def test_a_damaged_best_model_is_refused_by_name_and_resuming_makes_it_again(
    train: Train, small: RunFolder, tiny_encoder: Path
) -> None:
    recipe = four_scores(tiny_encoder, keep="best")

    def scored(name: str, **options: Any) -> dict[str, bytes]:
        first_is_best = scores_in_turn(5.0, 1.0, 2.0, 1.0)
        return saved_bytes(train(recipe, name, dev_score=first_is_best, **options))

    def damage_the_best(event: events.Event) -> None:
        if isinstance(event, events.Checkpoint) and event.step == 11:
            flip(Checkpoints(small.checkpoints).best_path(3) / "encoder.safetensors", -1)

    with refused("best-0000003/encoder.safetensors' is damaged", "--resume", MissingError):
        scored("small", report=damage_the_best)
    assert scored("small", resume=True) == scored("whole")


def kill_at_a_best_model(moment: str, step: int, patch: pytest.MonkeyPatch) -> None:
    """End a training at this MOMENT of storing the best model of STEP."""

    def kill(model: Snapshot) -> None:
        if model.is_best_model and model.step == step:
            raise KilledError

    write, drop = Snapshot.write, Checkpoints._drop_others

    def write_or_die(model: Snapshot, folder: Path) -> None:
        if moment == "before it is stored":
            kill(model)
        write(model, folder)
        if moment == "after it is stored":
            kill(model)

    def die_then_drop(checkpoints: Checkpoints, steps: Any, best: int | None = None) -> None:
        drop(checkpoints, steps, best)
        if best == step:
            raise KilledError

    patch.setattr(Snapshot, "write", write_or_die)
    if moment == "after others are deleted":
        patch.setattr(Checkpoints, "_drop_others", die_then_drop)


@pytest.mark.parametrize("every", [4, pytest.param(100, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "moment", ["before it is stored", "after it is stored", "after others are deleted"]
)
def test_a_run_that_is_killed_at_a_best_model_ends_with_the_best_model_of_an_undisturbed_one(
    moment: str, every: int, train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = recipe_of(tiny_encoder, stage(rows=112), every=0.1, keep="best")
    save_checkpoints(monkeypatch, every=every)
    lengths: list[float] = []

    def near_the_sixth(trained: TrainedEncoder) -> float:
        lengths.append(length_of_a_vector(trained))
        return float(len(lengths)) if len(lengths) <= 6 else -abs(lengths[-1] - lengths[5])

    def same(trained: TrainedEncoder) -> float:
        return scores[length_of_a_vector(trained)]

    whole = train(recipe, "whole", dev_score=near_the_sixth)
    scored = events_of(whole, events.Dev)
    scores = {length: event.score for length, event in zip(lengths, scored, strict=True)}
    for event in scored[1:6:2]:
        with monkeypatch.context() as patch:
            kill_at_a_best_model(moment, event.step, patch)
            with pytest.raises(KilledError):
                train(recipe, resume=True, dev_score=same)
    run = train(recipe, resume=True, dev_score=same)
    assert saved_bytes(run) == saved_bytes(whole)
    assert f"the model is that of step {scored[5].step}" in run.events_file.read_text()
    checkpoints = Checkpoints(run.checkpoints)
    bests = [checkpoints.read(step).best for step in checkpoints.steps()]
    named = {checkpoints.best_path(best.step).name for best in bests if best is not None}
    assert {path.name for path in run.checkpoints.glob("*best*")} == named


def test_a_best_model_that_no_checkpoint_names_is_not_that_of_the_resumed_run(
    train: Train, small: RunFolder, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = four_scores(tiny_encoder, keep="best")
    save_checkpoints(monkeypatch, every=5)
    with monkeypatch.context() as patch:
        kill_at_a_best_model("after others are deleted", 6, patch)
        with pytest.raises(KilledError):
            train(recipe, dev_score=scores_in_turn(5.0, 9.0))
    stored = {path.name for path in small.checkpoints.glob("best-*")}
    assert stored == {"best-0000003", "best-0000006"}
    # as on another machine
    run = train(recipe, resume=True, dev_score=scores_in_turn(1.0, 1.0, 1.0))
    whole = train(recipe, "whole", dev_score=scores_in_turn(5.0, 1.0, 1.0, 1.0))
    assert saved_bytes(run) == saved_bytes(whole)
