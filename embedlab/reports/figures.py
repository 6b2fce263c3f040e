"""Figures for papers: what can be drawn of each kind of result, as plots with a caption.

A figure is one function below with `@figure`; the first one of a command is the usual one.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import polars as pl

from embedlab.analysis.comparison import Difference, SliceScore
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
    trained_on,
)
from embedlab.reports.scores import STATED
from embedlab.reports.series import (
    BANDS,
    COLUMN_IN,
    DENSE,
    FEWEST,
    UNKNOWN,
    Ends,
    FileKind,
    Plot,
    Point,
    Series,
)
from embedlab.runs.events import Curve
from embedlab.tasks.task import scale_of

if TYPE_CHECKING:
    from embedlab.analysis.evidence import ModelColumns
    from embedlab.experiments.pivot import Pivot
    from embedlab.experiments.plan import GridPlan
    from embedlab.outcomes.frame import Outcomes
    from embedlab.reports.cost_table import CostRow, Costs
    from embedlab.reports.papers import Reproduction
    from embedlab.reports.plots import PaperFigure
    from embedlab.reports.tables import Table, TableCell
    from embedlab.runs.store import RunFolder
    from embedlab.scoring.task_comparison import TaskComparison

_WIDEST_IN = 20.0
SCORE = ("score", "low", "high")  # columns of the frame of a comparison
DIFFERENCE = ("difference", "difference_low", "difference_high")
_SCATTERS = 4  # models that the scatter shows: more panels are too small to read

Drawn = tuple[Sequence[Plot], str]  # the plots, none where there is nothing to draw; the caption
Draw = Callable[..., Drawn]


@dataclass(frozen=True, kw_only=True)
class FigureKind:
    """A figure: its name, the command whose results it draws, and how."""

    name: str
    command: str
    summary: str
    draw: Draw


# by command and name; the first one of a command is the usual one
FIGURES: dict[str, dict[str, FigureKind]] = {}


def figure(command: str, name: str, summary: str) -> Callable[[Draw], Draw]:
    """Declare the function below as the figure NAME of what a COMMAND gives: it is called with the
    `figure_subject` of that command's report as keywords: `compared`, `frame`, `pairs` and `costs`
    of compare, `frame` of evaluate, `frame` and `caption` of power, `tables` and
    `caption` of why, `plan`, `pivot` and `caption` of grid, `reproductions` of reproduce, `runs`
    of runs.
    """

    def declare(draw: Draw) -> Draw:
        kind = FigureKind(name=name, command=command, summary=summary, draw=draw)
        FIGURES.setdefault(command, {})[name] = kind
        return draw

    return declare


def figure_kind(command: str, name: str | None) -> FigureKind:
    """Return the figure called NAME, or the usual one; another name is an error that lists them."""
    kinds = FIGURES[command]
    name = name or next(iter(kinds))
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
            hint=f"figures: {', '.join(FIGURES[kind.command])}",
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


def _ends(number: SliceScore | Difference, scale: float) -> tuple[float, float, float]:
    value = number.value if isinstance(number, SliceScore) else number.delta
    return scale * value, scale * number.low, scale * number.high


def _spread(mean: float | None, sd: float | None) -> Ends:
    """Return a mean over seeds with one standard deviation."""
    return UNKNOWN if mean is None else (mean, mean - (sd or 0), mean + (sd or 0))


def share_frames(frame: pl.DataFrame | None) -> Iterator[pl.DataFrame]:
    """Yield the rows of each task whose numbers are shares; other numbers have no plot. FRAME is
    that of a comparison, whose stated figures have no intervals.
    """
    assert frame is not None  # every comparison has one
    measured = frame.filter(pl.col("setting").ne_missing(STATED))
    is_share = [scale_of(*measure) == 100 for measure in measured.select("task", "metric").rows()]
    yield from measured.filter(is_share).partition_by("task", maintain_order=True)


def score_plots(frame: pl.DataFrame | None, by: str) -> list[Plot]:
    """Return the scores of each model on the slices of each task as dots; the fifths of a numeric
    property are lines, with a plot for each dataset.
    """
    item_property = None if by == DATASET or is_expression(by) else property_named(by)
    plots = []
    for rows in share_frames(frame):
        if item_property is None or item_property.kind != "number":
            title = f"Scores on {rows['task'][0]}, by {by}"
            plots.append(Plot("dots", title, model_series(rows, *SCORE), score_axis(rows)))
            continue
        name = item_property.title or by
        along = f"fifth of the items by {name}, from the smallest to the largest"
        datasets = pl.col("slice").str.extract("(.*)/").alias("dataset")
        for (dataset,), fifths in rows.group_by(datasets, maintain_order=True):
            numbered = fifths.with_columns(pl.col("slice").str.extract("([^-]*)$"))
            title, series = f"Scores by {name} on {dataset}", model_series(numbered, *SCORE)
            plots.append(Plot("lines", title, series, score_axis(fifths), along))
    return plots


def difference_plots(frame: pl.DataFrame | None, by: str) -> list[Plot]:
    """Return a plot for each task with all models but the first; none if that is the only model."""
    plots = []
    for rows in share_frames(frame):
        is_known = pl.col("difference").is_not_null().any().over("slice", "metric")
        series = model_series(rows.filter(is_known), *DIFFERENCE)[1:]
        if series:
            subject = series[0].name if len(series) == 1 else "Each model"
            first_title = titles_of([*dict.fromkeys(rows["model"])])[rows["model"][0]]
            title = f"{subject} minus {first_title} on {rows['task'][0]}, by {by}"
            axis = "difference, with 95% intervals"
            plots.append(Plot("dots", title, series, axis, line="zero"))
    return plots


def model_series(rows: pl.DataFrame, *columns: str) -> list[Series]:
    """Return the numbers of each model of ROWS beside all slices; COLUMNS hold them and the ends of
    their intervals.
    """
    titles = titles_of([*dict.fromkeys(rows["model"])])
    is_first = pl.col("metric") == pl.col("metric").first().over("slice")
    measured = pl.concat_str("slice", "metric", separator=" ")
    named = rows.with_columns(slice=pl.when(is_first).then("slice").otherwise(measured))
    names = [*dict.fromkeys(named["slice"])]
    labels = [name.partition("/")[2] for name in names]
    if not all(labels) or len({name.partition("/")[0] for name in names}) > 1:
        labels = names  # of one dataset it says nothing
    series = []
    for model, title in titles.items():
        numbers = named.filter(model=model).select("slice", *columns)
        known = {name: ends for name, *ends in numbers.rows()}
        ends_of_slices = [known.get(name, UNKNOWN) for name in names]
        series.append(Series.of(title, zip(labels, ends_of_slices, strict=True)))
    return series


def score_axis(rows: pl.DataFrame) -> str:
    """Return what an axis of scores is, with the metric if all ROWS have the same."""
    metrics = {*rows["metric"]}
    metric = f"{metrics.pop().capitalize()} " if len(metrics) == 1 else ""
    return f"{metric}x 100, with 95% intervals"


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
        points = pairs.select("gold", similarity=similarity).drop_nulls()
        series.append(Series(titles[model.name], [Point(*row) for row in points.rows()]))
    title = f"Similarity against the gold score on {dataset}"
    return Plot("scatter", title, series, "similarity", "gold score", has_means=has_means)


def reproduction_plots(reproduction: "Reproduction") -> list[Plot]:
    """Return plots of every number against the published one, of the dev scores of trainings, and
    of the rows on each column that orders them.
    """
    table, numbers, plots = reproduction.table, reproduction.numbers, []
    points = numbers.select("published", "ours").drop_nulls()
    if points.height:
        series = [Series(table.name, [*starmap(Point, points.rows())])]
        title = "Every number: published and ours"
        plots.append(Plot("scatter", title, series, "ours", "published", line="diagonal"))
    if table.by == "epoch":
        curves = numbers.select("row", pl.col("column").cast(pl.Int64), "ours")
        series = [
            Series(row, [*starmap(Point, curve.select("column", "ours").rows())])
            for (row,), curve in curves.group_by("row", maintain_order=True)
        ]
        plots += [Plot("lines", "", series, "dev score x 100", "epoch")] * bool(series)
    for column in dict.fromkeys(chain(*table.ranked_by)):
        own = numbers.filter(column=column)
        spreads = [(row, _spread(*ends)) for row, *ends in own.select("row", "ours", "sd").rows()]
        series = [Series.of("ours", spreads)]
        if own["published"].count():
            printed = [(row, (value,)) for row, value in own.select("row", "published").rows()]
            series.insert(0, Series.of("published", printed))
        if own["ours"].count():
            has_sd = own["sd"].count() > 0
            axis = f"{column}{'; ours with one standard deviation over seeds' * has_sd}"
            plots.append(Plot("dots", column, series, axis))
    return plots


@figure("compare", "scores", "each model's score on each dataset or slice, with its interval")
def _compared_scores(compared: "TaskComparison", frame: pl.DataFrame, **_: object) -> Drawn:
    plots = score_plots(frame, compared.slicing.by)
    mark_name = "Bands" if any(plot.kind == "lines" for plot in plots) else "Bars"
    return plots, figure_caption(compared, "Scores", drawn=mark_name)


@figure("compare", "calibration", "each model's similarity of each pair against its gold score")
def _calibration(compared: "TaskComparison", pairs: "Sequence[Outcomes]", **_: object) -> Drawn:
    """Draw whether a similarity of a model means the same over the whole scale."""
    plots = [gold_scatter(outcomes, compared.models, has_means=True) for outcomes in pairs]
    counts = {
        _scatter_dataset(outcomes): len(plot.series[0].points)
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
    sizes = [(row, row.bytes) for row in costs.rows if row.bytes is not None]
    times = [(row, row.time_ms) for row in costs.rows if row.is_whole and row.milliseconds]
    plots = [_cost_plot(costs, sizes, "bytes a vector")] if sizes else []
    if len(times) > 1:
        plots.append(_cost_plot(costs, times, "milliseconds a sentence"))
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
    scale = scale_of(first_slice.task, first_slice.metric)
    scored = [
        (row.model, Point(cost, *_ends(row.scores[first_slice.key], scale), row.label))
        for row, cost in rows
        if first_slice.key in row.scores
    ]
    values, places = ([getattr(point, end) for _, point in scored] for end in ("value", "place"))
    unbeaten = find_undominated(values, [[place] for place in places])
    points: dict[str, list[Point]] = {row.model: [] for row, _ in rows}
    for (model, point), is_best in zip(scored, unbeaten, strict=True):
        points[model].append(point._replace(is_best=is_best))
    series = [Series(title, points[model]) for model, title in titles_of([*points]).items()]
    axis = f"{first_slice.metric.capitalize()} x 100"
    return Plot("costs", f"{first_slice.slice_title}: {along}", series, axis, along)


@figure(
    "compare",
    "differences",
    "the difference of each model from the first one on each dataset or slice, with its interval",
)
def _compared_differences(compared: "TaskComparison", frame: pl.DataFrame, **_: object) -> Drawn:
    first_title = compared.titles[compared.models[0].name]
    plots = difference_plots(frame, compared.slicing.by)
    return plots, figure_caption(compared, f"Differences from {first_title}")


@figure("evaluate", "scores", "each model's score on each dataset or slice")
def _evaluated_scores(frame: pl.DataFrame) -> Drawn:
    """Draw a plot for each task, of its first metric and setting."""
    titles = titles_of(frame["model"].unique(maintain_order=True).to_list())
    plots, descriptions = [], []
    for rows in frame.partition_by("task", maintain_order=True):
        task, metric, setting = rows.select("task", "metric", "setting").row(0)
        is_drawn = pl.col("metric").eq_missing(metric) & pl.col("setting").eq_missing(setting)
        series = model_series(rows.filter(is_drawn), *SCORE)
        axis = f"{metric.capitalize()} ({setting})" if setting else metric
        plots.append(Plot("dots", f"Scores on {task}", series, axis))
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


@figure(
    "power",
    "detectable",
    "the smallest difference that each dataset can detect, next to the observed one",
)
def _detectable(frame: pl.DataFrame, caption: str = "") -> Drawn:
    """One plot a task."""
    titles = {
        "difference": "observed difference",
        "smallest": "detectable",
        "planned": "detectable as planned",
    }
    numbers = frame.select(
        "task", "metric", pl.col("difference").abs(), "smallest", "planned", slice="dataset"
    ).rename(titles)
    plots = []
    for rows in numbers.partition_by("task", maintain_order=True):
        long = rows.unpivot(
            [*titles.values()], index=["metric", "slice"], variable_name="model"
        ).drop_nulls()
        title = f"Detectable differences on {rows['task'][0]}"
        plots.append(Plot("dots", title, model_series(long, "value"), "points, without sign"))
    return plots, caption


@figure(
    "why",
    "kinds",
    "the difference on each kind of items, with its interval, beside that on all items",
)
def _kinds(tables: "Sequence[Table]", caption: str) -> Drawn:
    """All items first, then the kinds on which the difference is most unlike that on the others,
    the surest first; and the combinations of two properties that the other half of the topics
    confirms.
    """
    plots = []
    for table in tables:
        numbers = []
        for row, (title, *_) in zip(table.rows, table.texts()[1:], strict=True):
            difference = cast("TableCell", row["difference"])
            ends = [cast("float", end) for end in (difference.value, row["low"], row["high"])]
            numbers.append((title, ends))
        series = [Series.of(table.columns[2].title, numbers)]
        plots.append(Plot("dots", table.title, series, "points", line="zero"))
    return plots, caption


@figure(
    "grid", "scores", "the score along one axis of the grid, a line for each value of the others"
)
def _grid_scores(plan: "GridPlan", pivot: "Pivot", caption: str) -> Drawn:
    """Where each column is a score, the last one is drawn, which is an average if there is any;
    else each column is a line.
    """
    values = {
        axis: [*dict.fromkeys(labels)]
        for axis, labels in zip(pivot.row_axes, zip(*pivot.rows, strict=True), strict=True)
    }
    if not values:
        return [], ""
    varying = [axis for axis in values if len(values[axis]) > 1]
    along, score = [*varying, *values][0], pivot.shown[-1]
    lines: dict[str, dict[str, Ends]] = {}
    for (row, column), spread in pivot.spreads.items():
        labels = dict(zip(pivot.row_axes, row, strict=True))
        if pivot.column_axis is not None:
            labels[pivot.column_axis] = column
        elif column != score:
            continue
        label = labels.pop(along)
        name = ", ".join(f"{axis} {value}" for axis, value in labels.items())
        lines.setdefault(name or column, {})[label] = _spread(spread.mean, spread.sd)
    series = [
        Series.of(name, [(label, line.get(label, UNKNOWN)) for label in values[along]])
        for name, line in lines.items()
    ]
    seeds = sorted({len(spread.values) for spread in pivot.spreads.values()})
    seed_note = "One seed each: no spread."
    if seeds[-1] > 1:
        seed_note = f"Bands: one standard deviation over {' or '.join(map(str, seeds))} seeds."
    title = f"{plan.name}: {score} by {along}"
    return [Plot("lines", title, series, score, along)], f"{caption} {seed_note}"


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
        for answer, by in zip(reproduction.answers, reproduction.cuts, strict=False):
            plots += score_plots(answer.frame, by)
        numbers = reproduction.numbers.drop_nulls("difference")
        if numbers.height:
            seeds = sorted({*numbers["seeds"]})
            count = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
            runs = "1 seed" if seeds == [1] else f"{count} seeds"
            table = reproduction.table
            counts.append(f"{table.title}: {len(numbers)} numbers, {runs}.")
    curves = [
        reproduction.table.by == "epoch" and reproduction.numbers.height > 0
        for reproduction in reproductions
    ]
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
    losses = {name: curve.losses for name, curve in curves.items()}
    dev_scores = {name: curve.dev_scores for name, curve in curves.items()}
    plots = []
    for axis, values_of_run in (("loss", losses), ("dev score x 100", dev_scores)):
        series = [
            Series(name, [*starmap(Point, values.items())])
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


def _scatter_dataset(outcomes: "Outcomes") -> str:
    names = [block.dataset for block in outcomes.blocks]
    return FIFTHS_OF if FIFTHS_OF in names else names[0]
