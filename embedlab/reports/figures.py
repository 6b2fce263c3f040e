"""Figures for papers: what can be drawn of each kind of result, as plots with a caption.

A figure is one function below with `@figure`; the first one of a command is the usual one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import polars as pl

from embedlab.analysis.comparison import ComparedSlice, Difference, SliceScore
from embedlab.analysis.trade_offs import find_undominated
from embedlab.core.disk import write_atomic
from embedlab.core.errors import UsageError
from embedlab.core.foreign_files import check_output
from embedlab.core.names import option_values, outside_quotes
from embedlab.core.nearest import unknown_name_error
from embedlab.core.paths import hide_folders, typed_path
from embedlab.data.source import FIFTHS_OF
from embedlab.models.grammar import titles_of
from embedlab.outcomes.frame import DATASET, is_expression
from embedlab.outcomes.property import property_named
from embedlab.reports.notes import (
    DEPENDENCE,
    counted_items,
    data_sentences,
    figure_caption,
    join_sentences,
    share_slices,
    trained_on,
)
from embedlab.reports.series import BANDS, COLUMN_IN, DENSE, FEWEST, FileKind, Plot, Series
from embedlab.runs.events import Curve
from embedlab.tasks.task import scale_of

if TYPE_CHECKING:
    from embedlab.analysis.evidence import ModelColumns
    from embedlab.comparison.explanation import DifferenceExplanation
    from embedlab.experiments.pivot import Pivot
    from embedlab.experiments.plan import GridPlan
    from embedlab.outcomes.frame import Outcomes
    from embedlab.reports.cost_table import CostRow, Costs
    from embedlab.reports.papers import Reproduction
    from embedlab.reports.plots import PaperFigure
    from embedlab.runs.store import RunFolder
    from embedlab.scoring.task_comparison import TaskComparison

_WIDEST_IN = 20.0
AXIS = "x 100, with 95% intervals"
_SCATTERS = 4  # models that the scatter shows: more panels are too small to read

Drawn = tuple[Sequence[Plot], str]  # the plots, none where there is nothing to draw; the caption
Draw = Callable[..., Drawn]
Ends = tuple[float | None, float | None, float | None]  # a number and those of its interval


@dataclass(frozen=True, kw_only=True)
class FigureKind:
    """A figure: its name, the command whose results it draws, and how."""

    name: str
    command: str
    summary: str
    draw: Draw


_KINDS: list[FigureKind] = []


def figure(command: str, name: str, summary: str) -> Callable[[Draw], Draw]:
    """Declare the function below as the figure NAME of what a COMMAND gives: it is called with the
    `figure_subject` of that command's report as keywords: `compared`, `pairs` and `costs` of
    compare, `frame` of evaluate, `frame` and `caption` of power, `explanation`, `rows` and
    `caption` of why, `plan`, `pivot` and `caption` of grid, `reproductions` of reproduce, `runs`
    of runs.
    """

    def declare(draw: Draw) -> Draw:
        _KINDS.append(FigureKind(name=name, command=command, summary=summary, draw=draw))
        return draw

    return declare


def figure_kinds(command: str) -> dict[str, FigureKind]:
    """Return the figures of a command by name, the usual one first."""
    return {kind.name: kind for kind in _KINDS if kind.command == command}


def figure_kind(command: str, name: str | None) -> FigureKind:
    """Return the figure called NAME, or the usual one; another name is an error that lists them."""
    kinds = figure_kinds(command)
    name = next(iter(kinds)) if name is None else name
    if name not in kinds:
        raise unknown_name_error("figure", name, kinds)
    return kinds[name]


def draw_figure(
    results: Mapping[str, Any],
    kind: FigureKind,
    *,
    width_in: float = COLUMN_IN,
    is_titled: bool = False,
) -> "PaperFigure":
    """Return the figure of a command's RESULTS; results without anything to draw are an error."""
    from embedlab.reports.plots import draw_paper

    plots, caption = kind.draw(**results)
    if not plots:
        raise UsageError(
            f"there is nothing to draw as {kind.name!r}: {kind.summary}",
            hint=f"figures: {', '.join(figure_kinds(kind.command))}",
        )
    return draw_paper(
        plots, name=kind.name, caption=caption, width_in=width_in, is_titled=is_titled
    )


