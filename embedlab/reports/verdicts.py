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
from embedlab.reports.tables import attributes, number
from embedlab.tasks.task import scale_of

if TYPE_CHECKING:
    from embedlab.analysis.comparison import ComparedSlice

MOST = 3  # sentences above a table


def verdicts(
    slices: Sequence[ComparedSlice], models: Sequence[str], *, by: str = DATASET
) -> list[str]:
    """Return a sentence for each model against the first of MODELS on each task, at most three.

    SLICES are the rows of a comparison BY a property. Numbers for which no model is better, such
    as the geometry of vectors, get no sentence.
    """
    first_model, *other_models = models
    titles = titles_of([*models])
    tasks: dict[str, list[ComparedSlice]] = {}
    for compared_slice in share_slices(slices):
        tasks.setdefault(compared_slice.task, []).append(compared_slice)
    sentences = []
    for task, task_slices in tasks.items():
        metric = task_slices[0].metric
        on_task = f" on {task}" if len(tasks) > 1 else ""
        single_metrics = {row.metric for row in task_slices if not row.averaged_keys}
        measure = f" in {metric}" if single_metrics - {metric} else ""
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
    compared_slices = [row for row in slices if not isnan(row.differences[model].delta)]
    averages = [row for row in compared_slices if row.averaged_keys]
    single_slices = [row for row in compared_slices if not row.averaged_keys]
    differences = [row.differences[model] for row in single_slices]
    count = len(differences)
    overall = None
    if averages or count == 1:
        overall = (averages or single_slices)[-1]
    winner, loser = names
    turn = 1  # −1 where the first model is the better one
    if overall is not None and overall.differences[model].delta < 0:
        winner, loser, turn = loser, winner, -1
    is_win = [turn * difference.delta > 0 for difference in differences if difference.significant]
    datasets = {row.dataset for row in single_slices}
    unit = "datasets" if by == DATASET and len(datasets) == count else "slices"
    untested = sum(isnan(difference.p) for difference in differences)
    untested_text = f" ({untested} not tested)" if 0 < untested < count else ""
    wins, losses = (
        f"on {is_win.count(side)} of {count} {unit}{untested_text}" for side in (True, False)
    )
    losses_text = [f"{loser} beats {winner} {losses}"] * (False in is_win)
    if overall is None:
        counts = [f"{winner} beats {loser} {wins}"] * (True in is_win) + losses_text
        if untested == count:
            count_above = sum(difference.delta > 0 for difference in differences)
            count_below = sum(difference.delta < 0 for difference in differences)
            if count_below > count_above:
                winner, loser, count_above = loser, winner, count_below
            counts = [f"{winner} is above {loser} on {count_above} of {count} {unit} (not tested)"]
        elif not counts:
            counts = [
                f"{winner} and {loser} are not distinguished on any of {count}{untested_text}"
            ]
        return f"{'; '.join(counts)}{on_task}{measure}"
    counts = []
    if averages:
        measure += f" on average{on_task}"
        counts = [wins] * (True in is_win) + losses_text
    elif not on_task or by != DATASET:
        measure += f" on {overall.slice_title}"
    else:
        measure += on_task
    difference = overall.differences[model]
    scale = scale_of(overall.task, overall.metric)
    delta, *ends = attributes(difference, "delta low high", turn * scale).values()
    points = number(delta, digits=1, low=min(ends), high=max(ends)).text
    if difference.significant:
        text = f"{winner} beats {loser} by {points}{measure}"
        return f"{text}, and {'; '.join(counts)}" if counts else text
    if difference.equivalent:
        text = f"{winner} and {loser} are equal within the margin{measure}: {points}"
    elif isnan(difference.p):
        lead = f"{winner} is {points} above {loser}"
        if not difference.delta:
            lead = f"{winner} and {loser} have the same score"
        text = f"{lead}{measure} (not tested)"
    else:
        text = f"{winner} and {loser} are not distinguished{measure}: {points}"
    return "; ".join([text, *counts])
