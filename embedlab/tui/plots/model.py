"""Which plot of which models the Plots screen shows."""

from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

import numpy as np

from embedlab.tui.pair_table.data import PairData
from embedlab.tui.plots import kinds
from embedlab.tui.plots.plotting import PlottedPairs, PlotView
from embedlab.tui.widgets.picture import RowNumbers


def find_views(folders: Iterable[str]) -> Mapping[str, PlotView]:
    """The plots in these FOLDERS by the names of their files, in their order."""
    names = [path.stem for folder in folders for path in Path(folder).glob("[!_]*.py")]
    views = {name: import_module(f"{kinds.__name__}.{name}").PLOT for name in names}
    return MappingProxyType(dict(sorted(views.items(), key=lambda item: item[1].place)))


VIEWS = find_views(kinds.__path__)


class PlotsModel:
    """The chosen plot and model."""

    def __init__(self) -> None:
        self.view = next(iter(VIEWS))
        self.model: str | None = None  # plotted; absent = the first that is not the reference

    def plotted(
        self, data: PairData | None, reference: str | None, rows: RowNumbers | None
    ) -> PlottedPairs | None:
        """ROWS of DATA, or all, with the models of the plot; None without any model or row, and of
        items without gold scores.
        """
        if data is None or data.why_empty or not data.models or not data.is_plotted:
            return None
        names = [model.name for model in data.models]
        model = (
            self.model
            if self.model in names
            else next((name for name in names if name != reference), names[0])
        )
        shown = rows if rows is not None else np.arange(data.table.height)
        return PlottedPairs(
            data=data, rows=shown, reference=reference if len(names) > 1 else None, model=model
        )

    def next_view(self, by: int, plotted: PlottedPairs | None) -> None:
        """Go to the next plot that the models allow."""
        has_two = plotted is not None and plotted.reference is not None
        names = [name for name, view in VIEWS.items() if not view.needs_two or has_two]
        self.view = (
            names[(names.index(self.view) + by) % len(names)] if self.view in names else names[0]
        )

    def next_model(self, by: int, plotted: PlottedPairs) -> None:
        """Go to the next model; where there are others, the reference is left out."""
        names = [model.name for model in plotted.data.models if model.name != plotted.reference]
        self.model = (
            names[(names.index(plotted.model) + by) % len(names)]
            if plotted.model in names
            else names[0]
        )
