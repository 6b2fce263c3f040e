"""Figures for papers: what can be drawn of each kind of result, as plots with a caption.

A figure is one function below with `@figure`; the first one of a kind of result is the usual one.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import isnan, nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import polars as pl

from embedlab.analysis.comparison import ComparedSlice
from embedlab.analysis.trade_offs import undominated
from embedlab.core.errors import UsageError
from embedlab.core.foreign_files import check_output
from embedlab.core.name_options import option_values, outside_quotes
from embedlab.core.nearest import unknown
from embedlab.core.own_files import published
from embedlab.core.paths import typed_path
from embedlab.data.pair_parts import FIFTHS_OF
from embedlab.models.grammar import title_of, titles_of
from embedlab.outcomes.cuts import DATASET
from embedlab.outcomes.grouping import is_expression
from embedlab.outcomes.property import property_named
from embedlab.reports.captions import (
    DEPENDENCE,
    counted_items,
    data_sentences,
    figure_caption,
    trained_on,
)
from embedlab.reports.series import BANDS, COLUMN_IN, DENSE, FEWEST, FileKind, Plot, Series
from embedlab.reports.units import shares_of
from embedlab.runs.curves import Curve
from embedlab.store.files import write_atomic
from embedlab.tasks.task import scale_of

if TYPE_CHECKING:
    from embedlab.analysis.scores import ModelColumns
    from embedlab.comparison.explanation import Explanation
    from embedlab.experiments.pivot import Pivot
    from embedlab.experiments.plan import GridPlan
    from embedlab.outcomes.frame import Outcomes
    from embedlab.reports.cost_table import CostRow, Costs
    from embedlab.reports.plots import PaperFigure
    from embedlab.reports.reproduction import Reproduction
    from embedlab.runs.store import RunFolder
    from embedlab.scoring.task_comparison import TaskComparison

_WIDEST_IN = 20.0
_AXIS = "x 100, with 95% intervals"
_SCATTERS = 4  # models that the scatter shows: more panels are too small to read


@dataclass(frozen=True, kw_only=True, eq=False)
class ComparedModels:
    """Models compared by a property, and the pairs behind it where there are any."""

    found: "TaskComparison"
    pairs: "Sequence[Outcomes]" = ()
    costs: "Costs | None" = None  # where they were measured


@dataclass(frozen=True, kw_only=True, eq=False)
class EvaluatedModels:
    """The tidy frame of evaluated models."""

    frame: pl.DataFrame


@dataclass(frozen=True, kw_only=True, eq=False)
class DetectableDifferences:
    """The tidy frame of the differences that can be detected, and what the table says of it."""

    frame: pl.DataFrame
    caption: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class ExplainedDifference:
    """Two models on each kind of items, and how many kinds are drawn."""

    found: "Explanation"
    rows: int
    caption: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class GridResults:
    """The scores of a grid along its axes, and what is measured."""

    plan: "GridPlan"
    pivot: "Pivot"
    measured: str
    caption: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class ReproducedTables:
    """Tables of a paper next to ours."""

    found: "Sequence[Reproduction]"


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainedRuns:
    """Runs, of which the events say how they went."""

    runs: "Sequence[RunFolder]"


Subject = (
    ComparedModels
    | EvaluatedModels
    | DetectableDifferences
    | ExplainedDifference
    | GridResults
    | ReproducedTables
    | TrainedRuns
)
Drawn = tuple[Sequence[Plot], str]  # the plots, none where there is nothing to draw; the caption


@dataclass(frozen=True, kw_only=True)
class FigureKind:
    """One figure: of which results it is drawn, and how."""

    name: str
    of: type[Subject]
    summary: str
    draw: Callable[[Any], Drawn]


_KINDS: list[FigureKind] = []


def figure(
    name: str, of: type[Subject], summary: str
) -> Callable[[Callable[[Any], Drawn]], Callable[[Any], Drawn]]:
    """Declare the function below as the figure NAME of a kind of results."""

    def declare(draw: Callable[[Any], Drawn]) -> Callable[[Any], Drawn]:
        _KINDS.append(FigureKind(name=name, of=of, summary=summary, draw=draw))
        return draw

    return declare


def figure_kinds(of: type[Subject]) -> dict[str, FigureKind]:
    """Return the figures of a kind of results by name, the usual one first."""
    return {kind.name: kind for kind in _KINDS if kind.of is of}


def figure_kind(of: type[Subject], name: str | None) -> FigureKind:
    """Return the figure called NAME, or the usual one; another name is an error that lists them."""
    kinds = figure_kinds(of)
    if name is None:
        return next(iter(kinds.values()))
    if name not in kinds:
        raise unknown("figure", name, kinds)
    return kinds[name]


def draw_figure(
    subject: Subject, kind: FigureKind, *, width_in: float = COLUMN_IN, is_titled: bool = False
) -> "PaperFigure":
    """Return the figure of a subject; where it has nothing to draw, that is an error."""
    from embedlab.reports.plots import draw_paper

    plots, caption = kind.draw(subject)
    if not plots:
        raise UsageError(
            f"there is nothing to draw as {kind.name!r}: {kind.summary}",
            hint=f"figures: {', '.join(figure_kinds(kind.of))}",
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
    def parse(cls, text: str, of: type[Subject]) -> "FigureFile":
        """Read FILE.pdf?kind=…&width=…&title, a figure OF a kind of results; what cannot be
        written is refused.
        """
        name, *parts = outside_quotes(text, "?")
        values = option_values(text, parts, ("kind", "width"), ("title",))
        path = typed_path(name)
        if path.suffix[1:].lower() not in get_args(FileKind):
            raise UsageError(
                f"--figure is {str(path)!r}: neither .pdf, .svg nor .png",
                hint=f"for example --figure {path.stem or 'figure'}.pdf",
            )
        check_output(path, "--figure", example="figure.pdf", what="a figure", mark=b"embedlab")
        kind = figure_kind(of, values.get("kind"))
        typed = values.get("width", str(COLUMN_IN))
        try:
            width = float(typed)
        except ValueError:
            width = 0.0
        if not 1 <= width <= _WIDEST_IN:
            raise UsageError(
                f"{text!r}: the width is {typed!r}",
                hint=f"give inches from 1 to {_WIDEST_IN:g}: a column has {COLUMN_IN:g}",
            )
        return cls(path=path, kind=kind, width_in=width, is_titled="title" in values)

    def write(self, subject: Subject) -> str:
        """Write the figure of a SUBJECT and return its caption."""
        drawn = draw_figure(subject, self.kind, width_in=self.width_in, is_titled=self.is_titled)
        drawn.caption = published(drawn.caption)
        content = drawn.content(cast("FileKind", self.path.suffix[1:].lower()))
        write_atomic(self.path, content, hint="choose another place with --figure")
        return drawn.caption


def tasks_of(comparison: "TaskComparison") -> Mapping[str, Sequence[ComparedSlice]]:
    """Return the slices of each task whose numbers are shares; numbers in a unit of their own have
    no plot.
    """
    tasks: dict[str, list[ComparedSlice]] = {}
    for compared in shares_of(comparison.slices):
        tasks.setdefault(compared.task, []).append(compared)
    return tasks


def score_plots(
    comparison: "TaskComparison", task: str, slices: Sequence[ComparedSlice]
) -> list[Plot]:
    """Return the scores of each model on the slices of a task: dots, or of a number that is cut in
    fifths lines, a plot a dataset.
    """
    by = comparison.slicing.by
    axis = f"{metric_of(slices)}{_AXIS}"
    if by == DATASET or is_expression(by) or property_named(by).kind != "number":
        return [
            Plot(
                kind="dots",
                title=f"Scores on {task}, by {by}",
                labels=_labels(slices),
                series=scores_of(comparison, slices),
                axis=axis,
            )
        ]
    fifths: dict[str, list[ComparedSlice]] = {}
    for compared in slices:
        fifths.setdefault(compared.key.rpartition("/")[0], []).append(compared)
    name = property_named(by).title or by
    return [
        Plot(
            kind="lines",
            title=f"Scores by {name} on {dataset}",
            labels=[fifth.key.rpartition("-")[2] for fifth in cut],
            series=scores_of(comparison, cut),
            axis=f"{metric_of(cut)}{_AXIS}",
            along=f"fifth of the items by {name}, from the smallest to the largest",
        )
        for dataset, cut in fifths.items()
    ]


def difference_plots(
    comparison: "TaskComparison", task: str, slices: Sequence[ComparedSlice]
) -> list[Plot]:
    """Return one plot of all models but the first; none where that is the only model."""
    first, *others = (model.name for model in comparison.models)
    compared = [
        each for each in slices if any(not isnan(one.delta) for one in each.differences.values())
    ]
    if not (others and compared):
        return []
    series = [
        _with_ends(title_of(name), [each.differences[name] for each in compared], "delta", 100)
        for name in others
    ]
    what = title_of(others[0]) if len(others) == 1 else "Each model"
    return [
        Plot(
            kind="dots",
            title=f"{what} minus {title_of(first)} on {task}, by {comparison.slicing.by}",
            labels=_labels(compared),
            series=series,
            axis="difference, with 95% intervals",
            line="zero",
        )
    ]


def scores_of(comparison: "TaskComparison", slices: Sequence[ComparedSlice]) -> list[Series]:
    """Return each model's scores on SLICES."""
    return [
        _with_ends(title_of(model.name), [each.scores[model.name] for each in slices], "value", 100)
        for model in comparison.models
    ]