@dataclass(frozen=True, kw_only=True)
class FigureFile:
    """Where a figure is written, which one, and how."""

    path: Path
    kind: FigureKind
    width_in: float = COLUMN_IN
    is_titled: bool = False

    @classmethod
    def parse(cls, text: str, command: str) -> "FigureFile":
        """Read FILE.pdf?kind=…&width=…&title, a figure of a COMMAND; what cannot be written is
        refused.
        """
        name, *options = outside_quotes(text, "?")
        values = option_values(text, options, ("kind", "width"), ("title",))
        path = typed_path(name)
        if path.suffix[1:].lower() not in get_args(FileKind):
            raise UsageError(
                f"--figure is {str(path)!r}: neither .pdf, .svg nor .png",
                hint=f"for example --figure {path.stem or 'figure'}.pdf",
            )
        check_output(path, "--figure", example="figure.pdf", what="a figure", mark=b"embedlab")
        kind = figure_kind(command, values.get("kind"))
        width_text = values.get("width", str(COLUMN_IN))
        try:
            width = float(width_text)
        except ValueError:
            width = 0.0
        if not 1 <= width <= _WIDEST_IN:
            raise UsageError(
                f"{text!r}: the width is {width_text!r}",
                hint=f"give inches from 1 to {_WIDEST_IN:g}: a column has {COLUMN_IN:g}",
            )
        return cls(path=path, kind=kind, width_in=width, is_titled="title" in values)

    def write(self, results: Mapping[str, Any]) -> str:
        """Write the figure of a command's RESULTS and return its caption."""
        drawing = draw_figure(results, self.kind, width_in=self.width_in, is_titled=self.is_titled)
        drawing.caption = hide_folders(drawing.caption)
        content = drawing.content(cast("FileKind", self.path.suffix[1:].lower()))
        write_atomic(self.path, content, hint="choose another place with --figure")
        return drawing.caption


def series_of(name: str, numbers: Iterable[Ends]) -> Series:
    """Return numbers with the ends of their intervals; None is not known, or absent."""
    triples = [[nan if end is None else end for end in number] for number in numbers]
    values, low, high = zip(*triples, strict=True) if triples else ((), (), ())
    return Series(name, values, low, high)


def _ends(number: SliceScore | Difference, scale: float = 100) -> Ends:
    value = number.value if isinstance(number, SliceScore) else number.delta
    return scale * value, scale * number.low, scale * number.high


def _spread(mean: float | None, sd: float | None) -> Ends:
    """Return a mean over seeds with one standard deviation."""
    return (None, None, None) if mean is None else (mean, mean - (sd or 0), mean + (sd or 0))


def slices_by_task(comparison: "TaskComparison") -> Mapping[str, Sequence[ComparedSlice]]:
    """Return the slices of each task whose numbers are shares; other numbers have no plot."""
    tasks: dict[str, list[ComparedSlice]] = {}
    for row in share_slices(comparison.slices):
        tasks.setdefault(row.task, []).append(row)
    return tasks


def score_plots(comparison: "TaskComparison") -> list[Plot]:
    """Return the scores of each model on the slices of each task as dots; the fifths of a numeric
    property are lines, with a plot for each dataset.
    """
    property_name, plots = comparison.slicing.by, []
    item_property = None
    if property_name != DATASET and not is_expression(property_name):
        item_property = property_named(property_name)
    for task, slices in slices_by_task(comparison).items():
        if item_property is None or item_property.kind != "number":
            title = f"Scores on {task}, by {property_name}"
            axis, series = f"{axis_metric(slices)}{AXIS}", score_series(comparison, slices)
            plots.append(Plot("dots", title, series, axis, labels=_labels(slices)))
            continue
        fifths: dict[str, list[ComparedSlice]] = {}
        for row in slices:
            fifths.setdefault(row.key.rpartition("/")[0], []).append(row)
        name = item_property.title or property_name
        axis_title = f"fifth of the items by {name}, from the smallest to the largest"
        for dataset, rows in fifths.items():
            title = f"Scores by {name} on {dataset}"
            labels = [row.key.rpartition("-")[2] for row in rows]
            axis, series = f"{axis_metric(rows)}{AXIS}", score_series(comparison, rows)
            plots.append(Plot("lines", title, series, axis, axis_title, labels))
    return plots


