"""The tables of scores: one tidy row a model and slice, and one pivot of them for people, whether
models are evaluated, compared, or stated by others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from statistics import fmean, stdev
from typing import TYPE_CHECKING

from embedlab.analysis.comparison import Difference, comparison_notes
from embedlab.analysis.evidence import is_checkpoint
from embedlab.analysis.seed_notes import HANGS
from embedlab.core.note import Note
from embedlab.core.printable import MODELS
from embedlab.data.published import remarks
from embedlab.models.grammar import titles_of
from embedlab.outcomes.frame import DATASET, is_expression
from embedlab.outcomes.frame import plain_name as plain_file
from embedlab.reports.frames import COMPARED, EVALUATED, Row, tidy_frame
from embedlab.reports.notes import (
    comparison_caption,
    facts_of,
    generated_note,
    is_mixed,
    items_of,
    measures_in,
    model_note,
    scales_of,
    slice_notes,
    table_caption,
    unit_of,
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
    most_apart,
    number,
    score_columns,
)
from embedlab.reports.verdicts import verdicts
from embedlab.runs.signature import merged
from embedlab.scoring.provenance import overlap_mark, overlap_notes
from embedlab.scoring.task_comparison import TEST, TaskComparison
from embedlab.tasks.task import scale_of

if TYPE_CHECKING:
    from embedlab.analysis.another_dataset import Elsewhere
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
    by: str | None,
    metric: str | None,
    settings: Sequence[str] | None,
    intervals: Intervals | None,
    notes: Sequence[str],
) -> Table:
    """Return one row a number of the EVALUATIONS of each model's members, one column a model: mean
    ± standard deviation; of one model with several SETTINGS, or measures of each dataset, a column
    each.

    BY (datasets with their averages, sources, Dice fifths), METRIC and SETTINGS choose numbers; all
    without.
    """
    chosen = {"by": by, "metric": metric, "aggregation": settings}
    picked = {
        name: (values,) if isinstance(values, str) else tuple(values)
        for name, values in chosen.items()
        if values is not None
    }
    wanted = {**picked, "by": ("dataset", "average")} if by == DATASET else picked

    def is_shown(score: StoredScore) -> bool:
        of_score = {"by": score.by, "metric": score.metric, "aggregation": score.setting}
        return all(of_score[name] in values for name, values in wanted.items())

    members = [each for several in evaluations.values() for each in several]
    facts = [*_evaluated(evaluations, is_shown, intervals or {})]
    scales = {fact["metric"]: fact["scale"] for fact in facts}
    varying = [
        name for name in ("metric", "setting", "split") if len({fact[name] for fact in facts}) > 1
    ]
    is_of_one = len(evaluations) == 1 and _is_crossed(facts, varying)
    on = varying[0] if is_of_one else "model"
    has_items = by not in {None, DATASET}
    leading = [Column("slice", "slice" if has_items else "dataset", "key")]
    leading += [Column(name, name, "key") for name in varying if name != on]
    leading += [Column("items", "items")] * has_items
    titles = titles_of([*evaluations])
    columns = {fact[on]: fact[on] for fact in facts} if is_of_one else titles
    measured = f"{metric.capitalize()} x 100" if metric is not None else ""
    if metric is None:
        has_measures = len(scales) == 1 or is_mixed(scales)
        what = f", {measures_in(scales)}" if has_measures else unit_of(scales)
        measured = f"{selected.evaluation_name()}{what}"
    constant = [facts[0]["setting"]] if facts and "setting" not in varying else []
    marks = sorted({mark for each in members for mark in each.marks})
    items = {
        fact["slice"]: fact["items"] for fact in facts if fact["items"] and fact["by"] != "average"
    }
    return Table(
        with_marks(", ".join(filter(None, [measured, *constant])), marks),
        [*leading, *score_columns(columns, "right")],
        pivot(facts, leading, on=on, marks_best=not is_of_one),
        [*dict.fromkeys((*generated_note(marks), *_evaluation_notes(evaluations), *notes))],
        tidy_frame(facts, EVALUATED),
        titles=titles,
        subject=next(iter(titles.values())) if is_of_one else "",
        score_columns="aggregate" if on == "setting" else on,
        signatures={
            model: str(replace(merged([each.signature for each in several]), **picked))
            for model, several in evaluations.items()
            if several
        },
        caption=lambda: table_caption(
            f"{measured.replace(' x 100', ' × 100')}; {counted(items)}.",
            marks=marks,
            is_ranked=len(evaluations) > 1 and 100 in scales.values(),
            seen=[overlap for each in members for overlap in each.overlaps.values()],
            seeds=map(len, evaluations.values()),
        ),
    )


def _is_crossed(facts: Sequence[Row], varying: Sequence[str]) -> bool:
    """Return whether each row has a number for each value of the one thing that is VARYING."""
    if varying != ["setting"] and varying != ["metric"]:
        return False
    rows, values = ({fact[name] for fact in facts} for name in ("slice", varying[0]))
    return len(facts) == len(rows) * len(values)


def score_table(comparison: TaskComparison) -> Table:
    """Return one row a slice and one column a model: its score with a 95% interval."""
    facts = [*compared_rows(comparison)]
    leading = columns_of_slices(comparison, facts)
    return Table(
        score_title(comparison),
        [*leading, *score_columns(comparison.titles, "left")],
        pivot(facts, leading, shows_intervals=True),
        [*general_notes(comparison), *slice_notes(comparison.slices)],
        tidy_frame(facts, EVALUATED),
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
    """Return one row a slice; one column a model, one a difference from the first, then one a
    published row and one a stated model.

    What is the same in all rows is in the title: a column that says it is left out. With ROWS of
    models, one row a model and one column a slice, without the differences.
    """
    slices, slicing = comparison.slices, comparison.slicing
    names = [model.name for model in comparison.models]
    titles = titles_of([*names, *(model.name for model in stated)])
    ranked = [
        (place, compared) for place, compared in enumerate(slices) if compared.metric == "spearman"
    ]
    facts = [*compared_rows(comparison, printed)]
    for model in stated:
        for place, compared in ranked:
            row = _stated_row(model, compared.task, compared.key, compared.average_of)
            facts.append(row | {"place": place})
    leading = columns_of_slices(comparison, facts)
    columns = [*leading, *_model_columns(comparison, titles)]
    for line in printed:
        title = f"{titles[line.model]}, {line.paper}"
        columns.append(Column(f"{line.model}.published", title, "difference", digits=2))
    for model in stated:
        title = f"{titles[model.name]}, {STATED}"
        columns.append(Column(model.name, title, "difference", "right"))
    notes = [
        *general_notes(comparison),
        *comparison_notes(
            slices, comparison.models, slicing.margin, has_differences=rows == "slices"
        ),
        *_elsewhere_notes(comparison.elsewhere, titles),
        *slice_notes(comparison.slices),
        *(_printed_note(line, slicing.aggregate) for line in printed),
        *(note for model in stated for note in model.notes([each.key for _, each in ranked])),
    ]
    table = Table(
        score_title(comparison),
        columns,
        pivot(facts, leading),
        [*dict.fromkeys(notes)],
        tidy_frame(facts, COMPARED),
        answer=verdicts(slices, names, by=slicing.by),
        signatures=comparison.signatures,
        titles=titles,
        records={"another_dataset": [*map(_elsewhere_record, comparison.elsewhere)]},
        caption=lambda: comparison_caption(
            comparison, "differences" if rows == "slices" else "scores"
        ),
    )
    if rows == "slices":
        return table
    return with_model_rows(replace(table, notes=[items_of(comparison), *table.notes]))


def stated_table(
    models: Sequence[StatedModel], datasets: Mapping[str, Sequence[str]], metric: str, task: str
) -> Table:
    """Return one row a dataset of TASK that any of the models states, or an average over others,
    and one column a model.
    """
    rows = [
        _stated_row(model, task, key, over, metric) | {"place": key}
        for model in models
        for key, over in datasets.items()
    ]
    keys = {row["slice"] for row in rows if not isnan(row["score"])}
    keys |= {key for key in datasets if any(model.stated([key]) for model in models)}
    facts = [row for row in rows if row["slice"] in keys]
    leading = [Column("slice", "dataset", "key")]
    titles = titles_of([model.name for model in models])
    return Table(
        f"{metric.title()} x 100 [{STATED}]",
        [*leading, *score_columns(titles, "right")],
        pivot(facts, leading),
        [note for model in models for note in model.notes([*keys])],
        tidy_frame(facts, EVALUATED),
        titles=titles,
    )


def pivot(
    facts: Iterable[Row],
    leading: Sequence[Column],
    *,
    on: str = "model",
    shows_intervals: bool = False,
    marks_best: bool = True,
) -> list[dict[str, Value | TableCell]]:
    """Return a row for the FACTS of each place, with a cell for each value ON which they differ,
    and for its difference from the first model.

    The best of a row is marked among the numbers that are shares, as far as digits are shown.
    """
    keys = [column.key for column in leading]
    places: dict[object, list[Row]] = {}
    for fact in facts:
        place = fact.get("place", tuple(map(fact.get, keys)))
        places.setdefault(place, []).append(fact)
    rows = []
    for group in places.values():
        first = group[0]
        row: dict[str, Value | TableCell] = {key: first[key] for key in keys if key in first}
        row["slice"] = TableCell(first["slice"], first["title"])
        shares = [fact["score"] for fact in group if fact["scale"] == 100]
        shown = [round(score, 2) for score in shares if not isnan(score)]
        best = max(shown) if marks_best and len(shown) > 1 else None
        for fact in group:
            row |= _model_cells(fact, fact[on], best, shows_intervals=shows_intervals)
        rows.append(row)
    return rows


def _model_cells(
    fact: Row, key: str, best: float | None, *, shows_intervals: bool
) -> dict[str, Value | TableCell]:
    """Return the cells of a score, of its difference, and of what a paper prints for its model."""
    low, high, letters = fact.get("low"), fact.get("high"), fact.get("letters") or ""
    hover = "" if low is None or isnan(low) else f"95% interval {low:z.2f} to {high:z.2f}"
    cells: dict[str, Value | TableCell] = {}
    if "difference" in fact:
        least, most = fact["difference_low"], fact["difference_high"]
        is_clear = fact.get("significant", False)
        signs = MODELS.sign * is_clear + "=" * fact.get("equivalent", False)
        cells[f"{key}.delta"] = cell = number(
            fact["difference"],
            is_signed=True,
            sign=signs + HANGS * (fact["difference_without_topic"] is not None),
            low=least,
            high=most,
            most=most_apart(fact["metric"], fact["scale"]),
            is_dim=least * most > 0 and not is_clear,
        )
        hover += f"; difference from the first model {cell.text}" if hover else ""
    cells[key] = number(
        fact["score"],
        mark=fact.get("mark", ""),
        sd=fact.get("sd"),
        sign=f" {letters}".rstrip(),
        raised=letters,
        is_best=fact["scale"] == 100 and round(fact["score"], 2) == best,
        low=low if shows_intervals else None,
        high=high,
        hover=hover,
    )
    if fact.get("published") is not None:
        cells[f"{key}.published"] = fact["published"]
    return cells


def compared_rows(
    comparison: TaskComparison, printed: Sequence[PublishedRow] = ()
) -> Iterator[Row]:
    """Yield what is known of each slice and model: what is in COMPARED, and what tables show."""
    published = {line.model: line for line in printed}
    by = comparison.slicing.by
    for place, compared in enumerate(comparison.slices):
        scale, topic = scale_of(compared.task, compared.metric), compared.largest_topic
        title = compared.slice_title
        if by != DATASET and compared.dataset:
            plain = plain_file(compared.dataset)
            title = title.removeprefix(compared.dataset).removeprefix(plain).strip()
            title = title.removeprefix(f"{by}: ") or ABSENT
        if is_expression(by):
            title = {"fits": "yes", "rest": "no"}.get(title, title)
        row = {
            **attributes(compared, "dataset task metric setting"),
            "topics": round(compared.topics, 6),  # a whole number of equal ones stays one
            "place": place,
            "title": title,
            "scale": scale,
            "by": "average" if compared.average_of else by,
            "slice": compared.slice_key,
            "items": compared.items,
            "sentences": compared.sentences or None,
            "component_rows": topic.rows if topic else None,
            "component_share": topic.share if topic else None,
        }
        for model, score in compared.scores.items():
            overlap = comparison.shared.get(model, {}).get(compared.key)
            line = published.get(model) if compared.metric == "spearman" else None
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
                "published": line and _printed(line, compared.key, compared.average_of),
                **overlap_fields(overlap),
                **_difference_fields(compared.differences.get(model), scale),
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
        "difference_without_topic": scale * topic.without if topic else None,
    }
    if not isnan(difference.p_holm):
        tested = attributes(difference, "p significant reach")
        fields |= {"test": TEST, "p_corrected": difference.p_holm, **tested}
    if not isnan(difference.p_equivalent):
        fields |= attributes(difference, "p_equivalent equivalent")
    return fields


def _evaluated(
    evaluations: Mapping[str, Sequence[Evaluation]],
    is_shown: Callable[[StoredScore], bool],
    intervals: Intervals,
) -> Iterator[Row]:
    """Yield what is known of each number and model, the mean over its members."""
    rows: dict[tuple[str, ...], Row] = {}
    values: dict[tuple[str, ...], list[float]] = {}
    for model, members in evaluations.items():
        for evaluation in members:
            for score in filter(is_shown, evaluation.scores):
                split = score.split or ""
                number_of, setting = (score.slice, score.metric), score.setting
                what = (evaluation.task, score.by, *number_of, setting, split)
                key = (*what, model)
                own = intervals.get((model, *number_of, setting))
                ends = own or intervals.get((model, *number_of, ""))
                low, high = ends if ends and split != "dev" else (nan, nan)
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
                rows[key] |= {"mark": overlap_mark(overlap)} if overlap else {}
                values.setdefault(key, []).append(score.scale * score.value)
    for of_row, row in rows.items():
        seeds = values[of_row]
        is_known = len(seeds) > 1 and not any(map(isnan, seeds))
        sd = stdev(seeds) if is_known else None
        yield row | {"score": fmean(seeds), "sd": sd, "seeds": len(seeds)}


def overlap_fields(shared: Overlap | None, prefix: str = "") -> Row:
    """Return the counts of text that a slice shares with training text, where there is any."""
    counts = attributes(shared, "shared_pairs shared_sentences") if shared else {}
    return {f"{prefix}{name}": count for name, count in counts.items()}


def _model_columns(comparison: TaskComparison, titles: Mapping[str, str]) -> Iterator[Column]:
    """Yield a column a model, which says where its numbers are about one checkpoint alone, then of
    each other one its difference from the first.
    """
    models = comparison.models
    for model in models:
        single = "1 seed: " if model.seeds or any(model.runs) else ""
        about = f", {single}this checkpoint" if is_checkpoint(model) else ""
        yield Column(model.name, f"{titles[model.name]}{about}", "score", "left")
    for model in models[1:]:
        title = f"{titles[model.name]} − {titles[models[0].name]}"
        yield Column(f"{model.name}.delta", title, "difference", "left")


def columns_of_slices(comparison: TaskComparison, facts: Sequence[Row]) -> list[Column]:
    """Return the columns that say what a row is of; slices by a property have their dataset in a
    column, where there are several.
    """
    by, shared = comparison.slicing.by, shared_dataset(comparison)
    has_datasets = by != DATASET and not shared
    columns = leading_columns(facts, "slice", by.replace(",", " × "), has_datasets=has_datasets)
    return [each for each in columns if each.key != "slice" or by != DATASET or not shared]


def leading_columns(
    facts: Sequence[Row], key: str, title: str, *, has_datasets: bool = False
) -> list[Column]:
    """Return the columns that say what a row is of: its task and metric where there are several,
    KEY under TITLE, and its items.
    """
    task, metric = (len({fact[name] for fact in facts}) > 1 for name in ("task", "metric"))
    return [
        *([Column("task", "task", "group")] * task),
        *([Column("dataset", "dataset", "group")] * has_datasets),
        Column(key, title, "key"),
        *([Column("metric", "metric", "key")] * metric),
        Column("items", "items"),
    ]


def score_title(comparison: TaskComparison) -> str:
    """Return the metric of all rows, how the sources of datasets are put together, which items are
    compared, and the marks.
    """
    scales = scales_of(comparison.slices)
    settings = {compared.setting for compared in comparison.slices}
    is_named = len(scales) == 1 or is_mixed(scales)
    names = measures_in(scales) if is_named else f"scores{unit_of(scales)}"
    names = f"{names[:1].upper()}{names[1:]}"
    dataset = shared_dataset(comparison)
    on = f"{names} on {dataset}" if dataset else names
    return titled(comparison, on, settings.pop() if len(settings) == 1 else None)


def shared_dataset(comparison: TaskComparison) -> str:
    """Return the dataset of which all rows are slices or measures; nothing where they are of
    several, or of a whole dataset, or where what a selection leaves out is beside it.
    """
    slices, by = comparison.slices, comparison.slicing.by
    names = {compared.dataset for compared in slices}
    is_one_slice = len({compared.slice_key for compared in slices}) == 1 < len(slices)
    return plain_file(names.pop()) if len(names) == 1 and (by != DATASET or is_one_slice) else ""


def titled(comparison: TaskComparison, *parts: str | None) -> str:
    """Return a title of PARTS with the number of items that all models score, where numbers are of
    these, and the marks.
    """
    rows = comparison.rows
    common = f"{rows[0]} of {rows[1]} items" if rows is not None else ""
    return with_marks(", ".join(filter(None, (*parts, common))), comparison.marks)


def general_notes(comparison: TaskComparison) -> Iterator[str]:
    """Yield what holds of all numbers of a comparison: the data, the items that were picked, the
    models and how they were used.
    """
    slicing = comparison.slicing
    yield from generated_note(comparison.marks)
    named = "".join(f"; @{name} is {expression!r}" for name, expression in slicing.meanings.items())
    if slicing.where:
        yield f"items that match {slicing.where!r}{named}"
    elif is_expression(slicing.by):
        yield f"yes: items that match {slicing.by!r}{named}"
    settings = {compared.task: compared.setting for compared in comparison.slices}
    if slicing.by == DATASET and len({*settings.values()}) > 1:
        for task, setting in settings.items():
            if setting is not None:
                yield f"{task}: aggregated by {setting!r}"
    yield from comparison.notes
    yield from overlap_footnotes(comparison.counts)
    used = [model for model in comparison.models if model.members[0] in comparison.facts]
    yield from usage_notes(used, comparison.facts)


def overlap_footnotes(shared: Mapping[str, Mapping[str, Overlap]]) -> Iterator[str]:
    """Yield what the marks mean, with the counts of each model."""
    for model, counts in shared.items():
        yield from (model_note(model, note) for note in overlap_notes(counts))


def _evaluation_notes(evaluations: Mapping[str, Sequence[Evaluation]]) -> Iterator[str]:
    """Yield what must be said of the data, of each model's numbers, and of how it was used."""
    for members in evaluations.values():
        yield from (note for each in members for state in each.data for note in remarks(state))
    for model, members in evaluations.items():
        yield from (model_note(model, note) for each in members for note in each.notes)
    for model, members in evaluations.items():
        yield from usage_note(model, [facts_of(each, "truncated") for each in members])


