"""How the learning rate moves, and when a dev score is due: pure functions of the step."""

from collections.abc import Sequence
from math import ceil

from embedlab.recipe import Schedule


def rate_factor(step: int, steps: int, *, warmup: float, schedule: Schedule) -> float:
    """Share of the learning rate that step STEP of STEPS (counted from 0) is taken with.

    It rises linearly over the first share WARMUP of the steps; then it stays (constant) or falls linearly to zero.
    """
    rising = ceil(warmup * steps)
    if step < rising:
        return step / rising
    return 1.0 if schedule == "constant" else (steps - step) / max(1, steps - rising)


def dev_steps(epochs: Sequence[int], every: float) -> frozenset[int]:
    """Steps of a stage, counted from 1, after which a dev score is due: each share EVERY of an epoch, and its last step.

    EPOCHS are the steps of each epoch; an EVERY of 0 means the last step alone.
    """
    due, done = {sum(epochs)}, 0
    for steps in epochs:
        parts = int(1 / every + 1e-9) if every else 0
        due |= {done + ceil(round(part * every * steps, 6)) for part in range(1, parts + 1)}
        done += steps
    return frozenset(due)
