"""Several processes give the loss and the gradient of one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
import torch
import torch.distributed as dist
from accelerate import PartialState

from embedlab.encoders.device import Machine
from embedlab.runs import events
from embedlab.runs.status import run_status
from embedlab.runs.store import RunFolder
from embedlab.training import parallel
from embedlab.training.gradients import LossScale
from embedlab.training.learner import Learner, backward, dropout_places, dropout_rate
from embedlab.training.order import batch_generator
from embedlab.training.parallel import StepDecision, Team, join_team
from tests.processes import at_once, process
from tests.training.small_runs import (
    MACHINE,
    assert_close,
    collation_of,
    events_of,
    gradients_of,
    open_encoder,
    recipe_of,
    saved_bytes,
    stage,
)


def size_of_the_team() -> int:
    """As the exit code of a process."""
    return join_team(torch.device("cpu")).size


@pytest.mark.parametrize(
    "variables", [{"WORLD_SIZE": "2", "RANK": "1"}, {"PMI_SIZE": "3"}], ids=["two of four", "other"]
)
def test_variables_of_a_team_count_only_together(
    variables: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    (ended,) = at_once([(size_of_the_team, ())])
    assert (ended.code, ended.err) == (1, "")


STAGES = {
    "premise groups with drawn sets": stage(positives=2, negatives=3),
    "pairs": stage("nli_softmax"),
    "triplets": stage(
        "in_batch_contrastive",
        dataset="nli-triplets",
        positives="triplets",
        projection="one-layer",
    ),
    "two views, a few sentences at a time": stage(
        "in_batch_contrastive", optim={"micro_batch": 3}, dataset="wiki-split"
    ),
    "fewer sentences than processes": stage("in_batch_contrastive", 2, dataset="wiki-split"),
}


def step(
    folder: Path, of: dict[str, Any], team: Team, machine: Machine = MACHINE
) -> tuple[float, dict[str, torch.Tensor]]:
    """The loss of a stage's first batch and every gradient, without dropout."""
    encoder = open_encoder(folder, machine, "mean-without-cls")
    collation = collation_of(encoder, recipe_of(folder, of), team)
    learner = Learner(encoder, {0: collation.objective}, team).to(machine.device).train()
    with dropout_rate(dropout_places(encoder.backbone), 0.0):
        rows = collation.data.batches(0)[0]
        batch = collation.collate(rows, batch_generator(1, 0, 0, 0)).to(machine.device)
        is_cached = collation.chunk_limit is not None
        loss = backward(learner, [batch], LossScale(machine), is_cached=is_cached)
    team.add_gradients(learner.encoder, learner.objectives)
    return loss.item(), {name: one.cpu() for name, one in gradients_of(learner).items()}


def member(rank: int, size: int, folder: Path, out: Path, machine: Machine = MACHINE) -> None:
    """One process of a team: every stage's step, and what all agree on."""
    numbers = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": size, "LOCAL_WORLD_SIZE": size}
    os.environ |= {name: str(number) for name, number in numbers.items()}
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    torch.set_num_threads(1)
    meeting = f"file://{out / 'meeting'}"
    dist.init_process_group("gloo", init_method=meeting, rank=rank, world_size=size)
    PartialState(cpu=True)  # so that it takes the group as it is
    # which need not be here: the processors agree without it
    team = join_team(torch.device("cuda"))
    assert (team.rank, team.size) == (rank, size)
    parallel.BUCKET_BYTES = 2**16  # so that there are several
    found = {name: step(folder, of, team, machine) for name, of in STAGES.items()}
    # That of the last process counts for all, and of the times the leader's.
    agreed = [
        team.agree(signal.SIGTERM if rank == size - 1 else None, is_time=False),
        team.agree(None, is_time=rank == 0),
        team.agree(None, is_time=rank == 1),
    ]
    states = team.random_states({"cpu": torch.tensor([rank])})
    result = {"steps": found, "agreed": agreed, "states": states}
    torch.save(result, out / f"{rank}.pt")
    dist.destroy_process_group()


