"""The tables of scores: one tidy row a model and slice, and one pivot of them for people, whether
models are evaluated, compared, or stated by others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from math import isnan, nan
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from embedlab.analysis.comparison import Difference, comparison_notes
from embedlab.analysis.evidence import is_checkpoint
from embedlab.analysis.seed_notes import HANGS
from embedlab.core.note import Note
from embedlab.core.printable import MODELS
from embedlab.data.published import state_remarks
from embedlab.models.grammar import titles_of
from embedlab.outcomes.frame import DATASET, is_expression
from embedlab.outcomes.frame import plain_name as plain_file
from embedlab.reports.frames import COMPARED, EVALUATED, Row, tidy_frame
from embedlab.reports.notes import (
    comparison_caption,
    generated_note,
    is_mixed,
    items_text,
    measures_in,
    model_note,
    scales_of,
    slice_notes,
    table_caption,
    unit_text,
    usage_facts,
    usage_note,
    usage_notes,
    with_marks,
)
from embedlab.reports.notes import counted_items as counted
from embedlab.reports.tables import (
    ABSENT,
    Column,
    Table,
    TableCell,
    Value,
    attributes,
    model_columns,
    number,
    score_columns,
)
from embedlab.reports.verdicts import verdicts
from embedlab.runs.signature import merged
from embedlab.scoring.provenance import overlap_mark, overlap_notes
from embedlab.scoring.task_comparison import TEST, TaskComparison
from embedlab.tasks.task import scale_of

if TYPE_CHECKING:
    from embedlab.analysis.another_dataset import NewDatasetEffect
    from embedlab.choices import TableRows
    from embedlab.data.marks import Overlap
    from embedlab.data.mteb_files import StatedFigures
    from embedlab.experiments.paper_file import PublishedRow
    from embedlab.runs.evaluations import Evaluation, StoredScore
    from embedlab.scoring.selection import SelectedTask

STATED = "stated"

Intervals = Mapping[tuple[str, ...], tuple[float, float]]
"""The 95% interval of a score by model, slice, metric and aggregation, if there is a choice."""


def evaluation_table(
    selected: SelectedTask,
    evaluations: Mapping[str, Sequence[Evaluation]],
    *,
    metric: str,
    aggregates: Sequence[str],
    intervals: Intervals,
    notes: Sequence[str],
) -> Table:
    """Return the EVALUATIONS of each model's members: a row a number, a column a model, in the
    cells mean ± standard deviation.

    A single model with several aggregations or measures of all datasets has a column for each.
    AGGREGATES choose, with METRIC, the correlations of datasets and their averages; without them
    all numbers are shown.
    """

    def is_shown(score: StoredScore) -> bool:
        if not aggregates:
            return True
        is_whole = score.by in {DATASET, "average"}
        return is_whole and score.metric == metric and score.setting in aggregates

    members = [*chain(*evaluations.values())]
    records = [*_evaluation_rows(evaluations, is_shown, intervals)]
    scales = {record["metric"]: record["scale"] for record in records}
    distinct = {
        name: {record[name] for record in records} for name in ("metric", "setting", "split")
    }
    varying = [name for name, values in distinct.items() if len(values) > 1]
    is_of_one = len(evaluations) == 1 and _is_crossed(records, varying)
    column_key = varying[0] if is_of_one else "model"
    leading = [Column("slice", "dataset", "key")]
    leading += [Column(name, name, "key") for name in varying if name != column_key]
    titles = titles_of([*evaluations])
    columns = titles
    if is_of_one:
        columns = {record[column_key]: record[column_key] for record in records}
    measure_title = f"{metric.capitalize()} x 100"
    if not aggregates:
        has_measures = len(scales) == 1 or is_mixed(scales)
        unit_note = f", {measures_in(scales)}" if has_measures else unit_text(scales)
        measure_title = f"{selected.evaluation_name()}{unit_note}"
    constant = () if "setting" in varying else distinct["setting"]
    title = ", ".join(filter(None, [measure_title, *constant]))
    picked = {"by": (DATASET,), "metric": (metric,), "aggregation": tuple(aggregates)}
    signatures = {}
    for model, evaluated in evaluations.items():
        if evaluated:
            signature = merged([evaluation.signature for evaluation in evaluated])
            signatures[model] = str(replace(signature, **picked) if aggregates else signature)
    marks = sorted({mark for evaluation in members for mark in evaluation.marks})
    items = {
        record["slice"]: record["items"]
        for record in records
        if record["items"] and record["by"] != "average"
    }
    caption = f"{measure_title.replace(' x 100', ' × 100')}; {counted(items)}."
    return Table(
        with_marks(title, marks),
        [*leading, *model_columns(columns)],
        pivot(records, leading, on=column_key, marks_best=not is_of_one),
        [*dict.fromkeys((*generated_note(marks), *_evaluation_notes(evaluations), *notes))],
        tidy_frame(records, EVALUATED),
        titles=titles,
        subject=next(iter(titles.values())) if is_of_one else "",
        score_columns="aggregate" if column_key == "setting" else column_key,
        signatures=signatures,
        caption=lambda: table_caption(
            caption,
            marks=marks,
            is_ranked=len(evaluations) > 1 and 100 in scales.values(),
            seen=[overlap for evaluation in members for overlap in evaluation.overlaps.values()],
            seeds=map(len, evaluations.values()),
        ),
    )


def _is_crossed(records: Sequence[Row], varying: Sequence[str]) -> bool:
    """Return whether each row has a number for each value of the one thing that is VARYING."""
    if varying != ["setting"] and varying != ["metric"]:
        return False
    rows, values = ({record[name] for record in records} for name in ("slice", varying[0]))
    return len(records) == len(rows) * len(values)


def score_table(comparison: TaskComparison) -> Table:
    """Return one row a slice and one column a model: its score with a 95% interval."""
    records = [*compared_rows(comparison)]
    leading = columns_of_slices(comparison, records)
    return Table(
        score_title(comparison),
        [*leading, *model_columns(comparison.titles, "left")],
        pivot(records, leading, shows_intervals=True),
        [*general_notes(comparison), *slice_notes(comparison.slices)],
        tidy_frame(records, EVALUATED),
        titles=comparison.titles,
        signatures=comparison.signatures,
        caption=lambda: comparison_caption(comparison, "own intervals"),
    )


def comparison_table(
    comparison: TaskComparison,
    printed: Sequence[PublishedRow] = (),
    stated: Sequence[StatedModel] = (),
    *,
    rows: TableRows = "slices",
) -> Table:
    """Return a row a slice, with columns for each model, each difference from the first model, each
    published row and each stated model.

    What is the same in all rows is in the title instead of a column. With ROWS of models, return a
    row a model and a column a slice, without the differences.
    """
    slices, slicing = comparison.slices, comparison.slicing
    names = [model.name for model in comparison.models]
    titles = titles_of([*names, *(model.name for model in stated)])
    records = [*compared_rows(comparison, printed)]
    for model in stated:
        for index, row in enumerate(slices):
            if row.metric == "spearman":
                record = _stated_row(model, row.task, row.key, row.averaged_keys)
                records.append(record | {"place": index})
    leading = columns_of_slices(comparison, records)
    columns = [*leading, *_model_columns(comparison, titles)]
    for line in printed:
        title = f"{titles[line.model]}, {line.paper}"
        columns.append(Column(f"{line.model}.published", title, "difference", digits=2))
    for model in stated:
        title = f"{titles[model.name]}, {STATED}"
        columns.append(Column(f"{model.name}.score", title, "difference", "right"))
    ranked_keys = [row.key for row in slices if row.metric == "spearman"]
    notes = [
        *general_notes(comparison),
        *comparison_notes(
            slices, comparison.models, slicing.margin, has_differences=rows == "slices"
        ),
        *_elsewhere_notes(comparison.new_datasets, titles),
        *slice_notes(comparison.slices),
        *(_printed_note(line, slicing.aggregate) for line in printed),
        *(note for model in stated for note in model.notes(ranked_keys)),
    ]
    table = Table(
        score_title(comparison),
        columns,
        pivot(records, leading),
        [*dict.fromkeys(notes)],
        tidy_frame(records, COMPARED),
        answer=verdicts(slices, names, by=slicing.by),
        signatures=comparison.signatures,
        titles=titles,
        records={"another_dataset": [*map(_elsewhere_record, comparison.new_datasets)]},
        caption=lambda: comparison_caption(
            comparison, "differences" if rows == "slices" else "scores"
        ),
    )
    if rows == "slices":
        return table
    return with_model_rows(replace(table, notes=[items_text(comparison), *table.notes]))


def stated_table(
    models: Sequence[StatedModel], datasets: Mapping[str, Sequence[str]], metric: str, task: str
) -> Table:
    """Return one row a dataset of TASK that any of the models states, or an average over others,
    and one column a model.
    """
    rows = [
        _stated_row(model, task, key, averaged, metric) | {"place": key}
        for model in models
        for key, averaged in datasets.items()
    ]
    keys = {row["slice"] for row in rows if not isnan(row["score"])}
    keys |= {key for key in datasets if any(model.stated([key]) for model in models)}
    records = [row for row in rows if row["slice"] in keys]
    leading = [Column("slice", "dataset", "key")]
    titles = titles_of([model.name for model in models])
    return Table(
        f"{metric.title()} x 100 [{STATED}]",
        [*leading, *model_columns(titles)],
        pivot(records, leading),
        [note for model in models for note in model.notes([*keys])],
        tidy_frame(records, EVALUATED),
        titles=titles,
    )


def pivot(
    records: Iterable[Row],
    leading: Sequence[Column],
    *,
    on: str = "model",
    shows_intervals: bool = False,
    marks_best: bool = True,
) -> list[dict[str, Value | TableCell]]:
    """Return a row for the RECORDS of each place, with a cell for each value ON which they differ,
    and for its difference from the first model.

    The best of a row is marked among the numbers that are shares, as far as digits are shown.
    """
    keys = [column.key for column in leading]
    records_of_row: dict[object, list[Row]] = {}
    for record in records:
        row_key = record.get("place", tuple(map(record.get, keys)))
        records_of_row.setdefault(row_key, []).append(record)
    rows = []
    for group in records_of_row.values():
        first_record = group[0]
        row: dict[str, Value | TableCell] = {
            key: first_record[key] for key in keys if key in first_record
        }
        row["slice"] = TableCell(first_record["slice"], first_record["title"])
        shares = [record["score"] for record in group if record["scale"] == 100]
        rounded_scores = [round(score, 2) for score in shares if not isnan(score)]
        best_score = max(rounded_scores) if marks_best and len(rounded_scores) > 1 else None
        for record in group:
            row |= _model_cells(record, record[on], best_score, shows_intervals=shows_intervals)
        rows.append(row)
    return rows


def _model_cells(
    record: Row, key: str, best_score: float | None, *, shows_intervals: bool
) -> dict[str, Value | TableCell]:
    """Return the cells of a score, of its difference, and of what a paper prints for its model."""
    low, high, letters = record.get("low"), record.get("high"), record.get("letters") or ""
    hover = "" if low is None or isnan(low) else f"95% interval {low:z.2f} to {high:z.2f}"
    cells: dict[str, Value | TableCell] = {}
    if "difference" in record:
        difference_low, difference_high = record["difference_low"], record["difference_high"]
        is_clear = record.get("significant", False)
        signs = MODELS.sign * is_clear + "=" * record.get("equivalent", False)
        cells[f"{key}.delta"] = cell = number(
            record["difference"],
            is_signed=True,
            sign=signs + HANGS * (record["difference_without_topic"] is not None),
            low=difference_low,
            high=difference_high,
            is_dim=difference_low * difference_high > 0 and not is_clear,
        )
        hover += f"; difference from the first model {cell.text}" if hover else ""
    cells[f"{key}.score"] = number(
        record["score"],
        mark=record.get("mark", ""),
        sd=record.get("sd"),
        sign=f" {letters}".rstrip(),
        raised=letters,
        is_best=record["scale"] == 100 and round(record["score"], 2) == best_score,
        low=low if shows_intervals else None,
        high=high,
        hover=hover,
    )
    if record.get("published") is not None:
        cells[f"{key}.published"] = record["published"]
    return cells


def compared_rows(
    comparison: TaskComparison, printed: Sequence[PublishedRow] = ()
) -> Iterator[Row]:
    """Yield a row for each slice and model, with the columns COMPARED and what tables show."""
    published = {line.model: line for line in printed}
    property_name = comparison.slicing.by
    for index, compared_slice in enumerate(comparison.slices):
        scale = scale_of(compared_slice.task, compared_slice.metric)
        topic = compared_slice.largest_topic
        title = compared_slice.slice_title
        if property_name != DATASET and compared_slice.dataset:
            short_name = plain_file(compared_slice.dataset)
            title = title.removeprefix(compared_slice.dataset).removeprefix(short_name).strip()
            title = title.removeprefix(f"{property_name}: ") or ABSENT
        if is_expression(property_name):
            title = {"fits": "yes", "rest": "no"}.get(title, title)
        row = {
            **attributes(compared_slice, "dataset task metric setting"),
            "topics": round(compared_slice.topics, 6),  # a whole number of equal ones stays one
            "place": index,
            "title": title,
            "scale": scale,
            "by": "average" if compared_slice.averaged_keys else property_name,
            "slice": compared_slice.slice_key,
            "split": "",
            "items": compared_slice.items,
            "sentences": compared_slice.sentences or None,
            "component_rows": topic.rows if topic else None,
            "component_share": topic.share if topic else None,
        }
        for model, score in compared_slice.scores.items():
            overlap = comparison.shared.get(model, {}).get(compared_slice.key)
            line = published.get(model) if compared_slice.metric == "spearman" else None
            yield {
                **row,
                **attributes(score, "low high sd", scale),
                "model": model,
                "score": scale * score.value,
                "design_effect": score.uncertainty.design_effect,
                "seeds": len(score.members),
                "letters": score.letters or None,
                "mark": overlap_mark(overlap),
                "marks": ", ".join(sorted(comparison.model_marks.get(model, ()))),
                "published": line
                and _published_number(line, compared_slice.key, compared_slice.averaged_keys),
                **overlap_fields(overlap),
                **_difference_fields(compared_slice.differences.get(model), scale),
            }


def _difference_fields(difference: Difference | None, scale: float) -> Row:
    if difference is None:
        return {}
    topic = difference.topic
    fields: Row = {
        "difference": scale * difference.delta,
        "difference_low": scale * difference.low,
        "difference_high": scale * difference.high,
        "difference_design_effect": difference.uncertainty.design_effect,
        "difference_without_topic": scale * topic.score_without if topic else None,
    }
    if not isnan(difference.p_holm):
        tested = attributes(difference, "p significant reach")
        fields |= {"test": TEST, "p_corrected": difference.p_holm, **tested}
    if not isnan(difference.p_equivalent):
        fields |= attributes(difference, "p_equivalent equivalent")
    return fields


def _evaluation_rows(
    evaluations: Mapping[str, Sequence[Evaluation]],
    is_shown: Callable[[StoredScore], bool],
    intervals: Intervals,
) -> Iterator[Row]:
    """Yield a row for each number and model: the mean over its members."""
    rows: dict[tuple[str, ...], Row] = {}
    values: dict[tuple[str, ...], list[float]] = {}
    for model, members in evaluations.items():
        for evaluation in members:
            # of these slices a score on "dev" chose a setting, and the items are those of the test
            tested = {score.slice for score in evaluation.scores if score.split != "dev"}
            for score in filter(is_shown, evaluation.scores):
                split = score.split or ""
                measured, setting = (score.slice, score.metric), score.setting
                key = (evaluation.task, score.by, *measured, setting, split, model)
                setting_interval = intervals.get((model, *measured, setting))
                interval = setting_interval or intervals.get((model, *measured, ""))
                is_of_items = split != "dev" or score.slice not in tested
                low, high = interval if interval and is_of_items else (nan, nan)
                overlap = evaluation.overlaps.get(score.slice)
                row = {
                    **dict(zip(EVALUATED, key, strict=False)),
                    "low": score.scale * low,
                    "high": score.scale * high,
                    "items": score.items,
                    "marks": ", ".join(evaluation.marks),
                    **overlap_fields(overlap),
                    "title": score.title or score.slice,
                    "scale": score.scale,
                }
                rows.setdefault(key, row)
                if overlap:
                    rows[key]["mark"] = overlap_mark(overlap)
                values.setdefault(key, []).append(score.scale * score.value)
    for row_key, row in rows.items():
        seeds = values[row_key]
        is_known = len(seeds) > 1 and not any(map(isnan, seeds))
        sd = stdev(seeds) if is_known else None
        yield row | {"score": fmean(seeds), "sd": sd, "seeds": len(seeds)}


def overlap_fields(overlap: Overlap | None, prefix: str = "") -> Row:
    """Return the counts of text that a slice shares with training text; nothing without any."""
    counts = attributes(overlap, "shared_pairs shared_sentences") if overlap else {}
    return {f"{prefix}{name}": count for name, count in counts.items()}


def _model_columns(comparison: TaskComparison, titles: Mapping[str, str]) -> Iterator[Column]:
    """Yield a column for each model, whose title says if its numbers are about one checkpoint, then
    one for the difference of each further model from the first.
    """
    models = comparison.models
    for model in models:
        seed_note = "1 seed: " if model.seeds or any(model.runs) else ""
        checkpoint_note = f", {seed_note}this checkpoint" if is_checkpoint(model) else ""
        title = f"{titles[model.name]}{checkpoint_note}"
        yield Column(f"{model.name}.score", title, "score", "left")
    for model in models[1:]:
        title = f"{titles[model.name]} − {titles[models[0].name]}"
        yield Column(f"{model.name}.delta", title, "difference", "left")


def columns_of_slices(comparison: TaskComparison, records: Sequence[Row]) -> list[Column]:
    """Return the columns that name a row's slice and count its items; slices of several datasets by
    a property also have a column for the dataset.
    """
    title, dataset = comparison.slicing.by.replace(",", " × "), shared_dataset(comparison)
    is_whole = title == DATASET
    has_datasets = not is_whole and not dataset
    columns = leading_columns(records, "slice", title, has_datasets=has_datasets)
    if is_whole and dataset:  # the title of the table names it
        columns = [column for column in columns if column.key != "slice"]
    return columns


def leading_columns(
    records: Sequence[Row], key: str, title: str, *, has_datasets: bool = False
) -> list[Column]:
    """Return the columns that identify a row: task and metric if there are several, KEY under
    TITLE, and the number of items.
    """
    task, metric = (len({record[name] for record in records}) > 1 for name in ("task", "metric"))
    return [
        *([Column("task", "task", "group")] * task),
        *([Column("dataset", "dataset", "group")] * has_datasets),
        Column(key, title, "key"),
        *([Column("metric", "metric", "key")] * metric),
        Column("items", "items"),
    ]


def score_title(comparison: TaskComparison) -> str:
    """Return the metric of all rows, how the sources of datasets are aggregated, which items are
    compared, and the marks.
    """
    scales = scales_of(comparison.slices)
    settings = {row.setting for row in comparison.slices}
    is_named = len(scales) == 1 or is_mixed(scales)
    names = measures_in(scales) if is_named else f"scores{unit_text(scales)}"
    names = f"{names[:1].upper()}{names[1:]}"
    dataset = shared_dataset(comparison)
    subject = f"{names} on {dataset}" if dataset else names
    return title_with_marks(comparison, subject, settings.pop() if len(settings) == 1 else None)


def shared_dataset(comparison: TaskComparison) -> str:
    """Return the dataset whose slices, or whose measures, all rows are; "" if there are several
    datasets, a single row for a whole one, or a row for the items that a selection leaves out.
    """
    slices, property_name = comparison.slices, comparison.slicing.by
    names = {row.dataset for row in slices}
    has_measures = len({row.slice_key for row in slices}) == 1 < len(slices)
    is_shared = len(names) == 1 and (property_name != DATASET or has_measures)
    return plain_file(names.pop()) if is_shared else ""


def title_with_marks(comparison: TaskComparison, *parts: str | None) -> str:
    """Return a title of PARTS, the number of items that all models score if only these count, and
    the marks.
    """
    rows = comparison.rows
    common = f"{rows[0]} of {rows[1]} items" if rows is not None else ""
    return with_marks(", ".join(filter(None, (*parts, common))), comparison.marks)


def general_notes(comparison: TaskComparison) -> Iterator[str]:
    """Yield the notes on all numbers of a comparison: the data, the items that were picked, the
    models and how they were used.
    """
    slicing = comparison.slicing
    yield from generated_note(comparison.marks)
    definitions = "".join(
        f"; @{name} is {expression!r}" for name, expression in slicing.meanings.items()
    )
    if slicing.where:
        yield f"items that match {slicing.where!r}{definitions}"
    elif is_expression(slicing.by):
        yield f"yes: items that match {slicing.by!r}{definitions}"
    settings = {row.task: row.setting for row in comparison.slices}
    if slicing.by == DATASET and len({*settings.values()}) > 1:
        for task, setting in settings.items():
            if setting is not None:
                yield f"{task}: aggregated by {setting!r}"
    yield from comparison.notes
    yield from overlap_footnotes(comparison.counts)
    used_models = [model for model in comparison.models if model.members[0] in comparison.facts]
    yield from usage_notes(used_models, comparison.facts)


def overlap_footnotes(overlaps: Mapping[str, Mapping[str, Overlap]]) -> Iterator[str]:
    """Yield what the marks mean, with the counts of each model."""
    for model, counts in overlaps.items():
        yield from (model_note(model, note) for note in overlap_notes(counts))


def _evaluation_notes(evaluations: Mapping[str, Sequence[Evaluation]]) -> Iterator[str]:
    """Yield the notes on the data, on each model's numbers, and on how it was used."""
    for members in evaluations.values():
        yield from (
            note
            for evaluation in members
            for state in evaluation.data
            for note in state_remarks(state)
        )
    for model, members in evaluations.items():
        yield from (model_note(model, note) for evaluation in members for note in evaluation.notes)
    for model, members in evaluations.items():
        yield from usage_note(
            model, [usage_facts(evaluation, "truncated") for evaluation in members]
        )


