"""`embedlab reproduce`: a paper's tables run here, beside what it prints."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from embedlab.cli import completion
from embedlab.cli.grid_options import DryRun, show_cells
from embedlab.cli.options import common, examples
from embedlab.cli.page_facts import HtmlFile, check_page
from embedlab.cli.reproduction_options import ReproductionOptions
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from embedlab.papers.table import PaperTable

EXAMPLES = examples(
    "embedlab reproduce liao table7 --data DIR --encoder MODEL --seeds 3",
    "embedlab reproduce tsukagoshi --published-only",
    "embedlab reproduce tsukagoshi table3 --from runs --data DIR --html table3.html",
)


def _complete_papers(incomplete: str) -> list[str]:
    from embedlab.papers.file import paper_names

    return [name for name in paper_names() if name.startswith(incomplete)]


def _complete_tables(context: typer.Context, incomplete: str) -> list[str]:
    from embedlab.papers.file import load_paper, paper_names

    paper = context.params.get("paper")
    return [name for name in load_paper(paper) if name.startswith(incomplete)] if paper in paper_names() else []


@common("data", "runs", "machine", "output")
def reproduce(
    paper: Annotated[str | None, typer.Argument(metavar="PAPER", help="A paper's name.", autocompletion=_complete_papers)] = None,
    table: Annotated[str | None, typer.Argument(metavar="TABLE", help="One of its tables.", autocompletion=_complete_tables)] = None,
    published_only: Annotated[bool, typer.Option("--published-only", help="Print the paper's numbers; run nothing.")] = False,
    from_: Annotated[Literal["runs"] | None, typer.Option("--from", help="Train nothing: use the runs that are there.")] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", metavar="N", min=1, max=10_000, help="Each of the seeds 1 to N. [default: 3]")
    ] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Another value for a key of every recipe.")] = None,
    encoder: Annotated[
        str | None, typer.Option("--encoder", metavar="MODEL", help="Start every row from this encoder.", autocompletion=completion.models)
    ] = None,
    workers: Annotated[int | None, typer.Option("--workers", metavar="N", min=1, max=4096, help="Trainings at once.")] = None,
    html: HtmlFile = None,
    dry_run: DryRun = False,
    *,
    terminal: Terminal,
) -> None:
    """Run a TABLE of PAPER and print its numbers beside the published ones, the differences, and whether the order of the rows holds.

    A training that another table or grid has made is not repeated; kill it whenever you like, the same command goes on. Every
    deviation from the paper stands above the numbers. Without a TABLE the paper's tables are listed.
    """
    from embedlab.papers.file import select_tables
    from embedlab.reports import reproduction_tables as tables

    if dry_run and (table is None or published_only or from_ is not None or html is not None):
        raise UsageError("--dry-run prints the trainings of one table", hint="name the paper and the table, without another way to show it")
    if paper is None:
        if html is not None:
            raise UsageError("--html writes a page of a paper's tables", hint="name the paper, and a table or --from runs")
        return terminal.show(tables.papers_table())
    chosen = select_tables(paper, table)
    if published_only and from_ is not None:
        raise UsageError(
            "--published-only and --from exclude each other", hint="--published-only prints what the paper says, and nothing of ours"
        )
    if html is not None and (published_only or (table is None and from_ is None)):
        raise UsageError("--html writes a page of tables that are run or found here", hint="name a table, or take --from runs")
    if published_only:
        return terminal.show(*(tables.printed_table(one) for one in chosen))
    if table is None and from_ is None:
        return terminal.show(tables.contents_table(paper, chosen))
    selected = ReproductionOptions(overrides=tuple(set_ or ()), encoder=encoder, seeds=seeds, workers=workers, trains=from_ is None)
    return _show_trainings(chosen, selected, terminal) if dry_run else _reproduce(chosen, selected, html, terminal)


def _show_trainings(chosen: "Sequence[PaperTable]", selected: ReproductionOptions, terminal: Terminal) -> None:
    """Show what would be trained."""
    from embedlab.cli.reproduction import planned
    from embedlab.papers.plan import trainings

    if not any(trainings(one) for one in chosen):
        raise UsageError(f"nothing is trained for {chosen[0].name!r}", hint=f"embedlab reproduce {chosen[0].paper} {chosen[0].name}")
    show_cells(planned(chosen, selected, terminal.settings), terminal)


def _reproduce(chosen: "Sequence[PaperTable]", selected: ReproductionOptions, html: Path | None, terminal: Terminal) -> None:
    """Show every chosen table beside ours; a table that holds no scores is shown as it is printed."""
    from embedlab.cli.reproduction import reproduce_table
    from embedlab.reports import reproduction_tables as tables

    check_page(html)
    found = [reproduce_table(one, selected, terminal) for one in chosen if one.sources]
    shown = iter(found)
    terminal.show(*(part for one in chosen for part in (next(shown).tables if one.sources else [tables.printed_table(one)])))
    if html is not None:
        from embedlab.cli.reproduce_page import write_reproduction

        write_reproduction(html, found, terminal)
    if any(one.failed for one in found):
        raise typer.Exit(ExitCode.FAILED)
