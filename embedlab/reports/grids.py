"""The tables of `embedlab grid`: its scores along its axes, the grids, and how their cells end."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

from embedlab.core.note import Note, phrases_of
from embedlab.core.printable import count_text, duration
from embedlab.data.published import state_remarks
from embedlab.experiments.cells import CellEntry, CellState
from embedlab.experiments.grid_file import ListedGrid
from embedlab.experiments.pivot import DEV_SCORE, CellSpread, Pivot
from embedlab.experiments.plan import Cell, GridPlan
from embedlab.experiments.progress import GridProgress
from embedlab.reports.frames import Row
from embedlab.reports.notes import (
    counted_items,
    data_sentences,
    generated_note,
    seen_sentences,
    usage_facts,
    usage_phrases,
    with_marks,
)
from embedlab.reports.scores import overlap_fields
from embedlab.reports.tables import (
    ABSENT,
    Column,
    Table,
    TableCell,
    attributes,
    columns_of,
    number,
    score_columns,
)
from embedlab.runs.evaluations import StoredScore
from embedlab.runs.signature import Signature, data_part, merged
from embedlab.runs.status import last_dev, run_status, trained_flaw
from embedlab.scoring.provenance import overlap_mark

_LISTED_STATES: tuple[CellState, ...] = ("done", "running", "waiting", "cancelled", "failed")

# How papers write an axis, by the last part of its key.
SYMBOLS = {"weight": "λ", "temperature": "τ", "lr": "η"}
SEEN = 0.005  # points; less is shown as 0.00
Rows = list[dict[str, Any]]


def pivot_table(plan: GridPlan, pivot: Pivot, title: str) -> Table:
    """Return the scores along two axes, with their notes."""
    rows: Rows = []
    for row in pivot.rows:
        labels = zip(pivot.row_axes, row, strict=True)
        values = _axis_cells(plan, {axis: label for axis, label in labels if label})
        for column in pivot.columns:
            if (spread := pivot.spreads.get((row, column))) is not None:
                values |= _spread_cells(column or "none", spread)
        rows.append(values)
    columns = [Column(axis, axis, "key", "left") for axis in pivot.row_axes]
    title_of_column = {column or "none": head for column, head in _column_titles(pivot).items()}
    columns += score_columns(title_of_column)
    notes = [*_notes(plan, pivot)]
    axis = pivot.column_axis
    return Table(
        with_marks(f"{plan.name}: {title}", pivot.marks),
        columns,
        rows,
        notes,
        caption=lambda: " ".join(
            [
                _caption(plan, pivot, title),
                *data_sentences(pivot.marks),
                # those on single cells are too many
                *(f"{note[0].upper()}{note[1:]}." for note in notes if not isinstance(note, Note)),
                *seen_sentences(spread.shared for spread in pivot.spreads.values()),
            ]
        ),
        score_columns="score" if axis is None else "",
        signatures=_signatures(plan, pivot),
    )


def _notes(plan: GridPlan, pivot: Pivot) -> Iterator[str]:
    if pivot.is_ranked:
        yield f"*: the best; {_ties(plan, pivot)}"
    else:
        yield "nothing is marked: higher is not better for these numbers"
    if pivot.missing:
        condition = f": not every mean is over the same values of {', '.join(pivot.averaged)}"
        cells_text = count_text(pivot.missing, "cells have")
        yield f"{cells_text} no such score yet{condition * bool(pivot.averaged)}"
    yield from _flaws(plan, pivot)
    yield from _chosen_notes(pivot)
    yield from _seeds_notes(plan, pivot)
    yield from (f"averaged over {axis}" for axis in pivot.averaged)
    yield from generated_note(pivot.marks)
    yield from _evaluation_notes(plan, pivot)
    if pivot.column_axis is not None:
        (shown_score,) = pivot.shown
        score = _slice_titles(pivot).get(shown_score, shown_score)
        usage_text = f"shown: {score}; --score NAME shows another score, --columns scores shows all"
        yield Note(usage_text, short_texts=[usage_text], kind="usage")


def for_paper(table: Table, axes: Sequence[str]) -> Table:
    """Return TABLE with the symbols of AXES in place of their keys in the heads of columns."""
    columns = []
    for column in table.columns:
        for axis in axes:
            if f"{column.title} ".startswith(f"{axis} "):
                value = column.title.removeprefix(axis).strip()
                title = " = ".join(filter(None, (_symbol(axis), value)))
                columns.append(replace(column, title=title))
                break
        else:
            columns.append(column)
    return replace(table, columns=columns)


def _symbol(axis: str) -> str:
    """Return how a paper writes an axis: a symbol, or the last part of its key."""
    name = axis.rpartition(".")[2]
    return SYMBOLS.get(name, name.replace("_", " "))


def _caption(plan: GridPlan, pivot: Pivot, title: str) -> str:
    """Return a sentence on what the table shows and how many items it is about; averages count
    only where nothing else is shown.
    """
    axes = [axis for axis in (*pivot.row_axes, pivot.column_axis) if axis is not None]
    axis_names = [axis if _symbol(axis) == axis else f"{_symbol(axis)} ({axis})" for axis in axes]
    axes_text = f" by {' and '.join(axis_names)}" if axis_names else ""
    scores = [score for score in _scores(pivot) if score.slice in pivot.shown and score.items]
    single_scores = [score for score in scores if score.by != "average"] or scores
    counted = counted_items({score.title or score.slice: score.items for score in single_scores})
    measure = title.replace(" x 100", " × 100")
    return f"Results of {plan.name}{axes_text}: {measure}; {counted}."


def _flaws(plan: GridPlan, pivot: Pivot) -> Iterator[str]:
    """Yield which cells failed to learn, and how: they are never the best."""
    flawed = {
        cell for spread in pivot.spreads.values() if spread.is_flawed for cell in spread.cells
    }
    for cell in plan.cells:
        if cell.id in flawed and (failure := trained_flaw(cell.run)):
            yield f"{cell.id} cannot be the best: {failure}"


def _chosen_notes(pivot: Pivot) -> Iterator[str]:
    """Yield by how much the best of each column is expected to be too high, because it was chosen
    by the number that is shown.
    """
    excess_of_column = {
        column: spread.optimism
        for (_, column), spread in pivot.spreads.items()
        if spread.is_best and spread.optimism is not None
    }
    titles = _column_titles(pivot)
    is_named = pivot.column_axis is None and len(pivot.columns) > 1
    if excesses := [
        f"{titles[column]} {too_high:z.2f}" if is_named else f"{too_high:z.2f}"
        for column, too_high in excess_of_column.items()
        if too_high >= SEEN
    ]:
        excess_list = ", ".join(excesses)
        yield f"the best was chosen by this number, which makes it too high by about {excess_list}"
    if unknown_titles := [
        titles[column] for column, too_high in excess_of_column.items() if isnan(too_high)
    ]:
        yield (
            f"the best of {', '.join(unknown_titles)} was chosen by one seed, which makes it too "
            "high by an "
            "unknown amount"
        )


def _ties(plan: GridPlan, pivot: Pivot) -> str:
    """Return by what test places are marked as ties."""
    has_seeds = len(plan.seeds) > 1
    if pivot.is_by_items:
        units = "items and seeds" if has_seeds else "items, so about these checkpoints"
        dev_units = "over seeds alone" if has_seeds else "not tested with one seed"
        dev_text = f"; dev: {dev_units}" if DEV_SCORE in pivot.shown else ""
        return (
            f"=: not distinguished from it (5%, over {units}, counting that it was chosen)"
            f"{dev_text}"
        )
    if not has_seeds:
        return "one seed, so ties are not tested"
    return (
        "=: not distinguished from it (5%, Welch's t over seeds alone, counting that it was chosen)"
    )


def _scores(pivot: Pivot) -> Iterator[StoredScore]:
    return (score for _, evaluation in pivot.evaluations for score in evaluation.scores)


def _slice_titles(pivot: Pivot) -> dict[str, str]:
    titles: dict[str, str] = {}
    for score in _scores(pivot):
        if score.title:
            titles.setdefault(score.slice, score.title)
    return titles


def _column_titles(pivot: Pivot) -> dict[str, str]:
    """Return the titles of the columns: of the slices, or of the values of the axis in the columns,
    with its name.
    """
    if pivot.column_axis is not None:
        return {label: f"{pivot.column_axis} {label or ABSENT}" for label in pivot.columns}
    titles = _slice_titles(pivot)
    return {column: titles.get(column, column) or ABSENT for column in pivot.columns}


def _signatures(plan: GridPlan, pivot: Pivot) -> dict[str, str]:
    """Return the signature of each row: all values of its cells, with the test over their seeds."""
    rows: dict[str, list[Signature]] = {}
    for labels, evaluation in pivot.evaluations:
        row = " ".join(filter(None, map(labels.get, pivot.row_axes))) or plan.name
        rows.setdefault(row, []).append(evaluation.signature)
    test: tuple[str, ...] = ()
    if pivot.is_by_items:
        test = ("dyadic",)
    elif pivot.is_ranked and len(plan.seeds) > 1:
        test = ("welch",)
    return {row: str(replace(merged(signatures), test=test)) for row, signatures in rows.items()}


def _spread_cells(key: str, spread: CellSpread) -> Row:
    """Return the text for people; for machines the mean, the deviation, the number of seeds, the
    mark and the counts of shared text.
    """
    place_sign = "*" if spread.is_best else "=" if spread.is_tied else " "
    values = ", ".join(f"{value:z.2f}" for value in spread.values)
    return {
        key: number(
            spread.mean,
            mark=overlap_mark(spread.shared),
            sd=spread.sd,
            sign=place_sign,
            raised=place_sign.strip(),
            is_best=spread.is_best,
            hover=f"seeds: {values}" if len(spread.values) > 1 else "",
        ),
        f"{key}.sd": spread.sd,
        f"{key}.seeds": len(spread.values),
        f"{key}.mark": place_sign.strip(),
        **({f"{key}.optimism": spread.optimism} if spread.is_best else {}),
        **overlap_fields(spread.shared, f"{key}."),
    }


def _seeds_notes(plan: GridPlan, pivot: Pivot) -> Iterator[str]:
    """Yield how many seeds the deviations are over, and whether these include the choice of
    rows.
    """
    counts = {len(spread.values) for spread in pivot.spreads.values()}
    if max(counts) == 1:
        return
    extremes = " to ".join(map(str, dict.fromkeys((min(counts), max(counts)))))
    yield f"mean ± standard deviation of {extremes} seeds"
    data = [stage["data"] for variant in plan.variants for stage in variant.recipe["stage"]]
    if any(
        "rows" in state and state.get("sample") is None and not state.get("shares")
        for state in data
    ):
        yield "every seed was trained on the same sample of rows: ± does not include the choice of rows"


def _evaluation_notes(plan: GridPlan, pivot: Pivot) -> Iterator[str]:
    """Yield the notes of the evaluations: on data, on shared text, and on how each model was
    used.
    """
    # the labels of the cells that have a note, by its text and phrases
    cells: dict[tuple[str, tuple[str, ...]], list[Mapping[str, str]]] = {}
    # what each split held when cells were evaluated on it
    contents: dict[tuple[str, str | None], set[str]] = {}
    for _, evaluation in pivot.evaluations:
        for state in evaluation.data:
            contents.setdefault((state["name"], state.get("split")), set()).add(_content(state))
    for labels, evaluation in pivot.evaluations:
        noted_texts: list[tuple[str, tuple[str, ...]]] = []
        for state in evaluation.data:
            noted_texts += [(note, (note,)) for note in state_remarks(state)]
            if len(contents[state["name"], state.get("split")]) > 1:
                text = f"evaluated on {_content(state)}"
                noted_texts.append((text, (text,)))
        noted_texts += [(note, phrases_of(note)) for note in evaluation.notes]
        usage_text, unusual = usage_phrases(usage_facts(evaluation, "truncated"))
        for noted_text in (*noted_texts, (usage_text, tuple(unusual))):
            cells.setdefault(noted_text, []).append(labels)
    for (note, phrases), cell in cells.items():
        cell_names = _where(plan, cell, [labels for labels, _ in pivot.evaluations])
        models = [cell_names] if cell_names else []
        yield Note(": ".join([*models, note]), models=models, short_texts=phrases)


def _content(state: Mapping[str, Any]) -> str:
    """Return which data one evaluation read, as its signature says, with the number of rows."""
    return f"{data_part(state)} with {count_text(int(state.get('rows') or 0), 'rows')}"


def _where(
    plan: GridPlan, cells: list[Mapping[str, str]], all_cells: list[Mapping[str, str]]
) -> str:
    """Return words for CELLS: the labels of one axis if they identify them, else all labels; empty
    for all cells.
    """
    other_cells = [labels for labels in all_cells if labels not in cells]
    if not other_cells:
        return ""
    for axis in plan.axes:
        cell_labels = dict.fromkeys(labels.get(axis, "none") for labels in cells)
        if not any(labels.get(axis, "none") in cell_labels for labels in other_cells):
            return f"{axis} {', '.join(cell_labels)}"
    return "; ".join(dict.fromkeys(" ".join(labels.values()) for labels in cells))


def states_line(progress: GridProgress) -> str:
    """Return the states in one line: "12 done, 3 running, 3 waiting, about 4m10s left"."""
    counts, cost = progress.counts, progress.cost
    states = [f"{counts[state]} {state}" for state in _LISTED_STATES if counts.get(state)]
    if cost.cells and cost.seconds is not None:
        states.append(f"about {duration(cost.seconds)} left")
    return ", ".join(states)


def status_table(progress: GridProgress) -> Table:
    """Return every cell with its state, in the order of the plan."""
    plan = progress.plan
    steps = {cell.id: curve.newest for cell, curve in progress.running}
    rows: Rows = []
    for entry in progress.entries:
        cell, run = entry.cell, entry.cell.run
        # one that is trained may wait to be scored
        has_run = entry.state != "waiting" or run.model.is_dir()
        status = run_status(run) if has_run else None
        row = _cell_row(plan, cell) | {"state": entry.state}
        if step := steps.get(cell.id) or (status and status.step):
            row |= attributes(step, "step steps loss")
        if dev := status and (status.dev or last_dev(run)):
            row["dev"] = dev.score
        outcome = {"seconds": entry.seconds or None, "reason": entry.reason, "run": cell.id}
        rows.append(row | outcome)
    described = ("state", "step", "steps", "loss .4", "dev .2", "seconds [minor] .1")
    columns = [*_columns(plan), *columns_of(*described, "reason [text]", "run [minor]")]
    return Table(f"{plan.name}: {plan.summary}", columns, rows, (states_line(progress),))


def grids_table(grids: Sequence[ListedGrid]) -> Table:
    """Return the list of grids."""
    rows: Rows = [
        {
            "grid": grid.name,
            "axes": ", ".join(f"{axis} ({count})" for axis, count in grid.axes),
            "started": grid.is_started,
            "summary": grid.summary,
        }
        for grid in grids
    ]
    columns = columns_of("grid [key]", "axes [text]", "started", "summary [text]")
    return Table("Grids", columns, rows)


def cells_table(
    plan: GridPlan,
    entries: Sequence[CellEntry],
    seconds: Mapping[str, float] | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Return the cells of a plan that ENTRIES are of, whether each is done already, and the SECONDS
    that it is expected to take.
    """
    rows: Rows = []
    for entry in entries:
        cell = entry.cell
        row = _cell_row(plan, cell) | {"done": entry.state == "done", "run": cell.id}
        if (cell_seconds := (seconds or {}).get(cell.id)) is not None:
            row["seconds"] = TableCell(cell_seconds, duration(cell_seconds))
        rows.append(row)
    expected = ["seconds = expected [minor]"] if seconds else []
    columns = [*_columns(plan), *columns_of("done", *expected, "run [minor]")]
    return Table(f"{plan.name}: {plan.summary}", columns, rows, notes)