def _elsewhere_record(elsewhere: NewDatasetEffect) -> Row:
    """Return the numbers for another dataset, as tables show them."""
    scale = scale_of(elsewhere.task, elsewhere.metric)
    record = {**vars(elsewhere), "datasets": [*elsewhere.datasets]}
    return record | attributes(elsewhere, "mean low high new_low new_high", scale)


def _elsewhere_notes(
    elsewheres: Sequence[NewDatasetEffect], titles: Mapping[str, str]
) -> Iterator[str]:
    """Yield a line for each kind of datasets: each model's mean difference on such datasets, and
    where that on another one is expected.
    """
    kinds: dict[tuple[str, str, tuple[str, ...]], list[NewDatasetEffect]] = {}
    for elsewhere in elsewheres:
        kinds.setdefault((elsewhere.task, elsewhere.metric, elsewhere.datasets), []).append(
            elsewhere
        )
    for (*_, datasets), models in kinds.items():
        model_texts = "; ".join(
            "{title} {mean:+z.2f} [{low:+z.2f}, {high:+z.2f}] on average, {new_low:+z.2f} to "
            "{new_high:+z.2f} on another".format(
                title=titles[elsewhere.model], **_elsewhere_record(elsewhere)
            )
            for elsewhere in models
        )
        shared_count = models[0].shared_pairs
        share = f"share {shared_count or 'no'} pair{'s' * (shared_count != 1)}"
        yield (
            f"another dataset of this kind, difference from {titles[models[0].reference]}: "
            f"{model_texts} (random effects over {', '.join(datasets)}, which {share}; 95%)"
        )


