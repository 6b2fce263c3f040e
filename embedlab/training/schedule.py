"""The learning rate schedule, and the steps at which a dev score is due: pure functions of the
step.
"""

from collections.abc import Sequence
from math import ceil

from embedlab.core.recipe import Schedule


def rate_factor(
    step: int, steps: int, *, warmup: float, schedule: Schedule, warmup_steps: int | None = None
) -> float:
    """Return the share of the learning rate at step STEP of STEPS (counted from 0).

    It rises linearly over the first share WARMUP of the steps, or over WARMUP_STEPS; then it is
    constant or falls linearly to zero.
    """
    rising = ceil(warmup * steps) if warmup_steps is None else warmup_steps
    if step < rising:
        return step / rising
    return 1.0 if schedule == "constant" else (steps - step) / max(1, steps - rising)


def dev_steps(epochs: Sequence[int], passes: float, every: float) -> frozenset[int]:
    """Return the steps of a stage, from 1, after which a dev score is due: each share EVERY of an
    epoch, and its last step.

    EPOCHS are the steps of each of its PASSES over the data, the last of which may be a fraction;
    an EVERY of 0 means the last step alone.
    """
    due, done = {sum(epochs)}, 0
    for epoch, steps in enumerate(epochs):
        whole = steps / min(1.0, passes - epoch)
        parts = int(1 / every + 1e-9) if every else 0
        marks = (ceil(round(index * every * whole, 6)) for index in range(1, parts + 1))
        due |= {done + mark for mark in marks if mark <= steps}
        done += steps
    return frozenset(due)
