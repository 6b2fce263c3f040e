"""The tables of models that were evaluated on pairs: by dataset, by source and by word overlap."""

from collections.abc import Sequence
from dataclasses import replace
from math import isnan
from statistics import fmean
from typing import Any, cast

import polars as pl

from embedlab.analysis.comparison import ComparedSlice
from embedlab.analysis.evidence import member_columns
from embedlab.analysis.scores import ModelColumns
from embedlab.choices import Aggregate, By, Correlation
from embedlab.comparison.comparison import compare_outcomes
from embedlab.comparison.evidence import outcome_evidence
from embedlab.data.shared_text import Overlap
from embedlab.models.grammar import title_of, titles_of
from embedlab.outcomes.pairs import measured_by
from embedlab.reports.captions import evaluation_caption
from embedlab.reports.comparison_cells import pair_footnotes
from embedlab.reports.frames import Intervals, evaluated_frame
from embedlab.reports.model_columns import ScoreRow, model_table, score_cell, sd_over_members
from embedlab.reports.notes import common_count, data_notes, slice_note, usage_notes, with_marks
from embedlab.reports.tables import Column, Table, TableCell
from embedlab.runs.evaluations import Evaluation
from embedlab.scoring.provenance import overlap_mark
from embedlab.scoring.scored_pairs import ScoredPairs, signature_of

PairEvaluations = dict[str, Evaluation]  # by member


def dataset_table(
    scored: ScoredPairs,
    evaluations: PairEvaluations,
    aggregates: Sequence[Aggregate],
    metric: Correlation,
) -> Table:
    """One row a dataset or average of each aggregation, one column a model; of one model, one
    column an aggregation.
    """
    titles = titles_of([model.name for model in scored.models])
    keys = _slices(evaluations, "dataset") + _slices(evaluations, "average")
    cells = {
        (model.name, aggregate, key): _dataset_cell(evaluations, model, key, metric, aggregate)
        for model in scored.models
        for aggregate in aggregates
        for key in keys
    }
    about: dict[str, Any] = {
        "frame": _frame(scored, evaluations, ("dataset", "average"), aggregates, metric),
        "notes": _notes(scored, "dataset", aggregates, metric),
        "signatures": _signatures(scored, "dataset", aggregates, metric),
        "caption": _caption(scored, "dataset", metric, aggregates),
    }
    title, leading = (
        _title(scored, "dataset", metric),
        [Column(key="dataset", title="dataset", role="key")],
    )
    if len(scored.models) == 1:  # the columns are its aggregations
        (name,) = titles
        score_rows = [
            ScoreRow(
                of={"dataset": key},
                scores={aggregate: cells[name, aggregate, key] for aggregate in aggregates},
            )
            for key in keys
        ]
        shown: dict[str, str] = {aggregate: aggregate for aggregate in aggregates}
        table = model_table(
            score_rows,
            shown,
            leading=leading,
            marks_best=False,
            title=title,
            score_columns="aggregate",
            **about,
        )
        return replace(table, subject=titles[name], titles=titles)
    if len(aggregates) > 1:
        leading.insert(0, Column(key="aggregate", title="aggregate", role="group"))
    else:
        title += f", {aggregates[0]}"
    rows = [
        ScoreRow(
            of={"aggregate": aggregate, "dataset": key},
            scores={name: cells[name, aggregate, key] for name in titles},
        )
        for aggregate in aggregates
        for key in keys
    ]
    return model_table(rows, titles, leading=leading, title=title, **about)


def _caption(
    scored: ScoredPairs, by: By, metric: Correlation, aggregates: Sequence[Aggregate]
) -> str:
    how = (
        f", aggregated by {aggregates[0]!r}"
        if len(aggregates) == 1 and aggregates[0] != "all"
        else ""
    )
    of = "" if len(scored.models) > 1 else f" of {title_of(scored.models[0].name)}"
    return evaluation_caption(
        f"{metric.capitalize()} × 100{of}{how}{'' if by == 'dataset' else f' by {by}'}",
        {items.title: len(items.rows) for items in scored.slices(by)},
        marks=scored.marks,
        seen=[
            overlap
            for model in scored.models
            for overlap in scored.model_overlaps(model, by).values()
        ],
        seeds=[len(model.members) for model in scored.models],
        is_ranked=len(scored.models) > 1,
    )


def _signatures(
    scored: ScoredPairs, by: By, aggregates: Sequence[Aggregate], metric: Correlation
) -> dict[str, str]:
    return {
        model.name: str(signature_of(scored, model, by=by, aggregation=aggregates, metric=metric))
        for model in scored.models
    }


