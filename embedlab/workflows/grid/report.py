"""A grid as reports: its cells as they ended, and its scores along its axes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from embedlab.core.settings import Settings
from embedlab.experiments.listing import list_grids
from embedlab.experiments.pivot import Pivot
from embedlab.reports.grids import grids_table, status_table
from embedlab.workflows.grid.run import look_at_grid, planned_grid, run_grid
from embedlab.workflows.grid.table import GridScores, grid_scores
from embedlab.workflows.options.grid import GridOptions, ScoresOptions, StatusOptions
from embedlab.workflows.report import Report, report_of
from embedlab.workflows.session import Session


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GridRun(Report):
    """The cells of a grid as they ended."""

    has_failed: bool


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GridReport(Report):
    """The scores of a grid: one row a place of the table."""

    command: ClassVar[str] = "grid"
    scores: GridScores

    def drawn(self) -> Mapping[str, Any]:
        """The scores along the axes."""
        return self.scores.drawn


def grid_run(options: GridOptions, session: Session) -> GridRun:
    """Run the cells that are not done, and report all of them."""
    planned = planned_grid(options, session.settings)
    result = run_grid(planned, session)
    report = report_of([status_table(look_at_grid(planned.plan.name, session.settings))])
    return GridRun(**vars(report), has_failed=result.has_failed)


def status_report(options: StatusOptions, settings: Settings) -> Report:
    """How far a grid is, cell by cell, or all grids."""
    if options.grid is None:
        return report_of([grids_table(list_grids(settings.runs))])
    return report_of([status_table(look_at_grid(options.grid, settings))])


def grid_report(options: ScoresOptions, settings: Settings) -> GridReport:
    """The scores of a started grid."""
    scores = grid_scores(options, settings)
    table = scores.table
    frame = pl.DataFrame(list(_rows(scores.pivot)), infer_schema_length=None)
    return GridReport(frame=frame, tables=(table,), notes=tuple(table.notes), scores=scores)


def _rows(pivot: Pivot) -> Iterator[dict[str, Any]]:
    """Yield a row for each score of each place: its axes, the mean and spread over seeds, and
    whether it is the best.
    """
    for (labels, column), spread in pivot.spreads.items():
        axes = dict(zip(pivot.row_axes, (label or None for label in labels), strict=True))
        axes |= {pivot.column_axis: column or None} if pivot.column_axis is not None else {}
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
