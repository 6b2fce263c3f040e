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
from embedlab.reports.notes import shares_of
from embedlab.reports.tables import attributes, most_apart
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
    first, *others = models
    tasks: dict[str, list[ComparedSlice]] = {}  # the slices of the first measure of each task
    measures: dict[str, set[str]] = {}  # of each task
    for compared in shares_of(slices):
        same = tasks.setdefault(compared.task, [compared])
        if compared is not same[0] and compared.metric == same[0].metric:
            same.append(compared)
        if not compared.average_of:
            measures.setdefault(compared.task, {same[0].metric}).add(compared.metric)
    titles = titles_of([*models])
    sentences = []
    for task, of_task in tasks.items():
        measure = f" in {of_task[0].metric}" if len(measures.get(task, ())) > 1 else ""
        on_task = f" on {task}" if len(tasks) > 1 else ""
        for other in others:
            if any(not isnan(each.differences[other].delta) for each in of_task):
                names = titles[other], titles[first]
                sentences.append(_sentence(of_task, other, names, by, measure, on_task))
    left_out = len(sentences) - MOST
    more = "1 more is" if left_out == 1 else f"{left_out} more are"
    return [*sentences[:MOST], *([f"{more} in the table"] if left_out > 0 else [])]


def direction(difference: Difference) -> int:
    """Return 1 where the model beats the first one, −1 where the first one beats it, 0 where they
    are not distinguished.
    """
    return 0 if not difference.significant else 1 if difference.delta > 0 else -1


def _sentence(
    slices: Sequence[ComparedSlice],
    other: str,
    names: tuple[str, str],
    by: str,
    measure: str,
    on_task: str,
) -> str:
    """Return how a model does against the first one on the slices of one task; NAMES are theirs."""
    known = [each for each in slices if not isnan(each.differences[other].delta)]
    parts = [each for each in known if not each.average_of]
    averages = [each for each in slices if each.average_of]
    whole = averages[-1] if averages else parts[0] if len(parts) == 1 else None
    signs = [direction(each.differences[other]) for each in parts]
    winner, loser = names
    is_turned = whole is not None and whole.differences[other].delta < 0
    if is_turned:
        winner, loser, signs = loser, winner, [-sign for sign in signs]
    is_each_whole = by == DATASET and len({each.dataset for each in parts}) == len(parts)
    what = "datasets" if is_each_whole else "slices"
    wins, losses = (f"{signs.count(sign)} of {len(parts)} {what}" for sign in (1, -1))
    lost = [f"{loser} beats {winner} on {losses}"] * (-1 in signs)
    if whole is None:
        counts = [f"{winner} beats {loser} on {wins}"] * (1 in signs) + lost
        if all(isnan(each.differences[other].p) for each in parts):
            above = sum(each.differences[other].delta > 0 for each in parts)
            counts = [f"{winner} is above {loser} on {above} of {len(parts)} {what} (not tested)"]
        elif not counts:
            counts = [f"{winner} and {loser} are not distinguished on any of {len(parts)}"]
        return f"{'; '.join(counts)}{on_task}{measure}"
    difference, scale = whole.differences[other], scale_of(whole.task, whole.metric)
    where = f"{measure}{on_task}"
    if averages:
        where = f"{measure} on average{on_task}"
    elif not on_task or by != DATASET:
        where = f"{measure} on {whole.slice_title}"
    delta, low, high = attributes(difference, "delta low high", scale).values()
    if not isnan(low):
        most = most_apart(whole.metric, scale)
        low, high = max(low, -most), min(high, most)
    if is_turned:
        delta, low, high = -delta, -high, -low
    points = f"{delta:z.1f}" + ("" if isnan(low) else f" [{low:z.1f}, {high:z.1f}]")
    counts = ([f"on {wins}"] * (1 in signs) + lost) * bool(averages)
    if difference.significant:
        text = f"{winner} beats {loser} by {points}{where}"
        return f"{text}, and {'; '.join(counts)}" if counts else text
    if difference.equivalent:
        text = f"{winner} and {loser} are equal within the margin{where}: {points}"
    elif isnan(difference.p):
        text = f"{winner} is {points} above {loser}{where} (not tested)"
    else:
        text = f"{winner} and {loser} are not distinguished{where}: {points}"
    return "; ".join([text, *counts])