def difference_plots(comparison: "TaskComparison") -> list[Plot]:
    """Return a plot for each task with all models but the first; none if that is the only model."""
    first_name, *other_names = (model.name for model in comparison.models)
    titles = comparison.titles
    subject = titles[other_names[0]] if len(other_names) == 1 else "Each model"
    plots = []
    for task, slices in slices_by_task(comparison).items():
        known_rows = [
            row
            for row in slices
            if any(not isnan(difference.delta) for difference in row.differences.values())
        ]
        series = [
            series_of(titles[name], [_ends(row.differences[name]) for row in known_rows])
            for name in other_names
        ]
        if series and known_rows:
            title = f"{subject} minus {titles[first_name]} on {task}, by {comparison.slicing.by}"
            axis = "difference, with 95% intervals"
            plots.append(Plot("dots", title, series, axis, labels=_labels(known_rows), line="zero"))
    return plots


def score_series(comparison: "TaskComparison", slices: Sequence[ComparedSlice]) -> list[Series]:
    """Return each model's scores on SLICES."""
    return [
        series_of(title, [_ends(row.scores[name]) for row in slices])
        for name, title in comparison.titles.items()
    ]


def axis_metric(slices: Sequence[ComparedSlice]) -> str:
    """Return the metric that all slices have, as an axis begins; nothing where they differ."""
    metrics = {row.metric for row in slices}
    return f"{metrics.pop().capitalize()} " if len(metrics) == 1 else ""


def gold_scatter(
    outcomes: "Outcomes", models: "Sequence[ModelColumns]", *, has_means: bool = False
) -> Plot:
    """Return the similarity of each model against the gold score of every pair of one dataset; a
    pair's similarity is the mean over the model's members.
    """
    dataset = _scatter_dataset(outcomes)
    columns = pl.DataFrame([outcomes.column("gold"), *outcomes.predictions])
    pairs = columns.filter(outcomes.column("dataset") == dataset)
    titles, series = titles_of([model.name for model in models]), []
    for model in models[:_SCATTERS]:
        similarity = pl.mean_horizontal(model.members, ignore_nulls=False)
        gold, similarities = pairs.select("gold", similarity=similarity).drop_nulls()
        name, values = titles[model.name], similarities.to_list()
        series.append(Series(name, values, places=gold.to_list()))
    title = f"Similarity against the gold score on {dataset}"
    return Plot("scatter", title, series, "similarity", "gold score", has_means=has_means)


def reproduction_plots(reproduction: "Reproduction") -> list[Plot]:
    """Return plots of every number against the published one, of the dev scores of trainings, and
    of the rows on each column that orders them.
    """
    table, plots = reproduction.table, []
    if compared_numbers := _compared_numbers(reproduction):
        places = [number.printed for number in compared_numbers]
        series = [Series(table.name, [number.mean for number in compared_numbers], places=places)]
        title = "Every number: published and ours"
        plots.append(Plot("scatter", title, series, "ours", "published", line="diagonal"))
    if reproduction.curves:
        series = [
            Series(row, values, places=range(1, len(values) + 1))
            for row, values in reproduction.curves.items()
        ]
        plots.append(Plot("lines", "", series, "dev score x 100", "epoch"))
    for column in dict.fromkeys(chain(*table.ranked_by)):
        labels = [row for row in table.sources if (row, column) in reproduction.numbers]
        numbers = [reproduction.numbers[row, column] for row in labels]
        if not any(number.values for number in numbers):
            continue
        series = [series_of("ours", [_spread(number.mean, number.sd) for number in numbers])]
        printed = [nan if number.printed is None else number.printed for number in numbers]
        if not all(map(isnan, printed)):
            series.insert(0, Series("published", printed))
        has_sd = any(number.sd is not None for number in numbers)
        axis = f"{column}{'; ours with one standard deviation over seeds' * has_sd}"
        plots.append(Plot("dots", column, series, axis, labels=labels))
    return plots


def _compared_numbers(reproduction: "Reproduction") -> list[Any]:
    numbers = reproduction.numbers.values()
    return [
        compared_number
        for compared_number in numbers
        if compared_number.printed is not None and compared_number.mean is not None
    ]


@figure("compare", "scores", "each model's score on each dataset or slice, with its interval")
def _compared_scores(compared: "TaskComparison", **_: object) -> Drawn:
    plots = score_plots(compared)
    mark_name = "Bands" if any(plot.kind == "lines" for plot in plots) else "Bars"
    return plots, figure_caption(compared, "Scores", drawn=mark_name)


