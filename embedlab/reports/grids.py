"""The tables of `embedlab grid`: its scores along its axes, the grids, and how their cells end."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

from embedlab.core.durations import duration
from embedlab.core.note import Note, phrases_of
from embedlab.data.published import remarks
from embedlab.experiments.attempts import CellEntry, CellState
from embedlab.experiments.listing import ListedGrid
from embedlab.experiments.pivot import Pivot, Spread, last_dev
from embedlab.experiments.plan import Cell, GridPlan
from embedlab.experiments.progress import GridProgress
from embedlab.reports.captions import counted_items, data_sentences, seen_sentences
from embedlab.reports.notes import facts_of, generated_note, usage, with_marks
from embedlab.reports.scores import overlap_fields
from embedlab.reports.tables import (
    ABSENT,
    Column,
    Role,
    Table,
    TableCell,
    Value,
    columns_of,
    number,
)
from embedlab.runs.signature import Signature, merged
from embedlab.runs.status import run_status, trained_flaw
from embedlab.scoring.provenance import overlap_mark

_LISTED_STATES: tuple[CellState, ...] = (
    "done",
    "running",
    "waiting",
    "cancelled",
    "failed",
)

# How papers write an axis, by the last part of its key.
SYMBOLS = {"weight": "λ", "temperature": "τ", "lr": "η"}
SEEN = 0.005  # points; less is shown as 0.00


def pivot_table(plan: GridPlan, pivot: Pivot, title: str) -> Table:
    """Return the scores along two axes, with their notes."""
    rows: list[dict[str, Value | TableCell]] = []
    for row in pivot.rows:
        values: dict[str, Value | TableCell] = {
            axis: label or None for axis, label in zip(pivot.row_axes, row, strict=True)
        }
        for column in pivot.columns:
            if (spread := pivot.spreads.get((row, column))) is not None:
                values |= _spread_cells(column or "none", spread)
        rows.append(values)
    columns = [Column(key=axis, title=axis, role="key") for axis in pivot.row_axes]
    columns += [
        Column(key=column or "none", title=title, align="right", role="score")
        for column, title in _column_titles(pivot).items()
    ]
    best = (
        f"*: the best; {_ties(plan, pivot)}"
        if pivot.is_ranked
        else "nothing is marked: higher is not better for these numbers"
    )
    notes = [best, *_flaws(plan, pivot), *_chosen_notes(pivot), *_seeds_notes(plan, pivot)]
    notes += [f"averaged over {axis}" for axis in pivot.averaged]
    uneven = (
        f": not every mean is over the same values of {', '.join(pivot.averaged)}"
        if pivot.averaged
        else ""
    )
    notes += [f"{pivot.missing} cells have no such score yet{uneven}"] if pivot.missing else []
    notes += [*generated_note(pivot.marks), *_made_notes(plan, pivot)]
    if pivot.column_axis is not None:
        how = f"of {_score_title(pivot)}; --score NAME shows another, --columns scores all of them"
        notes.append(Note(how, short=[how], kind="usage"))
    seen = [*seen_sentences(spread.shared for spread in pivot.spreads.values())]
    return Table(
        title=with_marks(f"{plan.name}: {title}", pivot.marks),
        columns=columns,
        rows=rows,
        notes=notes,
        caption=lambda: " ".join(
            [_caption(plan, pivot, title), *data_sentences(pivot.marks), *_said(notes), *seen]
        ),
        score_columns="" if pivot.column_axis is not None else "score",
        signatures=_signatures(plan, pivot),
    )


def for_paper(table: Table, axes: Sequence[str]) -> Table:
    """Return TABLE with the symbols of AXES in place of their keys in the heads of columns."""
    columns = []
    for column in table.columns:
        axis = next((axis for axis in axes if f"{column.title} ".startswith(f"{axis} ")), None)
        if axis is not None:
            value = column.title.removeprefix(axis).strip()
            column = replace(column, title=" = ".join(filter(None, (_symbol(axis), value))))
        columns.append(column)
    return replace(table, columns=columns)


def _symbol(axis: str) -> str:
    """Return how a paper writes an axis: a symbol, or the last part of its key."""
    name = axis.rpartition(".")[2]
    return SYMBOLS.get(name, name.replace("_", " "))


def _caption(plan: GridPlan, pivot: Pivot, title: str) -> str:
    """Return what the table is in a sentence."""
    axes = [*pivot.row_axes, *([pivot.column_axis] if pivot.column_axis is not None else [])]
    named = [axis if _symbol(axis) == axis else f"{_symbol(axis)} ({axis})" for axis in axes]
    by = f" by {' and '.join(named)}" if named else ""
    measured = title.replace(" x 100", " × 100")
    return f"Results of {plan.name}{by}: {measured}; {counted_items(_items(pivot))}."


def _flaws(plan: GridPlan, pivot: Pivot) -> Iterator[str]:
    """Yield which cells failed to learn, and how: they are never the best."""
    flawed = {
        cell for spread in pivot.spreads.values() if spread.is_flawed for cell in spread.cells
    }
    for cell in plan.cells:
        if cell.id in flawed and (flaw := trained_flaw(plan.run(cell))):
            yield f"{cell.id} cannot be the best: {flaw}"


def _chosen_notes(pivot: Pivot) -> Iterator[str]:
    """Yield by how much the best of each column is expected to be too high, because it was chosen
    by the number that is shown.
    """
    best = [
        (column, spread.optimism)
        for (_, column), spread in pivot.spreads.items()
        if spread.is_best and spread.optimism is not None
    ]
    titles = _column_titles(pivot)
    if known := {column: too_high for column, too_high in best if too_high >= SEEN}:
        of = pivot.column_axis is None and len(pivot.columns) > 1
        listed = ", ".join(
            f"{titles[column]} {too_high:z.2f}" if of else f"{too_high:z.2f}"
            for column, too_high in known.items()
        )
        yield f"the best was chosen by this number, which makes it too high by about {listed}"
    if unknown := [column for column, too_high in best if isnan(too_high)]:
        yield (
            f"the best of {', '.join(titles[column] for column in unknown)} was chosen by one seed, "
            "which makes it too high by an unknown amount"
        )


def _ties(plan: GridPlan, pivot: Pivot) -> str:
    """Return by what test places are marked as ties."""
    if pivot.is_by_pairs:
        over = "pairs and seeds" if len(plan.seeds) > 1 else "pairs, so about these checkpoints"
        return f"=: not distinguished from it (5%, over {over}, counting that it was chosen)"
    if len(plan.seeds) == 1:
        return "one seed, so ties are not tested"
    return (
        "=: not distinguished from it (5%, Welch's t over seeds alone, counting that it was chosen)"
    )


def _column_titles(pivot: Pivot) -> dict[str, str]:
    """Return the titles of the columns: those of the slices, or the values of an axis with its
    name, which no row has.
    """
    if pivot.column_axis is not None:
        return {label: f"{pivot.column_axis} {label or ABSENT}" for label in pivot.columns}
    titles = {
        score.slice: score.title
        for _, evaluation in pivot.made
        for score in evaluation.scores
        if score.title
    }
    return {column: titles.get(column, column) or ABSENT for column in pivot.columns}


def _score_title(pivot: Pivot) -> str:
    (shown,) = pivot.shown
    titles = (
        score.title for _, made in pivot.made for score in made.scores if score.slice == shown
    )
    return next(filter(None, titles), shown)


def _signatures(plan: GridPlan, pivot: Pivot) -> dict[str, str]:
    """Return the signature of each row: all values of its cells, with the test over their seeds."""
    rows: dict[str, list[Signature]] = {}
    for labels, evaluation in pivot.made:
        rows.setdefault(
            " ".join(filter(None, (labels.get(axis) for axis in pivot.row_axes))) or plan.name, []
        ).append(evaluation.signature)
    test = (
        ("dyadic",)
        if pivot.is_by_pairs
        else ("welch",)
        if pivot.is_ranked and len(plan.seeds) > 1
        else ()
    )
    return {row: str(replace(merged(signatures), test=test)) for row, signatures in rows.items()}


def _spread_cells(key: str, spread: Spread) -> dict[str, Value | TableCell]:
    """Return the text for people; for machines the mean, the deviation, the number of seeds, the
    mark and the counts of shared text.
    """
    mark = "*" if spread.is_best else "=" if spread.is_tied else " "
    more: dict[str, Value | TableCell] = {
        f"{key}.sd": spread.sd,
        f"{key}.seeds": len(spread.values),
        f"{key}.mark": mark.strip(),
    }
    more |= {f"{key}.optimism": spread.optimism} if spread.is_best else {}
    return {
        key: number(
            spread.mean,
            mark=overlap_mark(spread.shared),
            sd=spread.sd,
            sign=mark,
            raised=mark.strip(),
            is_best=spread.is_best,
            hover=_values(spread),
        ),
        **more,
        **overlap_fields(spread.shared, f"{key}."),
    }


def _values(spread: Spread) -> str:
    return (
        "seeds: " + ", ".join(f"{value:z.2f}" for value in spread.values)
        if len(spread.values) > 1
        else ""
    )


def _items(pivot: Pivot) -> dict[str, int]:
    """Return how many items each score that is shown is of; an average counts where nothing else is
    shown.
    """
    scores = [
        score
        for _, evaluation in pivot.made
        for score in evaluation.scores
        if score.slice in pivot.shown and score.items
    ]
    stored_scores = [score for score in scores if score.by != "average"] or scores
    return {score.title or score.slice: score.items for score in stored_scores}


def _said(notes: Sequence[str]) -> Iterator[str]:
    """Yield the notes on the whole table as sentences; those on single cells are too many for a
    caption.
    """
    return (f"{note[0].upper()}{note[1:]}." for note in notes if not isinstance(note, Note))


def _seeds_notes(plan: GridPlan, pivot: Pivot) -> Iterator[str]:
    """Yield how many seeds the deviations are over, and whether these include the choice of
    rows.
    """
    counts = sorted({len(spread.values) for spread in pivot.spreads.values()})
    if counts[-1] > 1:
        yield (
            f"mean ± standard deviation of "
            f"{' to '.join(str(count) for count in dict.fromkeys((counts[0], counts[-1])))} seeds"
        )
        data = [stage["data"] for variant in plan.variants for stage in variant.recipe["stage"]]
        if any(
            "rows" in state and state.get("sample") is None and not state.get("shares")
            for state in data
        ):
            yield (
                "every seed was trained on the same sample of rows: ± does not include the choice "
                "of rows"
            )


def _made_notes(plan: GridPlan, pivot: Pivot) -> Iterator[str]:
    """Yield the notes of the evaluations: on data, on shared text, and on how each model was
    used.
    """
    cells: dict[
        tuple[str, tuple[str, ...]], list[Mapping[str, str]]
    ] = {}  # the labels of the cells with this note, and its phrases
    versions: dict[
        tuple[str, str], set[tuple[Any, ...]]
    ] = {}  # of each split that cells were evaluated on
    for state in (state for _, evaluation in pivot.made for state in evaluation.data):
        versions.setdefault((state["name"], str(state.get("split"))), set()).add(_identity(state))
    for labels, evaluation in pivot.made:
        of_data = [
            note
            for state in evaluation.data
            for note in _data_notes(
                state, is_one=len(versions[state["name"], str(state.get("split"))]) == 1
            )
        ]
        facts = facts_of(evaluation, "truncated")
        noted = [
            *((note, (note,)) for note in of_data),
            *((note, phrases_of(note)) for note in evaluation.notes),
        ]
        used, unusual = usage(facts)
        for remark in (*noted, (used, tuple(unusual))):
            cells.setdefault(remark, []).append(labels)
    for (note, phrases), cell in cells.items():
        where = _where(plan, cell, [labels for labels, _ in pivot.made])
        yield Note(
            f"{where}: {note}" if where else note, models=[where] if where else [], short=phrases
        )


def _identity(state: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what distinguishes the data of one evaluation from that of another."""
    return (
        state["name"],
        state.get("split"),
        state.get("rows"),
        state.get("revision"),
        *sorted(state.get("sha256", {}).values()),
    )