def _elsewhere_record(elsewhere: Elsewhere) -> Row:
    """Return what is known of another dataset, as tables show it."""
    scale = scale_of(elsewhere.task, elsewhere.metric)
    record = {**vars(elsewhere), "datasets": [*elsewhere.datasets]}
    return record | attributes(elsewhere, "mean low high new_low new_high", scale)


def _elsewhere_notes(others: Sequence[Elsewhere], titles: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each kind of datasets: each model's mean difference on such datasets, and
    where that on another one is expected.
    """
    kinds: dict[tuple[str, str, tuple[str, ...]], list[Elsewhere]] = {}
    for each in others:
        kinds.setdefault((each.task, each.metric, each.datasets), []).append(each)
    for (*_, datasets), models in kinds.items():
        listed = "; ".join(
            "{title} {mean:+z.2f} [{low:+z.2f}, {high:+z.2f}] on average, {new_low:+z.2f} to "
            "{new_high:+z.2f} on another".format(
                title=titles[each.model], **_elsewhere_record(each)
            )
            for each in models
        )
        shared = models[0].shared_pairs
        share = f"share {shared or 'no'} pair{'s' * (shared != 1)}"
        yield (
            f"another dataset of this kind, difference from {titles[models[0].reference]}: "
            f"{listed} (random effects over {', '.join(datasets)}, which {share}; 95%)"
        )


def _printed(row: PublishedRow, key: str, average_of: Sequence[str]) -> float | None:
    """Return the published number of a dataset, or of the average over all datasets that the paper
    prints.
    """
    is_average = bool(average_of) and {*average_of} == {*row.scores}
    return row.average if is_average else row.scores.get(key)


def _printed_note(row: PublishedRow, aggregate: str) -> str:
    other = "" if row.aggregate == aggregate else f"; not comparable with {aggregate!r} here"
    where = f"{row.model}, {row.paper}: {row.table}, {row.encoder}"
    return f"{where}, aggregated by {row.aggregate!r}{other}"


@dataclass(frozen=True, kw_only=True)
class StatedModel:
    """A model of which only figures of whole datasets are known, as another program stated them:
    shown as they are, without intervals, letters or tests.
    """

    name: str
    figures: Sequence[StatedFigures]

    def value(self, dataset: str, metric: str = "spearman", *, over: Sequence[str] = ()) -> float:
        """Return the figure x 100 of a DATASET, of an average OVER others the mean of theirs; nan
        where none is stated.
        """
        if over:
            return sum(self.value(name, metric) for name in over) / len(over)
        stated = self.stated([dataset])
        return 100 * stated[0].figures.get(f"cosine_{metric}", nan) if stated else nan

    def stated(self, datasets: Iterable[str]) -> list[StatedFigures]:
        """Return the figures of DATASETS, some of which may be no number."""
        from embedlab.data.mteb_files import plain_name

        names = {*map(plain_name, datasets)}
        return [figure for figure in self.figures if plain_name(figure.task) in names]

    def notes(self, datasets: Iterable[str]) -> Iterator[str]:
        """Yield what the figures of DATASETS are, with revision and split, and which files are
        damaged.
        """
        yield from (self._note(f"left out: {each.fault}") for each in self.figures if each.fault)
        stated = [each for each in self.stated(datasets) if not each.fault]
        if stated:
            versions = dict.fromkeys(f"mteb {each.version}" for each in stated if each.version)
            source = ", ".join(versions) or "a result file"
            text = f"figures of whole datasets as {source} states them, without pairs"
            yield self._note(text, f": {', '.join(each.origin for each in stated)}")
        for each in stated:
            if isnan(each.figures["main_score"]):
                yield self._note(f"main_score is NaN in {each.path.name}")

    def _note(self, text: str, more: str = "") -> Note:
        return Note(f"{self.name}: {text}{more}", models=(self.name,), short=(text,))


def _stated_row(
    model: StatedModel, task: str, key: str, over: Sequence[str], metric: str = "spearman"
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
        "score": model.value(key, metric, over=over),
        "scale": None,
    }


def with_model_rows(table: Table) -> Table:
    """Return a table of scores with a row a model: without the differences, which would be as many
    columns again, and the numbers of items; a table without scores or names stays as it is.
    """
    names, groups, models = (
        [column for column in table.columns if column.role in roles]
        for roles in (("key",), ("group",), ("score", "difference"))
    )
    models = [column for column in models if not column.key.endswith(".delta")]
    if not (table.rows and models and names):
        return table
    labels = {}
    rows: dict[tuple[str, ...], dict[str, Value | TableCell]] = {}
    for row, line in zip(table.rows, table.texts()[1:], strict=True):
        texts = {column.key: text for column, text in zip(table.columns, line, strict=True)}
        label = " ".join(texts[column.key] for column in names)
        labels[f"={label}"] = label
        for column in models:
            group = (column.key, *(texts[each.key] for each in groups))
            cells = rows.setdefault(group, {"": column.title})
            cells |= {each.key: row.get(each.key) for each in groups}
            cells[f"={label}"] = row.get(column.key)
    titles = [column.title for column in names if column.title]
    # datasets need no name
    is_named = len(titles) > 1 or (titles and table.score_columns != "model")
    title = f"{table.title}; a column for each {' and '.join(titles)}" if is_named else table.title
    columns = [Column("", table.score_columns, "key"), *groups, *score_columns(labels, "right")]
    return replace(table, title=title, columns=columns, rows=[*rows.values()])
