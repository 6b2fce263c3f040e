"""The plots of pairs. To add one: a function here and its line in VIEWS."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from embedlab.analysis.binning import Axis, binned_quantiles, calibration_curve, span
from embedlab.tui.model_colours import model_colour
from embedlab.tui.model_titles import short_name
from embedlab.tui.pair_table.data import PairData
from embedlab.tui.widgets.picture import Picture, PlotAxis, PlotBars, PlotLine, PlotPoints, RowNumbers, Values

GOLD_BINS = 10
QUANTILES = (0.1, 0.5, 0.9)
CALIBRATION_BINS = 10
_NAME, _SHORT = 24, 12  # cells of a model's name, and of one beside its numbers


@dataclass(frozen=True, kw_only=True)
class PlottedPairs:
    """Rows of the pair table, and the two models of the plots: the reference, absent where there is one model, and another."""

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
        scales = {name: (low, (high - low) or 1.0) for name, (low, high) in self.data.gold_ranges.items()}
        lows, widths = (datasets.replace_strict({name: scale[part] for name, scale in scales.items()}).to_numpy() for part in (0, 1))
        shares: Values = (self.values("gold") - lows) / widths
        return shares


def models_view(pairs: PlottedPairs) -> Picture:
    """The other model's cosine over the reference's: pairs off the diagonal are those on which they differ."""
    first, second = pairs.reference or pairs.model, pairs.model
    x, y = pairs.values(first), pairs.values(second)
    low, high = span(x, y)
    own = [span(values) for values in (x, y)]
    interest = np.abs(pairs.values(f"error({second})") - pairs.values(f"error({first})"))
    diagonal = PlotLine(title="equal cosines", x=np.array([low, high]), y=np.array([low, high]), style="faint")
    return _scatter(pairs, (first, x, own[0]), (second, y, own[1]), interest, lines=[diagonal])


def gold_view(pairs: PlottedPairs) -> Picture:
    """The cosine over the gold score, with its quantiles in bins of the gold score."""
    gold, cosine = pairs.values("gold"), pairs.values(pairs.model)
    low, high = span(gold)
    found = binned_quantiles(gold, cosine, Axis(low=low, high=high, bins=GOLD_BINS), QUANTILES)
    titles = {0.1: "10%, 90%", 0.5: "median", 0.9: "10%, 90%"}
    lines = [
        PlotLine(title=titles[share], x=found.centres, y=quantiles, style="first" if share == 0.5 else "second")
        for share, quantiles in zip(QUANTILES, found.quantiles, strict=True)
    ]
    return _scatter(pairs, ("gold", gold, (low, high)), (pairs.model, cosine, span(cosine)), _errors(pairs), lines=lines)


def dice_view(pairs: PlottedPairs) -> Picture:
    """The cosine over the word overlap."""
    dice, cosine = pairs.values("dice"), pairs.values(pairs.model)
    return _scatter(pairs, ("dice", dice, (0.0, 1.0)), (pairs.model, cosine, span(cosine)), _errors(pairs))


def histogram_view(pairs: PlottedPairs) -> Picture:
    """How many pairs have a cosine, for each model."""
    shown = [name for name in (pairs.reference, pairs.model) if name is not None]
    values = {name: pairs.values(name) for name in shown}
    low, high = span(*values.values())
    bars = [PlotBars(title=_title(pairs, name), values=values[name], style=_style(name)) for name in dict.fromkeys(shown)]
    cosine = values[pairs.model]
    return Picture(
        title=f"{np.isfinite(cosine).sum():,} pairs",
        x=_axis(pairs, pairs.model, low, high, "cosine of "),
        y=PlotAxis(title="pairs", low=0.0, high=1.0),
        points=PlotPoints(x=cosine, y=cosine, rows=pairs.rows, interest=_errors(pairs), is_drawn=False),
        bars=bars,
        describe=partial(describe_pair, pairs),
    )


def calibration_view(pairs: PlottedPairs) -> Picture:
    """The mean gold score, as a share of its scale, over the mean cosine of ten equal groups of pairs."""
    gold, lines, errors = pairs.gold_shares, [], []
    for name in dict.fromkeys(name for name in (pairs.reference, pairs.model) if name is not None):
        calibration = calibration_curve(pairs.values(name), gold, CALIBRATION_BINS)
        lines.append(PlotLine(title=_title(pairs, name), x=calibration.predicted, y=calibration.observed, style=_style(name)))
        errors.append(f"{_title(pairs, name)} {calibration.error:z.3f}")
    low, high = span(*(line.x for line in lines))
    low, high = min(low, 0.0), max(high, 1.0)
    diagonal = PlotLine(title="cosine = gold", x=np.array([low, high]), y=np.array([low, high]), style="faint")
    cosine = pairs.values(pairs.model)
    return Picture(
        title=f"calibration error: {', '.join(errors)}",
        x=_axis(pairs, pairs.model, low, high, "cosine of "),
        y=PlotAxis(title="mean gold, as a share of its scale", low=0.0, high=1.0, style="gold"),
        points=PlotPoints(x=cosine, y=cosine, rows=pairs.rows, interest=_errors(pairs), is_drawn=False),
        lines=[*lines, diagonal],
        describe=partial(describe_pair, pairs),
    )


@dataclass(frozen=True, kw_only=True)
class PlotView:
    """A kind of plot."""

    title: str  # REFERENCE and MODEL are replaced by their names
    draw: Callable[[PlottedPairs], Picture]
    needs_two: bool = False  # models


VIEWS: Mapping[str, PlotView] = {
    "gold": PlotView(title="gold against MODEL", draw=gold_view),
    "models": PlotView(title="REFERENCE against MODEL", draw=models_view, needs_two=True),
    "dice": PlotView(title="Dice against MODEL", draw=dice_view),
    "histogram": PlotView(title="histogram of cosines", draw=histogram_view),
    "calibration": PlotView(title="calibration of the cosine", draw=calibration_view),
}


def view_title(view: str, pairs: PlottedPairs) -> str:
    """The title of a plot with the names of its models."""
    title = VIEWS[view].title.replace("REFERENCE", _title(pairs, pairs.reference or ""))
    return title.replace("MODEL", _title(pairs, pairs.model))


def describe_pair(pairs: PlottedPairs, row: int) -> Sequence[str]:
    """A pair: gold and cosines with its place, then its sentences."""
    facts = pairs.data.table.row(row, named=True)
    place = " ".join(str(facts[name]) for name in ("dataset", "source", "pair") if facts[name] is not None)
    gold = "no gold" if facts["gold"] is None else f"gold {facts['gold']:z.2f}"
    both = (pairs.model, pairs.reference) if pairs.data.pairing is None else (pairs.reference, pairs.model)  # A before B
    names = dict.fromkeys(name for name in both if name is not None)
    scores = [_score(pairs, name, facts[name], facts.get(f"error({name})")) for name in names]
    return [" · ".join([gold, *scores, place]), facts["sentence1"], facts["sentence2"]]  # the last part is cut where there is no room


def _score(pairs: PlottedPairs, name: str, cosine: float | None, error: float | None) -> str:
    letter = pairs.data.pairing.letter(name) if pairs.data.pairing is not None else ""
    title = letter or short_name(name, _SHORT)
    if cosine is None:
        return f"{title} not scored"
    return f"{title} {cosine:z.3f}" + ("" if error is None else f" (error {error:+z.0f})")


def _title(pairs: PlottedPairs, name: str) -> str:
    letter = pairs.data.pairing.letter(name) if pairs.data.pairing is not None else ""
    return f"{letter} {short_name(name, _NAME)}".strip()


def _errors(pairs: PlottedPairs) -> Values:
    errors: Values = np.abs(pairs.values(f"error({pairs.model})"))
    return errors


Column = tuple[str, Values, tuple[float, float]]


def _scatter(pairs: PlottedPairs, x: Column, y: Column, interest: Values, lines: Sequence[PlotLine] = ()) -> Picture:
    """Points of two columns: each with its name, its values and its range."""
    known = int((np.isfinite(x[1]) & np.isfinite(y[1])).sum())
    axes = [_axis(pairs, name, low, high) for name, _, (low, high) in (x, y)]
    return Picture(
        title=f"{known:,} pairs" + ("" if known == len(pairs.rows) else f" of {len(pairs.rows):,}: the others lack a score"),
        x=axes[0],
        y=axes[1],
        points=PlotPoints(x=x[1], y=y[1], rows=pairs.rows, interest=interest),
        lines=lines,
        describe=partial(describe_pair, pairs),
    )


def _style(name: str) -> str:
    return model_colour(name).removeprefix("$")


def _axis(pairs: PlottedPairs, name: str, low: float, high: float, what: str = "") -> PlotAxis:
    """The axis of gold, Dice or a model's cosine, in the colour of the model."""
    title = {"gold": "gold", "dice": "Dice"}.get(name)
    if title is not None:
        return PlotAxis(title=f"{what}{title}", low=low, high=high, field=name, style="gold" if name == "gold" else "muted")
    return PlotAxis(title=f"{what}{_title(pairs, name)}", low=low, high=high, field=pairs.data.field(name), style=_style(name))
