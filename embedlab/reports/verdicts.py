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

    SLICES are the rows of a comparison BY a property. Numbers for which no model is better, such
    as the geometry of vectors, get no sentence.
    """
    first_model, *other_models = models
    tasks: dict[str, list[ComparedSlice]] = {}
    for compared_slice in share_slices(slices):
        tasks.setdefault(compared_slice.task, []).append(compared_slice)
    titles = titles_of([*models])
    sentences = []
    for task, task_slices in tasks.items():
        metric = task_slices[0].metric
        other_metrics = {row.metric for row in task_slices if not row.averaged_keys} - {metric}
        measure = f" in {metric}" if other_metrics else ""
        on_task = f" on {task}" if len(tasks) > 1 else ""
        measured_slices = [row for row in task_slices if row.metric == metric]
        for model in other_models:
            if any(not isnan(row.differences[model].delta) for row in measured_slices):
                names = titles[model], titles[first_model]
                sentences.append(_sentence(measured_slices, model, names, by, measure, on_task))
    hidden_count = len(sentences) - MOST
    if hidden_count > 0:
        hint = "1 more is" if hidden_count == 1 else f"{hidden_count} more are"
        sentences[MOST:] = [f"{hint} in the table"]
    return sentences


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
    """Return how a model does against the first one on the slices of one task; NAMES are the
    titles of the model and of the first one.
    """
    single_slices = [
        row for row in slices if not row.averaged_keys and not isnan(row.differences[model].delta)
    ]
    averages = [row for row in slices if row.averaged_keys]
    count = len(single_slices)
    overall = None
    if averages or count == 1:
        overall = (averages or single_slices)[-1]
    differences = [row.differences[model] for row in single_slices]
    signs = [direction(difference) for difference in differences]
    winner, loser = names
    is_turned = overall is not None and overall.differences[model].delta < 0
    if is_turned:
        winner, loser = loser, winner
        signs = [-sign for sign in signs]
    datasets = {row.dataset for row in single_slices}
    unit = "datasets" if by == DATASET and len(datasets) == count else "slices"
    wins, losses = (f"{signs.count(sign)} of {count} {unit}" for sign in (1, -1))
    losses_text = [f"{loser} beats {winner} on {losses}"] * (-1 in signs)
    if overall is None:
        counts = [f"{winner} beats {loser} on {wins}"] * (1 in signs) + losses_text
        if all(isnan(difference.p) for difference in differences):
            count_above = sum(difference.delta > 0 for difference in differences)
            counts = [f"{winner} is above {loser} on {count_above} of {count} {unit} (not tested)"]
        elif not counts:
            counts = [f"{winner} and {loser} are not distinguished on any of {count}"]
        return f"{'; '.join(counts)}{on_task}{measure}"
    where = on_task
    if averages:
        where = f" on average{on_task}"
    elif not on_task or by != DATASET:
        where = f" on {overall.slice_title}"
    measure += where
    difference, scale = overall.differences[model], scale_of(overall.task, overall.metric)
    delta, low, high = attributes(difference, "delta low high", scale).values()
    if not isnan(low):
        limit = largest_difference(overall.metric, scale)
        low, high = max(low, -limit), min(high, limit)
    if is_turned:
        delta, low, high = -delta, -high, -low
    points_text = f"{delta:z.1f}" + ("" if isnan(low) else f" [{low:z.1f}, {high:z.1f}]")
    counts = ([f"on {wins}"] * (1 in signs) + losses_text) * bool(averages)
    if difference.significant:
        text = f"{winner} beats {loser} by {points_text}{measure}"
        return f"{text}, and {'; '.join(counts)}" if counts else text
    if difference.equivalent:
        text = f"{winner} and {loser} are equal within the margin{measure}: {points_text}"
    elif isnan(difference.p):
        text = f"{winner} is {points_text} above {loser}{measure} (not tested)"
    else:
        text = f"{winner} and {loser} are not distinguished{measure}: {points_text}"
    return "; ".join([text, *counts])
