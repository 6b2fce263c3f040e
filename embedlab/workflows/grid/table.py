"""The scores of a grid along its axes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.names import task_names
from embedlab.core.nearest import unknown
from embedlab.core.settings import Settings
from embedlab.experiments.pair_differences import PairDifferences
from embedlab.experiments.pivot import DEV_SCORE, Pivot, ScoreFilter, pivot, usual_measure
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.reports.grids import pivot_table
from embedlab.reports.tables import Table
from embedlab.scoring.selection import stored_selection
from embedlab.workflows.options.grid import ScoresOptions


@dataclass(frozen=True, kw_only=True)
class GridScores:
    """The scores of a grid, and what is measured."""

    plan: GridPlan
    pivot: Pivot
    measured: str

    @property
    def table(self) -> Table:
        """The scores as a table."""
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
    plan = GridPlan.load(GridFolder.find(settings.runs, options.grid).plan_file)
    options = _with_usual_axes(options, plan) if is_crossed else options
    measure = usual_measure(
        plan, options.task, metric=options.metric, setting=options.setting, by=options.by
    )
    pivoted = pivot(
        plan,
        measure,
        rows=list(options.rows) or None,
        columns=options.columns,
        score=options.score,
        where=_axis_values(options.where),
    )
    if not pivoted.rows:
        if stored_selection(options.task) is None:
            raise unknown("task", options.task, task_names())
        raise EmbedlabError(
            f"grid {plan.name!r} has no finished cell with "
            + (
                "a dev score"
                if options.score == DEV_SCORE
                else f"{measure.task} scores ({measure.metric}, {measure.setting})"
            ),
            hint=f"`embedlab grid status {plan.name}` shows its cells",
        )
    if (differences := PairDifferences.of(plan, pivoted, measure, settings.cache)) is not None:
        pivoted = differences.marked(pivoted)
    return GridScores(
        plan=plan, pivot=pivoted, measured=_measured(measure, pivoted, options.columns)
    )


def _with_usual_axes(options: ScoresOptions, plan: GridPlan) -> ScoresOptions:
    """Return OPTIONS with the second of two axes as columns, where the user chose nothing."""
    free = [axis for axis in plan.axes if len(plan.axes[axis]) > 1]
    if options.rows or options.columns or options.score or options.where or len(free) != 2:
        return options
    return replace(options, rows=(free[0],), columns=free[1])


def _measured(measure: ScoreFilter, pivoted: Pivot, columns: str | None) -> str:
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


def _axis_values(where: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in where]
    for text, (_, equals, _) in zip(where, pairs, strict=True):
        if not equals:
            raise UsageError(
                f"--where takes AXIS=VALUE, not {text!r}", hint="for example --where optim.lr=2e-05"
            )
    return {axis: label for axis, _, label in pairs}
