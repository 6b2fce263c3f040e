"""Plots as a figure for a paper: PDF with embedded fonts, SVG or PNG, one column wide, with its
caption in the file's metadata.
"""

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from embedlab.core.printable import visible
from embedlab.core.version import __version__
from embedlab.reports.plot_drawing import Canvas, height_in
from embedlab.reports.plot_style import COLUMN_IN, FileKind, paper_style
from embedlab.reports.plots import CurvePanel, Dots, Lines, Plot, TradeOff

CREATOR = f"embedlab {__version__}"
_DPI = 300
_SCREEN_DPI = 120  # of a notebook


class PaperFigure(Figure):
    """A figure of Matplotlib that saves itself as papers need it, and that notebooks show;
    `caption` says what is drawn.
    """

    caption: str = ""
    name: str = ""

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the figure with fonts embedded, and its caption as metadata."""
        kind = str(options.get("format") or str(fname).rpartition(".")[2]).lower()
        with mpl.rc_context(paper_style(COLUMN_IN).settings):
            super().savefig(
                fname,
                **{"dpi": _DPI, "metadata": _metadata(kind, self.name, self.caption), **options},
            )

    def content(self, kind: FileKind) -> bytes:
        """Return the file of this kind."""
        file = BytesIO()
        self.savefig(file, format=kind)
        return file.getvalue()

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """Return the picture with its size on a screen, which is not that of its many points."""
        return self.content("png"), {
            "width": round(_SCREEN_DPI * self.get_figwidth()),
            "height": round(_SCREEN_DPI * self.get_figheight()),
        }


def paper_figure(
    plots: Sequence[Plot],
    *,
    name: str = "",
    caption: str = "",
    width_in: float = COLUMN_IN,
    is_titled: bool = False,
) -> PaperFigure:
    """Return PLOTS below each other; their titles are drawn with IS_TITLED, or where there are
    several.
    """
    style = paper_style(width_in)
    shares_legend = len({_names(plot) for plot in plots}) == 1
    legends = [not index or not shares_legend for index in range(len(plots))]
    titles = [visible(plot.title) if is_titled or len(plots) > 1 else "" for plot in plots]
    titles_in = [0.025 * style.font if title else 0.0 for title in titles]
    heights = [
        height_in(plot, style, has_legend=legend)
        for plot, legend in zip(plots, legends, strict=True)
    ]
    parts_in = [
        height for both in zip(titles_in, heights, strict=True) for height in both if height
    ]
    with mpl.rc_context(style.settings):
        figure = PaperFigure(figsize=(width_in, sum(parts_in)), layout="constrained")
        figure.name, figure.caption = visible(name), visible(caption)
        is_one = len(parts_in) == 1
        parts = iter(
            [figure]
            if is_one
            else figure.subfigures(len(parts_in), 1, squeeze=False, height_ratios=parts_in).flat
        )
        for plot, title, has_legend in zip(plots, titles, legends, strict=True):
            if title:
                next(parts).text(
                    0.01, 0.3, title, fontsize=style.font, verticalalignment="baseline"
                )
            Canvas(figure=next(parts), style=style, has_legend=has_legend).draw(plot)
    return figure


def _names(plot: Plot) -> tuple[str, ...]:
    match plot:
        case Dots() | Lines() | TradeOff():
            return tuple(choices.name for choices in plot.series)
        case CurvePanel():
            return tuple(curve.name for curve in plot.curves)
        case _:
            return ()


def _metadata(kind: str, name: str, caption: str) -> dict[str, Any]:
    """Return the metadata of a file of this KIND, without the date: equal figures are equal
    files.
    """
    match kind:
        case "pdf":
            return {"Title": name, "Subject": caption, "Creator": CREATOR, "CreationDate": None}
        case "svg":
            return {"Title": name, "Description": caption, "Creator": CREATOR, "Date": None}
        case "png":
            return {"Title": name, "Description": caption, "Software": CREATOR}
    return {}
