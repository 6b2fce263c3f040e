"""What the plots share: the pairs that are plotted, axes and colours of models, points, and the
text about a pair.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from embedlab.tui.model_colours import model_colour
from embedlab.tui.model_titles import short_name
from embedlab.tui.pair_table.data import PairData
from embedlab.tui.widgets.picture import Picture, PlotAxis, PlotLine, PlotPoints, RowNumbers, Values

_NAME, _SHORT = 24, 12  # cells of a model's name, and of one beside its numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class PlottedPairs:
    """Rows of the pair table, and the two models of the plots: the reference, absent where there is
    one model, and another.
    """

    data: PairData
    rows: RowNumbers
    reference: str | None
    model: str

    def values(self, column: str) -> Values:
        """A column in these rows; nan where it is null."""
        found: Values = self.data.table[column].cast(pl.Float64).to_numpy()[self.rows]
        return found

    @property
    def gold_shares(self) -> Values:
        """The gold scores from 0 to 1, by the scale of each dataset."""
        datasets = self.data.table["dataset"][self.rows]
        scales = {
            name: (low, (high - low) or 1.0) for name, (low, high) in self.data.gold_ranges.items()
        }
        lows, widths = (
            datasets.replace_strict(
                {name: scale[part] for name, scale in scales.items()}
            ).to_numpy()
            for part in (0, 1)
        )
        shares: Values = (self.values("gold") - lows) / widths
        return shares


@dataclass(frozen=True, kw_only=True)
class PlotView:
    """A kind of plot."""

    title: str  # REFERENCE and MODEL are replaced by their names
    draw: Callable[[PlottedPairs], Picture]
    place: int  # among the plots, from 1
    needs_two: bool = False  # models

    def title_of(self, pairs: PlottedPairs) -> str:
        """The title with the names of the models of PAIRS."""
        title = self.title.replace("REFERENCE", model_title(pairs, pairs.reference or ""))
        return title.replace("MODEL", model_title(pairs, pairs.model))


def describe_pair(pairs: PlottedPairs, row: int) -> Sequence[str]:
    """A pair: gold and cosines with its place, then its sentences."""
    facts = pairs.data.table.row(row, named=True)
    place = " ".join(
        str(facts[name]) for name in ("dataset", "source", "pair") if facts[name] is not None
    )
    gold = "no gold" if facts["gold"] is None else f"gold {facts['gold']:z.2f}"
    both = (
        (pairs.model, pairs.reference)
        if pairs.data.pairing is None
        else (pairs.reference, pairs.model)
    )  # A before B
    names = dict.fromkeys(name for name in both if name is not None)
    scores = [_score(pairs, name, facts[name], facts.get(f"error({name})")) for name in names]
    return [
        " · ".join([gold, *scores, place]),
        facts["sentence1"],
        facts["sentence2"],
    ]  # the last part is cut where there is no room


def _score(pairs: PlottedPairs, name: str, cosine: float | None, error: float | None) -> str:
    letter = pairs.data.pairing.letter(name) if pairs.data.pairing is not None else ""
    title = letter or short_name(name, _SHORT)
    if cosine is None:
        return f"{title} not scored"
    return f"{title} {cosine:z.3f}" + ("" if error is None else f" (error {error:+z.0f})")


def model_title(pairs: PlottedPairs, name: str) -> str:
    """The short name of a model, of two face to face with its letter."""
    letter = pairs.data.pairing.letter(name) if pairs.data.pairing is not None else ""
    return f"{letter} {short_name(name, _NAME)}".strip()


def error_sizes(pairs: PlottedPairs) -> Values:
    """The size of the plotted model's rank errors."""
    errors: Values = np.abs(pairs.values(f"error({pairs.model})"))
    return errors


Column = tuple[str, Values, tuple[float, float]]


def scatter(
    pairs: PlottedPairs, x: Column, y: Column, interest: Values, lines: Sequence[PlotLine] = ()
) -> Picture:
    """Points of two columns: each with its name, its values and its range."""
    known = int((np.isfinite(x[1]) & np.isfinite(y[1])).sum())
    axes = [model_axis(pairs, name, low, high) for name, _, (low, high) in (x, y)]
    return Picture(
        title=f"{known:,} pairs"
        + ("" if known == len(pairs.rows) else f" of {len(pairs.rows):,}: the others lack a score"),
        x=axes[0],
        y=axes[1],
        points=PlotPoints(x=x[1], y=y[1], rows=pairs.rows, interest=interest),
        lines=lines,
        describe=partial(describe_pair, pairs),
    )


def model_style(name: str) -> str:
    """The style of a model's lines."""
    return model_colour(name).removeprefix("$")


def model_axis(pairs: PlottedPairs, name: str, low: float, high: float, what: str = "") -> PlotAxis:
    """The axis of gold, Dice or a model's cosine, in the colour of the model."""
    title = {"gold": "gold", "dice": "Dice"}.get(name)
    if title is not None:
        return PlotAxis(
            title=f"{what}{title}",
            low=low,
            high=high,
            field=name,
            style="gold" if name == "gold" else "muted",
        )
    return PlotAxis(
        title=f"{what}{model_title(pairs, name)}",
        low=low,
        high=high,
        field=pairs.data.field(name),
        style=model_style(name),
    )
