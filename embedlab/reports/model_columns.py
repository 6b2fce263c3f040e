"""The table that all evaluations share: what a row is of, then a column a model, with the best of
each row marked.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from statistics import stdev
from typing import Any, Literal

from embedlab.reports.comparison_cells import best_of, interval_hover
from embedlab.reports.tables import ABSENT, Column, Table, TableCell, Value


@dataclass(frozen=True, kw_only=True)
class ScoreRow:
    """The scores of each model in one row, in the unit that people see."""

    of: Mapping[str, Value | TableCell]  # slice, metric, number of items …
    scores: Mapping[str, TableCell]  # by model
    scale: float = 100  # of numbers in another unit none is the best


def score_cell(
    value: float | None,
    *,
    sd: float = nan,
    mark: str = "",
    low: float = nan,
    high: float = nan,
    shows_interval: bool = False,
) -> TableCell:
    """Return mean ± standard deviation over members with the MARK of text seen in training; a
    number that is undefined is absent.
    """
    if value is None or value != value:
        return TableCell(value=value, text=ABSENT)
    spread = f" ± {sd:z.2f}" if sd == sd else ""
    interval = f" [{low:z.2f}, {high:z.2f}]" if shows_interval and low == low else ""
    return TableCell(
        value=value,
        text=f"{value:z.2f}{mark}{spread}{interval}",
        hover=interval_hover(low, high, 1),
    )


def sd_over_members(values: Sequence[float]) -> float:
    """Return the standard deviation (n − 1) over members; nan for a single value, or where one is
    nan.
    """
    return stdev(values) if len(values) > 1 and not any(map(isnan, values)) else nan


def model_table(
    rows: Iterable[ScoreRow],
    titles: Mapping[str, str],
    *,
    leading: Sequence[Column],
    marks_best: bool = True,
    align: Literal["left", "right"] = "right",
    **about: Any,
) -> Table:
    """Return the table of ROWS: the LEADING columns, then one a model under its title; ABOUT is the
    rest of a Table.
    """
    return Table(
        columns=[
            *leading,
            *(
                Column(key=name, title=title, align=align, role="score")
                for name, title in titles.items()
            ),
        ],
        rows=[_row(row, marks_best=marks_best) for row in rows],
        titles=titles,
        **about,
    )


def _row(row: ScoreRow, *, marks_best: bool) -> Mapping[str, Value | TableCell]:
    values = {
        name: cell.value / row.scale
        for name, cell in row.scores.items()
        if isinstance(cell.value, float)
    }
    best = best_of(values, row.scale) if marks_best else set()
    return {
        **row.of,
        **{name: replace(cell, is_best=name in best) for name, cell in row.scores.items()},
    }