def run_team(size: int, encoder: Path, out: Path, machine: Machine = MACHINE) -> None:
    """Let every member of a team write what it finds to OUT."""
    # A fork of this process would wait for threads of polars that it has not got.
    team = [process(member, rank, size, encoder, out, machine) for rank in range(size)]
    for each in team:
        each.start()
    for each in team:
        each.join(300)
    assert [each.exitcode for each in team] == [0] * size


def assert_same_steps(
    found: dict[str, Any], expected: dict[str, Any], *, rtol: float = 1e-4, atol: float = 1e-6
) -> None:
    """Compare the losses and gradients of every stage."""
    for name, (loss, gradients) in expected.items():
        assert found[name][0] == pytest.approx(loss, rel=10 * atol, abs=1e-7), name
        assert_close(found[name][1], gradients, rtol=rtol, atol=atol)


def test_three_processes_take_the_step_of_one(tiny_encoder: Path, tmp_path: Path) -> None:
    run_team(3, tiny_encoder, tmp_path)
    alone = {name: step(tiny_encoder, of, Team()) for name, of in STAGES.items()}
    for rank in range(3):
        saved = torch.load(tmp_path / f"{rank}.pt", weights_only=False)
        assert_same_steps(saved["steps"], alone)
        assert saved["agreed"] == [
            StepDecision(is_checkpoint_due=True, stop=signal.SIGTERM),
            StepDecision(is_checkpoint_due=True, stop=None),
            StepDecision(is_checkpoint_due=False, stop=None),
        ]
        states = {state: int(value) for state, value in saved["states"].items()}
        assert states == {"cpu": 0, "cpu.1": 1, "cpu.2": 2}


def test_each_process_takes_its_own_random_states() -> None:
    states = {"cpu": torch.tensor([0]), "cpu.1": torch.tensor([1])}
    assert Team(rank=0, size=2).own_states(states) == {"cpu": states["cpu"]}
    assert Team(rank=1, size=2).own_states(states) == {"cpu": states["cpu.1"]}
    assert Team(rank=2, size=3).own_states(states) == {}


def torchrun(tmp_path: Path, *words: str) -> "subprocess.Popen[str]":
    launcher = "-m torch.distributed.run --standalone --local-addr=127.0.0.1 --nproc-per-node=2"
    command = "-m embedlab train snli-supcl --data tiny --device cpu --threads 1 --keep-checkpoints"
    values = (
        "optim.epochs=3",
        "optim.batch_size=8",
        "data.rows=160",
        'evaluate.tasks=["sts"]',
        "evaluate.dev=none",
    )
    words = (*words, "--runs", str(tmp_path / "runs"), *(f"--set={value}" for value in values))
    return subprocess.Popen(
        [sys.executable, *launcher.split(), *command.split(), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"},
    )


@pytest.mark.slow
def test_two_processes_train_a_run_and_go_on_where_they_stopped(tmp_path: Path) -> None:
    whole = torchrun(tmp_path, "--name", "whole")
    assert "sts-benchmark" in whole.communicate()[0]
    assert whole.returncode == 0
    run, stopped = (RunFolder.of(tmp_path / "runs", name, 1) for name in ("whole", "stopped"))
    assert len(events_of(run, events.Started)) == 1  # one of them writes

    started = torchrun(tmp_path, "--name", "stopped")
    while not (stopped.events_file.exists() and events_of(stopped, events.Step)):
        time.sleep(0.01)
        assert started.poll() is None
    # Not the one that leads: a stop that any of them receives is everybody's.
    leader = events_of(stopped, events.Started)[0].pid
    members = [child.pid for child in psutil.Process(started.pid).children() if child.pid != leader]
    os.kill(members[-1], signal.SIGTERM)
    assert "a checkpoint is saved" in started.communicate()[1]
    assert run_status(stopped).state == "interrupted"
    again = torchrun(tmp_path, "--name", "stopped", "--resume")
    assert again.communicate()[0]
    assert again.returncode == 0
    assert saved_bytes(stopped) == saved_bytes(run)
