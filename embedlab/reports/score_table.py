"""The table of the scores of single items, picked or grouped by a property: no model is compared
with another.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import nan

from embedlab.analysis.comparison import ComparedSlice, SliceScore
from embedlab.data.published import remarks
from embedlab.models.grammar import titles_of
from embedlab.outcomes.cuts import DATASET
from embedlab.reports.captions import evaluation_caption, score_caption
from embedlab.reports.comparison_table import (
    columns_of_slices,
    general_notes,
    score_title,
    slice_cells,
)
from embedlab.reports.frames import Intervals, evaluated_frame, scored_frame
from embedlab.reports.model_columns import ScoreRow, model_table, score_cell
from embedlab.reports.notes import (
    facts_of,
    generated_note,
    model_note,
    slice_note,
    usage_note,
    with_marks,
)
from embedlab.reports.tables import Column, Table, TableCell
from embedlab.reports.units import is_mixed, measures_in, unit_of
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.signature import Signature, merged
from embedlab.scoring.provenance import overlap_mark
from embedlab.scoring.selection import SelectedTask
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


def evaluation_table(
    selected: SelectedTask,
    evaluations: Mapping[str, Sequence[Evaluation]],
    *,
    by: str | None = None,
    metric: str | None = None,
    settings: Sequence[str] | None = None,
    intervals: Intervals | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """One row a number of the EVALUATIONS of each model's members, one column a model: mean ±
    standard deviation; of one model with several SETTINGS, one column a setting.

    BY (datasets with their averages, sources, Dice fifths), METRIC and SETTINGS choose numbers; all
    without.
    """
    kinds = None if by is None else ("dataset", "average") if by == DATASET else (by,)

    def is_shown(score: StoredScore) -> bool:
        return (
            (kinds is None or score.by in kinds)
            and (metric is None or score.metric == metric)
            and (settings is None or score.setting in settings)
        )

    members = [each for of_model in evaluations.values() for each in of_model]
    shown = [score for each in members for score in each.scores if is_shown(score)]
    frame = evaluated_frame(evaluations, where=is_shown, intervals=intervals)
    overlaps = {
        (model, key): overlap
        for model, of_model in evaluations.items()
        for each in of_model
        for key, overlap in each.overlaps.items()
    }
    scales = {score.metric: score.scale for score in shown}
    several = [name for name in ("metric", "setting", "split") if frame[name].n_unique() > 1]
    on = "setting" if len(evaluations) == 1 and several == ["setting"] else "model"
    leading = ["slice", *(name for name in several if name != on)]
    titles = titles_of([*evaluations])
    columns = (
        titles
        if on == "model"
        else {each: each for each in frame["setting"].unique(maintain_order=True)}
    )
    slices = {score.slice: score.title for score in shown if score.title}
    rows: dict[tuple[str, ...], dict[str, TableCell]] = {}
    for row in frame.iter_rows(named=True):
        cells = rows.setdefault(tuple(row[name] for name in leading), {})
        mark = overlap_mark(overlaps.get((row["model"], row["slice"])))
        sd = nan if row["sd"] is None else row["sd"]
        ends = [nan if row[name] is None else row[name] for name in ("low", "high")]
        cells[row[on]] = score_cell(row["score"], sd=sd, mark=mark, low=ends[0], high=ends[1])
    metrics = dict(zip(frame["slice"], frame["metric"], strict=True))
    counts = dict(zip(frame["slice"], frame["items"], strict=True))
    has_measures = is_mixed(scales) or len(scales) == 1
    measured = f", {measures_in(scales)}" if has_measures else unit_of(scales)
    measured = (
        f"{selected.evaluation_name()}{measured}"
        if metric is None
        else f"{metric.capitalize()} x 100"
    )
    constant = [
        str(frame[name][0])
        for name in ("setting",)
        if name not in several and frame.height and frame[name][0]
    ]
    marks = sorted({mark for each in members for mark in each.marks})
    has_items = by is not None and by != DATASET
    table = model_table(
        [
            ScoreRow(
                of={
                    **dict(zip(leading, key, strict=True)),
                    "slice": TableCell(value=key[0], text=slices.get(str(key[0]), str(key[0]))),
                    "pairs": counts[key[0]],
                },
                scores={name: cells.get(name, score_cell(None)) for name in columns},
                scale=scales.get(metrics[key[0]], 100),
            )
            for key, cells in rows.items()
        ],
        columns,
        leading=[
            *(
                Column(
                    key=name,
                    title="dataset" if name == "slice" and not has_items else name,
                    role="key",
                )
                for name in leading
            ),
            *([Column(key="pairs", title="items")] if has_items else []),
        ],
        marks_best=on == "model",
        title=with_marks(", ".join([measured, *constant]), marks),
        score_columns="model" if on == "model" else "aggregate",
        frame=frame,
        notes=list(
            dict.fromkeys((*generated_note(marks), *_evaluation_notes(evaluations), *notes))
        ),
        signatures={
            model: str(_signature(of_model, by, metric, settings))
            for model, of_model in evaluations.items()
            if of_model
        },
        caption=evaluation_caption(
            measured.replace(" x 100", " × 100"),
            {score.slice: score.items for score in shown if score.items and score.by != "average"},
            marks=marks,
            seen=[overlap for each in members for overlap in each.overlaps.values()],
            seeds=[len(of_model) for of_model in evaluations.values()],
            is_ranked=len(evaluations) > 1 and 100 in scales.values(),
        ),
    )
    return replace(
        table, titles=titles, subject="" if on == "model" else next(iter(titles.values()))
    )


def _signature(
    evaluations: Sequence[Evaluation],
    by: str | None,
    metric: str | None,
    settings: Sequence[str] | None,
) -> Signature:
    signature = merged([evaluation.signature for evaluation in evaluations])
    chosen = {"by": by, "metric": metric}
    known = {name: (value,) for name, value in chosen.items() if value is not None}
    more = {"aggregation": tuple(settings)} if settings is not None else {}
    return replace(signature, **known, **more)


def _evaluation_notes(evaluations: Mapping[str, Sequence[Evaluation]]) -> Iterator[str]:
    """Yield what must be said of the data, of each model's numbers, and of how it was used."""
    for of_model in evaluations.values():
        for evaluation in of_model:
            for state in evaluation.data:
                yield from remarks(state)
    for model, of_model in evaluations.items():
        for evaluation in of_model:
            yield from (model_note(model, note) for note in evaluation.notes)
    for model, of_model in evaluations.items():
        yield from usage_note(model, [facts_of(each, "truncated") for each in of_model])
