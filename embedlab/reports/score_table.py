"""The table of the scores of single items, picked or grouped by a property: no model is compared
with another.
"""

from math import nan

from embedlab.analysis.comparison import ComparedSlice, SliceScore
from embedlab.models.grammar import titles_of
from embedlab.reports.captions import score_caption
from embedlab.reports.comparison_table import (
    columns_of_slices,
    general_notes,
    score_title,
    slice_cells,
)
from embedlab.reports.frames import scored_frame
from embedlab.reports.model_columns import ScoreRow, model_table, score_cell
from embedlab.reports.notes import slice_note
from embedlab.reports.tables import Table, TableCell
from embedlab.scoring.provenance import overlap_mark
from embedlab.scoring.task_comparison import TaskComparison
from embedlab.tasks.task import scale_of


def score_table(comparison: TaskComparison) -> Table:
    """Return one row a slice and one column a model: its score with a 95% interval."""
    return model_table(
        [_row(compared, comparison) for compared in comparison.slices],
        titles_of([model.name for model in comparison.models]),
        leading=columns_of_slices(comparison),
        align="left",
        title=score_title(comparison),
        frame=scored_frame(
            comparison.slices,
            marks=comparison.marks,
            by=comparison.slicing.by,
            shared=comparison.shared,
        ),
        notes=[
            *general_notes(comparison),
            *(
                slice_note(compared.key, note)
                for compared in comparison.slices
                for note in compared.notes
            ),
        ],
        signatures=comparison.signatures,
        caption=score_caption(comparison),
    )


def _row(compared: ComparedSlice, comparison: TaskComparison) -> ScoreRow:
    scale = scale_of(compared.task, compared.metric)
    marks = {
        name: overlap_mark(comparison.shared.get(name, {}).get(compared.key))
        for name in compared.scores
    }
    return ScoreRow(
        of=slice_cells(compared, comparison),
        scores={name: _cell(score, marks[name], scale) for name, score in compared.scores.items()},
        scale=scale,
    )


def _cell(score: SliceScore, mark: str, scale: float) -> TableCell:
    sd = scale * score.sd if len(score.members) > 1 else nan
    return score_cell(
        scale * score.value,
        sd=sd,
        mark=mark,
        low=scale * score.low,
        high=scale * score.high,
        shows_interval=True,
    )
