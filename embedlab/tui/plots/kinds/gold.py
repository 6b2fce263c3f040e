"""The cosine over the gold score, with its quantiles in bins of the gold score."""

from embedlab.analysis.binning import Axis, binned_quantiles, span
from embedlab.tui.plots.plotting import PlottedPairs, PlotView, error_sizes, scatter
from embedlab.tui.widgets.picture import Picture, PlotLine

GOLD_BINS = 10
QUANTILES = (0.1, 0.5, 0.9)


def _draw(pairs: PlottedPairs) -> Picture:
    """The cosine over the gold score, with its quantiles in bins of the gold score."""
    gold, cosine = pairs.values("gold"), pairs.values(pairs.model)
    low, high = span(gold)
    binned = binned_quantiles(gold, cosine, Axis(low=low, high=high, bins=GOLD_BINS), QUANTILES)
    titles = {0.1: "10%, 90%", 0.5: "median", 0.9: "10%, 90%"}
    lines = [
        PlotLine(
            title=titles[share],
            x=binned.centres,
            y=quantiles,
            style="first" if share == 0.5 else "second",
        )
        for share, quantiles in zip(QUANTILES, binned.quantiles, strict=True)
    ]
    return scatter(
        pairs,
        ("gold", gold, (low, high)),
        (pairs.model, cosine, span(cosine)),
        error_sizes(pairs),
        lines=lines,
    )


PLOT = PlotView(title="gold against MODEL", draw=_draw, place=1)
