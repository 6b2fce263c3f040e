"""The table of models compared on items of any task: scores, differences from the first model, and
what others publish or state.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from embedlab.analysis.another_dataset import Elsewhere
from embedlab.analysis.comparison import ComparedSlice, comparison_notes
from embedlab.analysis.expressions import meanings
from embedlab.analysis.power import Detectable
from embedlab.choices import Aggregate, TableRows
from embedlab.experiments.published_rows import PublishedRow
from embedlab.models.grammar import titles_of
from embedlab.outcomes.cuts import DATASET
from embedlab.outcomes.grouping import is_expression
from embedlab.reports.captions import comparison_caption, items_of
from embedlab.reports.comparison_cells import columns_of, overlap_footnotes, row_of
from embedlab.reports.frames import compared_frame
from embedlab.reports.model_columns import score_cell
from embedlab.reports.notes import generated_note, slice_note, usage_notes, with_marks
from embedlab.reports.stated_figures import STATED, StatedModel, compared_figures
from embedlab.reports.table_forms import with_model_rows
from embedlab.reports.tables import ABSENT, Column, Table, TableCell, Value
from embedlab.reports.units import is_mixed, measures_in, scales_of, unit_of
from embedlab.reports.verdicts import verdicts
from embedlab.scoring.task_comparison import TaskComparison
from embedlab.tasks.task import scale_of


def comparison_table(
    comparison: TaskComparison,
    printed: Sequence[PublishedRow] = (),
    stated: Sequence[StatedModel] = (),
    *,
    rows: TableRows = "slices",
) -> Table:
    """Return one row a slice; one column a model, one a difference from the first, then one a
    published row and one a stated model.

    What is the same in all rows is in the title: a column that says it is left out. With ROWS of
    models, one row a model and one column a slice, without the differences.
    """
    table = replace(
        _slices_table(comparison, printed, stated),
        caption=comparison_caption(comparison, rows=rows),
    )
    return (
        with_model_rows(replace(table, notes=[items_of(comparison), *table.notes]))
        if rows == "models"
        else table
    )


def _slices_table(
    comparison: TaskComparison, printed: Sequence[PublishedRow], stated: Sequence[StatedModel]
) -> Table:
    names = [model.name for model in comparison.models]
    titles = titles_of([*names, *(model.name for model in stated)])
    published = {
        (line.model, compared.key): _printed(line, compared)
        for line in printed
        for compared in comparison.slices
    }
    keys = {
        compared.key: compared.average_of
        for compared in comparison.slices
        if compared.metric == "spearman"
    }
    rows = [_row(compared, comparison, published, stated) for compared in comparison.slices]
    compared = compared_frame(
        comparison.slices,
        marks=comparison.marks,
        by=comparison.slicing.by,
        shared=comparison.shared,
        published=published,
    )
    return Table(
        title=score_title(comparison),
        columns=[
            *columns_of_slices(comparison),
            *columns_of(comparison.models),
            *(
                Column(
                    key=f"{row.model}.published",
                    title=f"{titles[row.model]}, {row.paper}",
                    digits=2,
                    role="difference",
                )
                for row in printed
            ),
            *(
                Column(
                    key=model.name,
                    title=f"{titles[model.name]}, {STATED}",
                    align="right",
                    role="difference",
                )
                for model in stated
            ),
        ],
        rows=rows,
        frame=pl.concat([compared, compared_figures(stated, keys, comparison.slices[0].task)])
        if stated
        else compared,
        answer=verdicts(comparison.slices, names, by=comparison.slicing.by),
        notes=list(dict.fromkeys(_notes(comparison, printed, stated, keys))),
        signatures=comparison.signatures,
        titles=titles,
        records={"another_dataset": [_scaled(elsewhere) for elsewhere in comparison.elsewhere]},
    )


def columns_of_slices(comparison: TaskComparison) -> list[Column]:
    """Return the columns that say what a row is of; slices by a property have their dataset in a
    column, where there are several.
    """
    by = comparison.slicing.by
    return leading_columns(
        comparison.slices,
        "slice",
        by.replace(",", " × "),
        has_datasets=by != DATASET and not shared_dataset(comparison),
    )


def leading_columns(
    rows: Sequence[ComparedSlice | Detectable], key: str, title: str, *, has_datasets: bool = False
) -> list[Column]:
    """Return the columns that say what a row is of: its task and metric where there are several,
    KEY under TITLE, and its items.
    """
    is_of_several = {
        name: len({getattr(row, name) for row in rows}) > 1 for name in ("task", "metric")
    }
    return [
        *([Column(key="task", title="task", role="group")] if is_of_several["task"] else []),
        *([Column(key="dataset", title="dataset", role="group")] if has_datasets else []),
        Column(key=key, title=title, role="key"),
        *([Column(key="metric", title="metric", role="key")] if is_of_several["metric"] else []),
        Column(key="pairs", title="items"),
    ]


def score_title(comparison: TaskComparison) -> str:
    """Return the metric of all rows, how the sources of datasets are put together, which items are
    compared, and the marks.
    """
    scales, settings = (
        scales_of(comparison.slices),
        {compared.setting for compared in comparison.slices},
    )
    names = (
        measures_in(scales) if len(scales) == 1 or is_mixed(scales) else f"scores{unit_of(scales)}"
    )
    setting = str(next(iter(settings))) if len(settings) == 1 and None not in settings else ""
    of = f"on {dataset}" if (dataset := shared_dataset(comparison)) else ""
    return titled(
        comparison, [" ".join(filter(None, (names[:1].upper() + names[1:], of))), setting]
    )


def shared_dataset(comparison: TaskComparison) -> str:
    """Return the dataset of which all rows are slices; nothing where they are of several, or whole
    datasets.
    """
    names = {compared.dataset for compared in comparison.slices}
    return next(iter(names)) if comparison.slicing.by != DATASET and len(names) == 1 else ""


def slice_cells(
    compared: ComparedSlice, comparison: TaskComparison
) -> Mapping[str, Value | TableCell]:
    """Return the cells of a row under its leading columns; what a column or the title of the table
    says is not repeated.
    """
    by, title = comparison.slicing.by, compared.slice_title
    if by != DATASET and compared.dataset:
        title = title.removeprefix(compared.dataset).strip().removeprefix(f"{by}: ") or ABSENT
    return {
        "task": compared.task,
        "dataset": compared.dataset,
        "slice": TableCell(value=compared.key, text=title),
        "metric": compared.metric,
        "pairs": compared.pairs,
    }


def titled(comparison: TaskComparison, parts: Sequence[str]) -> str:
    """Return a title of PARTS with the number of items that all models score, where numbers are of
    these, and the marks.
    """
    counted = (
        f"{comparison.rows[0]} of {comparison.rows[1]} items" if comparison.rows is not None else ""
    )
    return with_marks(", ".join(filter(None, (*parts, counted))), comparison.marks)


def _row(
    compared: ComparedSlice,
    comparison: TaskComparison,
    published: Mapping[tuple[str, str], float | None],
    stated: Sequence[StatedModel],
) -> Mapping[str, Value | TableCell]:
    return {
        **row_of(compared, comparison.shared, scale=scale_of(compared.task, compared.metric)),
        **slice_cells(compared, comparison),
        **{
            f"{model}.published": value
            for (model, key), value in published.items()
            if key == compared.key
        },
        **{
            model.name: score_cell(model.value(compared.key, over=compared.average_of))
            for model in stated
            if compared.metric == "spearman"
        },
    }


def _notes(
    comparison: TaskComparison,
    printed: Sequence[PublishedRow],
    stated: Sequence[StatedModel],
    keys: Iterable[str],
) -> Iterator[str]:
    """Yield what must be said beside the numbers: of the data, of each model, of the tests, of
    single rows.
    """
    slicing = comparison.slicing
    yield from general_notes(comparison)
    yield from comparison_notes(comparison.slices, comparison.models, slicing.margin)
    yield from _elsewhere_notes(
        comparison.elsewhere, titles_of([model.name for model in comparison.models])
    )
    for compared in comparison.slices:
        yield from (slice_note(compared.key, note) for note in compared.notes)
    yield from (_printed_note(row, slicing.aggregate) for row in printed)
    yield from (note for model in stated for note in model.notes(list(keys)))


def _scaled(elsewhere: Elsewhere) -> Mapping[str, object]:
    """Return what is known of another dataset, as tables show it."""
    scale = scale_of(elsewhere.task, elsewhere.metric)
    return {
        key: scale * value if isinstance(value, float) else value
        for key, value in vars(elsewhere).items()
    } | {"datasets": [*elsewhere.datasets]}


def _elsewhere_notes(others: Sequence[Elsewhere], titles: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each kind of datasets: each model's mean difference on such datasets, and
    where that on another one is expected.
    """
    for key in dict.fromkeys(
        (elsewhere.task, elsewhere.metric, elsewhere.datasets) for elsewhere in others
    ):
        scale = scale_of(key[0], key[1])
        listed = "; ".join(
            f"{titles[elsewhere.model]} {scale * elsewhere.mean:+z.2f} "
            f"[{scale * elsewhere.low:+z.2f}, {scale * elsewhere.high:+z.2f}] on average, "
            f"{scale * elsewhere.new_low:+z.2f} to {scale * elsewhere.new_high:+z.2f} on another"
            for elsewhere in others
            if (elsewhere.task, elsewhere.metric, elsewhere.datasets) == key
        )
        shared = next(
            elsewhere.shared_pairs
            for elsewhere in others
            if (elsewhere.task, elsewhere.metric, elsewhere.datasets) == key
        )
        over = (
            f"random effects over {', '.join(key[2])}, which share {shared or 'no'} "
            f"pair{'s' if shared != 1 else ''}; 95%"
        )
        yield (
            f"another dataset of this kind, difference from {titles[others[0].reference]}: "
            f"{listed} ({over})"
        )


