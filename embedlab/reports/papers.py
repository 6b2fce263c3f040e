"""A paper's tables next to ours: published numbers, deviations, and whether the order holds."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isnan
from statistics import fmean, stdev
from typing import Any

from embedlab.analysis.seed_notes import REACH_SIGN, REACHES
from embedlab.core.durations import duration
from embedlab.core.names import DEFAULT_TASK
from embedlab.experiments.deviations import rows_text
from embedlab.experiments.matching_runs import CellKey
from embedlab.experiments.paper_file import ALL_TABLES, full_size_of, load_paper, summary_of
from embedlab.experiments.paper_table import Deviation, PaperTable
from embedlab.experiments.printed import paper_names, published_table, published_texts
from embedlab.experiments.row_order import ComparedNumber, PairOrder, Ranking, RowOrder
from embedlab.reports.captions import data_sentences
from embedlab.reports.layout import plain_text
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
from embedlab.scoring.task_comparison import Gathered, TaskComparison


@dataclass(frozen=True, kw_only=True, eq=False)
class Reproduction:
    """A table of a paper next to ours."""

    table: PaperTable
    deviations: Table
    answers: tuple[Table, ...]  # the numbers, and whether the order holds
    numbers: Mapping[CellKey, ComparedNumber]  # empty for a figure
    row_order: RowOrder | None
    compared: tuple[TaskComparison, ...]  # of a figure, one an answer
    scored: Gathered | None
    has_failed: bool  # whether a training failed
    curves: Mapping[str, Sequence[float]] = field(
        default_factory=dict
    )  # of a figure along epochs: the mean dev score after each, by row

    @property
    def tables(self) -> tuple[Table, ...]:
        """What is shown, deviations first."""
        return self.deviations, *self.answers


# What people see first, as wide as a terminal: rows of all columns, lines with what is around the
# table, and notes beside that on the rest.
MOST_ROWS, MOST_LINES, MOST_NOTES, WIDTH = 8, 25, 4, 80
NO_NUMBER = ComparedNumber(printed=None, values=())

TableRows = list[dict[str, Value | TableCell]]


def papers_table() -> Table:
    """Return the papers that can be reproduced."""
    rows: TableRows = [
        {"paper": paper, "tables": len(load_paper(paper)), "summary": summary_of(paper)}
        for paper in paper_names()
    ]
    return Table(
        title="Papers",
        columns=columns_of(("paper", "tables", "summary"), roles={"summary": "text"}),
        rows=rows,
        notes=("`embedlab reproduce PAPER` lists its tables and figures",),
    )


@dataclass(frozen=True, kw_only=True)
class TableProgress:
    """How much of a table is trained here."""

    done: int
    cells: int  # rows and seeds
    seconds: float | None  # for the others on this machine; None where nothing is measured or left
    lacks: tuple[str, ...]  # what data is missing


def contents_table(
    paper: str, tables: Sequence[PaperTable], progress: Mapping[str, TableProgress], where: str
) -> Table:
    """Return the tables and figures of a paper, how far each is here, and the command that fills
    them; WHERE says on what the trainings would run.
    """
    firsts = Counter(table.name.split("_")[0] for table in tables)
    rows: TableRows = [
        {
            "table": TableCell(value=table.name, text=first if firsts[first] == 1 else table.name),
            "summary": table.summary,
            "rows": len(table.sources) or None,
            "task": ", ".join(table.tasks) if table.sources else None,
            "printed": bool(table.printed) or not table.sources,
            **_progress(progress.get(table.name)),
            "here": table.shown_by or f"embedlab reproduce {table.typed}",
        }
        for table in tables
        for first in [table.name.split("_")[0]]
    ]
    every = f"embedlab reproduce {shlex.quote(paper)} {ALL_TABLES}"
    whole = progress.get(ALL_TABLES) or next(iter(progress.values()), None)
    if ALL_TABLES in progress:
        what = {"table": ALL_TABLES, "summary": "every table, each training once"}
        rows.append({**what, **_progress(whole), "here": every})
    roles: dict[str, Role] = dict.fromkeys(("rows", "task", "printed", "here"), "minor")
    columns = columns_of(
        ("table", "summary", "rows", "task", "printed", "done", "seconds", "here"),
        titles={"done": "trained", "seconds": "left"},
        roles=roles | {"table": "key", "summary": "text"},
    )
    lacks = [text for own in progress.values() for text in own.lacks]
    left = (
        "nothing is left"
        if whole is None or whole.done == whole.cells
        else f"left: {where}, after the speed of runs that are here"
        if whole.seconds is not None
        else f"left: not known until a training of each encoder has run here ({where})"
    )
    notes = (
        *(f"missing: {text}" for text in dict.fromkeys(lacks)),
        f"`{every} --data DIR --html {tables[0].paper}.html` trains and evaluates what is left",
        left,
        *(f"at the paper's size: {text}" for text in [full_size_of(paper)] if text),
    )
    title = f"{tables[0].paper}: {summary_of(paper)}"
    return Table(title=title, columns=columns, rows=rows, notes=notes)


def _progress(progress: TableProgress | None) -> dict[str, Value | TableCell]:
    if progress is None:
        return {}
    left = ABSENT if progress.seconds is None else duration(progress.seconds)
    return {
        "done": TableCell(value=progress.done, text=f"{progress.done} of {progress.cells}"),
        "cells": progress.cells,
        "seconds": TableCell(value=progress.seconds, text=left),
        "lacks": ", ".join(progress.lacks) or None,
    }


def printed_table(table: PaperTable) -> Table:
    """Return the published numbers; for a figure without numbers only its notes."""
    notes = [*table.notes, *([f"the same here: {table.shown_by}"] if table.shown_by else [])]
    title = f"{table.paper} {table.name}: {table.summary}, as published"
    if table.sources and not table.printed:
        bare: TableRows = [{"row": row} for row in table.sources]
        return Table(
            title=title,
            columns=columns_of(["row"], roles={"row": "text"}),
            rows=bare,
            notes=["the paper prints no numbers of it", *notes],
        )
    frame = published_table(table.address, table.name)
    roles: dict[str, Role] = {
        column: "key" if column in table.key else "score" for column in frame.columns
    }
    texts = published_texts(table.address, table.name)
    printed = {
        column.name: _as_printed(
            column.to_list(), texts[column.name].to_list(), is_key=column.name in table.key
        )
        for column in frame
    }
    rows: TableRows = [
        {name: cells[row] for name, cells in printed.items()} for row in range(frame.height)
    ]
    return Table(
        title=title,
        columns=columns_of(frame.columns, roles=roles),
        rows=rows,
        notes=notes,
        score_columns="column",
        caption=lambda: f"{title}.",
    )


def _as_printed(
    values: Sequence[Value], texts: Sequence[str | None], *, is_key: bool
) -> list[Value | TableCell]:
    """Return a column's numbers with as many digits as most of them have: a CSV file drops trailing
    zeros that the paper prints.

    Numbers that name rows, and powers of ten such as 5e-05, are shown as they are written.
    """
    if is_key or any(
        "e" in text.lower()
        for value, text in zip(values, texts, strict=True)
        if text and isinstance(value, float)
    ):
        return [
            TableCell(value=value, text=text) if text is not None else value
            for value, text in zip(values, texts, strict=True)
        ]
    decimals = {
        value: len(repr(value).partition(".")[2]) for value in values if isinstance(value, float)
    }
    counts = Counter(decimals.values())
    usual = max(
        counts, key=lambda digits: (counts[digits], digits), default=0
    )  # of two equally frequent ones the longer
    return [
        TableCell(value=value, text=f"{value:z.{max(usual, decimals[value])}f}")
        if isinstance(value, float)
        else value
        for value in values
    ]


def deviations_table(
    table: PaperTable, deviations: Sequence[Deviation], trained: Sequence[str]
) -> Table:
    """Return the deviations and the rows they hold for, shown above the numbers; TRAINED are the
    rows with a run.
    """
    rows: TableRows = [
        {
            "what": deviation.what,
            "paper": deviation.paper,
            "here": deviation.here,
            "rows": rows_text(deviation, trained),
            "source": deviation.source or None,
        }
        for deviation in deviations
    ]
    roles: dict[str, Role] = dict.fromkeys(("what", "paper", "here"), "text")
    has_source = any(deviation.source for deviation in deviations)
    keys = ("what", "paper", "here", "rows", "source")[: 4 + has_source]
    columns = columns_of(keys, roles=roles | {"source": "minor"}, align="left")
    notes = () if rows else ("none is known" if trained else "no row has a finished run here",)
    title = f"{table.paper} {table.name}: deviations from the paper"
    return Table(title=title, columns=columns, rows=rows, notes=notes, caption=lambda: f"{title}.")


def numbers_table(
    table: PaperTable,
    numbers: Mapping[CellKey, ComparedNumber],
    marks: Sequence[str],
    missing: Sequence[str],
    row_order: RowOrder | None = None,
) -> Table:
    """Return three lines a row: published, ours (mean ± sd over seeds), and the difference; above
    them what ROW_ORDER says in words.
    """
    rows: TableRows = []
    for row in table.sources:
        of_row = {column: numbers.get((row, column), NO_NUMBER) for column in table.columns}
        if any(each.printed is not None for each in of_row.values()):
            rows.append(
                {
                    "row": row,
                    "what": "published",
                    **{column: each.printed for column, each in of_row.items()},
                }
            )
        if any(each.values for each in of_row.values()):
            parts = table.sources[row].best_of
            present = [part for part in parts if _has_numbers(table, part, numbers)]
            what = (
                f"ours, of {len(present)} of {len(parts)} rows" if present != [*parts] else "ours"
            )
            rows.append({"row": row, "what": what, **_ours(of_row, table.scale)})
            if present != [*parts]:
                lacking = ", ".join(part for part in parts if part not in present)
                missing = [
                    *missing,
                    f"{row}: the best of {', '.join(present)} alone, without {lacking}",
                ]
        if any(each.difference is not None for each in of_row.values()):
            differences = {
                column: _shown(each.difference, table.scale, is_signed=True)
                for column, each in of_row.items()
            }
            rows.append({"row": row, "what": "difference", **differences})
    columns = [
        Column(key="row", title=" ".join(table.key), role="group"),
        Column(key="what", title="", role="key"),
    ]
    columns += [
        Column(
            key=column, title=column, digits=_digits(table.scale), align="right", role="difference"
        )
        for column in table.columns
    ]
    title = " ".join(
        [
            f"{table.paper} {table.name}: {table.summary}; {_measured(table)}",
            *(f"[{mark}]" for mark in marks),
        ]
    )
    return Table(
        title=title,
        columns=columns,
        rows=rows,
        answer=list(_answer(table, numbers, row_order)),
        notes=[*missing, *table.notes],
        caption=lambda: _caption(table, numbers, marks),
    )


def _answer(
    table: PaperTable, numbers: Mapping[CellKey, ComparedNumber], row_order: RowOrder | None
) -> Iterator[str]:
    """Yield how many pairs of rows are in the printed order, and how far ours are from it."""
    if not any(number.values for number in numbers.values()):
        yield "No row has a number here."
        return
    if row_order is not None and row_order.pairs:
        outcomes = Counter(map(_outcome, row_order.pairs))
        counts = ", ".join(
            f"{outcomes[outcome]} {outcome}" for outcome in _OUTCOMES if outcomes[outcome]
        )
        pairs = "pairs of rows" if len(row_order.pairs) > 1 else "pair of rows"
        taus = [
            f"; Kendall's tau{f' of {ranking.group}' if ranking.group else ''} {_tau(ranking)}"
            for ranking in row_order.rankings
            if not isnan(ranking.kendall.tau)
        ]
        yield f"The printed order of {len(row_order.pairs)} {pairs}: {counts}{''.join(taus)}."
    column = table.average or (table.columns[0] if len(table.columns) == 1 else None)
    differences = [
        number.difference
        for (_, name), number in numbers.items()
        if number.difference is not None and column in {None, name}
    ]
    if differences:
        digits = _digits(table.scale)
        low, high = (f"{value:+z.{digits}f}" for value in (min(differences), max(differences)))
        ends = low if low == high else f"{low} to {high}"
        yield f"Ours minus the published values, {column or 'all columns'}: {ends}."


# What is said of a pair of rows, in this order.
_OUTCOMES = ("holds", "reversed", "open", "equal", "not tested", "not concluded")


def _outcome(pair: PairOrder) -> str:
    if pair.is_inconclusive:
        return "not concluded"
    if pair.is_equal:
        return "equal"
    return "not tested" if isnan(pair.p) else pair.verdict


def brief(table: PaperTable, tables: Sequence[Table]) -> list[Table]:
    """Return what people see first of a reproduced TABLE, whose whole is TABLES: the answer and the
    numbers, with a note on the deviations and on the rest.

    Of many rows it is the average, published and ours in one line, where the paper prints one.
    """
    listed, *answers = tables
    if not answers:
        return [*tables]
    numbers = answers[0]
    rows = [row for row in numbers.rows if row.get("what") != "difference"]
    hides = ["the order of pairs"] if table.ranked_by else []
    if len(rows) > MOST_ROWS and table.average:
        numbers, hides = _of_average(table, numbers), ["other columns", *hides]
    else:
        numbers = replace(numbers, rows=rows)
    note = f"--notes shows {', '.join([*hides, 'deviations'])} ({len(listed.rows)})"
    for count in range(min(len(numbers.notes), MOST_NOTES), -1, -1):
        first = _noted(numbers, note, count)
        if len(plain_text(first, WIDTH).splitlines()) <= MOST_LINES:
            break
    return [first, *(answer for answer in answers[1:] if answer.answer)]


def _noted(numbers: Table, note: str, count: int) -> Table:
    """Return NUMBERS with a NOTE and the first COUNT of their own."""
    hidden = len(numbers.notes) - count
    return replace(
        numbers,
        notes=[f"{note}, notes ({hidden})" if hidden else note, *numbers.notes[:count]],
    )


def _of_average(table: PaperTable, numbers: Table) -> Table:
    """Return the average of each row of NUMBERS in one line: published, ours and the difference."""
    assert table.average is not None
    lines: dict[str, dict[str, Value | TableCell]] = {}
    for row in numbers.rows:
        name, what = str(row["row"]), str(row["what"]).partition(",")[0]
        lines.setdefault(name, {"row": name})[what] = row.get(table.average)
    (column,) = [each for each in numbers.columns if each.key == table.average]
    columns = [
        replace(numbers.columns[0], role="key"),
        *(replace(column, key=key, title=key) for key in ("published", "ours", "difference")),
    ]
    title = numbers.title.replace(";", f"; {table.average},", 1)
    rows = [*lines.values()]
    return replace(numbers, title=title, columns=columns, rows=rows, answer=numbers.answer[:1])


def _has_numbers(table: PaperTable, row: str, numbers: Mapping[CellKey, ComparedNumber]) -> bool:
    return any(numbers.get((row, column), NO_NUMBER).values for column in table.columns)


def example_pairs(table: PaperTable) -> list[str]:
    """Return the sentence pairs of a table's columns, with what people said of them where it is
    printed.
    """
    human = table.printed.get("human", {})
    said = {
        column: f" (people: {human[column]:g})" if human.get(column) is not None else ""
        for column in table.columns
    }
    return [
        f"{column}: {first} / {second}{said[column]}"
        for column, (first, second) in zip(table.columns, table.pairs, strict=True)
    ]


def epochs_table(
    table: PaperTable, scores: Mapping[str, Sequence[Sequence[float]]], missing: Sequence[str]
) -> Table:
    """Return the dev score after each epoch, mean ± sd over seeds; SCORES are those of each run, by
    row.
    """
    shown = {row: list(zip(*runs, strict=False)) for row, runs in scores.items() if runs}
    length = max(map(len, shown.values()), default=0)
    rows: TableRows = [
        {
            "epoch": place + 1,
            **{
                row: number(fmean(runs[place]), sd=stdev(runs[place]) if runs[place][1:] else None)
                for row, runs in shown.items()
                if place < len(runs)
            },
        }
        for place in range(length)
    ]
    columns = [
        Column(key="epoch", title="epoch", role="key"),
        *(Column(key=row, title=row, align="right") for row in shown),
    ]
    title = f"{table.paper} {table.name}: {table.summary}"
    return Table(
        title=title,
        columns=columns,
        rows=rows,
        notes=[*table.notes, *missing],
        caption=lambda: f"{title}, mean ± standard deviation.",
    )


def _caption(
    table: PaperTable, numbers: Mapping[CellKey, ComparedNumber], marks: Sequence[str]
) -> str:
    """Return what the three lines of a row are, and over how many seeds ours."""
    seeds = sorted({len(number.values) for number in numbers.values() if number.values})
    over = (
        f"; ours: mean ± standard deviation over {' or '.join(map(str, seeds))} seeds"
        if seeds and seeds[-1] > 1
        else ""
    )
    what = (
        f"{table.paper}, {table.name}: {table.summary}; "
        f"{_measured(table).replace(' x 100', ' × 100')}"
    )
    return " ".join(
        [f"{what}, as published, ours, and the difference{over}.", *data_sentences(marks)]
    )


def orders_table(table: PaperTable, row_order: RowOrder, said: Sequence[str] = ()) -> Table:
    """Return neighbours in the printed order and claimed pairs: the printed difference, ours, and
    the probability of the order.

    The notes SAID about the runs come first below it.
    """
    rows: TableRows = [_order_row(pair, table.scale) for pair in row_order.pairs]
    keys = ["better", "worse", "columns", "printed", "ours", "probability", "verdict", "claim"]
    hidden = {"columns": len(table.ranked_by) == 1, "claim": not table.claims}
    columns = columns_of(
        [key for key in keys if not hidden.get(key)],
        digits={"printed": _digits(table.scale)},
        roles={"better": "key", "worse": "key", "columns": "text", "claim": "text"},
    )
    notes = [
        *said,
        *(_ranking_note(ranking) for ranking in row_order.rankings),
        *_explanations(table, row_order),
    ]
    title = f"{table.paper} {table.name}: does the printed order hold?"
    caption = (
        f"{title} Brackets: 95% intervals. "
        f"{'. '.join(f'{note[0].upper()}{note[1:]}' for note in _explanations(table, row_order))}."
    )
    return Table(title=title, columns=columns, rows=rows, notes=notes, caption=lambda: caption)


def _measured(table: PaperTable) -> str:
    """Return what the numbers are, where one phrase fits all."""
    if table.pairs or table.by == "minutes":
        return "similarity" if table.pairs else "minutes"
    measures = {(point.measure.metric, point.measure.setting) for point in table.points}
    unit = f" x {table.scale:g}" if table.scale != 1 else ""
    return (
        f"{', '.join(filter(None, measures.pop())).capitalize()}{unit}"
        if len(measures) == 1
        else f"several measures{unit}"
    )


def _ours(numbers: Mapping[str, ComparedNumber], scale: float) -> dict[str, Value | TableCell]:
    """Return the text for people; for machines the mean, the deviation and the number of seeds."""
    cells: dict[str, Value | TableCell] = {}
    for column, each in numbers.items():
        cells[column] = _shown(each.mean, scale, sd=each.sd)
        cells[f"{column}.sd"] = each.sd
        cells[f"{column}.seeds"] = len(each.values)
    return cells


def _shown(value: float | None, scale: float, **more: Any) -> TableCell:
    return number(value, digits=_digits(scale), **more)


def _digits(scale: float) -> int:
    """Return two digits after the point for percentages, three for shares."""
    return 2 if scale > 1 else 3


def _order_row(pair: PairOrder, scale: float) -> dict[str, Value | TableCell]:
    ours = pair.ours
    ends = {} if isnan(ours.probability) else {"low": ours.low, "high": ours.high}
    return {
        "better": pair.better,
        "worse": pair.worse,
        "columns": " + ".join(pair.columns),
        "printed": pair.printed,
        "ours": _shown(ours.difference, scale, is_signed=True, **ends),
        "low": ours.low,
        "high": ours.high,
        "p": pair.p,
        "probability": number(ours.probability, digits=3),
        "verdict": _verdict(pair),
        "claim": pair.claim or None,
    }


def _verdict(pair: PairOrder) -> TableCell:
    """Return the verdict, with the sign of how far it reaches; without known variance the sign of
    the difference.
    """
    if pair.is_equal:
        return TableCell(value="equal", text="equal")
    if isnan(pair.p):
        sign = "same sign" if pair.ours.difference > 0 else "other sign"
        return TableCell(value=sign, text=sign)
    return TableCell(value=pair.verdict, text=f"{pair.verdict}{reach_mark(pair.sign)}")


def reach_mark(sign: str) -> str:
    """Return the sign of a verdict as people see it: only one that reaches less far than it could
    is marked.
    """
    return sign if sign == REACHES["checkpoints"] else ""


def _ranking_note(ranking: Ranking) -> str:
    where = f" of {ranking.group}" if ranking.group else ""
    rows = f"{ranking.rows} rows{where}, {' + '.join(ranking.columns)}"
    return f"Kendall's tau between the printed order and ours, {rows}: {_tau(ranking)}"


def _tau(ranking: Ranking) -> str:
    tau = ranking.kendall
    interval = "" if isnan(tau.low) else f" [{tau.low:+z.2f}, {tau.high:+z.2f}]"
    return "none, all rows score alike" if isnan(tau.tau) else f"{tau.tau:+z.2f}{interval}"


def _explanations(table: PaperTable, row_order: RowOrder) -> Sequence[str]:
    if not row_order.pairs:
        return ("fewer than two rows are there: nothing to put in order",)
    over = "pairs" if {*table.tasks} == {DEFAULT_TASK} else "test items where they are stored"
    averaged = (
        ["ordered by the mean of " + ", ".join(table.ranked_by[0])]
        if len(table.ranked_by) == 1 and len(table.ranked_by[0]) > 1
        else []
    )
    return (
        *averaged,
        "pairs shown: neighbours in the printed order, whose differences are the smallest, "
        "and those that the text is about",
        f"probability: that ours are in the printed order, over {over}, the same for every "
        f"row (those of one topic count as "
        "dependent), and over seeds",
        verdict_note(sum(not isnan(pair.p) for pair in row_order.pairs), "pair", "of the table"),
        *(
            [REACH_SIGN.replace(" ", ": ", 1)]
            if any(pair.sign == REACHES["checkpoints"] for pair in row_order.pairs)
            else []
        ),
    )


def verdict_note(count: int, noun: str, of: str) -> str:
    """Return what a verdict is, and over how many it is corrected."""
    family = f"the {count} {noun}s {of}" if count != 1 else f"the one {noun} {of}"
    return (
        f"verdict: holds or reversed by a two-sided test at 5%, corrected by Holm over "
        f"{family}; otherwise open"
    )
