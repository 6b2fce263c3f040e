"""The table of models compared on items of any task: scores, differences from the first model, and what others publish or state."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import polars as pl

from embedlab.analysis.another_dataset import Elsewhere
from embedlab.analysis.comparison import ComparedSlice, comparison_notes
from embedlab.analysis.expressions import meanings
from embedlab.analysis.power import Detectable
from embedlab.choices import Aggregate, TableRows
from embedlab.experiments.printed import PublishedRow
from embedlab.models.grammar import titles_of
from embedlab.outcomes.cuts import DATASET
from embedlab.outcomes.grouping import is_expression
from embedlab.reports.captions import comparison_caption, items_of
from embedlab.reports.comparison_cells import columns_of, overlap_footnotes, row_of
from embedlab.reports.frames import compared_frame
from embedlab.reports.model_columns import score_cell
from embedlab.reports.notes import sample_note, slice_note, usage_notes, with_marks
from embedlab.reports.stated_figures import STATED, StatedModel, compared_figures
from embedlab.reports.table_forms import with_model_rows
from embedlab.reports.tables import ABSENT, Column, Table, TableCell, Value
from embedlab.scoring.task_comparison import TaskComparison
from embedlab.tasks.task import scale_of


def comparison_table(
    found: TaskComparison, printed: Sequence[PublishedRow] = (), stated: Sequence[StatedModel] = (), *, rows: TableRows = "slices"
) -> Table:
    """Return one row a slice; one column a model, one a difference from the first, then one a published row and one a stated model.

    What is the same in all rows is in the title: a column that says it is left out. With ROWS of models, one row a model and one column
    a slice, without the differences.
    """
    table = replace(_slices_table(found, printed, stated), caption=comparison_caption(found, rows=rows))
    return with_model_rows(replace(table, notes=[items_of(found), *table.notes])) if rows == "models" else table


def _slices_table(found: TaskComparison, printed: Sequence[PublishedRow], stated: Sequence[StatedModel]) -> Table:
    names = [model.name for model in found.models]
    titles = titles_of([*names, *(model.name for model in stated)])
    published = {(line.model, one.key): _printed(line, one) for line in printed for one in found.slices}
    keys = {one.key: one.average_of for one in found.slices if one.metric == "spearman"}
    rows = [_row(one, found, published, stated) for one in found.slices]
    compared = compared_frame(found.slices, marks=found.marks, by=found.slicing.by, shared=found.shared, published=published)
    return Table(
        title=score_title(found),
        columns=[
            *columns_of_slices(found),
            *columns_of(names, names[0], with_p=found.slicing.test != "dyadic"),
            *(
                Column(key=f"{row.model}.published", title=f"{titles[row.model]}, {row.paper}", digits=2, role="difference")
                for row in printed
            ),
            *(Column(key=model.name, title=f"{titles[model.name]}, {STATED}", align="right", role="difference") for model in stated),
        ],
        rows=rows,
        frame=pl.concat([compared, compared_figures(stated, keys, found.slices[0].task)]) if stated else compared,
        notes=list(dict.fromkeys(_notes(found, printed, stated, keys))),
        signatures=found.signatures,
        titles=titles,
        records={"another_dataset": [_scaled(one) for one in found.elsewhere]},
    )


def columns_of_slices(found: TaskComparison) -> list[Column]:
    """Return the columns that say what a row is of; slices by a property have their dataset in a column, where there are several."""
    by = found.slicing.by
    return leading_columns(found.slices, "slice", by.replace(",", " × "), has_datasets=by != DATASET and not shared_dataset(found))


def leading_columns(rows: Sequence[ComparedSlice | Detectable], key: str, title: str, *, has_datasets: bool = False) -> list[Column]:
    """Return the columns that say what a row is of: its task and metric where there are several, KEY under TITLE, and its items."""
    is_of_several = {name: len({getattr(row, name) for row in rows}) > 1 for name in ("task", "metric")}
    return [
        *([Column(key="task", title="task", role="group")] if is_of_several["task"] else []),
        *([Column(key="dataset", title="dataset", role="group")] if has_datasets else []),
        Column(key=key, title=title, role="key"),
        *([Column(key="metric", title="metric", role="key")] if is_of_several["metric"] else []),
        Column(key="pairs", title="items"),
    ]


def score_title(found: TaskComparison) -> str:
    """Return the metric of all rows, how the sources of datasets are put together, which items are compared, and the marks."""
    metrics, settings = _metrics(found), {one.setting for one in found.slices}
    is_scaled = any(scale_of(one.task, one.metric) == 100 for one in found.slices)
    metric = next(iter(metrics)).capitalize() if len(metrics) == 1 else "Scores"
    setting = str(next(iter(settings))) if len(settings) == 1 and None not in settings else ""
    of = f"on {dataset}" if (dataset := shared_dataset(found)) else ""
    return titled(found, [" ".join(filter(None, (metric, "x 100" if is_scaled else "", of))), setting])


def shared_dataset(found: TaskComparison) -> str:
    """Return the dataset of which all rows are slices; nothing where they are of several, or whole datasets."""
    names = {one.dataset for one in found.slices}
    return next(iter(names)) if found.slicing.by != DATASET and len(names) == 1 else ""


def slice_cells(one: ComparedSlice, found: TaskComparison) -> Mapping[str, Value | TableCell]:
    """Return the cells of a row under its leading columns; what a column or the title of the table says is not repeated."""
    by, title = found.slicing.by, one.slice_title
    if by != DATASET and one.dataset:
        title = title.removeprefix(one.dataset).strip().removeprefix(f"{by}: ") or ABSENT
    return {
        "task": one.task,
        "dataset": one.dataset,
        "slice": TableCell(value=one.key, text=title),
        "metric": one.metric,
        "pairs": one.pairs,
    }


def titled(found: TaskComparison, parts: Sequence[str]) -> str:
    """Return a title of PARTS with the number of items that all models score, where numbers are of these, and the marks."""
    counted = f"{found.rows[0]} of {found.rows[1]} items" if found.rows is not None else ""
    return with_marks(", ".join(filter(None, (*parts, counted))), found.marks)


def _metrics(found: TaskComparison) -> dict[str, None]:
    return dict.fromkeys(one.metric for one in found.slices)


def _row(
    one: ComparedSlice,
    found: TaskComparison,
    published: Mapping[tuple[str, str], float | None],
    stated: Sequence[StatedModel],
) -> Mapping[str, Value | TableCell]:
    return {
        **row_of(one, found.shared, scale=scale_of(one.task, one.metric)),
        **slice_cells(one, found),
        **{f"{model}.published": value for (model, key), value in published.items() if key == one.key},
        **{model.name: score_cell(model.value(one.key, over=one.average_of)) for model in stated if one.metric == "spearman"},
    }


def _notes(found: TaskComparison, printed: Sequence[PublishedRow], stated: Sequence[StatedModel], keys: Iterable[str]) -> Iterator[str]:
    """Yield what must be said beside the numbers: of the data, of each model, of the tests, of single rows."""
    slicing = found.slicing
    yield from general_notes(found)
    tests = {difference.test for one in found.slices for difference in one.differences.values() if difference.p == difference.p}
    if slicing.test in {"williams", "steiger"}:
        yield f"p: {slicing.test}, of single seeds; averages are not tested"
    if "mcnemar" in tests:
        yield "p of accuracies: McNemar, of single models"
    yield from comparison_notes(found.slices, found.models, slicing.test, slicing.margin)
    yield from _elsewhere_notes(found.elsewhere, titles_of([model.name for model in found.models]))
    for one in found.slices:
        yield from (slice_note(one.key, note) for note in one.notes)
    yield from (_printed_note(row, slicing.aggregate) for row in printed)
    yield from (note for model in stated for note in model.notes(list(keys)))


def _scaled(one: Elsewhere) -> Mapping[str, object]:
    """Return what is known of another dataset, as tables show it."""
    scale = scale_of(one.task, one.metric)
    return {key: scale * value if isinstance(value, float) else value for key, value in vars(one).items()} | {"datasets": [*one.datasets]}


def _elsewhere_notes(found: Sequence[Elsewhere], titles: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each kind of datasets: each model's mean difference on such datasets, and where that on another one is expected."""
    for key in dict.fromkeys((one.task, one.metric, one.datasets) for one in found):
        scale = scale_of(key[0], key[1])
        listed = "; ".join(
            f"{titles[one.model]} {scale * one.mean:+z.2f} [{scale * one.low:+z.2f}, {scale * one.high:+z.2f}] on average, "
            f"{scale * one.new_low:+z.2f} to {scale * one.new_high:+z.2f} on another"
            for one in found
            if (one.task, one.metric, one.datasets) == key
        )
        shared = next(one.shared_pairs for one in found if (one.task, one.metric, one.datasets) == key)
        over = f"random effects over {', '.join(key[2])}, which share {shared or 'no'} pair{'s' if shared != 1 else ''}; 95%"
        yield f"another dataset of this kind, difference from {titles[found[0].reference]}: {listed} ({over})"