def _data_notes(state: Mapping[str, Any], *, is_one: bool) -> Iterator[str]:
    """Yield the notes on a part of the test data: how much of it is missing, and its version where
    cells used different ones.
    """
    yield from remarks(state)
    if not is_one:
        digest = hashlib.sha256(repr(_identity(state)).encode()).hexdigest()[:8]
        yield (
            f"evaluated on {state['name']} {state.get('split')} with {state.get('rows')} "
            f"rows ({digest})"
        )


def _where(plan: GridPlan, chosen: list[Mapping[str, str]], every: list[Mapping[str, str]]) -> str:
    """Return which cells these are: the labels of one axis if they identify them, else all labels;
    empty for all cells.
    """
    others = [labels for labels in every if labels not in chosen]
    if not others:
        return ""
    for axis in plan.axes:
        named = dict.fromkeys(labels.get(axis, "none") for labels in chosen)
        if not any(labels.get(axis, "none") in named for labels in others):
            return f"{axis} {', '.join(named)}"
    return "; ".join(dict.fromkeys(" ".join(labels.values()) for labels in chosen))


def states_line(progress: GridProgress) -> str:
    """Return the states in one line: "12 done, 3 running, 3 waiting, about 4m10s left"."""
    parts = [
        f"{progress.counts[state]} {state}"
        for state in _LISTED_STATES
        if progress.counts.get(state)
    ]
    left = (
        f", about {duration(progress.cost.seconds)} left"
        if progress.cost.cells and progress.cost.seconds is not None
        else ""
    )
    return ", ".join(parts) + left


