"""The cosine over the word overlap."""

from embedlab.analysis.binning import span
from embedlab.tui.plots.plotting import PlottedPairs, PlotView, rank_errors, scatter
from embedlab.tui.widgets.picture import Picture


def draw(pairs: PlottedPairs) -> Picture:
    """The cosine over the word overlap."""
    dice, cosine = pairs.values("dice"), pairs.values(pairs.model)
    return scatter(pairs, ("dice", dice, (0.0, 1.0)), (pairs.model, cosine, span(cosine)), rank_errors(pairs))


PLOT = PlotView(title="Dice against MODEL", draw=draw, place=3)
