"""Successive halving: all variants train a little, the better half continues, until a few reach the
end.

Jamieson & Talwalkar 2016; the seeds of a variant are ranked together by their mean dev score. It
waits for every cell of a rung, so that what is stopped does not depend on the number of workers.
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from embedlab.core.errors import UsageError
from embedlab.experiments.plan import GridPlan
from embedlab.experiments.queue import Queue, QueueEntry
from embedlab.runs import events
from embedlab.runs.store import RunFolder

PROMOTED_SHARE = 0.5  # share of the variants that continues at each rung


def rungs_for(budget: float) -> tuple[float, ...]:
    """Return the shares of a training after which to halve, so that the grid takes at most about
    this share of its full time.

    With rungs at 2^-K … 1/2 a grid takes 2^-K (1 + K/2): 0.75 with one rung, 0.5 with two, 0.31
    with three.
    """
    if not 0 < budget <= 1:
        raise UsageError(
            f"--budget is {budget:g}: not a share of the grid's time",
            hint="for example --budget 0.5",
        )
    count = next(count for count in range(64) if 2.0**-count * (1 + count / 2) <= budget)
    return tuple(2.0**-power for power in range(count, 0, -1))


def check_rungs(plan: GridPlan, rungs: Sequence[float]) -> None:
    """Refuse recipes whose dev score is computed too rarely for halving, or never."""
    for variant in plan.variants if rungs else ():
        evaluate = variant.recipe["evaluate"]
        epochs = sum(stage["optim"]["epochs"] for stage in variant.recipe["stage"])
        if evaluate["dev"] == "none" or evaluate["every"] == 0:
            raise UsageError(
                f"{variant.run}: without a dev score nothing can be stopped early",
                hint="remove --budget",
            )
        if evaluate["every"] > rungs[0] * epochs:
            needed = rungs[0] * epochs
            raise UsageError(
                f"{variant.run}: a dev score each {evaluate['every']:g} of an epoch is too "
                f"seldom for the first look after {needed:g}",
                hint=f"--set evaluate.every={needed:g}, or take a larger --budget",
            )


def score_at(run: RunFolder, share: float) -> float | None:
    """Return the first dev score after this SHARE of the training; None while the run has not come
    so far.
    """
    try:
        recorded, _ = events.events_after(run.events_file)
    except FileNotFoundError:
        return None
    steps = next((event.steps for event in recorded if isinstance(event, events.Started)), None)
    if steps is None:
        return None
    return next(
        (
            event.score
            for event in recorded
            if isinstance(event, events.Dev) and event.step >= share * steps
        ),
        None,
    )


def promote(plan: GridPlan, queue: Queue) -> None:
    """Where every cell of a rung has arrived, promote the better variants and stop the others."""
    rungs = queue.rungs
    if not rungs:
        return
    entries = queue.entries()
    for rung, share in enumerate(rungs):
        cohort = [
            entry
            for entry in entries
            if entry.rung == rung and entry.state not in {"stopped", "cancelled"}
        ]
        if any(entry.state == "paused" for entry in cohort) and not any(
            entry.state in {"waiting", "running"} for entry in cohort
        ):
            promoted, stopped = _choose(cohort, _scores(plan, cohort, share), share)
            queue.promote(promoted, stopped)
            return


def _scores(plan: GridPlan, cohort: Sequence[QueueEntry], share: float) -> dict[str, float]:
    """Return the mean dev score of each variant; one with a failed cell, or without a number, comes
    last.
    """
    scores: dict[str, list[float]] = {}
    for entry in cohort:
        score = (
            score_at(plan.run(plan.cell(entry.number)), share) if entry.state != "failed" else None
        )
        scores.setdefault(entry.run, []).append(
            -math.inf if score is None or math.isnan(score) else score
        )
    return {run: fmean(score) for run, score in scores.items()}


def _choose(
    cohort: Sequence[QueueEntry], scores: Mapping[str, float], share: float
) -> tuple[list[QueueEntry], dict[QueueEntry, str]]:
    ranked = sorted(
        scores, key=lambda run: -scores[run]
    )  # stable: of equal ones the first in the grid file continues
    promoted = set(ranked[: math.ceil(len(ranked) * PROMOTED_SHARE)])
    ranks = {run: number for number, run in enumerate(ranked, start=1)}
    stopped = {
        entry: f"dev {scores[entry.run]:.2f} after {share:.0%} of the training: place "
        f"{ranks[entry.run]} of {len(ranked)}"
        for entry in cohort
        if entry.run not in promoted
    }
    return [entry for entry in cohort if entry.run in promoted], stopped