def status_table(progress: GridProgress) -> Table:
    """Return every cell with its state, in the order of the plan."""
    plan, steps = progress.plan, {cell.entry.key: cell.step for cell in progress.running}
    rows: list[dict[str, Value | TableCell]] = []
    for entry in progress.entries:
        cell = plan.cell(entry.number)
        run = plan.run(cell)
        # one that is trained may wait to be scored
        has_run = entry.state != "waiting" or run.model.is_dir()
        status = run_status(run) if has_run else None
        step = steps.get(entry.key) or (status.step if status is not None else None)
        at = {"step": step.step, "steps": step.steps, "loss": step.loss} if step else {}
        dev = (status.dev or last_dev(run)) if status is not None else None
        at |= {"dev": dev.score} if dev is not None else {}
        outcome = {
            "state": entry.state,
            **at,
            "seconds": entry.seconds or None,
            "reason": entry.reason,
            "run": cell.id,
        }
        rows.append(_cell_row(cell) | outcome)
    keys = ("state", "step", "steps", "loss", "dev", "seconds", "reason", "run")
    columns = _columns(plan, *keys, digits={"loss": 4, "dev": 2, "seconds": 1})
    return Table(
        title=f"{plan.name}: {plan.summary}",
        columns=columns,
        rows=rows,
        notes=(states_line(progress),),
    )


