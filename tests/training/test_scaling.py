"""The factor of the loss in fp16, against steps without one; here on a processor, which computes
fp16 slowly but alike.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from embedlab.runs import events
from embedlab.runs.store import RunFolder
from embedlab.training.gradients import LossScale
from embedlab.training.loop import adamw
from tests.training.small_runs import (
    MACHINE,
    Train,
    assert_resumes,
    events_of,
    last_checkpoint,
    notes_of,
    recipe_of,
    stage,
)

FP16 = replace(MACHINE, precision="fp16", has_cpu_engine=False)


def one_step(
    scale: LossScale, loss: Callable[[Tensor], Tensor], clip: float | None = None
) -> Tensor:
    """The change of a parameter by one plain step of gradient descent at a rate of 1."""
    parameter = nn.Parameter(torch.tensor([1.0, 2.0]))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    scale.backward(loss(parameter))
    scale.step(optimizer, [parameter], clip)
    return parameter.detach() - torch.tensor([1.0, 2.0])


@pytest.mark.parametrize("clip", [None, 0.5])
def test_a_step_does_not_depend_on_the_factor(clip: float | None) -> None:
    def loss(parameter: Tensor) -> Tensor:
        return (parameter * torch.tensor([3.0, -4.0])).sum()

    plain, scaled = (one_step(LossScale(machine), loss, clip) for machine in (MACHINE, FP16))
    expected = torch.tensor([-3.0, 4.0]) * (1.0 if clip is None else clip / 5)
    torch.testing.assert_close(plain, expected)
    torch.testing.assert_close(scaled, expected)


def test_a_step_that_is_not_finite_is_left_out_and_halves_the_factor() -> None:
    parameter, scale = nn.Parameter(torch.tensor([[1.0]])), LossScale(FP16)
    optimizer = adamw({"only": parameter})
    for group in optimizer.param_groups:
        group["lr"] = 0.1
    before = scale.state()["scale"]
    scale.backward(parameter.sum() * torch.inf)
    scale.step(optimizer, [parameter], None)
    assert parameter.item() == 1.0
    assert scale.state()["scale"] == before / 2
    optimizer.zero_grad()
    scale.backward(parameter.sum())
    scale.step(optimizer, [parameter], None)
    assert parameter.item() == pytest.approx(0.9, abs=1e-3)
    later = LossScale(FP16)
    later.restore(scale.state())
    assert scale.skipped == later.skipped == 1


def test_skipped_steps_are_counted_in_the_events_and_in_a_note(
    train: Train, tiny_encoder: Path
) -> None:
    gradients_of_a_million = stage(rows=48, temperature=1e-6, similarity="cosine")
    run = train(recipe_of(tiny_encoder, gradients_of_a_million, log_every=1), machine=FP16)
    counts = [event.skipped for event in events_of(run, events.Step)]
    assert counts == sorted(counts)
    assert counts[-1] > 0
    assert notes_of(run) == [
        f"{counts[-1]} of {len(counts)} steps were skipped: their gradients were too large for fp16"
    ]


def test_a_stopped_run_in_fp16_goes_on_with_its_factor_and_ends_as_if_it_had_not_been(
    train: Train, small: RunFolder, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = recipe_of(tiny_encoder, stage(rows=48))
    monkeypatch.setattr(torch.amp.GradScaler, "__init__", grown_soon(torch.amp.GradScaler.__init__))
    assert_resumes(train, recipe, [2], machine=FP16)
    end = last_checkpoint(small)
    assert end.scale["scale"] == 2.0 ** (16 + end.step // 2)  # doubled by every second step
    assert small.environment().precision == "fp16"


def grown_soon(made: Callable[..., None]) -> Callable[..., None]:
    """The constructor of a scaler that doubles its factor every second step, so that a short run
    shows it.
    """

    def make(scaler: torch.amp.GradScaler, *given: object, **named: object) -> None:
        made(scaler, *given, **{**named, "growth_interval": 2})

    return make
