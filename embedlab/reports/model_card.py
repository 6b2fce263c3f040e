"""What the card of an exported model adds to that of its training: how to use it, and its
scores.
"""

from collections.abc import Sequence
from math import isfinite, nan

from embedlab.reports.frames import Row
from embedlab.reports.notes import is_mixed, measures_in, unit_text, with_marks
from embedlab.reports.tables import Table, columns_of, number
from embedlab.runs.evaluations import Evaluation
from embedlab.scoring.stored_intervals import Intervals

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


def scores_section(evaluations: Sequence[tuple[Evaluation, Intervals | None]]) -> str:
    """Return a table of the stored scores of each task, with their intervals, marks and precisions;
    empty without any.
    """
    sections = "".join(_task(evaluation, intervals) for evaluation, intervals in evaluations)
    return f"\n## Scores\n{sections}" if sections else ""


def _task(evaluation: Evaluation, intervals: Intervals | None) -> str:
    scores = [
        score
        for score in evaluation.scores
        if score.by in SHOWN and isfinite(score.value)
        if not {score.metric, score.setting} & _OTHERS
    ]
    if not scores:
        return ""
    rows: list[Row] = []
    for score in scores:
        low, high = (intervals or {}).get(score, (nan, nan))
        value, low, high = (score.scale * score_value for score_value in (score.value, low, high))
        setting = [score.setting, "dev" if score.split == "dev" else ""]
        rows.append(
            {
                "dataset": score.slice,
                "measure": score.metric,
                "setting": ", ".join(filter(None, setting)),
                "score": number(value, low=low, high=high),
                "items": score.items,
            }
        )
    meaning = (
        "intervals are about this checkpoint: they count rows of one topic as dependent, and "
        "no other seeds"
    )
    columns = columns_of("dataset", "measure", "setting", "score = score [95% interval]", "items")
    lack = "without an interval: what it predicted of each item is not stored"
    notes = [*evaluation.notes]
    if intervals is None:
        notes.append(lack)
    elif intervals:
        notes.append(meaning)
    table = Table("", columns, rows, notes, has_all_notes=True)
    scales = {score.metric: score.scale for score in scores}
    unit = f", {measures_in(scales)}" if is_mixed(scales) else unit_text(scales)
    trained = evaluation.training_precision
    training_note = f", trained in {trained}" if trained else ""
    head = with_marks(f"{evaluation.task}{unit}", evaluation.marks)
    return f"\n{head}, evaluated in {evaluation.precision}{training_note}:\n\n{table.to_markdown()}"