def grids_table(grids: Sequence[ListedGrid]) -> Table:
    """Return the list of grids."""
    rows: list[dict[str, Any]] = [
        {
            "grid": grid.name,
            "axes": ", ".join(f"{axis} ({count})" for axis, count in grid.axes),
            "started": grid.is_started,
            "summary": grid.summary,
        }
        for grid in grids
    ]
    roles: dict[str, Role] = {"grid": "key", "axes": "text", "summary": "text"}
    columns = columns_of(("grid", "axes", "started", "summary"), roles=roles)
    return Table(title="Grids", columns=columns, rows=rows)


def cells_table(
    plan: GridPlan,
    entries: Sequence[CellEntry],
    seconds: Mapping[tuple[str, int], float] | None = None,
    notes: Sequence[str] = (),
) -> Table:
    """Return the cells of a plan that ENTRIES are of, whether each is done already, and the SECONDS
    that it is expected to take.
    """
    expected = seconds or {}
    rows: list[dict[str, Any]] = []
    for entry in entries:
        cell = plan.cell(entry.number)
        row = _cell_row(cell) | {"done": entry.state == "done", "run": cell.id}
        if (taken := expected.get(entry.key)) is not None:
            row["seconds"] = TableCell(value=taken, text=duration(taken))
        rows.append(row)
    keys = ("done", "seconds", "run") if expected else ("done", "run")
    columns = _columns(plan, *keys, titles={"seconds": "expected"})
    return Table(title=f"{plan.name}: {plan.summary}", columns=columns, rows=rows, notes=notes)


def summary_table(plan: GridPlan, entries: Sequence[CellEntry]) -> Table:
    """Return the outcome of a grid: a line for each cell that is not done, and the count of the
    others.
    """
    rows: list[dict[str, Any]] = []
    for entry in entries:
        if entry.state != "done":
            row = _cell_row(plan.cell(entry.number))
            rows.append(row | {"state": entry.state, "reason": entry.reason})
    done = (
        f"{len(entries) - len(rows)} of {len(entries)} cells are done; `embedlab grid table "
        f"{plan.name}` shows their scores"
    )
    return Table(
        title=plan.name,
        columns=_columns(plan, "state", "reason") if rows else [],
        rows=rows,
        notes=(done,),
    )


def _cell_row(cell: Cell) -> dict[str, Any]:
    return {"cell": cell.number, **cell.variant.labels, "seed": cell.seed}


def _columns(plan: GridPlan, *keys: str, **more: Any) -> list[Column]:
    """Return the columns of cells: number and labels name a cell, the run and the times are
    minor.
    """
    names = ("cell", *plan.axes, "seed")
    roles: dict[str, Role] = {"run": "minor", "seconds": "minor", "reason": "text"}
    roles |= dict.fromkeys(names, "key")
    return columns_of((*names, *keys), roles=roles, **more)