def metric_of(slices: Sequence[ComparedSlice]) -> str:
    """Return the metric that all slices have, as an axis begins; nothing where they differ."""
    metrics = {compared.metric for compared in slices}
    return f"{next(iter(metrics)).capitalize()} " if len(metrics) == 1 else ""


def gold_scatter(
    outcomes: "Outcomes", models: "Sequence[ModelColumns]", *, has_means: bool = False
) -> Plot:
    """Return the similarity of each model against the gold score of every pair of one dataset; a
    pair's similarity is the mean over the model's members.
    """
    dataset = _scatter_dataset(outcomes)
    scored = pl.DataFrame([outcomes.column("gold"), *outcomes.predictions])
    pairs = scored.filter(outcomes.column("dataset") == dataset)
    series = []
    for model in models[:_SCATTERS]:
        similarity = pl.mean_horizontal(model.members, ignore_nulls=False)
        points = pairs.select("gold", similarity=similarity).drop_nulls()
        series.append(
            Series(
                name=title_of(model.name),
                places=points["gold"].to_list(),
                values=points["similarity"].to_list(),
            )
        )
    return Plot(
        kind="scatter",
        title=f"Similarity against the gold score on {dataset}",
        series=series,
        axis="similarity",
        along="gold score",
        has_means=has_means,
    )