def _published_number(row: PublishedRow, key: str, average_of: Sequence[str]) -> float | None:
    """Return the published number of a dataset, or of the average over all datasets that the paper
    prints.
    """
    is_average = bool(average_of) and {*average_of} == {*row.scores}
    return row.average if is_average else row.scores.get(key)


def _printed_note(row: PublishedRow, aggregate: str) -> str:
    aggregate_note = ""
    if row.aggregate != aggregate:
        aggregate_note = f"; not comparable with {aggregate!r} here"
    source = f"{row.model}, {row.paper}: {row.table}, {row.encoder}"
    return f"{source}, aggregated by {row.aggregate!r}{aggregate_note}"


@dataclass(frozen=True, kw_only=True)
class StatedModel:
    """A model with figures of whole datasets alone, as another program stated them: shown without
    intervals, letters or tests.
    """

    name: str
    figures: Sequence[StatedFigures]

    def value(self, dataset: str, metric: str = "spearman", *, over: Sequence[str] = ()) -> float:
        """Return the figure x 100 of a DATASET, of an average OVER others the mean of theirs; nan
        where none is stated.
        """
        if over:
            return sum(self.value(name, metric) for name in over) / len(over)
        figures = self.stated([dataset])
        return 100 * figures[0].figures.get(f"cosine_{metric}", nan) if figures else nan

    def stated(self, datasets: Iterable[str]) -> list[StatedFigures]:
        """Return the figures of DATASETS, some of which may be no number."""
        from embedlab.data.column_names import name_key

        names = {*map(name_key, datasets)}
        return [figure for figure in self.figures if name_key(figure.task) in names]

    def notes(self, datasets: Iterable[str]) -> Iterator[str]:
        """Yield what the figures of DATASETS are, with revision and split, and which files are
        damaged.
        """
        yield from (
            self._note(f"left out: {figures.fault}") for figures in self.figures if figures.fault
        )
        usable_figures = [figures for figures in self.stated(datasets) if not figures.fault]
        if usable_figures:
            versions = dict.fromkeys(
                f"mteb {figures.version}" for figures in usable_figures if figures.version
            )
            source = ", ".join(versions) or "a result file"
            text = f"figures of whole datasets as {source} states them, without pairs"
            yield self._note(text, f": {', '.join(figures.origin for figures in usable_figures)}")
        for figures in usable_figures:
            if isnan(figures.figures["main_score"]):
                yield self._note(f"main_score is NaN in {figures.path.name}")
            elif "cosine_spearman" not in figures.figures:
                yield self._note(f"no number of cosine_spearman in {figures.path.name}")

    def _note(self, text: str, details: str = "") -> Note:
        return Note(f"{self.name}: {text}{details}", models=(self.name,), short_texts=(text,))