@figure("compare", "calibration", "each model's similarity of each pair against its gold score")
def _calibration(compared: "TaskComparison", pairs: "Sequence[Outcomes]", **_: object) -> Drawn:
    """Draw whether a similarity of a model means the same over the whole scale."""
    plots = [gold_scatter(outcomes, compared.models, has_means=True) for outcomes in pairs]
    counts = {
        _scatter_dataset(outcomes): len(plot.series[0].values)
        for outcomes, plot in zip(pairs, plots, strict=True)
    }
    counted = ", ".join(f"n = {count:,} pairs of {name}" for name, count in counts.items())
    drawn_note = f" ({DENSE:,} of them drawn)" if max(counts.values(), default=0) > DENSE else ""
    has_seeds = any(len(model.members) > 1 for model in compared.models)
    return plots, join_sentences(
        f"Similarity against gold score; {counted}{drawn_note}.",
        *data_sentences(compared.marks),
        f"Lines: mean and one standard deviation in each of {BANDS} bands of the gold score that "
        f"holds at least {FEWEST} pairs.",
        "A similarity is the mean over the seeds." if has_seeds else "",
    )


@figure(
    "compare",
    "costs",
    "each model's score against the bytes of a vector and the time of a sentence; needs --cost",
)
def _costs(costs: "Costs | None", **_: object) -> Drawn:
    """The size of a vector with all rows, and the time of a sentence with the models themselves,
    where they were measured.
    """
    if costs is None:
        return [], ""
    sized = [(row, float(row.bytes)) for row in costs.rows if row.bytes is not None]
    timed = [(row, row.time_ms) for row in costs.rows if row.is_whole and row.milliseconds]
    plots = [_cost_plot(costs, sized, "bytes a vector")] if sized else []
    if len(timed) > 1:
        plots.append(_cost_plot(costs, timed, "milliseconds a sentence"))
    first_slice = costs.slices[0]
    return plots, join_sentences(
        f"{first_slice.metric.capitalize()} on {first_slice.slice_title} against what it costs.",
        "Bars: 95% intervals, each on its own.",
        "Filled, with a line through them: what no other choice beats in both.",
        "The axis of costs is logarithmic.",
        f"{costs.machine[:1].upper()}{costs.machine[1:]}.",
    )


def _cost_plot(costs: "Costs", rows: "Sequence[tuple[CostRow, float]]", along: str) -> Plot:
    first_slice = costs.slices[0]
    scored = []
    for row, cost in rows:
        score = row.scores.get(first_slice.key)
        if score is not None and not isnan(score.value):
            scored.append((row, cost, score))
    scale = scale_of(first_slice.task, first_slice.metric)
    is_unbeaten = find_undominated(
        [score.value for *_, score in scored], [[cost] for _, cost, _ in scored]
    )
    points = [(*point, is_best) for point, is_best in zip(scored, is_unbeaten, strict=True)]
    series = []
    for model, title in titles_of([*dict.fromkeys(row.model for row, _ in rows)]).items():
        model_points = [point for point in points if point[0].model == model]
        scores = series_of(title, [_ends(score, scale) for _, _, score, _ in model_points])
        series.append(
            replace(
                scores,
                places=[cost for _, cost, _, _ in model_points],
                labels=[row.label for row, *_ in model_points],
                is_best=[is_best for *_, is_best in model_points],
            )
        )
    axis = f"{first_slice.metric.capitalize()} x 100"
    return Plot("costs", f"{first_slice.slice_title}: {along}", series, axis, along)


@figure(
    "compare",
    "differences",
    "the difference of each model from the first one on each dataset or slice, with its interval",
)
def _compared_differences(compared: "TaskComparison", **_: object) -> Drawn:
    first_title = compared.titles[compared.models[0].name]
    return difference_plots(compared), figure_caption(compared, f"Differences from {first_title}")


