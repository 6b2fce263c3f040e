"""How many pairs have a cosine."""

from dataclasses import replace
from functools import partial

import numpy as np

from embedlab.analysis.binning import span
from embedlab.tui.plots.plotting import (
    PlottedPairs,
    PlotView,
    describe_pair,
    error_sizes,
    model_axis,
    model_style,
    model_title,
)
from embedlab.tui.widgets.picture import Picture, PlotAxis, PlotBars, PlotPoints


def _draw(pairs: PlottedPairs) -> Picture:
    """How many pairs have a cosine, for each model."""
    shown = [name for name in (pairs.reference, pairs.model) if name is not None]
    values = {name: pairs.values(name) for name in shown}
    low, high = span(*values.values())
    bars = [
        PlotBars(title=model_title(pairs, name), values=values[name], style=model_style(name))
        for name in dict.fromkeys(shown)
    ]
    cosine = values[pairs.model]
    return Picture(
        title=f"{np.isfinite(cosine).sum():,} pairs",
        x=replace(model_axis(pairs, pairs.model, low, high, "cosine of "), short_title="cosine"),
        y=PlotAxis(title="pairs", low=0.0, high=1.0),
        points=PlotPoints(
            x=cosine, y=cosine, rows=pairs.rows, interest=error_sizes(pairs), is_drawn=False
        ),
        bars=bars,
        describe=partial(describe_pair, pairs),
    )


PLOT = PlotView(title="histogram of cosines", draw=_draw, place=4)