def reproduction_plots(reproduction: "Reproduction") -> list[Plot]:
    """Return every number against the published one, the dev scores of trainings, and the rows
    along the columns that put them in order.
    """
    both = [
        (number.printed, number.mean)
        for number in reproduction.numbers.values()
        if number.printed is not None and number.mean is not None
    ]
    plots = []
    if both:
        printed, means = zip(*both, strict=True)
        points = Series(name=reproduction.table.name, places=printed, values=means)
        plots.append(
            Plot(
                kind="scatter",
                title="Every number: published and ours",
                series=[points],
                axis="ours",
                along="published",
                line="diagonal",
            )
        )
    if reproduction.curves:
        curves = [
            Series(name=row, places=range(1, len(values) + 1), values=values)
            for row, values in reproduction.curves.items()
        ]
        plots.append(
            Plot(kind="lines", title="", series=curves, axis="dev score x 100", along="epoch")
        )
    columns = [column for columns in reproduction.table.ranked_by for column in columns]
    for column in dict.fromkeys(columns):
        numbers = {
            row: reproduction.numbers[row, column]
            for row in reproduction.table.sources
            if (row, column) in reproduction.numbers
        }
        if not any(number.values for number in numbers.values()):
            continue
        ours = _spread_series("ours", [(each.mean, each.sd) for each in numbers.values()])
        has_sd = any(each.sd is not None for each in numbers.values())
        values = [_or_nan(number.printed) for number in numbers.values()]
        published = Series(name="published", values=values)
        plots.append(
            Plot(
                kind="dots",
                title=column,
                labels=list(numbers),
                series=[ours] if all(map(isnan, values)) else [published, ours],
                axis=f"{column}; ours with one standard deviation over seeds" if has_sd else column,
            )
        )
    return plots


