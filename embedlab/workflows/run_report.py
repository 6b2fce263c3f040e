"""Runs as reports: the list of them, and what one run is with its curves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from embedlab.core.settings import Settings
from embedlab.reports.runs import run_table, runs_table
from embedlab.runs.curves import Curve
from embedlab.runs.store import RunFolder, find_runs, select_runs, unreadable_folders
from embedlab.workflows.report import Report, report_of

CURVES = {"run": pl.String(), "step": pl.Int64(), "what": pl.String(), "value": pl.Float64()}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RunReport(Report):
    """The seeds of a run; the frame has a row for each loss and dev score."""

    command: ClassVar[str] = "runs"
    runs: tuple[RunFolder, ...]

    def drawn(self) -> Mapping[str, Any]:
        """The seeds."""
        return {"runs": self.runs}


def runs_report(settings: Settings) -> Report:
    """Every run of the runs folder."""
    folder = settings.runs
    return report_of([runs_table(folder, find_runs(folder), unreadable_folders(folder))])


def run_report(name: str, settings: Settings) -> RunReport:
    """The seeds of the run called NAME."""
    runs = tuple(select_runs(settings.runs, name))
    tables = tuple(map(run_table, runs))
    frame = pl.concat([pl.DataFrame(schema=CURVES), *map(_curves, runs)])
    return RunReport(
        frame=frame,
        tables=tables,
        notes=tuple(note for table in tables for note in table.notes),
        runs=runs,
    )


def _curves(run: RunFolder) -> pl.DataFrame:
    curve = Curve()
    curve.read_on(run.events_file)
    parts = (("loss", curve.steps, curve.losses), ("dev", curve.dev_steps, curve.dev_scores))
    rows = [
        (run.id, step, what, value)
        for what, steps, values in parts
        for step, value in zip(steps, values, strict=True)
    ]
    return pl.DataFrame(rows, schema=CURVES, orient="row")
