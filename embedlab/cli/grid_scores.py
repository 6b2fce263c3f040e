"""The table of a grid's scores."""

from embedlab.grids.plan import Plan
from embedlab.grids.table import Pivot, Spread
from embedlab.reports.tables import Cell, Column, Table, Value


def pivot_table(plan: Plan, found: Pivot, title: str) -> Table:
    """The scores along two axes, with what must be said beside them."""
    rows: list[dict[str, Value | Cell]] = []
    for row in found.rows:
        values: dict[str, Value | Cell] = {axis: label or None for axis, label in zip(found.row_axes, row, strict=True)}
        for column in found.columns:
            if (spread := found.spreads.get((row, column))) is not None:
                values |= _spread_cells(column or "none", spread)
        rows.append(values)
    columns = [Column(key=axis, title=axis) for axis in found.row_axes]
    columns += [Column(key=column or "none", title=column or "–", align="right") for column in found.columns]
    seeds = len(plan.seeds)
    ties = "= not told apart from it (Welch's t over seeds, Holm, 5%)" if seeds > 1 else "one seed, so nothing is said of ties"
    notes = [f"the best is marked *; {ties}"]
    notes += [f"averaged over {axis}" for axis in found.averaged]
    notes += [f"{found.missing} cells have no such score yet"] if found.missing else []
    marks = "".join(f" [{mark}]" for mark in found.marks)
    return Table(title=f"{plan.name}: {title}{marks}", columns=columns, rows=rows, notes=notes)


def _spread_cells(key: str, spread: Spread) -> dict[str, Value | Cell]:
    """The text for people; for machines the mean, the deviation, the number of seeds and the mark."""
    deviation = f" ± {spread.sd:.2f}" if spread.sd is not None else ""
    mark = "*" if spread.is_best else "=" if spread.is_tied else " "
    more: dict[str, Value | Cell] = {f"{key}.sd": spread.sd, f"{key}.seeds": len(spread.values), f"{key}.mark": mark.strip()}
    return {key: Cell(value=spread.mean, text=f"{spread.mean:.2f}{deviation}{mark}"), **more}