@figure("scores", ComparedModels, "each model's score on each dataset or slice, with its interval")
def _compared_scores(subject: ComparedModels) -> Drawn:
    plots = [
        plot
        for task, slices in tasks_of(subject.found).items()
        for plot in score_plots(subject.found, task, slices)
    ]
    drawn = "Bands" if any(plot.kind == "lines" for plot in plots) else "Bars"
    return plots, figure_caption(subject.found, "Scores", drawn=drawn)


@figure(
    "calibration",
    ComparedModels,
    "each model's similarity of each pair against its gold score",
)
def _calibration(subject: ComparedModels) -> Drawn:
    """Whether a model's similarity means the same over the whole scale."""
    models = subject.found.models
    plots = [gold_scatter(outcomes, models, has_means=True) for outcomes in subject.pairs]
    counts = {
        _scatter_dataset(outcomes): len(plot.series[0].values)
        for outcomes, plot in zip(subject.pairs, plots, strict=True)
    }
    pairs = ", ".join(f"n = {count:,} pairs of {name}" for name, count in counts.items())
    some = f" ({DENSE:,} of them drawn)" if max(counts.values(), default=0) > DENSE else ""
    has_seeds = any(len(model.members) > 1 for model in subject.found.models)
    return plots, _sentences(
        f"Similarity against gold score; {pairs}{some}.",
        *data_sentences(subject.found.marks),
        f"Lines: mean and one standard deviation in each of {BANDS} bands of the gold score that "
        f"holds at least {FEWEST} pairs.",
        "A similarity is the mean over the seeds." if has_seeds else "",
    )


@figure(
    "costs",
    ComparedModels,
    "each model's score against the bytes of a vector and the time of a sentence; needs --cost",
)
def _costs(subject: ComparedModels) -> Drawn:
    """The size of a vector with all rows, and the time of a sentence with the models themselves,
    where they were measured.
    """
    costs = subject.costs
    if costs is None:
        return [], ""
    plots = []
    sized = [(row, float(row.bytes)) for row in costs.rows if row.bytes is not None]
    timed = [(row, row.time_ms) for row in costs.rows if row.is_whole and row.milliseconds]
    if sized:
        plots.append(_cost_plot(costs, sized, "bytes a vector"))
    if len(timed) > 1:
        plots.append(_cost_plot(costs, timed, "milliseconds a sentence"))
    first = costs.slices[0]
    return plots, _sentences(
        f"{first.metric.capitalize()} on {first.title} against what it costs.",
        "Bars: 95% intervals, each on its own.",
        "Filled, with a line through them: what no other choice beats in both.",
        "The axis of costs is logarithmic.",
        f"{costs.machine[:1].upper()}{costs.machine[1:]}.",
    )


@figure(
    "differences",
    ComparedModels,
    "the difference of each model from the first one on each dataset or slice, with its interval",
)
def _compared_differences(subject: ComparedModels) -> Drawn:
    plots = [
        plot
        for task, slices in tasks_of(subject.found).items()
        for plot in difference_plots(subject.found, task, slices)
    ]
    first = title_of(subject.found.models[0].name)
    return plots, figure_caption(subject.found, f"Differences from {first}")


