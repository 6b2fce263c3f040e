"""`embedlab grid`: run ablations: a recipe and axes, each combination with several seeds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from embedlab.commands.command import command
from embedlab.commands.grid_plan import GridName, GridOptions
from embedlab.commands.options import (
    Flag,
    SignatureOptions,
)
from embedlab.commands.terminal import Terminal
from embedlab.core.errors import EmbedlabError, ExitCode, UsageError
from embedlab.core.names import task_names
from embedlab.core.nearest import unknown_name_error
from embedlab.core.session import Session
from embedlab.core.settings import Settings
from embedlab.reports.report import Report
from embedlab.reports.tables import Table

if TYPE_CHECKING:
    from embedlab.commands.grid_plan import PlannedGrid
    from embedlab.experiments.pivot import Pivot, ScoreFilter
    from embedlab.experiments.plan import GridPlan


@dataclass(frozen=True, kw_only=True)
class ScoresOptions(SignatureOptions, GridName):
    """Which scores of a grid are shown, along which of its axes."""

    rows: Annotated[
        tuple[str, ...],
        Flag(
            metavar="AXIS",
            help="Group rows by this axis; again for more. [default: the first of two axes, else "
            "all]",
        ),
    ] = ()  # none: all
    columns: Annotated[
        str | None,
        Flag(
            metavar="AXIS",
            help="Group columns by this axis, or scores: one column per score. [default: the "
            "second of two axes, else scores]",
        ),
    ] = None
    score: Annotated[
        str | None,
        Flag(metavar="NAME", help="Only this score: dev, a dataset, an average."),
    ] = None
    where: Annotated[
        tuple[str, ...],
        Flag(metavar="AXIS=VALUE", help="Only cells with this value."),
    ] = ()
    task: Annotated[
        str | None,
        Flag(
            metavar="NAME",
            help="The task whose scores are shown. [default: sts, or the grid's first]",
            completes="tasks",
        ),
    ] = None
    metric: Annotated[
        str | None,
        Flag(help="The measure of the task. [default: spearman, or its first]"),
    ] = None
    setting: Annotated[
        str | None,
        Flag(
            names=("--aggregate",),
            is_expert=True,
            help="How a dataset's sources become one number. [default: all, or the first stored]",
            python="aggregate",
        ),
    ] = None
    by: Annotated[
        tuple[str, ...],
        Flag(help="Kinds of scores to show: dataset, average, source, dice."),
    ] = (
        "dataset",
        "average",
    )


@dataclass(frozen=True, kw_only=True)
class StatusOptions:
    """One grid, or all of them."""

    grid: Annotated[
        str | None,
        Flag(is_argument=True, metavar="GRID", help="One grid, cell by cell.", completes="grids"),
    ] = None


@command("data runs machine output")
def run(options: GridOptions, session: Terminal) -> Report | None:
    """Run the cells of GRID that are not done yet, each in a process of its own.

    You can interrupt it at any time: the same command continues, and several such commands share
    the cells. A failed cell is tried once more; the others go on. --threads sets the processor
    threads of each cell, in place of the number in the grid file.

    A GRID file of your own, mine.toml, has six lines:

        summary = "temperature and weight"
        base = "snli-supcl"
        seeds = [1, 2, 3]
        [axes]
        "objective.temperature" = [0.3, 1.0]
        "objective.weight" = [0.1, 0.5]

    Examples:
        $ embedlab grid run snli-supcl-lambda --data DIR --workers 2
        $ embedlab grid run mine.toml --dry-run --data tiny

    """
    from embedlab.commands.grid_run import planned_grid, run_grid, run_one_cell
    from embedlab.reports.grids import summary_table

    planned = planned_grid(options, session.settings)
    if options.dry_run:
        return cells_report([planned], session, cell=options.cell)
    if options.cell is not None:
        run_one_cell(planned, options.cell, session)
        return None
    result = run_grid(planned, session)
    code = ExitCode.FAILED if result.failed else ExitCode.OK
    return Report.of(summary_table(result.plan, result.entries), exit_code=code)


def grid(options: GridOptions, session: Session) -> Report:
    """Run the cells of a grid that are not done yet, each in a process of its own; the report has a
    row a cell.

    `grid_table` has the scores. A cell that fails stops no other: `.has_failed`.
    """
    from embedlab.commands.grid_run import planned_grid, run_grid
    from embedlab.reports.grids import status_table

    result = run_grid(planned_grid(options, session.settings), session)
    return Report.of(status_table(result), behind={"has_failed": bool(result.failed)})


def cells_report(
    planned: Sequence[PlannedGrid], session: Session, *, cell: int | None = None
) -> Report:
    """Return the cells of every plan, which are done, what the others would cost, and which rows
    lack data; nothing runs. With the number of a CELL, show only that cell.
    """
    from embedlab.commands.grid_plan import entries_of_runs, estimate
    from embedlab.reports.grids import cells_table

    tables = []
    for grid_run in planned:
        entries = entries_of_runs(grid_run.plan, cell)
        estimated = estimate(grid_run, entries)
        tables.append(cells_table(grid_run.plan, entries, estimated.seconds, grid_run.notes))
        session.note(estimated.text)
        if grid_run.rows_without_data:
            session.note(f"left out, without their data: {', '.join(grid_run.rows_without_data)}")
    return Report.of(*tables)


@command("data runs output")
def status(options: StatusOptions, session: Session) -> Report:
    """Show how far GRID is, or list all grids.

    Examples:
        $ embedlab grid status
        $ embedlab grid status snli-supcl-lambda --json

    """
    from embedlab.commands.grid_run import look_at_grid
    from embedlab.experiments.grid_file import list_grids
    from embedlab.reports.grids import grids_table, status_table

    if options.grid is None:
        return Report.of(grids_table(list_grids(session.settings.runs)))
    return Report.of(status_table(look_at_grid(options.grid, session.settings)))


@command("data runs output latex", draws="grid")
def table(options: ScoresOptions, session: Session) -> Report:
    """Show the results of GRID: mean ± standard deviation over seeds.

    * is the best of its column (with --columns, of the table), = cannot be distinguished from it.

    Examples:
        $ embedlab grid table snli-supcl-lambda --aggregate wmean
        $ embedlab grid table mine --rows optim.lr --columns encoder.pooling --score dev --latex
        $ embedlab grid table mine --score sts12-16 --figure mine.pdf

    """
    import polars as pl

    from embedlab.reports.grids import for_paper

    is_typed = isinstance(session, Terminal)
    is_crossed = is_typed and session.settings.format not in {"json", "csv"}
    scores = grid_scores(options, session.settings, is_crossed=is_crossed)
    score_table = scores.table
    if session.settings.format == "latex":
        score_table = for_paper(score_table, [*scores.plan.axes])
    return Report.of(
        score_table,
        frame=pl.DataFrame(list(_rows(scores)), infer_schema_length=None),
        command="grid",
        figure_subject=scores.drawn,
        behind={"scores": scores},
    )


@command("data runs output")
def cancel(options: GridName, session: Session) -> None:
    """Stop every process that works on GRID after it has saved its cell.

    Examples:
        $ embedlab grid cancel snli-supcl-lambda
        $ embedlab grid cancel mine --runs elsewhere

    """
    from embedlab.commands.grid_plan import cancel_grid

    name = cancel_grid(options.grid, session.settings).name
    session.done(
        f"requested the workers of {name} to stop; the command that started it continues "
        f"from there",
        cancelled=name,
    )


@dataclass(frozen=True, kw_only=True)
class GridScores:
    """The scores of a grid, and what is measured."""

    plan: GridPlan
    pivot: Pivot
    measured: str

    @property
    def table(self) -> Table:
        """The scores as a table."""
        from embedlab.reports.grids import pivot_table

        return pivot_table(self.plan, self.pivot, self.measured)

    @property
    def drawn(self) -> Mapping[str, Any]:
        """What its figures are drawn of."""
        return {"plan": self.plan, "pivot": self.pivot, "caption": self.table.caption()}


def grid_scores(
    options: ScoresOptions, settings: Settings, *, is_crossed: bool = False
) -> GridScores:
    """Return the scores of a started grid; where no finished cell has such scores, that is an
    error.

    CROSSED, two axes are rows and columns of one score, where the user chose nothing.
    """
    from embedlab.experiments.item_ties import ItemTies
    from embedlab.experiments.pivot import DEV_SCORE, pivot, usual_measure
    from embedlab.experiments.plan import GridPlan
    from embedlab.scoring.selection import stored_selection

    plan = GridPlan.find(settings.runs, options.grid)
    options = _with_usual_axes(options, plan) if is_crossed else options
    if options.columns == "scores" and "scores" not in plan.axes:
        options = replace(options, columns=None)
    measure = usual_measure(
        plan, options.task, metric=options.metric, setting=options.setting, by=options.by
    )
    pivoted = pivot(
        plan,
        measure,
        rows=[*dict.fromkeys(options.rows)] or None,
        columns=options.columns,
        score=options.score,
        where=_axis_values(options.where),
    )
    if not pivoted.rows:
        if options.task is not None and stored_selection(options.task) is None:
            raise unknown_name_error("task", options.task, task_names())
        raise EmbedlabError(
            f"grid {plan.name!r} has no finished cell with "
            + (
                "a dev score"
                if options.score == DEV_SCORE
                else f"{measure.task} scores ({measure.metric}, {measure.setting})"
            ),
            hint=f"`embedlab grid status {plan.name}` shows its cells",
        )
    selected = stored_selection(measure.task)
    averages = selected.averages(selected.definition.datasets) if selected is not None else {}
    ties = ItemTies.of(plan, pivoted, measure, averages, settings.cache)
    if ties is not None:
        pivoted = ties.marked(pivoted)
    return GridScores(
        plan=plan, pivot=pivoted, measured=_measured(measure, pivoted, options.columns)
    )


def _with_usual_axes(options: ScoresOptions, plan: GridPlan) -> ScoresOptions:
    """Return OPTIONS with the second of two axes as columns, where the user chose nothing."""
    varied_axes = [axis for axis in plan.axes if len(plan.axes[axis]) > 1]
    chosen = (options.rows, options.columns, options.score, options.where)
    if any(chosen) or options.by != ScoresOptions.by or len(varied_axes) != 2:
        return options
    return replace(options, rows=(varied_axes[0],), columns=varied_axes[1])


def _measured(measure: ScoreFilter, pivoted: Pivot, columns: str | None) -> str:
    from embedlab.experiments.pivot import DEV_SCORE

    if pivoted.shown == (DEV_SCORE,):
        return "last dev score"
    score = pivoted.shown[0] if columns else None
    name = (
        f"{measure.task} {measure.metric} ({measure.setting})"
        if measure.setting
        else f"{measure.task} {measure.metric}"
    )
    return (
        name + (" x 100" if pivoted.is_ranked else "") + (f", {score}" if score is not None else "")
    )


def _axis_values(conditions: Sequence[str]) -> dict[str, str]:
    chosen: dict[str, str] = {}
    for text in conditions:
        axis, equals, label = text.partition("=")
        if not equals:
            raise UsageError(
                f"--where takes AXIS=VALUE, not {text!r}", hint="for example --where optim.lr=2e-05"
            )
        if chosen.setdefault(axis, label) != label:
            raise UsageError(
                f"--where takes one value of {axis!r}, not {chosen[axis]!r} and {label!r}",
                hint="select one, or show the axis with --rows",
            )
    return chosen


def _rows(scores: GridScores) -> Iterator[dict[str, Any]]:
    """Yield a row for each score of each place: its axes, the mean and spread over seeds, and
    whether it is the best.
    """
    pivot = scores.pivot
    for (labels, column), spread in pivot.spreads.items():
        label_of_axis = dict(zip(pivot.row_axes, labels, strict=True))
        label_of_axis |= {pivot.column_axis: column} if pivot.column_axis is not None else {}
        axes = {
            axis: scores.plan.value(axis, label) if label else None
            for axis, label in label_of_axis.items()
        }
        score = pivot.shown[0] if pivot.column_axis is not None else column
        numbers = {
            "score": score,
            "mean": spread.mean,
            "sd": spread.sd,
            "seeds": len(spread.values),
        }
        yield {
            **axes,
            **numbers,
            "is_best": spread.is_best,
            "is_tied": spread.is_tied,
            "optimism": spread.optimism,
        }
