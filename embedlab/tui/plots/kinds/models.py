"""The cosine of one model over that of another."""

import numpy as np

from embedlab.analysis.binning import span
from embedlab.tui.plots.plotting import PlottedPairs, PlotView, scatter
from embedlab.tui.widgets.picture import Picture, PlotLine


def _draw(pairs: PlottedPairs) -> Picture:
    """The other model's cosine over the reference's: pairs off the diagonal are those on which they
    differ.
    """
    first, second = pairs.reference or pairs.model, pairs.model
    x, y = pairs.values(first), pairs.values(second)
    low, high = span(x, y)
    spans = [span(values) for values in (x, y)]
    interest = np.abs(pairs.values(f"error({second})") - pairs.values(f"error({first})"))
    diagonal = PlotLine(
        title="equal cosines", x=np.array([low, high]), y=np.array([low, high]), style="faint"
    )
    return scatter(pairs, (first, x, spans[0]), (second, y, spans[1]), interest, lines=[diagonal])


PLOT = PlotView(title="REFERENCE against MODEL", draw=_draw, place=2, needs_two=True)