def _stated_row(
    model: StatedModel, task: str, key: str, averaged: Sequence[str], metric: str = "spearman"
) -> Row:
    """Return the row of a figure; none of a row that has one is the best."""
    return {
        **dict.fromkeys(("slice", "title"), key),
        **dict.fromkeys(("setting", "marks"), STATED),
        "task": task,
        "by": DATASET,
        "metric": metric,
        "split": "",
        "model": model.name,
        "score": model.value(key, metric, over=averaged),
        "scale": None,
    }


def with_model_rows(table: Table) -> Table:
    """Return a table of scores with a row a model, without numbers of items and without
    differences, which would double the columns; a table without scores or names stays as it is.
    """
    names = [column for column in table.columns if column.role == "key"]
    groups = [column for column in table.columns if column.role == "group"]
    models = [
        column
        for column in table.columns
        if column.role in {"score", "difference"} and not column.key.endswith(".delta")
    ]
    if not (table.rows and models and names):
        return table
    labels = {}
    rows: dict[tuple[str, ...], dict[str, Value | TableCell]] = {}
    for row, line in zip(table.rows, table.texts()[1:], strict=True):
        texts = {column.key: text for column, text in zip(table.columns, line, strict=True)}
        label = " ".join(texts[column.key] for column in names)
        labels[f"={label}"] = label
        for column in models:
            group = (column.key, *(texts[shared.key] for shared in groups))
            cells = rows.setdefault(group, {"": column.title})
            cells |= {shared.key: row.get(shared.key) for shared in groups}
            cells[f"={label}"] = row.get(column.key)
    titles = [column.title for column in names if column.title]
    title = table.title
    if len(titles) > 1 or (titles and table.score_columns != "model"):  # datasets need no name
        title += f"; a column for each {' and '.join(titles)}"
    columns = [Column("", table.score_columns, "key"), *groups, *score_columns(labels, "right")]
    return replace(table, title=title, columns=columns, rows=[*rows.values()])
