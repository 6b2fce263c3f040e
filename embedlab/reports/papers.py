"""A paper's tables next to ours: published numbers, deviations, and whether the order holds."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from pathlib import Path
from typing import Any

import polars as pl

from embedlab.analysis.claims import SettledClaim
from embedlab.analysis.seed_notes import REACH_SIGN, REACHES
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.paths import data_name
from embedlab.core.printable import duration
from embedlab.experiments.deviations import rows_text
from embedlab.experiments.matching_runs import CellKey
from embedlab.experiments.paper_file import (
    ALL_TABLES,
    load_paper,
    paper_names,
    published_table,
    published_tables,
    published_texts,
    read_paper,
)
from embedlab.experiments.paper_table import Deviation, PaperTable
from embedlab.experiments.row_order import Ranking, RowOrder
from embedlab.reports.layout import plain_text
from embedlab.reports.notes import data_sentences, with_marks
from embedlab.reports.tables import (
    ABSENT,
    Column,
    Table,
    TableCell,
    Value,
    attributes,
    columns_of,
    number,
)
from embedlab.scoring.task_comparison import ComparisonInput


@dataclass(frozen=True, kw_only=True, eq=False)
class Reproduction:
    """A table of a paper next to ours."""

    table: PaperTable
    deviations: Table
    answers: tuple[Table, ...]  # the numbers, and whether the order holds
    has_failed: bool  # whether a training failed
    # of `numbers_frame`; of a figure along epochs these are its columns, of slices there are none
    numbers: pl.DataFrame
    cuts: Sequence[str] = ()  # of a figure of slices: the property of each answer
    scored: ComparisonInput | None = None

    @property
    def tables(self) -> tuple[Table, ...]:
        """What is shown, deviations first."""
        return self.deviations, *self.answers


# What people see first, as wide as a terminal: rows with all columns, and lines of all.
MOST_ROWS, MOST_LINES, WIDTH = 8, 25, 80

TableRows = list[dict[str, Value | TableCell]]


def papers_table() -> Table:
    """Return the papers that can be reproduced."""
    rows: TableRows = [
        {"paper": paper, "tables": len(load_paper(paper)), "summary": read_paper(paper).summary}
        for paper in paper_names()
    ]
    notes = ("`embedlab reproduce PAPER` lists its tables and figures",)
    return Table("Papers", columns_of("paper", "tables", "summary [text]"), rows, notes)


@dataclass(frozen=True, kw_only=True)
class TableProgress:
    """How much of a table is trained here."""

    done: int
    cells: int  # rows and seeds
    seconds: float | None  # for the others on this machine; None where nothing is measured or left
    missing_data: tuple[str, ...]  # what data is missing


_CONTENTS = columns_of(
    "table [key]",
    "summary [text]",
    "rows [minor]",
    "task [minor]",
    "printed [minor]",
    "done = trained",
    "seconds = left",
    "here [minor]",
)


def contents_table(
    paper: str,
    tables: Sequence[PaperTable],
    progress: Mapping[str, TableProgress],
    where: str,
    data: Path | None = None,
) -> Table:
    """Return the tables and figures of a paper, how much of each is done here, and the command that
    fills it, which reads DATA; WHERE names the machine on which the trainings would run.
    """
    name, printed_names = tables[0].paper, published_tables(paper)
    base_name_counts = Counter(table.name.split("_")[0] for table in tables)
    rows: TableRows = []
    for table in tables:
        base_name = table.name.split("_")[0]
        rows.append(
            {
                "table": TableCell(
                    table.name, base_name if base_name_counts[base_name] == 1 else table.name
                ),
                "summary": table.summary,
                "rows": len(table.sources) or None,
                "task": ", ".join(table.tasks) if table.sources else None,
                "printed": table.name in printed_names,
                **_progress(progress.get(table.name)),
                "here": table.shown_by or f"embedlab reproduce {table.typed}",
            }
        )
    all_command = f"embedlab reproduce {shlex.quote(paper)} {ALL_TABLES}"
    total = progress.get(ALL_TABLES) or next(iter(progress.values()), None)
    if ALL_TABLES in progress:
        all_tables = {"table": ALL_TABLES, "summary": "every table, each training once"}
        rows.append({**all_tables, **_progress(total), "here": all_command})
    missing_data = dict.fromkeys(
        text for table_progress in progress.values() for text in table_progress.missing_data
    )
    remaining_note = f"left: not known until a training of each encoder has run here ({where})"
    if total is None or total.done == total.cells:
        remaining_note = "no training is left"
    elif total.seconds is not None:
        remaining_note = f"left: {where}, after the speed of runs that are here"
    size = read_paper(paper).full_size
    folder = "DIR" if data is None else shlex.quote(data_name(data))
    notes = (
        *(f"missing: {text}" for text in missing_data),
        f"`{all_command} --data {folder} --html {name}.html` trains what is left and evaluates",
        remaining_note,
        *([f"at the paper's size: {size}"] if size else []),
    )
    return Table(f"{name}: {read_paper(paper).summary}", _CONTENTS, rows, notes)


def _progress(progress: TableProgress | None) -> dict[str, Value | TableCell]:
    if progress is None:
        return {}
    remaining = ABSENT if progress.seconds is None else duration(progress.seconds)
    return {
        "done": TableCell(progress.done, f"{progress.done} of {progress.cells}"),
        "cells": progress.cells,
        "seconds": TableCell(progress.seconds, remaining),
        "lacks": ", ".join(progress.missing_data) or None,
    }


def printed_table(table: PaperTable) -> Table:
    """Return the published numbers; for a figure without numbers only its notes."""
    notes = [*table.notes]
    if table.shown_by:
        notes.append(f"the same here: {table.shown_by}")
    title = f"{table.title}: {table.summary}, as published"
    is_printed = table.name in published_tables(table.address)
    if not is_printed or (table.sources and not table.printed):
        notes.insert(0, "the paper prints no numbers of it")
        return Table(
            title, columns_of("row [text]"), [{"row": row} for row in table.sources], notes
        )
    frame = published_table(table.address, table.name)
    texts = published_texts(table.address, table.name)
    columns = [
        Column(name, name, "key" if name in table.key else "score") for name in frame.columns
    ]
    rows: TableRows = []
    for values, row_texts in zip(frame.rows(), texts.rows(), strict=True):
        cells = zip(frame.columns, values, row_texts, strict=True)
        rows.append(
            {name: None if text is None else TableCell(value, text) for name, value, text in cells}
        )
    caption = f"{title}."
    return Table(title, columns, rows, notes, score_columns="column", caption=lambda: caption)


def deviations_table(
    table: PaperTable, deviations: Sequence[Deviation], trained: Sequence[str]
) -> Table:
    """Return the deviations and the rows they hold for, shown above the numbers; TRAINED are the
    rows with a run.
    """
    rows: TableRows = [
        {
            **attributes(deviation, "what paper here"),
            "rows": rows_text(deviation, trained),
            "source": deviation.source or None,
        }
        for deviation in deviations
    ]
    columns = columns_of(
        "what [text] <", "paper [text] <", "here [text] <", "rows <", "source [minor] <"
    )
    if not any(deviation.source for deviation in deviations):
        del columns[-1]
    notes = () if rows else ("none is known" if trained else "no row has a finished run here",)
    title = f"{table.title}: deviations from the paper"
    return Table(title, columns, rows, notes, caption=lambda: f"{title}.")


def numbers_table(
    table: PaperTable,
    numbers: pl.DataFrame,
    marks: Sequence[str],
    missing_notes: Sequence[str],
    row_order: RowOrder | None = None,
) -> Table:
    """Return three lines a row: published, ours (mean ± sd over seeds), and the difference, with
    an answer about ROW_ORDER above them.
    """
    digits = _digits(table.scale)
    entry_of_cell = _entries(numbers)
    measured = {row for (row, _), entry in entry_of_cell.items() if entry["seeds"]}
    rows: TableRows = []
    partial_notes = []
    for row, source in table.sources.items():
        entries = {column: entry_of_cell.get((row, column), {}) for column in table.columns}
        cells = {column: _line_cells(entry, digits) for column, entry in entries.items()}
        present = [name for name in source.best_of if name in measured]
        for what in ("published", "ours", "difference"):
            values = {column: lines[what] for column, lines in cells.items()}
            if all(cell.value is None for cell in values.values()):
                continue
            line: dict[str, Value | TableCell] = {"row": row, "what": what, **values}
            if what == "ours":
                for column, entry in entries.items():
                    line |= {f"{column}.sd": entry.get("sd")}
                    line |= {f"{column}.seeds": entry.get("seeds", 0)}
                if len(present) < len(source.best_of):
                    line["what"] = f"ours, of {len(present)} of {len(source.best_of)} rows"
                    absent = ", ".join(name for name in source.best_of if name not in present)
                    partial_notes.append(
                        f"{row}: the best of {', '.join(present)} alone, without {absent}"
                    )
            rows.append(line)
    columns = [Column("row", " ".join(table.key), "group"), Column("what", "", "key")]
    columns += [Column(name, name, "difference", "right", digits) for name in table.columns]
    title = f"{table.title}: {table.summary}; {_measures_title(table)}"
    return Table(
        with_marks(title, marks),
        columns,
        rows,
        [*missing_notes, *partial_notes, *table.notes],
        answer=[*_answer(table, numbers, row_order)],
        caption=lambda: _caption(table, numbers, marks),
    )


Entry = Mapping[str, Any]  # a row of `numbers_frame`; empty where a cell has no number


def _entries(numbers: pl.DataFrame) -> dict[CellKey, Entry]:
    return {(entry["row"], entry["column"]): entry for entry in numbers.iter_rows(named=True)}


def _line_cells(entry: Entry, digits: int) -> dict[str, TableCell]:
    """Return a number of ours as the three lines of its row have it."""
    return {
        "published": number(entry.get("published"), digits=digits),
        "ours": number(entry.get("ours"), digits=digits, sd=entry.get("sd")),
        "difference": number(entry.get("difference"), digits=digits, is_signed=True),
    }


def _answer(table: PaperTable, numbers: pl.DataFrame, row_order: RowOrder | None) -> Iterator[str]:
    """Yield how many pairs of rows are in the printed order, and how far ours are from it."""
    if not numbers["ours"].count():
        yield "No row has a number here."
        return
    if row_order is not None and row_order.pairs:
        outcomes = Counter(map(_outcome, row_order.pairs))
        counts = ", ".join(
            f"{outcomes[outcome]} {description}"
            for outcome, description in _OUTCOMES.items()
            if outcomes[outcome]
        )
        taus = [
            f"; Kendall's tau{f' of {ranking.group}' if ranking.group else ''} {_tau(ranking)}"
            for ranking in row_order.rankings
            if not isnan(ranking.kendall.tau)
        ]
        count = len(row_order.pairs)
        pairs = f"{count} pair{'s' * (count > 1)} of rows"
        yield f"The order of {pairs}: {counts}{''.join(taus)}."
    column = table.average or (table.columns[0] if len(table.columns) == 1 else None)
    of_column = numbers if column is None else numbers.filter(column=column)
    differences = of_column["difference"].drop_nulls().to_list()
    if differences:
        extremes = dict.fromkeys(
            f"{value:+z.{_digits(table.scale)}f}" for value in (min(differences), max(differences))
        )
        yield f"Ours minus the published values, {column or 'all columns'}: {' to '.join(extremes)}."


# What is said of a pair of rows, in this order.
_OUTCOMES = {
    "holds": "as printed",
    **{each: each for each in ("reversed", "open", "equal", "not tested", "not concluded")},
}


def _outcome(pair: SettledClaim) -> str:
    if pair.verdict == "not measured":
        return "not concluded"
    if pair.is_equal:
        return "equal"
    return "not tested" if isnan(pair.p) else pair.verdict


def brief(reproduction: Reproduction) -> list[Table]:
    """Return what people see first of a reproduced table: the answer and the numbers, with a note
    on the deviations and on the rest.

    Of many rows it is the average, published and ours in one line, where the paper prints one.
    """
    if not reproduction.answers:
        return [reproduction.deviations]
    table, (numbers, *other_tables) = reproduction.table, reproduction.answers
    rows = [row for row in numbers.rows if row.get("what") != "difference"]
    hidden = ["the order of pairs"] if table.ranked_by else []
    shown = replace(numbers, rows=rows)
    if len(rows) > MOST_ROWS and table.average:
        shown, hidden = _average_table(reproduction, table.average), ["other columns", *hidden]
    hidden.append(f"deviations ({len(reproduction.deviations.rows)})")
    shown = replace(shown, hidden_note=f"--notes shows {', '.join(hidden)}")
    while shown.most_notes and len(plain_text(shown, WIDTH).splitlines()) > MOST_LINES:
        shown = replace(shown, most_notes=shown.most_notes - 1)
    return [shown, *(answer for answer in other_tables if answer.answer)]


def _average_table(reproduction: Reproduction, average: str) -> Table:
    """Return the AVERAGE of each row in one line: published, ours and the difference."""
    numbers, digits = reproduction.answers[0], _digits(reproduction.table.scale)
    entry_of_cell = _entries(reproduction.numbers)
    rows: TableRows = [
        {"row": row, **_line_cells(entry_of_cell.get((row, average), {}), digits)}
        for row in dict.fromkeys(str(line["row"]) for line in numbers.rows)
    ]
    columns = [replace(numbers.columns[0], role="key")]
    columns += columns_of(*(f"{key} [difference] >" for key in ("published", "ours", "difference")))
    title = numbers.title.replace(";", f"; {average},", 1)
    return replace(numbers, title=title, columns=columns, rows=rows, answer=numbers.answer[:1])


def example_pairs(table: PaperTable) -> Iterator[str]:
    """Yield the sentence pairs of a table's columns, with what people said of them where it is
    printed.
    """
    human = table.printed.get("human", {})
    for column, (first, second) in zip(table.columns, table.pairs, strict=True):
        human_score = human.get(column)
        people = "" if human_score is None else f" (people: {human_score:g})"
        yield f"{column}: {first} / {second}{people}"


def epochs_table(table: PaperTable, numbers: pl.DataFrame, missing_notes: Sequence[str]) -> Table:
    """Return the dev score after each epoch, mean ± sd over seeds, of the NUMBERS whose columns are
    the epochs.
    """
    scored_rows = [*dict.fromkeys(numbers["row"])]
    rows: TableRows = []
    for (epoch,), scores in numbers.group_by("column", maintain_order=True):
        cells = {
            row: number(ours, sd=sd) for row, ours, sd in scores.select("row", "ours", "sd").rows()
        }
        rows.append({"epoch": int(epoch), **cells})
    columns = [
        Column("epoch", "epoch", "key"),
        *(Column(row, row, None, "right") for row in scored_rows),
    ]
    title = f"{table.title}: {table.summary}"
    caption = f"{title}, mean ± standard deviation."
    return Table(title, columns, rows, [*table.notes, *missing_notes], caption=lambda: caption)


def _caption(table: PaperTable, numbers: pl.DataFrame, marks: Sequence[str]) -> str:
    """Return what the three lines of a row are, and over how many seeds ours."""
    seeds = sorted({*numbers.filter(pl.col("seeds") > 0)["seeds"]})
    seeds_note = ""
    if seeds and seeds[-1] > 1:
        counts = " or ".join(map(str, seeds))
        seeds_note = f"; ours: mean ± standard deviation over {counts} seeds"
    measure = _measures_title(table).replace(" x 100", " × 100")
    subject = f"{table.paper}, {table.name}: {table.summary}; {measure}"
    sentence = f"{subject}, as published, ours, and the difference{seeds_note}."
    return " ".join([sentence, *data_sentences(marks)])


def orders_table(table: PaperTable, row_order: RowOrder, notes: Sequence[str] = ()) -> Table:
    """Return neighbours in the printed order and claimed pairs: the printed difference, ours, and
    the probability of the order.

    NOTES about the runs come first below it.
    """
    digits = _digits(table.scale)
    columns = columns_of(
        "better [key]",
        "worse [key]",
        "columns [text]",
        f"printed .{digits}",
        "ours",
        "probability",
        "verdict",
        "claim [text]",
    )
    hidden = {"columns": len(table.ranked_by) == 1, "claim": not table.claims}
    rows: TableRows = []
    for pair in row_order.pairs:
        claim = pair.claim
        verdict, sign = str(pair.verdict), ""
        if pair.is_equal:
            verdict = "equal"
        elif isnan(pair.p):
            verdict = "same sign" if pair.difference > 0 else "other sign"
        else:
            sign = reach_mark(pair.sign)
        rows.append(
            {
                "better": claim.first,
                "worse": claim.second,
                "printed": table.printed_difference(claim),
                "columns": " + ".join(claim.columns),
                "ours": interval_cell(pair, digits),
                **attributes(pair, "low high p"),
                "probability": number(pair.probability, digits=3),
                "verdict": TableCell(verdict, f"{verdict}{sign}"),
                "claim": claim.text or None,
            }
        )
    title = f"{table.title}: does the printed order hold?"
    explained = [*_explanations(table, row_order)]
    sentences = ". ".join(f"{note[0].upper()}{note[1:]}" for note in explained)
    caption = f"{title} Brackets: 95% intervals. {sentences}."
    return Table(
        title,
        [column for column in columns if not hidden.get(column.key)],
        rows,
        [*notes, *map(_ranking_note, row_order.rankings), *explained],
        caption=lambda: caption,
    )


def _measures_title(table: PaperTable) -> str:
    """Return what the numbers are, where one phrase fits all."""
    if table.pairs or table.by == "minutes":
        return "similarity" if table.pairs else "minutes"
    measures = {(point.measure.metric, point.measure.setting) for point in table.points}
    unit = f" x {table.scale:g}" if table.scale != 1 else ""
    if len(measures) > 1:
        return f"several measures{unit}"
    return f"{', '.join(filter(None, measures.pop())).capitalize()}{unit}"


def _digits(scale: float) -> int:
    """Return two digits after the point for percentages, three for shares."""
    return 2 if scale > 1 else 3


def reach_mark(sign: str) -> str:
    """Return the sign of a verdict as people see it: only one that reaches less far than it could
    is marked.
    """
    return sign if sign == REACHES["checkpoints"] else ""


def interval_cell(settled: SettledClaim, digits: int) -> TableCell:
    """Return what was measured of a claim with its interval."""
    interval = attributes(settled, "low high")
    return number(settled.difference, digits=digits, is_signed=True, **interval)


def _ranking_note(ranking: Ranking) -> str:
    group_note = f" of {ranking.group}" if ranking.group else ""
    rows = f"{ranking.rows} rows{group_note}, {' + '.join(ranking.columns)}"
    return f"Kendall's tau between the printed order and ours, {rows}: {_tau(ranking)}"


def _tau(ranking: Ranking) -> str:
    tau = ranking.kendall
    interval = "" if isnan(tau.low) else f" [{tau.low:+z.2f}, {tau.high:+z.2f}]"
    return "none, all rows score alike" if isnan(tau.tau) else f"{tau.tau:+z.2f}{interval}"


def _explanations(table: PaperTable, row_order: RowOrder) -> Iterator[str]:
    if not row_order.pairs:
        yield "fewer than two rows have numbers: there is no order to test"
        return
    if len(table.ranked_by) == 1 and len(table.ranked_by[0]) > 1:
        yield f"ordered by the mean of {', '.join(table.ranked_by[0])}"
    units = "pairs" if {*table.tasks} == {DEFAULT_TASK} else "test items where they are stored"
    yield (
        "pairs shown: neighbours in the printed order, whose differences are the smallest, "
        "and those that the text is about"
    )
    yield (
        f"probability: that ours are in the printed order, over {units}, the same for every "
        "row (those of one topic count as dependent), and over seeds"
    )
    yield verdict_note(sum(not isnan(pair.p) for pair in row_order.pairs), "pair", "of the table")
    if any(pair.sign == REACHES["checkpoints"] for pair in row_order.pairs):
        yield REACH_SIGN.replace(" ", ": ", 1)


def verdict_note(count: int, noun: str, scope: str) -> str:
    """Return what a verdict is, and over how many it is corrected."""
    family = f"the {count} {noun}s {scope}" if count != 1 else f"the one {noun} {scope}"
    return (
        f"verdict: holds or reversed by a two-sided test at 5%, corrected by Holm over "
        f"{family}; otherwise open"
    )
