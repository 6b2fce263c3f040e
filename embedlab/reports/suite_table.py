"""The table of a task that several models were evaluated on."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan
from statistics import fmean, stdev

from embedlab.data.published import remarks
from embedlab.data.shared_text import Overlap
from embedlab.evaluation.provenance import overlap_mark
from embedlab.evaluation.selection import SelectedTask
from embedlab.models.grammar import titles_of
from embedlab.reports.captions import evaluation_caption
from embedlab.reports.comparison_cells import best_of
from embedlab.reports.frames import evaluated_frame
from embedlab.reports.notes import facts_of, model_note, sample_note, usage_note, with_marks
from embedlab.reports.tables import ABSENT, Column, Table, TableCell, Value
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.signature import merged

_COLUMNS = ("slice", "metric", "setting", "split")

SuiteEvaluations = Mapping[str, Sequence[Evaluation]]  # by model, one a member


def suite_table(selected: SelectedTask, evaluations: SuiteEvaluations) -> Table:
    """One row a number, one column a model: mean ± standard deviation over its members."""
    scales = {score.scale for own in evaluations.values() for one in own for score in one.scores}
    unit = "" if scales == {1} else " x 100"
    marks = sorted({mark for own in evaluations.values() for one in own for mark in one.marks})
    titles = titles_of(list(evaluations))
    columns = [Column(key=key, title="dataset" if key == "slice" else key, role="key") for key in _COLUMNS]
    columns += [Column(key=model, title=title, align="right", role="score") for model, title in titles.items()]
    return Table(
        title=with_marks(f"{selected.evaluation_name()}{unit}", marks),
        columns=columns,
        rows=_rows(evaluations),
        frame=evaluated_frame(evaluations),
        notes=(*sample_note(marks), *_notes(evaluations)),
        signatures={model: str(merged([one.signature for one in own])) for model, own in evaluations.items()},
        titles=titles,
        caption=evaluation_caption(
            f"{selected.evaluation_name()}{unit.replace('x', '×')}",
            {score.slice: score.items for own in evaluations.values() for one in own for score in one.scores if score.items},
            marks=marks,
            seen=[overlap for own in evaluations.values() for one in own for overlap in one.overlaps.values()],
            seeds=[len(own) for own in evaluations.values()],
            is_ranked=len(evaluations) > 1 and 100 in scales,
        ),
    )


def joined_evaluations(first: SuiteEvaluations, second: SuiteEvaluations) -> SuiteEvaluations:
    """Return the evaluations of several datasets of one task, for one table."""
    return {model: (*first.get(model, ()), *second.get(model, ())) for model in dict.fromkeys((*first, *second))}


def _rows(evaluations: SuiteEvaluations) -> list[dict[str, Value | TableCell]]:
    keys = dict.fromkeys(_key(score) for own in evaluations.values() for one in own for score in one.scores)
    rows: list[dict[str, Value | TableCell]] = []
    for key in keys:
        row: dict[str, Value | TableCell] = dict(zip(_COLUMNS, key, strict=True))
        scores = {model: _scores(own, key) for model, own in evaluations.items()}
        best = best_of({model: _mean(own) for model, own in scores.items()}, max(one.scale for own in scores.values() for one in own))
        for model, own in evaluations.items():
            shared = next((one.overlaps[key[0]] for one in own if key[0] in one.overlaps), None)
            row[model] = replace(_cell(scores[model], shared), is_best=model in best)
        rows.append(row)
    return rows


def _notes(evaluations: SuiteEvaluations) -> list[str]:
    """What must be said of the data, of each model's numbers, and of how it was used."""
    of_data = dict.fromkeys(remark for own in evaluations.values() for one in own for state in one.data for remark in remarks(state))
    noted = dict.fromkeys(model_note(model, note) for model, own in evaluations.items() for one in own for note in one.notes)
    used = [note for model, own in evaluations.items() for note in usage_note(model, [facts_of(one, "truncated") for one in own])]
    return [*of_data, *noted, *used]


def _key(score: StoredScore) -> tuple[str, ...]:
    return score.slice, score.metric, score.setting, score.split or ""


def _scores(evaluations: Sequence[Evaluation], key: tuple[str, ...]) -> list[StoredScore]:
    return [score for one in evaluations for score in one.scores if _key(score) == key]


def _mean(scores: Sequence[StoredScore]) -> float | None:
    return fmean(score.value for score in scores) if scores else None


def _cell(scores: Sequence[StoredScore], shared: Overlap | None) -> TableCell:
    if not scores:
        return TableCell(value=None, text=ABSENT)
    values, scale = [score.value for score in scores], scores[0].scale
    mean = scale * fmean(values)
    if isnan(mean):  # undefined for a member
        return TableCell(value=mean, text=ABSENT)
    spread = f" ± {scale * stdev(values):z.2f}" if len(values) > 1 else ""
    return TableCell(value=mean, text=f"{mean:z.2f}{overlap_mark(shared)}{spread}")
