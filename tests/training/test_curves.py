"""The loss curve of a run depends on its recipe and seed alone: not on the clock, and not on where
the run was stopped.
"""

import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from embedlab.runs import events
from embedlab.runs.status import run_status
from embedlab.training import loop
from tests.training.small_runs import (
    Train,
    curve,
    events_of,
    length_of_a_vector,
    mixed_stages,
    recipe_of,
    short_stages,
    stage,
)


@pytest.mark.parametrize(
    "of", [short_stages, pytest.param(mixed_stages, marks=pytest.mark.slow)]
)  # the same loop takes both
def test_equal_runs_have_equal_curves_however_fast_the_clock_goes(
    of: Callable[[Path], object], train: Train, tiny_encoder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = train(of(tiny_encoder), "quick", dev_score=length_of_a_vector)
    now = time.perf_counter
    with monkeypatch.context() as patch:
        patch.setattr(loop.time, "perf_counter", lambda: 1000 * now())
        slow = train(of(tiny_encoder), "slow", dev_score=length_of_a_vector)
    assert curve(slow) == curve(quick)
    assert run_status(slow).step is not None
    assert events_of(slow, events.Progress)
    assert not events_of(quick, events.Progress)


def test_a_loss_is_reported_after_the_first_step_and_each_nth(
    train: Train, tiny_encoder: Path
) -> None:
    run = train(recipe_of(tiny_encoder, stage(rows=96), log_every=4))
    steps = [*curve(run)]
    assert steps == [1, *range(4, steps[-1], 4), steps[-1]]
    assert len(steps) >= 3
    whole = curve(train(recipe_of(tiny_encoder, stage(rows=96), log_every=1), "every"))
    assert [*whole] == list(range(1, steps[-1] + 1))
    losses = [*whole.values()]
    means = [sum(losses[first:last]) / (last - first) for first, last in pairwise([0, *steps])]
    assert [*curve(run).values()] == pytest.approx(means, rel=1e-5)