@figure("scores", EvaluatedModels, "each model's score on each dataset or slice")
def _evaluated_scores(subject: EvaluatedModels) -> Drawn:
    """One plot a task, of its first metric and setting."""
    frame = subject.frame
    titles = titles_of(frame["model"].unique(maintain_order=True).to_list())
    plots, measured = [], []
    for part in frame.partition_by("task", maintain_order=True):
        task, metric, setting = part.select("task", "metric", "setting").row(0)
        shown = part.filter(pl.col("metric") == metric, pl.col("setting").eq_missing(setting))
        labels = shown["slice"].unique(maintain_order=True)
        series = []
        for model in shown["model"].unique(maintain_order=True):
            rows = labels.to_frame().join(
                shown.filter(model=model).unique("slice", keep="last"),
                on="slice",
                how="left",
                maintain_order="left",
            )
            value = pl.col("score").fill_null(nan)
            ends = rows.select(
                value, *(pl.col(end).fill_nan(None).fill_null(value) for end in ("low", "high"))
            )
            series.append(
                Series(
                    name=titles[model],
                    values=ends["score"].to_list(),
                    low=ends["low"].to_list(),
                    high=ends["high"].to_list(),
                )
            )
        axis = f"{metric.capitalize()} ({setting})" if setting else metric
        plots.append(
            Plot(
                kind="dots",
                title=f"Scores on {task}",
                labels=labels.to_list(),
                series=series,
                axis=axis,
            )
        )
        measured.append(f"{metric.capitalize()} on {task}")
    of_slices = frame.filter(pl.col("by") != "average")
    counts = dict(
        of_slices.group_by("slice", maintain_order=True).agg(pl.col("items").first()).rows()
    )
    marks = frame["marks"].drop_nulls().str.split(", ").explode().unique().to_list()
    shared = {
        column: frame.filter(pl.col(column) > 0)["model"].unique(maintain_order=True).to_list()
        for column in ("shared_pairs", "shared_sentences")
    }
    pairs = shared["shared_pairs"]
    sentences = [name for name in shared["shared_sentences"] if name not in pairs]
    has_intervals = frame["low"].null_count() < frame.height
    return plots, _sentences(
        f"Scores: {' and '.join(measured)}; {counted_items(counts)}.",
        *data_sentences(marks),
        f"Bars: 95% intervals, each on its own, over items; {DEPENDENCE}." if has_intervals else "",
        *trained_on([titles[name] for name in pairs], [titles[name] for name in sentences]),
    )


@figure(
    "detectable",
    DetectableDifferences,
    "the smallest difference that each dataset can detect, next to the observed one",
)
def _detectable(subject: DetectableDifferences) -> Drawn:
    """One plot a task."""
    plots = []
    for frame in subject.frame.partition_by("task", maintain_order=True):
        shown = {
            "observed difference": frame["difference"].abs(),
            "detectable": frame["smallest"],
            "detectable as planned": frame["planned"],
        }
        series = [
            Series(name=name, values=column.fill_null(nan).to_list())
            for name, column in shown.items()
            if column.count()
        ]
        plots.append(
            Plot(
                kind="dots",
                title=f"Detectable differences on {frame['task'][0]}",
                labels=frame["dataset"].to_list(),
                series=series,
                axis="points, without sign",
            )
        )
    return plots, subject.caption


