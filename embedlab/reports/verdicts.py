"""The answer of a comparison in words: which model beats which, by how much, and on how many
datasets.

One word for the direction everywhere: the better model *beats* the other one, and is named first;
two models that no test tells apart are *not distinguished*; where there is none, it says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import TYPE_CHECKING

from embedlab.models.grammar import titles_of
from embedlab.outcomes.frame import DATASET
from embedlab.reports.notes import share_slices
from embedlab.reports.tables import attributes, largest_difference
from embedlab.tasks.task import scale_of

if TYPE_CHECKING:
    from embedlab.analysis.comparison import ComparedSlice, Difference

MOST = 3  # sentences above a table


def verdicts(
    slices: Sequence[ComparedSlice], models: Sequence[str], *, by: str = DATASET
) -> list[str]:
    """Return a sentence for each model against the first of MODELS on each task, at most three.

    SLICES are the rows of a comparison BY a property; numbers in a unit of their own, such as the
    geometry of vectors, have no better model.
    """
    first_model, *other_models = models
    tasks: dict[str, list[ComparedSlice]] = {}  # the slices of the first measure of each task
    measures: dict[str, set[str]] = {}  # of each task
    for compared_slice in share_slices(slices):
        same_task = tasks.setdefault(compared_slice.task, [compared_slice])
        if compared_slice is not same_task[0] and compared_slice.metric == same_task[0].metric:
            same_task.append(compared_slice)
        if not compared_slice.averaged_keys:
            measures.setdefault(compared_slice.task, {same_task[0].metric}).add(
                compared_slice.metric
            )
    titles = titles_of([*models])
    sentences = []
    for task, task_slices in tasks.items():
        measure = f" in {task_slices[0].metric}" if len(measures.get(task, ())) > 1 else ""
        on_task = f" on {task}" if len(tasks) > 1 else ""
        for other_model in other_models:
            if any(
                not isnan(task_slice.differences[other_model].delta) for task_slice in task_slices
            ):
                names = titles[other_model], titles[first_model]
                sentences.append(_sentence(task_slices, other_model, names, by, measure, on_task))
    hidden_count = len(sentences) - MOST
    hint = "1 more is" if hidden_count == 1 else f"{hidden_count} more are"
    return [*sentences[:MOST], *([f"{hint} in the table"] if hidden_count > 0 else [])]


def direction(difference: Difference) -> int:
    """Return 1 where the model beats the first one, −1 where the first one beats it, 0 where they
    are not distinguished.
    """
    return 0 if not difference.significant else 1 if difference.delta > 0 else -1


def _sentence(
    slices: Sequence[ComparedSlice],
    model: str,
    names: tuple[str, str],
    by: str,
    measure: str,
    on_task: str,
) -> str:
    """Return how a model does against the first one on the slices of one task; NAMES are theirs."""
    known_slices = [
        compared_slice
        for compared_slice in slices
        if not isnan(compared_slice.differences[model].delta)
    ]
    single_slices = [
        compared_slice for compared_slice in known_slices if not compared_slice.averaged_keys
    ]
    averages = [compared_slice for compared_slice in slices if compared_slice.averaged_keys]
    overall = averages[-1] if averages else single_slices[0] if len(single_slices) == 1 else None
    signs = [direction(compared_slice.differences[model]) for compared_slice in single_slices]
    winner, loser = names
    is_turned = overall is not None and overall.differences[model].delta < 0
    if is_turned:
        winner, loser, signs = loser, winner, [-sign for sign in signs]
    is_each_whole = by == DATASET and len(
        {compared_slice.dataset for compared_slice in single_slices}
    ) == len(single_slices)
    unit = "datasets" if is_each_whole else "slices"
    wins, losses = (f"{signs.count(sign)} of {len(single_slices)} {unit}" for sign in (1, -1))
    losses_text = [f"{loser} beats {winner} on {losses}"] * (-1 in signs)
    if overall is None:
        counts = [f"{winner} beats {loser} on {wins}"] * (1 in signs) + losses_text
        if all(isnan(compared_slice.differences[model].p) for compared_slice in single_slices):
            count_above = sum(
                compared_slice.differences[model].delta > 0 for compared_slice in single_slices
            )
            counts = [
                f"{winner} is above {loser} on {count_above} of {len(single_slices)} {unit} (not "
                "tested)"
            ]
        elif not counts:
            counts = [f"{winner} and {loser} are not distinguished on any of {len(single_slices)}"]
        return f"{'; '.join(counts)}{on_task}{measure}"
    difference, scale = overall.differences[model], scale_of(overall.task, overall.metric)
    place = f"{measure}{on_task}"
    if averages:
        place = f"{measure} on average{on_task}"
    elif not on_task or by != DATASET:
        place = f"{measure} on {overall.slice_title}"
    delta, low, high = attributes(difference, "delta low high", scale).values()
    if not isnan(low):
        limit = largest_difference(overall.metric, scale)
        low, high = max(low, -limit), min(high, limit)
    if is_turned:
        delta, low, high = -delta, -high, -low
    points_text = f"{delta:z.1f}" + ("" if isnan(low) else f" [{low:z.1f}, {high:z.1f}]")
    counts = ([f"on {wins}"] * (1 in signs) + losses_text) * bool(averages)
    if difference.significant:
        text = f"{winner} beats {loser} by {points_text}{place}"
        return f"{text}, and {'; '.join(counts)}" if counts else text
    if difference.equivalent:
        text = f"{winner} and {loser} are equal within the margin{place}: {points_text}"
    elif isnan(difference.p):
        text = f"{winner} is {points_text} above {loser}{place} (not tested)"
    else:
        text = f"{winner} and {loser} are not distinguished{place}: {points_text}"
    return "; ".join([text, *counts])
