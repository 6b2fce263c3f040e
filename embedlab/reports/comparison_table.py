"""The table of models compared on pairs: scores, differences from the first model, and published numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from embedlab.analysis.comparison import ComparedSlice
from embedlab.analysis.uncertainty import METHOD
from embedlab.choices import Aggregate
from embedlab.comparison.comparison import Comparison
from embedlab.evaluation.scored_pairs import ScoredPairs, signature_of
from embedlab.models.grammar import titles_of
from embedlab.papers.printed import PublishedRow
from embedlab.reports.comparison_cells import columns_of, pair_footnotes, row_of
from embedlab.reports.frames import compared_frame
from embedlab.reports.notes import common_count, data_notes, slice_note, undefined_notes, usage_notes, with_marks
from embedlab.reports.stated_figures import STATED, StatedModel, compared_figures, stated_cell
from embedlab.reports.tables import Column, Table


def comparison_table(
    comparison: Comparison, scored: ScoredPairs, printed: Sequence[PublishedRow], stated: Sequence[StatedModel] = ()
) -> Table:
    """Return one row a slice; one column a model, then one a difference, then one a published row and one a model of stated figures."""
    shared = {model.name: scored.model_overlaps(model, comparison.by) for model in scored.models}
    undefined = undefined_notes(scored, comparison.by, [comparison.aggregate])
    footnotes = [*undefined, *pair_footnotes(scored, comparison.by), *usage_notes(scored.models, scored.facts)]
    published = {(line.model, one.key): _printed(line, one) for line in printed for one in comparison.slices}
    titles = titles_of([*comparison.models, *(model.name for model in stated)])
    slices = [one.key for one in comparison.slices]
    rows = [
        row_of(one, shared)
        | {f"{row.model}.published": published[row.model, one.key] for row in printed}
        | {model.name: stated_cell(model.value(one.key)) for model in stated}
        for one in comparison.slices
    ]
    compared = compared_frame(comparison.slices, marks=scored.marks, by=comparison.by, shared=shared, published=published)
    title = with_marks(f"Spearman x 100, {comparison.aggregate}{common_count(scored, comparison.by)}", scored.marks)
    tested = [f"p: {comparison.test}, of single seeds; averages are not tested"] if comparison.test != "dyadic" else []
    printed_notes = [_printed_note(row, comparison.aggregate) for row in printed]
    return Table(
        title=title,
        columns=[
            Column(key="slice", title=comparison.by, role="key"),
            Column(key="pairs", title="pairs"),
            *columns_of(comparison.models, comparison.reference, with_p=comparison.test != "dyadic"),
            *(
                Column(key=f"{row.model}.published", title=f"{titles[row.model]}, {row.paper}", digits=2, role="difference")
                for row in printed
            ),
            *(Column(key=model.name, title=f"{titles[model.name]}, {STATED}", align="right", role="difference") for model in stated),
        ],
        titles=titles,
        rows=rows,
        frame=pl.concat([compared, compared_figures(stated, slices, scored.task)]),
        notes=[
            *data_notes(scored),
            *footnotes,
            *tested,
            *_slice_notes(comparison),
            *printed_notes,
            *(note for model in stated for note in model.notes(slices)),
        ],
        signatures=_signatures(comparison, scored),
    )


def _signatures(comparison: Comparison, scored: ScoredPairs) -> dict[str, str]:
    """Return the signature of each model's numbers and of its differences from the reference."""
    margin = (f"{100 * comparison.margin:g}",) if comparison.margin is not None else ()
    found = {
        model.name: signature_of(scored, model, by=comparison.by, aggregation=(comparison.aggregate,), metric="spearman")
        for model in scored.models
    }
    return {name: str(replace(one, interval=(METHOD,), test=(comparison.test,), margin=margin)) for name, one in found.items()}


def _printed(row: PublishedRow, one: ComparedSlice) -> float | None:
    """Return the published number of a dataset, or of the average over all datasets that the paper prints."""
    return row.average if one.average_of and set(one.average_of) == set(row.scores) else row.scores.get(one.key)


def _printed_note(row: PublishedRow, aggregate: Aggregate) -> str:
    other = "" if row.aggregate == aggregate else f"; not comparable with {aggregate!r} here"
    return f"{row.model}, {row.paper}: {row.table}, {row.encoder}, aggregated by {row.aggregate!r}{other}"


def _slice_notes(comparison: Comparison) -> Iterator[str]:
    yield from comparison.notes
    for one in comparison.slices:
        yield from (slice_note(one.key, note) for note in one.notes)