def _dataset_cell(
    evaluations: PairEvaluations,
    model: ModelColumns,
    key: str,
    metric: Correlation,
    aggregate: Aggregate,
) -> TableCell:
    values = _values(evaluations, model, ("dataset", "average"), key, metric, aggregate)
    shared = next(
        (
            overlaps[key]
            for member in model.members
            if key in (overlaps := evaluations[member].overlaps)
        ),
        None,
    )
    return _cell(values, shared)


def slice_table(
    scored: ScoredPairs, evaluations: PairEvaluations, by: By, metric: Correlation
) -> Table:
    """One row a source or Dice fifth, one column a model."""
    overlaps = {model.name: scored.model_overlaps(model, by) for model in scored.models}
    rows = [
        ScoreRow(
            of={"slice": TableCell(value=items.key, text=items.title), "pairs": len(items.rows)},
            scores={
                model.name: _cell(
                    _values(evaluations, model, (by,), items.key, metric, "all"),
                    overlaps[model.name].get(items.key),
                )
                for model in scored.models
            },
        )
        for items in scored.slices(by)
    ]
    return model_table(
        rows,
        titles_of([model.name for model in scored.models]),
        leading=[Column(key="slice", title=by, role="key"), Column(key="pairs", title="pairs")],
        title=_title(scored, by, metric),
        frame=_frame(scored, evaluations, (by,), ("all",), metric),
        notes=_notes(scored, by, ("all",), metric),
        signatures=_signatures(scored, by, ("all",), metric),
        caption=_caption(scored, by, metric, ("all",)),
    )


def _frame(
    scored: ScoredPairs,
    evaluations: PairEvaluations,
    by: Sequence[str],
    aggregates: Sequence[Aggregate],
    metric: Correlation,
) -> pl.DataFrame:
    """The numbers of the table, one a row."""
    model_evaluations = {
        model.name: [evaluations[member] for member in model.members] for model in scored.models
    }
    intervals = _intervals(scored, cast("By", by[0]), aggregates) if metric == "spearman" else {}
    return evaluated_frame(
        model_evaluations,
        where=lambda score: (
            score.by in by and score.metric == metric and score.setting in aggregates
        ),
        intervals=intervals,
    )


def _intervals(scored: ScoredPairs, by: By, aggregates: Sequence[Aggregate]) -> Intervals:
    """The intervals of all scores, by the procedure of comparisons; undefined ones are left out."""
    intervals: dict[tuple[str, str, str], tuple[float, float]] = {}
    for aggregate in aggregates:
        for compared in _compared(scored, by, aggregate):
            intervals |= {
                (model, compared.key, aggregate): (100 * score.low, 100 * score.high)
                for model, score in compared.scores.items()
                if not isnan(score.low)
            }
    return intervals


def _compared(scored: ScoredPairs, by: By, aggregate: Aggregate) -> Sequence[ComparedSlice]:
    return compare_outcomes(
        scored.outcomes, scored.models, by=by, aggregate=aggregate, common=scored.common
    ).slices


def _slices(evaluations: PairEvaluations, by: str) -> list[str]:
    return list(
        dict.fromkeys(
            score.slice
            for evaluation in evaluations.values()
            for score in evaluation.scores
            if score.by == by
        )
    )


def _values(
    evaluations: PairEvaluations,
    model: ModelColumns,
    by: Sequence[str],
    key: str,
    metric: Correlation,
    aggregate: Aggregate,
) -> list[float]:
    """The score x 100 of each member; without sources a dataset and its only source have one name,
    so BY distinguishes them.
    """
    return [
        100 * score.value
        for member in model.members
        for score in evaluations[member].scores
        if score.by in by and (score.slice, score.metric, score.setting) == (key, metric, aggregate)
    ]


def _cell(values: Sequence[float], shared: Overlap | None) -> TableCell:
    """Mean ± standard deviation over the members, with the mark of text seen in training."""
    return score_cell(fmean(values), sd=sd_over_members(values), mark=overlap_mark(shared))


def _title(scored: ScoredPairs, by: By, metric: Correlation) -> str:
    return with_marks(f"{metric.title()} x 100{common_count(scored, by)}", scored.marks)


def _notes(
    scored: ScoredPairs, by: By, aggregates: Sequence[Aggregate], metric: Correlation
) -> tuple[str, ...]:
    """What must be said beside the numbers, and of single slices, such as why a number is
    absent.
    """
    outcomes, members = measured_by(scored.outcomes, metric), member_columns(scored.models)
    evidence = [
        evidence
        for aggregate in aggregates
        for evidence in outcome_evidence(
            outcomes, members, scored.slices(by), aggregate=aggregate, is_tested=False
        )
    ]
    of_slices = dict.fromkeys(
        slice_note(each.key, note) for each in evidence for note in each.notes
    )
    return (
        *data_notes(scored),
        *of_slices,
        *pair_footnotes(scored, by),
        *usage_notes(scored.models, scored.facts),
    )
