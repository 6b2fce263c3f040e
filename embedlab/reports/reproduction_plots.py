"""The plots of a reproduced table: its numbers against the published ones, and the rows along the
columns that order them.
"""

from collections.abc import Iterator, Sequence

from embedlab.experiments.row_order import ComparedNumber
from embedlab.reports.plots import (
    CurvePanel,
    Dots,
    DrawnCurve,
    Plot,
    Scatter,
    ScatterPoints,
    Series,
)
from embedlab.reports.reproduction import Reproduction


def reproduction_plots(reproduction: Reproduction) -> Iterator[Plot]:
    """Every number against the published one, and the rows along the columns that put them in
    order.
    """
    both = [
        number
        for number in reproduction.numbers.values()
        if number.printed is not None and number.mean is not None
    ]
    if both:
        points = ScatterPoints(
            name=reproduction.table.name,
            x=[number.printed or 0.0 for number in both],
            y=[number.mean or 0.0 for number in both],
        )
        yield Scatter(
            title="Every number: published and ours",
            panels=(points,),
            x_axis="published",
            y_axis="ours",
            diagonal=True,
        )
    if reproduction.curves:
        curves = [
            DrawnCurve(name=row, x=range(1, len(values) + 1), y=values)
            for row, values in reproduction.curves.items()
        ]
        yield CurvePanel(title="", curves=curves, axis="dev score x 100", along="epoch")
    for column in dict.fromkeys(
        column for columns in reproduction.table.ranked_by for column in columns
    ):
        numbers = {
            row: reproduction.numbers[row, column]
            for row in reproduction.table.sources
            if (row, column) in reproduction.numbers
        }
        if any(number.values for number in numbers.values()):
            series = [
                Series(
                    name="published",
                    values=[_or_nan(number.printed) for number in numbers.values()],
                ),
                _ours(list(numbers.values())),
            ]
            yield Dots(
                title=column,
                labels=list(numbers),
                series=series,
                axis=f"{column}; ours with one standard deviation over seeds",
            )


def _ours(numbers: Sequence[ComparedNumber]) -> Series:
    means = [_or_nan(number.mean) for number in numbers]
    spreads = [number.sd or 0.0 for number in numbers]
    return Series(
        name="ours",
        values=means,
        low=[mean - spread for mean, spread in zip(means, spreads, strict=True)],
        high=[mean + spread for mean, spread in zip(means, spreads, strict=True)],
    )


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value
