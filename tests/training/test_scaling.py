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
from embedlab.training.checkpointing import Checkpoints
from embedlab.training.gradients import LossScale
from embedlab.training.loop import adamw
from tests.training.small_runs import MACHINE, interrupted, recipe_of, saved_bytes, stage

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


def test_a_gradient_that_fp16_cannot_hold_reaches_the_parameter_by_the_factor() -> None:
    grads = []
    for machine in (MACHINE, FP16):
        parameter, scale = nn.Parameter(torch.zeros(1)), LossScale(machine)
        scale.backward((parameter.half() * 1e-4).sum().float() * 1e-4)  # 1e-8 is 0 in fp16
        scale.step(torch.optim.SGD([parameter], lr=1.0), [parameter], None)
        grads.append(-parameter.item())
    assert grads == [0.0, pytest.approx(1e-8, rel=1e-3)]


def test_a_step_that_is_not_finite_is_left_out_and_halves_the_factor() -> None:
    parameter = nn.Parameter(torch.tensor([[1.0]]))
    optimizer = adamw({"only": parameter})
    for group in optimizer.param_groups:
        group["lr"] = 0.1
    scale = LossScale(FP16)
    before = scale.state()["scale"]
    scale.backward(parameter.sum() * torch.inf)
    scale.step(optimizer, [parameter], None)
    assert parameter.item() == 1.0
    assert scale.state()["scale"] == before / 2
    assert scale.skipped == 1
    optimizer.zero_grad()
    scale.backward(parameter.sum())
    scale.step(optimizer, [parameter], None)
    assert parameter.item() == pytest.approx(0.9, abs=1e-3)
    assert scale.skipped == 1
    later = LossScale(FP16)
    later.restore(scale.state())
    assert later.skipped == 1


def test_skipped_steps_are_counted_in_the_events_and_in_a_note(
    small: Callable[..., RunFolder], tiny_encoder: Path
) -> None:
    steep = recipe_of(
        tiny_encoder, stage(rows=48, temperature=1e-6, similarity="cosine"), log_every=1
    )  # gradients of a million
    run = small(steep, machine=FP16)
    emitted = events.events_after(run.events_file)[0]
    counts = [event.skipped for event in emitted if isinstance(event, events.Step)]
    notes = [event.text for event in emitted if isinstance(event, events.Noted)]
    assert counts == sorted(counts)
    assert counts[-1] > 0
    assert notes == [
        f"{counts[-1]} of {len(counts)} steps were skipped: their gradients were too large for fp16"
    ]


def test_without_fp16_there_is_no_factor_to_store() -> None:
    scale = LossScale(MACHINE)
    assert scale.state() == {}
    scale.restore({"scale": 4.0})  # of a checkpoint in fp16
    assert scale.state() == {}


def test_a_stopped_run_in_fp16_goes_on_with_its_factor_and_ends_as_if_it_had_not_been(
    small: Callable[..., RunFolder], tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = recipe_of(tiny_encoder, stage(rows=48))
    monkeypatch.setattr(torch.amp.GradScaler, "__init__", grown_soon(torch.amp.GradScaler.__init__))
    whole = small(recipe, "whole", machine=FP16)
    interrupted(small, recipe, 2, monkeypatch, machine=FP16)
    resumed = small(recipe, resume=True, machine=FP16)
    assert saved_bytes(resumed) == saved_bytes(whole)
    ends = [Checkpoints(run.checkpoints).newest(lambda _: None)[0] for run in (whole, resumed)]
    assert ends[0] is not None
    assert ends[1] is not None
    assert ends[0].scale == ends[1].scale
    assert ends[0].scale["scale"] == 2.0 ** (16 + ends[0].step // 2)  # doubled by every second step
    assert whole.environment().precision == "fp16"


def grown_soon(made: Callable[..., None]) -> Callable[..., None]:
    """The constructor of a scaler that doubles its factor every second step, so that a short run
    shows it.
    """

    def make(scaler: torch.amp.GradScaler, *given: object, **named: object) -> None:
        made(scaler, *given, **{**named, "growth_interval": 2})

    return make


@pytest.fixture
def small(train: Callable[..., RunFolder]) -> Callable[..., RunFolder]:
    """Train on `--data tiny`."""
    return train