def summary_table(plan: GridPlan, entries: Sequence[CellEntry]) -> Table:
    """Return the outcome of a grid: a line for each cell that is not done, and the count of the
    others.
    """
    rows: Rows = [
        _cell_row(plan, entry.cell) | attributes(entry, "state reason")
        for entry in entries
        if entry.state != "done"
    ]
    done_count = (
        f"{len(entries) - len(rows)} of {len(entries)} cells are done; `embedlab grid table "
        f"{plan.name}` shows their scores"
    )
    columns = [*_columns(plan), *columns_of("state", "reason [text]")] if rows else []
    return Table(plan.name, columns, rows, (done_count,))


def _cell_row(plan: GridPlan, cell: Cell) -> Row:
    return {"cell": cell.number, **_axis_cells(plan, cell.variant.labels), "seed": cell.seed}


def _axis_cells(plan: GridPlan, labels: Mapping[str, str]) -> Row:
    """Return the values of the axes with these LABELS; people read them as the grid file has
    them.
    """
    return {axis: TableCell(plan.value(axis, label), label) for axis, label in labels.items()}


def _columns(plan: GridPlan) -> list[Column]:
    """Return the columns that name a cell: its number and labels."""
    axes = [Column(axis, axis, "key", "left") for axis in plan.axes]
    return [Column("cell", "cell", "key"), *axes, Column("seed", "seed", "key")]
