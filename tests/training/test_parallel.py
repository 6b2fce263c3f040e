"""Several processes give the loss and the gradient of one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch
import torch.distributed as dist
from accelerate import PartialState
from torch import nn

from embedlab.encoders.checkpoint import load_transformer
from embedlab.encoders.device import Machine
from embedlab.models.reading import Wishes
from embedlab.objectives.needs import objective_needs
from embedlab.objectives.objective import build_objective
from embedlab.runs import events
from embedlab.runs.status import run_status
from embedlab.runs.store import RunFolder
from embedlab.training import parallel
from embedlab.training.batching import Collation, cut_for, tokenise
from embedlab.training.gradients import LossScale
from embedlab.training.learner import Learner, backward, dropout_places, dropout_rate
from embedlab.training.order import batch_generator
from embedlab.training.parallel import Agreed, Team, join_team
from embedlab.training.stage_data import open_stage
from tests.processes import at_once, process
from tests.training.small_runs import MACHINE, SAMPLE, recipe_of, saved_bytes, stage


def size_of_the_team() -> int:
    """As the exit code of a process."""
    return join_team(torch.device("cpu")).size


@pytest.mark.parametrize(
    "variables",
    [
        {"WORLD_SIZE": "2"},
        {"WORLD_SIZE": "2", "RANK": "1"},
        {"LOCAL_RANK": "1", "RANK": "0", "WORLD_SIZE": "2"},
        {"PMI_SIZE": "3"},
    ],
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
    "triplets": stage("in_batch_contrastive", positives="triplets", projection="one-layer"),
    "two views, a few sentences at a time": stage("in_batch_contrastive", optim={"micro_batch": 3}),
    "fewer sentences than processes": stage("in_batch_contrastive", rows=2),
}
STAGES["triplets"]["data"]["datasets"] = ["nli-triplets"]
for name in ("two views, a few sentences at a time", "fewer sentences than processes"):
    STAGES[name]["data"]["datasets"] = ["wiki-split"]


def step(
    folder: Path, of: dict[str, Any], team: Team, machine: Machine = MACHINE
) -> tuple[float, dict[str, torch.Tensor]]:
    """The loss of a stage's first batch and every gradient, without dropout."""
    recipe = recipe_of(folder, of)
    encoder = load_transformer(
        str(folder), machine, wishes=Wishes(pooling="mean-without-cls", max_tokens=32)
    )
    data = open_stage(recipe, SAMPLE, seed=1, index=0)
    torch.manual_seed(0)
    objective = build_objective(recipe.stages[0].objective, encoder.dim)
    collation = Collation(
        data=data,
        needs=objective_needs(recipe.stages[0].objective),
        tokens=tokenise(encoder, data.rows.sentences.to_list()),
        objective=objective,
        pad=0,
        cut=cut_for(encoder),
        team=team,
    )
    learner = Learner(encoder, {0: objective}, team).to(machine.device).train()
    with dropout_rate(dropout_places(encoder.backbone), 0.0):
        batch = collation.collate(data.batches(0)[0], batch_generator(1, 0, 0, 0)).to(
            machine.device
        )
        loss = backward(
            learner,
            batch,
            LossScale(machine),
            is_cached=recipe.stages[0].optim.micro_batch is not None,
        )
    team.add_gradients(learner.encoder, learner.objectives)
    return loss.item(), {
        name: weight.grad.cpu()
        for name, weight in learner.named_parameters()
        if weight.grad is not None
    }


def member(rank: int, size: int, folder: Path, out: Path, machine: Machine = MACHINE) -> None:
    """One process of a team: every stage's step, and what all agree on."""
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    os.environ |= {
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": str(size),
        "LOCAL_WORLD_SIZE": str(size),
    }
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{out / 'meeting'}", rank=rank, world_size=size
    )
    PartialState(cpu=True)  # so that it takes the group as it is
    team = join_team(
        torch.device("cuda")
    )  # which need not be here: the processors agree without it
    assert (team.rank, team.size) == (rank, size)
    parallel.BUCKET_BYTES = 2**16  # so that there are several
    found = {name: step(folder, of, team, machine) for name, of in STAGES.items()}
    # That of the last process counts for all, and of the times the leader's.
    agreed = [
        team.agree(signal.SIGTERM if rank == size - 1 else None, is_time=False),
        team.agree(None, is_time=rank == 0),
        team.agree(None, is_time=rank == 1),
    ]
    torch.save(
        {
            "steps": found,
            "agreed": agreed,
            "states": team.random_states({"cpu": torch.tensor([rank])}),
        },
        out / f"{rank}.pt",
    )
    dist.destroy_process_group()


def assert_same_steps(
    found: dict[str, Any], expected: dict[str, Any], *, rtol: float = 1e-4, atol: float = 1e-6
) -> None:
    """Compare the losses and gradients of every stage."""
    for name, (loss, gradients) in expected.items():
        found_loss, own = found[name]
        assert found_loss == pytest.approx(loss, rel=10 * atol, abs=1e-7), name
        assert own.keys() == gradients.keys()
        for parameter, gradient in gradients.items():
            torch.testing.assert_close(
                own[parameter], gradient, rtol=rtol, atol=atol, msg=f"{name}: {parameter}"
            )