@figure("evaluate", "scores", "each model's score on each dataset or slice")
def _evaluated_scores(frame: pl.DataFrame) -> Drawn:
    """Draw a plot for each task, of its first metric and setting."""
    titles = titles_of(frame["model"].unique(maintain_order=True).to_list())
    plots, descriptions = [], []
    for rows in frame.partition_by("task", maintain_order=True):
        task, metric, setting = rows.select("task", "metric", "setting").row(0)
        is_drawn = pl.col("metric").eq_missing(metric) & pl.col("setting").eq_missing(setting)
        records = {
            (record["model"], record["slice"]): record
            for record in rows.filter(is_drawn).to_dicts()
        }
        models, labels = ([*dict.fromkeys(names)] for names in zip(*records, strict=True))
        series = []
        for model in models:
            numbers = [_scored_ends(records.get((model, label))) for label in labels]
            series.append(series_of(titles[model], numbers))
        axis = f"{metric.capitalize()} ({setting})" if setting else metric
        plots.append(Plot("dots", f"Scores on {task}", series, axis, labels=labels))
        descriptions.append(f"{metric.capitalize()} on {task}")
    counts = dict(frame.filter(pl.col("by") != "average").select("slice", "items").iter_rows())
    marks = ", ".join(frame["marks"].drop_nulls()).split(", ")
    pairs, sentences = (
        [titles[model] for model in dict.fromkeys(frame.filter(pl.col(key) > 0)["model"])]
        for key in ("shared_pairs", "shared_sentences")
    )
    has_intervals = frame["low"].count() > 0
    return plots, join_sentences(
        f"Scores: {' and '.join(descriptions)}; {counted_items(counts)}.",
        *data_sentences(marks),
        f"Bars: 95% intervals, each on its own, over items; {DEPENDENCE}." * has_intervals,
        *trained_on(pairs, [name for name in sentences if name not in pairs]),
    )


def _scored_ends(record: Mapping[str, Any] | None) -> Ends:
    if record is None:
        return None, None, None
    value = record["score"]
    low, high = (value if record[end] is None else record[end] for end in ("low", "high"))
    return value, low, high


@figure(
    "power",
    "detectable",
    "the smallest difference that each dataset can detect, next to the observed one",
)
def _detectable(frame: pl.DataFrame, caption: str = "") -> Drawn:
    """One plot a task."""
    plots = []
    for task_frame in frame.partition_by("task", maintain_order=True):
        column_of_title = {
            "observed difference": task_frame["difference"].abs(),
            "detectable": task_frame["smallest"],
            "detectable as planned": task_frame["planned"],
        }
        series = [
            Series(name, column.fill_null(nan).to_list())
            for name, column in column_of_title.items()
            if column.count()
        ]
        title, labels = (
            f"Detectable differences on {task_frame['task'][0]}",
            task_frame["dataset"].to_list(),
        )
        plots.append(Plot("dots", title, series, "points, without sign", labels=labels))
    return plots, caption


@figure(
    "why",
    "kinds",
    "the difference on each kind of items, with its interval, beside that on all items",
)
def _kinds(explanation: "DifferenceExplanation", rows: int, caption: str) -> Drawn:
    """All items first, then the kinds on which the difference is most unlike that on the others,
    the surest first; and the combinations of two properties that the other half of the topics
    confirms.
    """
    first_title, second_title = titles_of([explanation.first, explanation.second]).values()
    whole_slice, confirmed = explanation.whole, explanation.search.confirmed[:rows]
    uneven = {kind.title: kind.slice for kind in explanation.kind_differences[:rows]}
    slices_of_title = {
        f"Where {second_title} and {first_title} differ": {"all": whole_slice, **uneven},
        "Two properties together, confirmed": {
            tested.kind_difference.title: tested.kind_difference.slice for tested in confirmed
        },
    }
    scale = scale_of(whole_slice.task, whole_slice.metric)
    plots = []
    for title, slices in slices_of_title.items():
        numbers = [
            _ends(compared_slice.differences[explanation.second], scale)
            for compared_slice in slices.values()
        ]
        series = [series_of(f"{second_title} − {first_title}", numbers)]
        if slices:
            plots.append(Plot("dots", title, series, "points", labels=[*slices], line="zero"))
    return plots, caption


