"""How plots look: on a page, in its own light or dark colours; in a paper, in colours that remain
distinct without colour vision.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal


@dataclass(frozen=True, kw_only=True)
class Style:
    """Width, text and colours of a plot; series differ by colour, marker and dashes."""

    width_in: float
    font: float  # points
    ink: str
    faint: str
    line: str
    series: tuple[str, ...]
    dashes: tuple[str | tuple[int, tuple[float, ...]], ...] = ("-",)
    marker_size: float = 5.0
    line_width: float = 1.6
    row_scale: float = 1.0  # height of the rows of dots
    # points as ends of lines: a tenth of the text of markers, but not drawn as pixels
    has_small_points: bool = False
    own: Mapping[str, Any] = field(default_factory=dict)  # settings of Matplotlib besides

    @property
    def settings(self) -> dict[Any, Any]:
        """The settings of Matplotlib."""
        return {
            "svg.hashsalt": "embedlab",  # equal plots give equal text
            "text.parse_math": False,  # a name may hold a dollar sign
            "font.size": self.font,
            "text.color": self.ink,
            "axes.edgecolor": self.line,
            "axes.labelcolor": self.faint,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.axisbelow": True,
            "grid.color": self.line,
            "grid.linewidth": 0.6,
            "xtick.color": self.line,
            "ytick.color": self.line,
            "xtick.labelcolor": self.ink,
            "ytick.labelcolor": self.ink,
            "legend.frameon": False,
            **self.own,
        }


# Placeholder colours that nothing else has, replaced by the page's own, which depend on light or
# dark mode.
PAGE = Style(
    width_in=5.6,  # the SVG scales with the page; at this width its text is readable on a phone
    font=10,
    ink="#010101",
    faint="#020202",
    line="#030303",
    series=tuple(f"#05{number:02x}05" for number in range(1, 7)),
    has_small_points=True,
    own={
        # text stays text: small, sharp, searchable, and readable by screen readers
        "svg.fonttype": "none",
        "path.simplify": False,  # our points are lines of length zero
    },
)

FileKind = Literal["pdf", "svg", "png"]  # of a paper's figure
COLUMN_IN = 3.3  # of a paper with two columns
WIDEST_IN = 20.0

# Paul Tol's high-contrast colours and one of his medium-contrast ones: distinct for all kinds of
# colour vision, and printed in greys.
PAPER = Style(
    width_in=COLUMN_IN,
    font=7.5,
    ink="#000000",
    faint="#333333",
    line="#c8c8c8",
    series=("#004488", "#bb5566", "#ddaa33", "#000000", "#6699cc"),
    dashes=("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)), (0, (2, 1))),
    marker_size=3.6,
    line_width=1.1,
    row_scale=0.75,
    own={
        "path.simplify": False,  # as on a page
        "pdf.fonttype": 42,  # TrueType, embedded: what conferences check
        "svg.fonttype": "path",  # looks the same where the font is missing
        "figure.facecolor": "#ffffff",
        "axes.facecolor": "#ffffff",
        "axes.linewidth": 0.6,
        "lines.markeredgewidth": 0.6,
        "xtick.major.size": 2.5,
        "ytick.major.size": 2.5,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "legend.fontsize": 7,
    },
)


def paper_style(width_in: float) -> Style:
    """Return the style of a paper for another width than that of a column."""
    return replace(PAPER, width_in=width_in)
