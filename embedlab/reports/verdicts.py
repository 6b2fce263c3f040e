"""The answer of a comparison in words: which model beats which, by how much, and on how many
datasets.

One word for the direction everywhere: the better model *beats* the other one, and is named first;
two models that no test tells apart are *not distinguished*; where there is none, it says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isnan
from typing import TYPE_CHECKING

from embedlab.models.grammar import titles_of
from embedlab.outcomes.frame import DATASET
from embedlab.reports.captions import shares_of
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
    shares = shares_of(slices)
    for compared in shares:
        same = tasks.setdefault(compared.task, [compared])
        if compared is not same[0] and compared.metric == same[0].metric:
            same.append(compared)
    titles = titles_of([*models])
    sentences = [
        _sentence(
            compared,
            other,
            titles[first],
            titles[other],
            by,
            is_named=len(tasks) > 1,
            has_measures=any(
                each.task == compared[0].task and each.metric != compared[0].metric
                for each in shares
                if not each.average_of
            ),
        )
        for compared in tasks.values()
        for other in others
        if any(not isnan(each.differences[other].delta) for each in compared)
    ]
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
    first: str,
    title: str,
    by: str,
    *,
    is_named: bool,
    has_measures: bool,
) -> str:
    """Return how a model does against the first one on the slices of one task, by the name of their
    measure where the task has others.
    """
    parts = [each for each in slices if not each.average_of]
    parts = [each for each in parts if not isnan(each.differences[other].delta)]
    averages = [each for each in slices if each.average_of]
    whole = averages[-1] if averages else parts[0] if len(parts) == 1 else None
    signs = [direction(each.differences[other]) for each in parts]
    on_task = f" on {slices[0].task}" if is_named else ""
    measure = f" in {slices[0].metric}" if has_measures else ""
    wins, losses = (
        f"{signs.count(sign)} of {len(parts)} {'datasets' if by == DATASET else 'slices'}"
        for sign in (1, -1)
    )
    if whole is None:
        counts = [f"{title} beats {first} on {wins}"] if 1 in signs else []
        counts += [f"{first} beats {title} on {losses}"] if -1 in signs else []
        if not any(signs):
            counts = [f"{title} and {first} are not distinguished on any of {len(parts)}"]
        return f"{'; '.join(counts)}{on_task}{measure}"
    difference = whole.differences[other]
    sign, where = direction(difference), on_task
    if averages:
        where = f" on average{on_task}"
    elif not is_named or by != DATASET:
        where = f" on {whole.slice_title}"
    where = f"{measure}{where}"
    scale = scale_of(whole.task, whole.metric)
    ends = [scale * end for end in (difference.delta, difference.low, difference.high)]
    if sign < 0 or (sign == 0 and difference.delta < 0):
        title, first = first, title
        ends = [-ends[0], -ends[2], -ends[1]]
        wins, losses, signs = losses, wins, [-each for each in signs]
    by_points = f"{ends[0]:z.1f}" + ("" if isnan(ends[1]) else f" [{ends[1]:z.1f}, {ends[2]:z.1f}]")
    if sign:
        text = f"{title} beats {first} by {by_points}{where}"
    elif difference.equivalent:
        text = f"{title} and {first} are equal within the margin{where}: {by_points}"
    elif isnan(difference.p):
        text = f"{title} is {by_points} above {first}{where}, which is not tested"
    else:
        text = f"{title} and {first} are not distinguished{where}: {by_points}"
    counts = list(_counts(title, first, wins, losses, signs)) if averages else []
    return f"{text}, and {'; '.join(counts)}" if sign and counts else "; ".join([text, *counts])


def _counts(winner: str, loser: str, wins: str, losses: str, signs: Sequence[int]) -> Iterator[str]:
    """Yield on how many datasets each of both models beats the other."""
    if 1 in signs:
        yield f"on {wins}"
    if -1 in signs:
        yield f"{loser} beats {winner} on {losses}"
