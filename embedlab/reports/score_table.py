"""The table of the scores of single items, picked or grouped by a property: no model is compared with another."""

from math import nan

from embedlab.analysis.comparison import ComparedSlice, SliceScore
from embedlab.models.grammar import titles_of
from embedlab.reports.captions import score_caption
from embedlab.reports.comparison_table import columns_of_slices, general_notes, score_title, slice_cells
from embedlab.reports.frames import scored_frame
from embedlab.reports.model_columns import ScoreRow, model_table, score_cell
from embedlab.reports.notes import slice_note
from embedlab.reports.tables import Table, TableCell
from embedlab.scoring.provenance import overlap_mark
from embedlab.scoring.task_comparison import TaskComparison
from embedlab.tasks.task import scale_of


def score_table(found: TaskComparison) -> Table:
    """Return one row a slice and one column a model: its score with a 95% interval."""
    return model_table(
        [_row(one, found) for one in found.slices],
        titles_of([model.name for model in found.models]),
        leading=columns_of_slices(found),
        align="left",
        title=score_title(found),
        frame=scored_frame(found.slices, marks=found.marks, by=found.slicing.by, shared=found.shared),
        notes=[*general_notes(found), *(slice_note(one.key, note) for one in found.slices for note in one.notes)],
        signatures=found.signatures,
        caption=score_caption(found),
    )


def _row(one: ComparedSlice, found: TaskComparison) -> ScoreRow:
    scale = scale_of(one.task, one.metric)
    marks = {name: overlap_mark(found.shared.get(name, {}).get(one.key)) for name in one.scores}
    return ScoreRow(
        of=slice_cells(one, found), scores={name: _cell(score, marks[name], scale) for name, score in one.scores.items()}, scale=scale
    )


def _cell(score: SliceScore, mark: str, scale: float) -> TableCell:
    sd = scale * score.sd if len(score.members) > 1 else nan
    return score_cell(scale * score.value, sd=sd, mark=mark, low=scale * score.low, high=scale * score.high, shows_interval=True)
