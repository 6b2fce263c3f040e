"""The Plots screen: the pairs that Pairs shows, as one plot with a cursor and a box."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Static

from embedlab.tui.base_screen import DashboardScreen
from embedlab.tui.command import KeyScope
from embedlab.tui.commands import bindings
from embedlab.tui.key_table import shown_key
from embedlab.tui.pair_table.data import PairData
from embedlab.tui.pairs.selection import open_box
from embedlab.tui.plots.model import VIEWS, PlotsModel
from embedlab.tui.plots.plotting import PlottedPairs
from embedlab.tui.widgets.pair_plot import PairPlot
from embedlab.tui.widgets.text import QuickText


class PlotsScreen(DashboardScreen):
    """Plot pairs and select them in the plot."""

    SCOPE: ClassVar[KeyScope] = "plots"
    BINDINGS: ClassVar[list[BindingType]] = bindings("plots")
    IS_OF_SELECTION = True

    def __init__(self) -> None:
        super().__init__()
        self.model = PlotsModel()

    def compose_body(self) -> ComposeResult:
        """Yield status and plot."""
        yield QuickText("reading pairs", id="plot-status", classes="status marks", markup=False)
        yield PairPlot(id="pair-plot")
        yield Static("", id="no-plot", classes="empty", markup=False)

    def on_mount(self) -> None:
        """Follow the selection from now on."""
        self.query_one("#no-plot").display = False
        self.dashboard.selected.changed.subscribe(self, lambda _: self._plot())
        self.set_focus(self.query_one(PairPlot))

    def on_screen_resume(self) -> None:
        """Plot what Pairs shows now."""
        self._plot()

    def show_data(self, data: PairData) -> None:
        """Plot new pairs or models."""
        self._plot()

    @property
    def data(self) -> PairData | None:
        """The pairs that all screens show."""
        return self.dashboard.data

    @property
    def plotted(self) -> PlottedPairs | None:
        """The pairs and models of the plot; None where there is nothing to plot."""
        view, names = (
            self.dashboard.selected.view,
            [model.name for model in self.data.models] if self.data is not None else [],
        )
        return self.model.plotted(
            self.data, self.dashboard.reference(names), view.rows() if view is not None else None
        )

    def _plot(self) -> None:
        if not self.is_current:
            return
        plotted, plot, empty = (
            self.plotted,
            self.query_one(PairPlot),
            self.query_one("#no-plot", Static),
        )
        empty.display, plot.display = plotted is None, plotted is not None
        if plotted is None:
            plot.show(None)  # enter would open rows of other pairs
            self.query_one("#plot-status", QuickText).change("")
            empty.update(self._why_nothing(self.data))
            return
        self.settle_focus(plot)
        kind = VIEWS[self.model.view]
        plot.show(kind.draw(plotted))
        view = self.dashboard.selected.view
        of = view.title if view is not None and view.title else "all pairs"
        marks = [] if self.data is None else self.data.marks
        self.query_one("#plot-status", QuickText).change(
            " · ".join([kind.title_of(plotted), of, *marks])
        )

    def _why_nothing(self, data: PairData | None) -> str:
        """Why there is nothing to plot."""
        if data is not None and data.why_empty:
            return data.why_empty
        if data is not None and not data.is_plotted:
            return (
                f"the items of {data.task} have no gold score to plot\n\nCompare (2) and "
                f"Pairs (1) show them"
            )
        return (
            f"no model is chosen\n\ngo to Pairs (1) and press {shown_key('models')} to choose one"
        )

    # messages of the plot

    def on_pair_plot_opened(self, event: PairPlot.Opened) -> None:
        """Filter Pairs by the selection."""
        open_box(
            self.dashboard,
            event.rows,
            event.fields,
            title=f"Plots: {VIEWS[self.model.view].title.split(' ')[0]}",
        )

    # keys

    def action_plot(self, by: int = 1) -> None:
        """Go to the next plot that the models allow."""
        self.model.next_view(by, self.plotted)
        self._plot()

    def action_model(self, by: int = 1) -> None:
        """Plot the next model; where there are others, the reference is left out."""
        if (plotted := self.plotted) is not None:
            self.model.next_model(by, plotted)
            self._plot()

    @property
    def model_under_cursor(self) -> str | None:
        """The plotted model."""
        return self.plotted.model if self.plotted is not None else None

    def action_pin(self) -> None:
        """Make the plotted model the reference; the one before it is plotted."""
        plotted = self.plotted
        if plotted is not None and plotted.reference is not None:
            self.model.model = plotted.reference
            self.dashboard.set_reference(plotted.model)
            self._plot()

    def action_back(self) -> None:
        """Remove the box, restore the size of the plot, or go to Pairs."""
        plot = self.query_one(PairPlot)
        if plot.corner is not None:
            plot.action_corner()
        elif self.maximized is not None:
            self.minimize()
        else:
            self.dashboard.action_mode("pairs")
