"""A paper's tables next to ours, as a report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import polars as pl

from embedlab.experiments.paper_file import select_tables
from embedlab.reports.claims_table import KEYS, claims_table
from embedlab.reports.papers import Reproduction, printed_table
from embedlab.workflows.options.reproduce import ReproductionOptions
from embedlab.workflows.report import Report, report_of
from embedlab.workflows.reproduce.claims import measure_claims
from embedlab.workflows.reproduce.run import reproduce_tables, shown_tables
from embedlab.workflows.session import Session

NUMBERS = {
    "paper": pl.String(),
    "table": pl.String(),
    "row": pl.String(),
    "column": pl.String(),
    "published": pl.Float64(),
    "ours": pl.Float64(),
    "sd": pl.Float64(),
    "seeds": pl.Int64(),
    "difference": pl.Float64(),
}

FIGURES = {"size", "printed", "ours", "low", "high", "p", "visible"}
CLAIMS = {key: pl.Float64() if key in FIGURES else pl.String() for key in KEYS}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReproductionReport(Report):
    """Tables of a paper; the frame has one row a number."""

    command: ClassVar[str] = "reproduce"
    has_failed: bool = False  # whether a training failed
    found: Sequence[Reproduction] = ()  # the tables next to ours

    def drawn(self) -> Mapping[str, Any]:
        """The tables next to ours."""
        return {"reproductions": self.found}


def reproduction_report(options: ReproductionOptions, session: Session) -> ReproductionReport:
    """The tables of a paper next to ours, or as published alone."""
    assert options.paper is not None
    chosen = select_tables(options.paper, options.table)
    if options.published_only:
        return ReproductionReport(**vars(report_of([printed_table(table) for table in chosen])))
    reproductions = reproduce_tables(chosen, options, session)
    tables = tuple(shown_tables(chosen, reproductions))
    return ReproductionReport(
        frame=pl.concat([pl.DataFrame(schema=NUMBERS), *map(_numbers, reproductions)]),
        tables=tables,
        notes=tuple(dict.fromkeys(note for table in tables for note in table.notes)),
        has_failed=any(reproduction.has_failed for reproduction in reproductions),
        found=reproductions,
    )


def claims_report(options: ReproductionOptions, session: Session) -> Report:
    """The verdicts on a paper's claims; the frame has one row a claim."""
    assert options.paper is not None
    claims = measure_claims(select_tables(options.paper, options.table), options, session)
    shown = claims_table(
        claims.paper, claims.tables, claims.settled, marks=claims.marks, notes=claims.notes
    )
    return Report(
        frame=pl.DataFrame(shown.data()["rows"], schema=CLAIMS),
        tables=(shown,),
        notes=tuple(shown.notes),
    )


def _numbers(reproduction: Reproduction) -> pl.DataFrame:
    rows = [
        (
            reproduction.table.paper,
            reproduction.table.name,
            row,
            column,
            number.printed,
            number.mean,
            number.sd,
            len(number.values),
            number.difference,
        )
        for (row, column), number in reproduction.numbers.items()
    ]
    return pl.DataFrame(rows, schema=NUMBERS, orient="row")