@figure(
    "kinds",
    ExplainedDifference,
    "the difference on each kind of items, with its interval, beside that on all items",
)
def _kinds(subject: ExplainedDifference) -> Drawn:
    """All items first, then the kinds on which the difference is most unlike that on the others,
    the surest first; and the combinations of two properties that the other half of the topics
    confirms.
    """
    explanation = subject.found
    first, second = titles_of([explanation.first, explanation.second]).values()
    uneven = explanation.uneven[: subject.rows]
    confirmed = explanation.search.confirmed[: subject.rows]
    parts = {
        f"Where {second} and {first} differ": [
            ("all", explanation.whole),
            *((kind.title, kind.slice) for kind in uneven),
        ],
        "Two properties together, confirmed": [
            (tested.found.title, tested.found.slice) for tested in confirmed
        ],
    }
    scale = scale_of(explanation.whole.task, explanation.whole.metric)
    plots = []
    for title, rows in parts.items():
        differences = [compared.differences[explanation.second] for _, compared in rows]
        series = _with_ends(f"{second} − {first}", differences, "delta", scale)
        labels = [label for label, _ in rows]
        if rows:
            plots.append(
                Plot(
                    kind="dots",
                    title=title,
                    labels=labels,
                    series=[series],
                    axis="points",
                    line="zero",
                )
            )
    return plots, subject.caption


@figure(
    "scores",
    GridResults,
    "the score along one axis of the grid, a line for each value of the others",
)
def _grid_scores(subject: GridResults) -> Drawn:
    """Of one column a score the last one, which is an average where there is one; else the axis in
    the columns gives the lines.
    """
    pivot = subject.pivot
    values = {
        axis: list(dict.fromkeys(row[index] for row in pivot.rows))
        for index, axis in enumerate(pivot.row_axes)
    }
    if not values:
        return [], ""
    along = next((axis for axis in values if len(values[axis]) > 1), next(iter(values)))
    others = [axis for axis in values if axis != along]
    columns = pivot.columns if pivot.column_axis is not None else pivot.shown[-1:]
    series = []
    for *fixed, column in product(*(values[axis] for axis in others), columns):
        places = dict(zip(others, fixed, strict=True))
        spreads: list[tuple[float | None, float | None]] = []
        for label in values[along]:
            row = tuple({**places, along: label}[axis] for axis in pivot.row_axes)
            spread = pivot.spreads.get((row, column))
            spreads.append((spread.mean, spread.sd) if spread is not None else (None, None))
        if not any(mean is not None for mean, _ in spreads):
            continue
        named = [f"{axis} {value}" for axis, value in places.items()]
        named += [f"{pivot.column_axis} {column}"] if pivot.column_axis is not None else []
        series.append(_spread_series(", ".join(named) or column, spreads))
    score = pivot.shown[-1]
    title = f"{subject.plan.name}: {score} by {along}"
    seeds = sorted({len(spread.values) for spread in pivot.spreads.values()})
    over = (
        f"Bands: one standard deviation over {' or '.join(map(str, seeds))} seeds."
        if seeds[-1] > 1
        else "One seed each: no spread."
    )
    plot = Plot(
        kind="lines", title=title, labels=values[along], series=series, axis=score, along=along
    )
    return [plot], f"{subject.caption} {over}"


@figure(
    "published",
    ReproducedTables,
    "each number against the published one, and the rows along the columns that order them",
)
def _published(subject: ReproducedTables) -> Drawn:
    plots: list[Plot] = []
    counts = []
    for reproduction in subject.found:
        plots += reproduction_plots(reproduction)
        plots += [  # of a figure of the paper: models by a property of pairs
            plot
            for comparison in reproduction.compared
            for task, slices in tasks_of(comparison).items()
            for plot in score_plots(comparison, task, slices)
        ]
        both = [
            number
            for number in reproduction.numbers.values()
            if number.printed is not None and number.mean is not None
        ]
        if both:
            seeds = sorted({len(number.values) for number in both})
            count = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
            runs = "1 seed" if seeds == [1] else f"{count} seeds"
            table = reproduction.table
            counts.append(f"{table.paper} {table.name}: {len(both)} numbers, {runs}.")
    has_curves = {bool(reproduction.curves) for reproduction in subject.found}
    return plots, _sentences(
        "Dev score after each epoch of the stages that are trained last, the mean over seeds."
        if True in has_curves
        else "",
        "Published and ours; bars are one standard deviation over seeds, the line is where both "
        "are equal."
        if False in has_curves
        else "",
        *counts,
    )


