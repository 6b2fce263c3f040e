"""The table of a task that several models were evaluated on."""

from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean

from embedlab.data.published import remarks
from embedlab.data.shared_text import Overlap
from embedlab.models.grammar import titles_of
from embedlab.reports.captions import evaluation_caption
from embedlab.reports.frames import evaluated_frame
from embedlab.reports.model_columns import ScoreRow, model_table, score_cell, sd_over_members
from embedlab.reports.notes import facts_of, generated_note, model_note, usage_note, with_marks
from embedlab.reports.tables import Column, Table, TableCell
from embedlab.reports.units import is_mixed, measures_in, unit_of
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.signature import merged
from embedlab.scoring.provenance import overlap_mark
from embedlab.scoring.selection import SelectedTask

_COLUMNS = ("slice", "metric", "setting", "split")

SuiteEvaluations = Mapping[str, Sequence[Evaluation]]  # by model, one a member


def suite_table(selected: SelectedTask, evaluations: SuiteEvaluations) -> Table:
    """One row a number, one column a model: mean ± standard deviation over its members."""
    scales = {
        score.metric: score.scale
        for of_model in evaluations.values()
        for evaluation in of_model
        for score in evaluation.scores
    }
    measured = f"{selected.evaluation_name()}{f', {measures_in(scales)}' if is_mixed(scales) else unit_of(scales)}"
    marks = sorted(
        {
            mark
            for of_model in evaluations.values()
            for evaluation in of_model
            for mark in evaluation.marks
        }
    )
    return model_table(
        _rows(evaluations),
        titles_of(list(evaluations)),
        leading=[
            Column(key=key, title="dataset" if key == "slice" else key, role="key")
            for key in _COLUMNS
        ],
        title=with_marks(measured, marks),
        frame=evaluated_frame(evaluations),
        notes=(*generated_note(marks), *_notes(evaluations)),
        signatures={
            model: str(merged([evaluation.signature for evaluation in of_model]))
            for model, of_model in evaluations.items()
        },
        caption=evaluation_caption(
            measured.replace(" x 100", " × 100"),
            {
                score.slice: score.items
                for of_model in evaluations.values()
                for evaluation in of_model
                for score in evaluation.scores
                if score.items
            },
            marks=marks,
            seen=[
                overlap
                for of_model in evaluations.values()
                for evaluation in of_model
                for overlap in evaluation.overlaps.values()
            ],
            seeds=[len(of_model) for of_model in evaluations.values()],
            is_ranked=len(evaluations) > 1 and 100 in scales.values(),
        ),
    )


def joined_evaluations(first: SuiteEvaluations, second: SuiteEvaluations) -> SuiteEvaluations:
    """Return the evaluations of several datasets of one task, for one table."""
    return {
        model: (*first.get(model, ()), *second.get(model, ()))
        for model in dict.fromkeys((*first, *second))
    }


def _rows(evaluations: SuiteEvaluations) -> Iterator[ScoreRow]:
    for key in dict.fromkeys(
        _key(score)
        for of_model in evaluations.values()
        for evaluation in of_model
        for score in evaluation.scores
    ):
        scores = {model: _scores(of_model, key) for model, of_model in evaluations.items()}
        shared = {
            model: next(
                (
                    evaluation.overlaps[key[0]]
                    for evaluation in of_model
                    if key[0] in evaluation.overlaps
                ),
                None,
            )
            for model, of_model in evaluations.items()
        }
        yield ScoreRow(
            of=dict(zip(_COLUMNS, key, strict=True)),
            scores={model: _cell(score, shared[model]) for model, score in scores.items()},
            scale=max(stored_score.scale for score in scores.values() for stored_score in score),
        )


def _notes(evaluations: SuiteEvaluations) -> list[str]:
    """What must be said of the data, of each model's numbers, and of how it was used."""
    of_data = dict.fromkeys(
        remark
        for of_model in evaluations.values()
        for evaluation in of_model
        for state in evaluation.data
        for remark in remarks(state)
    )
    noted = dict.fromkeys(
        model_note(model, note)
        for model, of_model in evaluations.items()
        for evaluation in of_model
        for note in evaluation.notes
    )
    used = [
        note
        for model, of_model in evaluations.items()
        for note in usage_note(
            model, [facts_of(evaluation, "truncated") for evaluation in of_model]
        )
    ]
    return [*of_data, *noted, *used]


def _key(score: StoredScore) -> tuple[str, ...]:
    return score.slice, score.metric, score.setting, score.split or ""


def _scores(evaluations: Sequence[Evaluation], key: tuple[str, ...]) -> list[StoredScore]:
    return [
        score for evaluation in evaluations for score in evaluation.scores if _key(score) == key
    ]


def _cell(scores: Sequence[StoredScore], shared: Overlap | None) -> TableCell:
    if not scores:
        return score_cell(None)
    values, scale = [score.value for score in scores], scores[0].scale
    return score_cell(
        scale * fmean(values), sd=scale * sd_over_members(values), mark=overlap_mark(shared)
    )
