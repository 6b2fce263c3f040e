"""The difference of one model from the reference on one slice, and what plots of such differences
share: a cursor, signs and titles.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from textual.content import Content

from embedlab.analysis.comparison import ComparedSlice, Difference
from embedlab.analysis.seed_notes import REACH_SIGN, TOPIC_SIGN
from embedlab.comparison.comparison import Comparison
from embedlab.tui.model_colours import model_colour
from embedlab.tui.model_titles import short_name
from embedlab.tui.widgets.plain import plain

CURSOR = "▸"
_NAME = 24  # cells of a model's name


@dataclass(frozen=True, kw_only=True)
class SliceDifference:
    """The difference on one slice; in points, 100 times the correlation."""

    key: str  # of the slice
    title: str
    pairs: int
    delta: float
    low: float
    high: float
    letters: str  # of the model and of the reference
    design_effect: float
    # the sign of how far a significant difference reaches; empty for as far as it could, or none
    reach: str
    topic: str  # the sign of one that hangs on one topic
    is_significant: bool
    is_equivalent: bool
    is_average: bool


class DifferencePlot(Protocol):
    """A plot of the differences of a model from the reference, with a cursor on one of them."""

    @property
    def model(self) -> str:
        """The model whose differences these are."""

    @property
    def by(self) -> str:
        """What its slices are cut by; empty where they are those of the table."""

    @property
    def head(self) -> int:
        """The lines above the first row."""

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns of differences."""

    def at(self, row: int, column: int) -> SliceDifference | None:
        """Return the difference at a place of the cursor; None where there is none."""

    def draw(self, width: int, cursor: tuple[int, int]) -> Content:
        """Return the plot in WIDTH cells, with the cursor in a row and column."""


def slice_difference(
    compared: ComparedSlice, difference: Difference, model: str, reference: str
) -> SliceDifference:
    """Return the DIFFERENCE of MODEL from REFERENCE on a slice."""
    letters = [compared.scores[name].letters for name in (model, reference)]
    return SliceDifference(
        key=compared.key,
        title=compared.title,
        pairs=compared.pairs,
        delta=100 * difference.delta,
        low=100 * difference.low,
        high=100 * difference.high,
        letters="/".join(letters) if all(letters) else "",
        design_effect=difference.uncertainty.design_effect,
        reach=difference.reach_sign if difference.reach == "checkpoints" else "",
        topic=difference.topic_sign,
        is_significant=difference.significant,
        is_equivalent=difference.equivalent,
        is_average=bool(compared.average_of),
    )


def metric_name(comparison: Comparison) -> str:
    """Return what is compared; several measures are named by their slices."""
    metrics = {compared.metric for compared in comparison.slices}
    return (
        "Spearman" if metrics <= {"spearman"} else metrics.pop() if len(metrics) == 1 else "score"
    )


def difference_style(row: SliceDifference) -> str:
    """Return the style of a number: better, worse, equivalent or neither."""
    if row.is_significant:
        return "$text-success" if row.delta > 0 else "$text-error"
    return "$text-accent" if row.is_equivalent else ""


def difference_sign(row: SliceDifference) -> str:
    """Return the sign of a significant difference, of one cell."""
    if row.is_significant:
        return "▲" if row.delta > 0 else "▼"
    return " "


def explained_signs(rows: Sequence[SliceDifference | None]) -> Iterator[str]:
    """Yield what the signs say that are behind differences."""
    there = {
        REACH_SIGN: any(row and row.reach for row in rows),
        TOPIC_SIGN: any(row and row.topic for row in rows),
    }
    if parts := [text for text, is_used in there.items() if is_used]:
        yield " · ".join(parts)


def plot_title(model: str, reference: str, what: str) -> Content:
    """Return MODEL minus REFERENCE, each in its colour, and WHAT is shown of it."""
    names = [(plotted_name(name), f"{model_colour(name)} bold") for name in (model, reference)]
    return Content.assemble(names[0], (" minus ", "bold"), names[1], (what, "bold"))


def plotted_name(model: str) -> str:
    """Return the name of a model in a title or a note."""
    return short_name(plain(model), _NAME)