@figure("curves", TrainedRuns, "loss and dev score over the steps of each run")
def _curves(subject: TrainedRuns) -> Drawn:
    """The losses, and below them the dev scores where there are any."""
    curves: dict[str, Curve] = {}
    for run in subject.runs:
        curves[run.id] = Curve()
        curves[run.id].read_on(run.events_file)
    losses = {name: (curve.steps, curve.losses) for name, curve in curves.items()}
    scores = {name: (curve.dev_steps, curve.dev_scores) for name, curve in curves.items()}
    plots = []
    for axis, lines in (("loss", losses), ("dev score x 100", scores)):
        series = [
            Series(name=name, places=steps, values=values)
            for name, (steps, values) in lines.items()
            if steps
        ]
        if series:
            plots.append(Plot(kind="lines", title="", series=series, axis=axis, along="step"))
    points = max((len(curve.steps) for curve in curves.values()), default=0)
    return plots, (
        f"Loss, the mean since the point before ({points} points), and dev score of "
        f"{', '.join(curves)}. Each line is one run; no interval is drawn."
    )


def _sentences(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _with_ends(name: str, numbers: Iterable[Any], value: str, scale: float) -> Series:
    """Return scores or differences with their intervals."""
    ends = [[scale * getattr(number, key) for key in (value, "low", "high")] for number in numbers]
    values, low, high = zip(*ends, strict=True) if ends else ((), (), ())
    return Series(name=name, values=values, low=low, high=high)


def _spread_series(name: str, spreads: Sequence[tuple[float | None, float | None]]) -> Series:
    """Return means over seeds with one standard deviation."""
    ends = [(_or_nan(mean), sd or 0.0) for mean, sd in spreads]
    return Series(
        name=name,
        values=[mean for mean, _ in ends],
        low=[mean - sd for mean, sd in ends],
        high=[mean + sd for mean, sd in ends],
    )


def _or_nan(value: float | None) -> float:
    return nan if value is None else value


def _labels(slices: Sequence[ComparedSlice]) -> list[str]:
    """Return the names of slices, without what all of them share: the dataset."""
    parts = [compared.key.partition("/") for compared in slices]
    is_one = len({dataset for dataset, _, _ in parts}) == 1 and all(rest for _, _, rest in parts)
    return [rest if is_one else f"{dataset}{sign}{rest}" for dataset, sign, rest in parts]


def _scatter_dataset(outcomes: "Outcomes") -> str:
    names = [block.dataset for block in outcomes.blocks]
    return FIFTHS_OF if FIFTHS_OF in names else names[0]


def _cost_plot(costs: "Costs", rows: "Sequence[tuple[CostRow, float]]", along: str) -> Plot:
    first = costs.slices[0]
    shown = [
        (row, cost, row.scores[first.key])
        for row, cost in rows
        if first.key in row.scores and not isnan(row.scores[first.key].value)
    ]
    best = undominated([score.value for *_, score in shown], [[cost] for _, cost, _ in shown])
    series = []
    for model, title in titles_of(list(dict.fromkeys(row.model for row, _ in rows))).items():
        kept = [each for each, row in enumerate(shown) if row[0].model == model]
        points = _with_ends(title, [shown[each][2] for each in kept], "value", first.scale)
        series.append(
            Series(
                name=title,
                values=points.values,
                low=points.low,
                high=points.high,
                places=[shown[each][1] for each in kept],
                labels=[_cost_label(shown[each][0]) for each in kept],
                is_best=[best[each] for each in kept],
            )
        )
    return Plot(
        kind="costs",
        title=f"{first.title}: {along}",
        series=series,
        axis=f"{first.metric.capitalize()} x 100",
        along=along,
    )


def _cost_label(row: "CostRow") -> str:
    if row.dims is None:
        return "no vectors"
    return f"{row.bits} bit{'s' * (row.bits != 1)}" if row.bits != 32 else f"{row.dims} dims"
