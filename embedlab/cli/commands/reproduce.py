"""`embedlab reproduce`: a paper's tables run here, beside what it prints."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from embedlab.cli import completion
from embedlab.cli.figure_files import FigureNames, check_figures, write_figures
from embedlab.cli.grid_options import DryRun, show_cells
from embedlab.cli.options import Signed, common, examples
from embedlab.cli.page_facts import HtmlFile, check_page, page_facts
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode

if TYPE_CHECKING:
    from embedlab.papers.table import PaperTable
    from embedlab.workflows.reproduce.plan import ReproductionOptions

EXAMPLES = examples(
    "embedlab reproduce liao table7 --data DIR --encoder MODEL --seeds 3",
    "embedlab reproduce tsukagoshi --published-only",
    "embedlab reproduce tsukagoshi table3 --from runs --data DIR --html table3.html",
    "embedlab reproduce tsukagoshi --claims --data DIR",
)


@common("data", "runs", "machine", "output", "latex")
def reproduce(
    paper: Annotated[str | None, typer.Argument(metavar="PAPER", help="A paper's name.", autocompletion=completion.papers)] = None,
    table: Annotated[str | None, typer.Argument(metavar="TABLE", help="One of its tables.", autocompletion=completion.tables)] = None,
    published_only: Annotated[bool, typer.Option("--published-only", help="Print the paper's numbers; run nothing.")] = False,
    claims: Annotated[bool, typer.Option("--claims", help="Print whether its claims hold; train nothing.")] = False,
    from_: Annotated[
        Literal["runs", "scores"] | None,
        typer.Option("--from", help="Train nothing: use the runs that are there, or only what --row gives."),
    ] = None,
    row: Annotated[
        list[str] | None, typer.Option("--row", metavar="ROW=MODEL", help="Take MODEL for a row: any model, or scores:FILE.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", metavar="N", min=1, max=10_000, help="Each of the seeds 1 to N. [default: 3]")
    ] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Another value for a key of every recipe.")] = None,
    encoder: Annotated[
        str | None, typer.Option("--encoder", metavar="MODEL", help="Start every row from this encoder.", autocompletion=completion.models)
    ] = None,
    workers: Annotated[int | None, typer.Option("--workers", metavar="N", min=1, max=4096, help="Number of parallel trainings.")] = None,
    html: HtmlFile = None,
    figure: FigureNames = None,
    signature: Signed = False,
    dry_run: DryRun = False,
    *,
    terminal: Terminal,
) -> None:
    """Run a TABLE of PAPER and print its numbers beside the published ones, the differences, and whether the order of the rows holds.

    A training that another table or grid has made is not repeated; it can be interrupted at any time, and the same command continues. Every
    deviation from the paper is shown above the numbers. Without a TABLE the paper's tables are listed. --claims prints which of the paper's
    sentences about an order hold here, are reversed, stay open, or are not measured.
    """
    from embedlab.workflows.reproduce.plan import ReproductionOptions, Shown, check_selection

    check_selection(
        paper,
        table,
        Shown(
            published=published_only,
            runs=from_ is not None,
            page=html is not None or bool(figure),
            plan=dry_run,
            claims=claims,
            figure=bool(figure),
        ),
    )
    from embedlab.papers.file import select_tables
    from embedlab.reports import reproduction_tables as tables

    if paper is None:
        return terminal.show(tables.papers_table())
    chosen = select_tables(paper, table)
    if published_only:
        return terminal.show(*(tables.printed_table(one) for one in chosen))
    if table is None and from_ is None and not claims:
        return terminal.show(tables.contents_table(paper, chosen))
    options = ReproductionOptions(
        overrides=tuple(set_ or ()),
        encoder=encoder,
        seeds=seeds,
        workers=workers,
        trains=from_ is None and not claims,
        models=tuple(row or ()),
        uses_runs=from_ != "scores",
    )
    if claims:
        return _settle(chosen, options, html, terminal)
    if dry_run:
        return _show_trainings(chosen, options, terminal)
    return _reproduce(chosen, options, html, figure, terminal, is_signed=signature)


def _settle(chosen: "Sequence[PaperTable]", options: "ReproductionOptions", html: Path | None, terminal: Terminal) -> None:
    """Show whether the claims about the chosen tables hold."""
    from embedlab.reports.claims_table import claims_table
    from embedlab.workflows.reproduce.claims import measure_claims

    check_page(html)
    found = measure_claims(chosen, options, terminal)
    table = claims_table(found.paper, found.tables, found.settled, marks=found.marks, notes=found.notes)
    terminal.show(table)
    if html is not None:
        from embedlab.reports.reproduction_page import write_claims_page

        write_claims_page(html, found.paper, table, page_facts(found.states))
        terminal.note(f"the page is {html}")


def _show_trainings(chosen: "Sequence[PaperTable]", options: "ReproductionOptions", terminal: Terminal) -> None:
    """Show the trainings of the chosen tables and what they cost."""
    from embedlab.workflows.reproduce.run import trainings_of

    show_cells(trainings_of(chosen, options, terminal.settings), terminal)


def _reproduce(
    chosen: "Sequence[PaperTable]",
    options: "ReproductionOptions",
    html: Path | None,
    figure: Sequence[str] | None,
    terminal: Terminal,
    *,
    is_signed: bool,
) -> None:
    """Show every chosen table next to ours; a table that holds no scores is shown as it is published."""
    from embedlab.cli.grid_board import board
    from embedlab.reports.figure_subjects import ReproducedTables
    from embedlab.reports.reproduction_tables import printed_table
    from embedlab.workflows.reproduce.run import reproduce_tables

    check_page(html)
    figures = check_figures(figure, ReproducedTables)
    found = reproduce_tables([one for one in chosen if one.sources], options, terminal, partial(board, terminal=terminal))
    shown = iter(found)
    parts = (part for one in chosen for part in (next(shown).tables if one.sources else [printed_table(one)]))
    terminal.show(*(replace(part, is_signed=is_signed) for part in parts))
    if html is not None:
        from embedlab.reports.reproduction_page import write_reproduction_page

        write_reproduction_page(html, found, page_facts)
        terminal.note(f"the page is {html}")
    write_figures(figures, ReproducedTables(found=found), terminal)
    if any(one.has_failed for one in found):
        raise typer.Exit(ExitCode.FAILED)
