"""Training on a GPU, against the same on a processor: `make test-gpu`."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from embedlab.core.names import objective_names
from embedlab.core.settings import Settings
from embedlab.encoders.device import Machine, machine
from embedlab.training.parallel import Team
from tests.objectives.test_contract import made
from tests.training.small_runs import (
    MACHINE,
    Train,
    assert_close,
    assert_resumes,
    last_checkpoint,
    open_encoder,
    recipe_of,
    stage,
)
from tests.training.test_parallel import STAGES, assert_same_steps, run_team, step

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("name", objective_names())
def test_an_objective_has_the_loss_and_gradient_that_it_has_on_a_processor(
    name: str, tiny_encoder: Path, gpu: Machine
) -> None:
    objective, drawn, batch = made(name, {}, tiny_encoder)
    objective.eval()  # dropout is drawn otherwise there
    found = []
    for device in (torch.device("cpu"), gpu.device):
        vectors = nn.Parameter(drawn.detach().to(device))
        columns = {key: value.to(device) for key, value in batch.items()}
        loss = objective.to(device)(vectors, columns)
        loss.backward()
        assert vectors.grad is not None
        found.append((loss.item(), vectors.grad.cpu()))
    assert found[1][0] == pytest.approx(found[0][0], rel=1e-5)
    torch.testing.assert_close(found[1][1], found[0][1], rtol=1e-4, atol=1e-6)


def test_a_step_of_every_kind_of_stage_has_the_gradients_that_it_has_on_a_processor(
    tiny_encoder: Path, gpu: Machine
) -> None:
    here, there = (
        {name: step(tiny_encoder, of, Team(), place) for name, of in STAGES.items()}
        for place in (MACHINE, gpu)
    )
    assert_same_steps(there, here, rtol=1e-3, atol=1e-5)


def test_two_processes_on_one_card_take_the_step_of_one(
    tiny_encoder: Path, tmp_path: Path, gpu: Machine
) -> None:
    run_team(2, tiny_encoder, tmp_path, gpu)
    alone = {name: step(tiny_encoder, of, Team(), gpu) for name, of in STAGES.items()}
    for rank in range(2):
        saved = torch.load(tmp_path / f"{rank}.pt", weights_only=False)
        assert_same_steps(saved["steps"], alone, rtol=1e-3, atol=1e-5)


@pytest.mark.parametrize(("precision", "atol"), [("float32", 1e-4), ("bf16", 5e-2)])
def test_sentences_are_encoded_as_on_a_processor(
    precision: Any, atol: float, tiny_encoder: Path, gpu: Machine
) -> None:
    sentences = [f"{'a man sleeps ' * (1 + number % 4)}{number}" for number in range(20_000)]
    there, here = (
        open_encoder(tiny_encoder, place) for place in (replace(gpu, precision=precision), MACHINE)
    )
    found = there.encode(sentences)[::97]
    np.testing.assert_allclose(found, here.encode(sentences[::97]), atol=atol)


@pytest.mark.parametrize("precision", ["float32", "fp16"])
def test_a_deterministic_run_that_was_stopped_ends_with_the_same_bits(
    precision: Any, train: Train, tiny_encoder: Path, gpu: Machine
) -> None:
    with warnings.catch_warnings():
        # torch warns of operations that are not deterministic
        warnings.simplefilter("error", UserWarning)
        settings = Settings(device="cuda", deterministic=True, precision=precision)
        place = machine(settings, training=True)
        recipe = recipe_of(tiny_encoder, stage(rows=48))
        assert_resumes(train, recipe, [2], machine=place)
    torch.use_deterministic_algorithms(mode=False)


def test_fp16_goes_where_float32_goes(train: Train, tiny_encoder: Path, gpu: Machine) -> None:
    recipe = recipe_of(tiny_encoder, stage(rows=48))
    whole, half = (
        last_checkpoint(train(recipe, name, machine=replace(gpu, precision=name)))
        for name in ("float32", "fp16")
    )
    assert half.scale["scale"] >= 1
    assert_close(half.encoder, whole.encoder, rtol=5e-2, atol=5e-3)
