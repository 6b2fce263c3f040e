"""Warm-up, the two schedules, and when dev scores are due."""

import pytest
import torch
from transformers import get_scheduler

from embedlab.training.blocks import dev_steps, rate_factor


@pytest.mark.parametrize("warmup", [0.0, 0.1, 0.5])
@pytest.mark.parametrize(
    ("schedule", "their_name"), [("linear", "linear"), ("constant", "constant_with_warmup")]
)
def test_factors_equal_those_of_transformers(warmup: float, schedule: str, their_name: str) -> None:
    steps = 40
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    rising = int(warmup * steps)
    theirs = get_scheduler(their_name, optimizer, rising, steps)
    for step in range(steps):
        assert rate_factor(step, steps, warmup=warmup, schedule=schedule) == pytest.approx(
            theirs.get_last_lr()[0]
        )  # type: ignore[arg-type]
        optimizer.step()
        theirs.step()


def test_warmup_counted_in_steps_is_in_place_of_its_share() -> None:
    def rate(step: int, **warmup: float) -> float:
        return rate_factor(step, 40, schedule="linear", **warmup)  # type: ignore[arg-type]

    for step in (0, 5, 10, 30):
        assert rate(step, warmup=0.9, warmup_steps=10) == rate(step, warmup=0.25)
    assert rate(0, warmup=0.5, warmup_steps=0) == 1.0
    assert rate(39, warmup=0.0, warmup_steps=50) == 39 / 50


def test_dev_scores_come_every_share_of_each_epoch_and_at_the_end() -> None:
    assert dev_steps((100, 100), 2.0, 0.25) == {25, 50, 75, 100, 125, 150, 175, 200}
    assert dev_steps((100, 50), 1.5, 0.25) == {25, 50, 75, 100, 125, 150}
    assert dev_steps((100, 30), 1.3, 1.0) == {100, 130}
    assert dev_steps((7,), 1.0, 0.3) == {3, 5, 7}
    assert dev_steps((100, 100), 2.0, 0.0) == {200}