def general_notes(comparison: TaskComparison) -> Iterator[str]:
    """Yield what holds of all numbers of a comparison: the data, the items that were picked, the
    models and how they were used.
    """
    slicing, settings = (
        comparison.slicing,
        {
            compared.task: compared.setting
            for compared in comparison.slices
            if compared.setting is not None
        },
    )
    yield from generated_note(comparison.marks)
    named = "".join(
        f"; @{name} is {expression!r}"
        for name, expression in meanings(f"{slicing.where} {slicing.by}").items()
    )
    if slicing.where:
        yield f"items that fit {slicing.where!r}{named}"
    elif is_expression(slicing.by):
        yield f"fits: items that fit {slicing.by!r}{named}"
    if slicing.by == DATASET and len({compared.setting for compared in comparison.slices}) > 1:
        yield from (f"{task}: aggregated by {setting!r}" for task, setting in settings.items())
    yield from comparison.notes
    yield from overlap_footnotes(comparison.counts)
    yield from usage_notes(
        [model for model in comparison.models if model.members[0] in comparison.facts],
        comparison.facts,
    )


def _printed(row: PublishedRow, compared: ComparedSlice) -> float | None:
    """Return the published number of a dataset, or of the average over all datasets that the paper
    prints.
    """
    if compared.metric != "spearman":
        return None
    return (
        row.average
        if compared.average_of and set(compared.average_of) == set(row.scores)
        else row.scores.get(compared.key)
    )


def _printed_note(row: PublishedRow, aggregate: Aggregate) -> str:
    other = "" if row.aggregate == aggregate else f"; not comparable with {aggregate!r} here"
    return (
        f"{row.model}, {row.paper}: {row.table}, {row.encoder}, aggregated by "
        f"{row.aggregate!r}{other}"
    )
