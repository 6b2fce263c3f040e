"""The mean gold score of pairs over their cosine."""

from functools import partial

import numpy as np

from embedlab.analysis.binning import calibration_curve, span
from embedlab.tui.plots.plotting import (
    PlottedPairs,
    PlotView,
    describe_pair,
    error_sizes,
    model_axis,
    model_style,
    model_title,
)
from embedlab.tui.widgets.picture import Picture, PlotAxis, PlotLine, PlotPoints

CALIBRATION_BINS = 10


def _draw(pairs: PlottedPairs) -> Picture:
    """The mean gold score, as a share of its scale, over the mean cosine of ten equal groups of
    pairs.
    """
    gold, lines, errors = pairs.gold_shares, [], []
    for name in dict.fromkeys(name for name in (pairs.reference, pairs.model) if name is not None):
        curve = calibration_curve(pairs.values(name), gold, CALIBRATION_BINS)
        lines.append(
            PlotLine(
                title=model_title(pairs, name),
                x=curve.predicted,
                y=curve.observed,
                style=model_style(name),
            )
        )
        errors.append(f"{model_title(pairs, name)} {curve.error:z.3f}")
    low, high = span(*(line.x for line in lines))
    low, high = min(low, 0.0), max(high, 1.0)
    diagonal = PlotLine(
        title="cosine = gold", x=np.array([low, high]), y=np.array([low, high]), style="faint"
    )
    cosine = pairs.values(pairs.model)
    return Picture(
        title=f"calibration error: {', '.join(errors)}",
        x=model_axis(pairs, pairs.model, low, high, "cosine of "),
        y=PlotAxis(title="mean gold, as a share of its scale", low=0.0, high=1.0, style="gold"),
        points=PlotPoints(
            x=cosine, y=cosine, rows=pairs.rows, interest=error_sizes(pairs), is_drawn=False
        ),
        lines=[*lines, diagonal],
        describe=partial(describe_pair, pairs),
    )


PLOT = PlotView(title="calibration of the cosine", draw=_draw, place=5)
