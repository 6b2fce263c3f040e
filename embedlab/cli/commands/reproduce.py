"""`embedlab reproduce`: a paper's tables run here, beside what it prints."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import typer

from embedlab.cli.generated_options import takes
from embedlab.cli.grid_options import CellsOptions, show_cells
from embedlab.cli.options import common, examples
from embedlab.cli.page_facts import page_facts
from embedlab.cli.reporting import PageOptions, write_figures
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode
from embedlab.workflows.options.reproduce import ReproductionOptions

if TYPE_CHECKING:
    from embedlab.experiments.paper_table import PaperTable

EXAMPLES = examples(
    "embedlab reproduce liao table7 --data DIR --encoder MODEL --seeds 3",
    "embedlab reproduce liao all --data tiny --seeds 1 --html liao.html",
    "embedlab reproduce tsukagoshi --published-only",
    "embedlab reproduce tsukagoshi table3 --from runs --data DIR --html table3.html",
    "embedlab reproduce tsukagoshi --claims --data DIR",
)


@common("data", "runs", "machine", "output", "latex")
@takes
def reproduce(
    options: ReproductionOptions, shown: PageOptions, cells: CellsOptions, *, terminal: Terminal
) -> None:
    """Run a TABLE of PAPER and print its numbers beside the published ones, the differences, and
    whether the order of the rows holds.

    A training that another table or grid has made is not repeated; it can be interrupted at any
    time, and the same command continues. Every deviation from the paper is shown above the numbers.
    TABLE all runs every table. Without a TABLE the paper's tables are listed, with how much of each
    is trained here, how long the rest takes and which data is missing. --claims prints which of the
    paper's sentences about an order hold here, are reversed, stay open, or are not measured.
    """
    from embedlab.workflows.reproduce.plan import check_selection

    check_selection(
        options, is_plan=cells.dry_run, is_page=shown.html is not None, is_figure=bool(shown.figure)
    )
    from embedlab.experiments.paper_file import select_tables
    from embedlab.reports import papers as tables

    if options.paper is None:
        return terminal.show(tables.papers_table())
    chosen = select_tables(options.paper, options.table)
    if options.published_only:
        return terminal.show(*(tables.printed_table(table) for table in chosen))
    if options.table is None and options.trains:
        from embedlab.workflows.reproduce.plan import progress_of

        progress, where = progress_of(chosen, options, terminal.settings)
        return terminal.show(tables.contents_table(options.paper, chosen, progress, where))
    if options.claims:
        return _settle(chosen, options, shown, terminal)
    if cells.dry_run:
        return _show_trainings(chosen, options, terminal)
    return _reproduce(chosen, options, shown, terminal)


def _settle(
    chosen: "Sequence[PaperTable]",
    options: ReproductionOptions,
    shown: PageOptions,
    terminal: Terminal,
) -> None:
    """Show whether the claims about the chosen tables hold."""
    from embedlab.reports.claims_table import claims_table
    from embedlab.workflows.reproduce.claims import measure_claims

    shown.check_page()
    claims = measure_claims(chosen, options, terminal)
    table = claims_table(
        claims.paper, claims.tables, claims.settled, marks=claims.marks, notes=claims.notes
    )
    terminal.show(table)
    if shown.html is not None:
        from embedlab.reports.sections import write_claims_page

        write_claims_page(shown.html, claims.paper, table, page_facts(claims.states))
        terminal.note(f"the page is {shown.html}")


def _show_trainings(
    chosen: "Sequence[PaperTable]", options: ReproductionOptions, terminal: Terminal
) -> None:
    """Show the trainings of the chosen tables, where they deviate, what they cost, and which data
    they would refuse.
    """
    from embedlab.workflows.reproduce.plan import refused_data
    from embedlab.workflows.reproduce.run import trainings_of

    planned = trainings_of(chosen, options, terminal.settings)
    show_cells(planned, terminal)
    for error in refused_data(planned, terminal.settings):
        terminal.report(error)


def _reproduce(
    chosen: "Sequence[PaperTable]",
    options: ReproductionOptions,
    shown: PageOptions,
    terminal: Terminal,
) -> None:
    """Show every chosen table next to ours; a table that holds no scores is shown as it is
    published.
    """
    from embedlab.cli.grid_board import board
    from embedlab.workflows.reproduce.run import reproduce_tables, shown_tables

    shown.check_page()
    figures = shown.checked("reproduce")
    reproductions = reproduce_tables(chosen, options, terminal, partial(board, terminal=terminal))
    is_brief = terminal.settings.format == "table" and not terminal.settings.notes
    parts = shown_tables(chosen, reproductions, is_brief=is_brief)
    terminal.show(*(replace(part, is_signed=shown.signature) for part in parts))
    if shown.html is not None:
        from embedlab.reports.sections import write_reproduction_page

        write_reproduction_page(shown.html, reproductions, page_facts)
        terminal.note(f"the page is {shown.html}")
    write_figures(figures, {"reproductions": reproductions}, terminal)
    if any(reproduction.has_failed for reproduction in reproductions):
        raise typer.Exit(ExitCode.FAILED)
