"""The panes below the table of runs: curves of the chosen runs, or a log."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np
from textual.app import ComposeResult
from textual.containers import Horizontal

from embedlab.runs.curves import Curve
from embedlab.tui.model_colours import model_colour
from embedlab.tui.runs.board import Board
from embedlab.tui.runs.curve_drawing import CurveLine, CurveOptions, CurveSeries
from embedlab.tui.runs.curve_plot import CurvePlot
from embedlab.tui.runs.log_tail import LogTail

SMOOTHING = (0.0, 0.6, 0.95)  # weights of the value before


class RunPanes(Horizontal):
    """The curves of the chosen runs, or the log of one."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.shows_log = False
        self.options = CurveOptions()

    def compose(self) -> ComposeResult:
        """Yield the panes of curves and log."""
        yield CurvePlot("loss", id="loss-curves")
        yield CurvePlot("dev score", id="dev-curves")
        yield LogTail(id="run-log", classes="pane")

    def show(
        self, board: Board, curves: Mapping[str, Curve], log: tuple[str, Sequence[str]]
    ) -> None:
        """Show the log, or CURVES by run id."""
        if self.shows_log:
            self.query_one(LogTail).show(*log)
            return
        loss, dev = (
            self.query_one("#loss-curves", CurvePlot),
            self.query_one("#dev-curves", CurvePlot),
        )
        loss.show(series(board, curves, "losses"), self.options)
        scores = series(board, curves, "dev_scores")
        has_scores = any(len(line.x) for run in scores for line in run.seeds)
        self.set_class(bool(curves) and not has_scores, "-no-dev")  # the loss takes all the room
        dev.show(scores, replace(self.options, is_log=False))

    def switch_log(self) -> None:
        """Switch between log and curves."""
        self.shows_log = not self.shows_log
        self.set_class(self.shows_log, "-log")

    def switch_axis(self) -> None:
        """Draw the loss on a logarithmic axis, or on a linear one."""
        self._redraw(replace(self.options, is_log=not self.options.is_log))

    def smooth(self) -> None:
        """Smooth the curves a little, much, or not."""
        level = SMOOTHING.index(self.options.smoothing)
        self._redraw(replace(self.options, smoothing=SMOOTHING[(level + 1) % len(SMOOTHING)]))

    def switch_seeds(self) -> None:
        """Show the points of each seed, or the range of the seeds alone."""
        self._redraw(replace(self.options, shows_seeds=not self.options.shows_seeds))

    def _redraw(self, options: CurveOptions) -> None:
        self.options = options
        for plot in self.query(CurvePlot):
            plot.show(
                plot.shown, replace(options, is_log=options.is_log and plot.id == "loss-curves")
            )


def series(board: Board, curves: Mapping[str, Curve], values: str) -> list[CurveSeries]:
    """The curves of each run over its seeds: "losses", which another objective has on another axis,
    or "dev_scores".
    """
    steps, known = ("steps" if values == "losses" else "dev_steps"), board.by_id()
    drawn = []
    for name, ids in groupby(
        (run for run in curves if run in known), key=lambda run: known[run].run.name
    ):
        members = list(ids)
        drawn.append(
            CurveSeries(
                title=name if len(members) > 1 else members[0],
                colour=model_colour(name),
                seeds=[
                    _line(member, getattr(curves[member], steps), getattr(curves[member], values))
                    for member in members
                ],
                axis=known[members[0]].objective if values == "losses" else "",
            )
        )
    return drawn


def _line(name: str, steps: Sequence[int], values: Sequence[float]) -> CurveLine:
    """A snapshot of a curve, to which another thread may add points."""
    count = min(len(steps), len(values))
    return CurveLine(
        title=name,
        x=np.array(steps[:count], dtype=np.float64),
        y=np.array(values[:count], dtype=np.float64),
    )