def general_notes(found: TaskComparison) -> Iterator[str]:
    """Yield what holds of all numbers of a comparison: the data, the items that were picked, the models and how they were used."""
    slicing, settings = found.slicing, {one.task: one.setting for one in found.slices if one.setting is not None}
    yield from sample_note(found.marks)
    named = "".join(f"; @{name} is {expression!r}" for name, expression in meanings(f"{slicing.where} {slicing.by}").items())
    if slicing.where:
        yield f"items that fit {slicing.where!r}{named}"
    elif is_expression(slicing.by):
        yield f"fits: items that fit {slicing.by!r}{named}"
    if slicing.by == DATASET and len({one.setting for one in found.slices}) > 1:
        yield from (f"{task}: aggregated by {setting!r}" for task, setting in settings.items())
    yield from found.notes
    yield from overlap_footnotes(found.counts)
    yield from usage_notes([model for model in found.models if model.members[0] in found.facts], found.facts)


def _printed(row: PublishedRow, one: ComparedSlice) -> float | None:
    """Return the published number of a dataset, or of the average over all datasets that the paper prints."""
    if one.metric != "spearman":
        return None
    return row.average if one.average_of and set(one.average_of) == set(row.scores) else row.scores.get(one.key)


def _printed_note(row: PublishedRow, aggregate: Aggregate) -> str:
    other = "" if row.aggregate == aggregate else f"; not comparable with {aggregate!r} here"
    return f"{row.model}, {row.paper}: {row.table}, {row.encoder}, aggregated by {row.aggregate!r}{other}"
