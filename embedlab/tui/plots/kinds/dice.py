"""The cosine over the word overlap."""

from embedlab.analysis.binning import span
from embedlab.tui.plots.plotting import PlottedPairs, PlotView, error_sizes, scatter
from embedlab.tui.widgets.picture import Picture


def _draw(pairs: PlottedPairs) -> Picture:
    """The cosine over the word overlap."""
    dice, cosine = pairs.values("dice"), pairs.values(pairs.model)
    return scatter(
        pairs, ("dice", dice, (0.0, 1.0)), (pairs.model, cosine, span(cosine)), error_sizes(pairs)
    )


PLOT = PlotView(title="Dice against MODEL", draw=_draw, place=3)