def test_three_processes_take_the_step_of_one(tiny_encoder: Path, tmp_path: Path) -> None:
    # A fork of this process would wait for threads of polars that it has not got.
    team = [process(member, rank, 3, tiny_encoder, tmp_path) for rank in range(3)]
    for each in team:
        each.start()
    for each in team:
        each.join(300)
    assert [each.exitcode for each in team] == [0, 0, 0]
    alone = {name: step(tiny_encoder, of, Team()) for name, of in STAGES.items()}
    for rank in range(3):
        saved = torch.load(tmp_path / f"{rank}.pt", weights_only=False)
        assert_same_steps(saved["steps"], alone)
        assert saved["agreed"] == [
            Agreed(is_checkpoint_due=True, stop=signal.SIGTERM),
            Agreed(is_checkpoint_due=True, stop=None),
            Agreed(is_checkpoint_due=False, stop=None),
        ]
        assert {state: int(value) for state, value in saved["states"].items()} == {
            "cpu": 0,
            "cpu.1": 1,
            "cpu.2": 2,
        }


def test_gradients_are_added_up_many_at_once_in_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parallel, "BUCKET_BYTES", 40)
    kinds = [torch.float32] * 6 + [torch.bfloat16] * 2
    parameters = [
        nn.Parameter(torch.zeros(size, dtype=kind))
        for size, kind in zip((4, 6, 1, 11, 3, 3, 3, 3), kinds, strict=True)
    ]
    found = list(parallel.buckets(parameters))
    assert [[len(parameter) for parameter in bucket] for bucket in found] == [
        [4, 6],
        [1],
        [11],
        [3, 3],
        [3, 3],
    ]
    assert all(
        one is other
        for one, other in zip([one for bucket in found for one in bucket], parameters, strict=True)
    )


@pytest.mark.parametrize(("sentences", "size"), [(10, 3), (4, 4), (1, 2)])
def test_every_sentence_is_encoded_by_one_process(sentences: int, size: int) -> None:
    shares = [Team(rank=rank, size=size).share(np.arange(sentences)) for rank in range(size)]
    assert set(np.concatenate(shares)) == set(range(sentences))
    assert all(len(share) for share in shares)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_each_process_takes_its_own_random_states() -> None:
    states = {"cpu": torch.tensor([0]), "cpu.1": torch.tensor([1])}
    assert Team(rank=0, size=2).own_states(states) == {"cpu": states["cpu"]}
    assert Team(rank=1, size=2).own_states(states) == {"cpu": states["cpu.1"]}
    assert Team(rank=2, size=3).own_states(states) == {}


def torchrun(tmp_path: Path, *words: str) -> "subprocess.Popen[str]":
    launcher = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--local-addr=127.0.0.1",
        "--nproc-per-node=2",
    ]
    values = [
        "optim.epochs=3",
        "optim.batch_size=8",
        "data.rows=160",
        'evaluate.tasks=["sts"]',
        "evaluate.dev=none",
    ]
    words = (
        *launcher,
        "-m",
        "embedlab",
        "train",
        "snli-supcl",
        *words,
        *(word for value in values for word in ("--set", value)),
    )
    return subprocess.Popen(
        [
            *words,
            "--data",
            "tiny",
            "--device",
            "cpu",
            "--threads",
            "1",
            "--runs",
            str(tmp_path / "runs"),
            "--keep-checkpoints",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"},
    )


def events_of(run: RunFolder) -> list[events.Event]:
    return events.events_after(run.events_file)[0] if run.events_file.exists() else []


@pytest.mark.slow
def test_two_processes_train_a_run_and_go_on_where_they_stopped(tmp_path: Path) -> None:
    whole = torchrun(tmp_path, "--name", "whole")
    assert "sts-benchmark" in whole.communicate()[0]
    assert whole.returncode == 0
    run, stopped = (RunFolder.of(tmp_path / "runs", name, 1) for name in ("whole", "stopped"))
    assert (
        sum(isinstance(event, events.Started) for event in events_of(run)) == 1
    )  # one of them writes

    started = torchrun(tmp_path, "--name", "stopped")
    while not any(isinstance(event, events.Step) for event in events_of(stopped)):
        time.sleep(0.01)
        assert started.poll() is None
    # Not the one that leads: a stop that any of them receives is everybody's.
    leader = next(event.pid for event in events_of(stopped) if isinstance(event, events.Started))
    members = [child.pid for child in psutil.Process(started.pid).children() if child.pid != leader]
    os.kill(members[-1], signal.SIGTERM)
    assert "a checkpoint is saved" in started.communicate()[1]
    assert run_status(stopped).state == "interrupted"
    again = torchrun(tmp_path, "--name", "stopped", "--resume")
    assert again.communicate()[0]
    assert again.returncode == 0
    assert saved_bytes(stopped) == saved_bytes(run)
