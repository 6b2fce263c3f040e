"""What the card of an exported model adds to that of its training: how to use it, and its
scores.
"""

from collections.abc import Sequence
from math import isfinite

from embedlab.reports.captions import is_mixed, measures_in, unit_of
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.scoring.stored_intervals import StoredIntervals

SHOWN = ("dataset", "average")
_OTHERS = {"pearson", "mean", "wmean"}  # of pairs the card has Spearman over all pairs of a dataset


def usage_section(folder: str) -> str:
    """Return how sentence-transformers uses the model in FOLDER."""
    return f"""
## Use

```python
from sentence_transformers import SentenceTransformer

model = SentenceTransformer({folder!r})
vectors = model.encode(["A cat sleeps.", "A cat is asleep."])
print(model.similarity(vectors, vectors))
```
"""


def scores_section(evaluations: Sequence[tuple[Evaluation, StoredIntervals]]) -> str:
    """Return a table of the stored scores of each task, with their intervals, marks and precisions;
    empty without any.
    """
    parts = [
        _task(evaluation, intervals)
        for evaluation, intervals in evaluations
        if any(map(_is_shown, evaluation.scores))
    ]
    return "\n## Scores\n" + "".join(parts) if parts else ""


def _task(evaluation: Evaluation, intervals: StoredIntervals) -> str:
    marks = "".join(f" [{mark}]" for mark in evaluation.marks)
    trained = (
        f", trained in {evaluation.training_precision}" if evaluation.training_precision else ""
    )
    scales = {score.metric: score.scale for score in evaluation.scores if _is_shown(score)}
    unit = f", {measures_in(scales)}" if is_mixed(scales) else unit_of(scales)
    rows = [_row(score, intervals) for score in evaluation.scores if _is_shown(score)]
    notes = [f"- {note}" for note in (*evaluation.notes, *_about(intervals))]
    head = f"{evaluation.task}{unit}{marks}, evaluated in {evaluation.precision}{trained}:"
    table = [
        "| dataset | measure | setting | score | 95% interval | items |",
        "|---|---|---|---:|---:|---:|",
        *rows,
    ]
    return "\n".join(["", head, "", *table, *(["", *notes] if notes else []), ""])


def _about(intervals: StoredIntervals) -> Sequence[str]:
    """Return what the intervals are of, and why some are absent."""
    meaning = (
        "intervals are about this checkpoint: they count rows of one topic as dependent, and "
        "no other seeds"
    )
    return (
        *([meaning] if intervals.intervals else []),
        *(f"without an interval: {reason}" for reason in intervals.reasons),
    )


def _is_shown(score: StoredScore) -> bool:
    return (
        score.by in SHOWN and isfinite(score.value) and not {score.metric, score.setting} & _OTHERS
    )


def _row(score: StoredScore, intervals: StoredIntervals) -> str:
    interval, scale = intervals.of(score), score.scale
    shown = "–" if interval is None else f"[{scale * interval[0]:z.2f}, {scale * interval[1]:z.2f}]"
    setting = ", ".join(filter(None, (score.setting, "dev" if score.split == "dev" else "")))
    return (
        f"| {score.slice} | {score.metric} | {setting} | {scale * score.value:z.2f} | "
        f"{shown} | {score.items} |"
    )