@figure(
    "grid", "scores", "the score along one axis of the grid, a line for each value of the others"
)
def _grid_scores(plan: "GridPlan", pivot: "Pivot", caption: str) -> Drawn:
    """Where each column is a score, the last one is drawn, which is an average if there is any;
    else each column is a line.
    """
    values = {
        axis: list(dict.fromkeys(labels))
        for axis, labels in zip(pivot.row_axes, zip(*pivot.rows, strict=True), strict=True)
    }
    if not values:
        return [], ""
    varying = [axis for axis in values if len(values[axis]) > 1]
    axis_name = [*varying, *values][0]
    other_axes = [axis for axis in values if axis != axis_name]
    columns = pivot.columns if pivot.column_axis is not None else pivot.shown[-1:]
    series = []
    for *fixed, column in product(*(values[axis] for axis in other_axes), columns):
        fixed_labels = dict(zip(other_axes, fixed, strict=True))
        numbers: list[Ends] = []
        for label in values[axis_name]:
            labels = {**fixed_labels, axis_name: label}
            row = tuple(labels[axis] for axis in pivot.row_axes)
            spread = pivot.spreads.get((row, column))
            numbers.append(_spread(spread.mean, spread.sd) if spread else _spread(None, None))
        names = [f"{axis} {value}" for axis, value in fixed_labels.items()]
        if pivot.column_axis is not None:
            names.append(f"{pivot.column_axis} {column}")
        if any(mean is not None for mean, *_ in numbers):
            series.append(series_of(", ".join(names) or column, numbers))
    score = pivot.shown[-1]
    title = f"{plan.name}: {score} by {axis_name}"
    seeds = sorted({len(spread.values) for spread in pivot.spreads.values()})
    seed_note = "One seed each: no spread."
    if seeds[-1] > 1:
        seed_note = f"Bands: one standard deviation over {' or '.join(map(str, seeds))} seeds."
    plot = Plot("lines", title, series, score, axis_name, values[axis_name])
    return [plot], f"{caption} {seed_note}"


@figure(
    "reproduce",
    "published",
    "each number against the published one, and the rows along the columns that order them",
)
def _published(reproductions: "Sequence[Reproduction]") -> Drawn:
    plots: list[Plot] = []
    counts = []
    for reproduction in reproductions:
        plots += reproduction_plots(reproduction)
        # of a figure of the paper: models by a property of pairs
        plots += [plot for comparison in reproduction.compared for plot in score_plots(comparison)]
        if compared_numbers := _compared_numbers(reproduction):
            seeds = sorted({len(number.values) for number in compared_numbers})
            count = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
            runs = "1 seed" if seeds == [1] else f"{count} seeds"
            table = reproduction.table
            counts.append(f"{table.paper} {table.name}: {len(compared_numbers)} numbers, {runs}.")
    curves = [bool(reproduction.curves) for reproduction in reproductions]
    curves_note = (
        "Dev score after each epoch of the stages that are trained last, the mean over seeds."
    )
    numbers_note = (
        "Published and ours; bars are one standard deviation over seeds, the line is where both "
        "are equal."
    )
    return plots, join_sentences(
        curves_note * any(curves), numbers_note * (not all(curves)), *counts
    )


@figure("runs", "curves", "loss and dev score over the steps of each run")
def _curves(runs: "Sequence[RunFolder]") -> Drawn:
    """Draw the losses, and below them the dev scores if there are any."""
    curves = {run.id: Curve() for run in runs}
    for run in runs:
        curves[run.id].read_on(run.events_file)
    plots = []
    losses = {name: curve.losses for name, curve in curves.items()}
    dev_scores = {name: curve.dev_scores for name, curve in curves.items()}
    for axis, values_of_run in (("loss", losses), ("dev score x 100", dev_scores)):
        series = [
            Series(name, [*values.values()], places=[*values])
            for name, values in values_of_run.items()
            if values
        ]
        if series:
            plots.append(Plot("lines", "", series, axis, "step"))
    point_count = max(map(len, losses.values()), default=0)
    return plots, (
        f"Loss, the mean since the point before ({point_count} points), and dev score of "
        f"{', '.join(curves)}. Each line is one run; no interval is drawn."
    )


def _labels(slices: Sequence[ComparedSlice]) -> list[str]:
    """Return the names of slices, without what all of them share: the dataset."""
    name_parts = [row.key.partition("/") for row in slices]
    is_one_dataset = len({dataset for dataset, _, _ in name_parts}) == 1 and all(
        slice_name for _, _, slice_name in name_parts
    )
    return [
        slice_name if is_one_dataset else f"{dataset}{slash}{slice_name}"
        for dataset, slash, slice_name in name_parts
    ]


def _scatter_dataset(outcomes: "Outcomes") -> str:
    names = [block.dataset for block in outcomes.blocks]
    return FIFTHS_OF if FIFTHS_OF in names else names[0]
