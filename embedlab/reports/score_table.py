"""The table of the scores of single items, picked or grouped by a property: no model is compared with another."""

from collections.abc import Mapping

from embedlab.analysis.comparison import ComparedSlice, SliceScore
from embedlab.evaluation.provenance import overlap_mark
from embedlab.evaluation.task_comparison import TaskComparison
from embedlab.models.grammar import titles_of
from embedlab.reports.comparison_table import general_notes, leading_columns, score_title
from embedlab.reports.frames import scored_frame
from embedlab.reports.notes import slice_note
from embedlab.reports.tables import ABSENT, Column, Table, TableCell, Value
from embedlab.tasks.task import scale_of


def score_table(found: TaskComparison) -> Table:
    """Return one row a slice and one column a model: its score with a 95% interval."""
    titles = titles_of([model.name for model in found.models])
    return Table(
        title=score_title(found),
        columns=[
            *leading_columns(found.slices, "slice", found.slicing.by),
            *(Column(key=name, title=title, align="left", role="score") for name, title in titles.items()),
        ],
        rows=[_row(one, found) for one in found.slices],
        frame=scored_frame(found.slices, marks=found.marks, by=found.slicing.by, shared=found.shared),
        notes=[*general_notes(found), *(slice_note(one.key, note) for one in found.slices for note in one.notes)],
        signatures=found.signatures,
        titles=titles,
    )


def _row(one: ComparedSlice, found: TaskComparison) -> Mapping[str, Value | TableCell]:
    scale = scale_of(one.task, one.metric)
    marks = {name: overlap_mark(found.shared.get(name, {}).get(one.key)) for name in one.scores}
    return {
        "task": one.task,
        "slice": TableCell(value=one.key, text=one.title.removesuffix(f" {one.metric}")),
        "metric": one.metric,
        "pairs": one.pairs,
        **{name: _cell(score, marks[name], scale) for name, score in one.scores.items()},
    }


def _cell(score: SliceScore, mark: str, scale: float) -> TableCell:
    if score.value != score.value:
        return TableCell(value=score.value, text=ABSENT)
    spread = f" ± {scale * score.sd:z.2f}" if len(score.members) > 1 else ""
    interval = f" [{scale * score.low:z.2f}, {scale * score.high:z.2f}]" if score.low == score.low else ""
    return TableCell(value=scale * score.value, text=f"{scale * score.value:z.2f}{mark}{spread}{interval}")
