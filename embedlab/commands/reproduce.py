"""`embedlab reproduce`: a paper's tables run here, beside what it prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from embedlab.commands.command import command
from embedlab.commands.reproduce_plan import ReproductionOptions
from embedlab.commands.terminal import Terminal
from embedlab.core.errors import ExitCode, MissingError
from embedlab.core.session import Session
from embedlab.reports.report import Report

if TYPE_CHECKING:
    import polars as pl

    from embedlab.experiments.paper_table import PaperTable
    from embedlab.reports.papers import Reproduction


@command("data runs machine output latex", draws="reproduce")
def reproduce(options: ReproductionOptions, session: Session) -> Report:
    """Run a TABLE of PAPER and print its numbers beside the published ones, the differences, and
    whether the order of the rows holds.

    Finished trainings of other tables and grids are used again. You can interrupt it at any time;
    the same command continues. --notes shows every deviation from the paper. TABLE all runs every
    table. Without a TABLE it lists the paper's tables: how much of each is trained here, how long
    the rest takes, and which data is missing. --claims tests what the paper says about the order of
    methods: each claim holds here, is reversed, stays open, or is not measured.

    Examples:
        $ embedlab reproduce liao table7 --data DIR --encoder MODEL --seeds 3
        $ embedlab reproduce liao all --data tiny --seeds 1 --html liao.html
        $ embedlab reproduce tsukagoshi --published-only
        $ embedlab reproduce tsukagoshi table3 --from runs --data DIR --html table3.html
        $ embedlab reproduce tsukagoshi --claims --data DIR

    """
    from embedlab.commands.grid import cells_report
    from embedlab.commands.reproduce_plan import check_selection, planned_trainings, progress_of
    from embedlab.commands.reproduce_run import prepare_start, refuse_uncomputable
    from embedlab.experiments.paper_file import select_tables
    from embedlab.reports import papers as tables
    from embedlab.reports.pages import check_page_path

    check_selection(options)
    if options.paper is None:
        return Report.of(tables.papers_table())
    chosen_tables = select_tables(options.paper, options.table)
    if options.published_only:
        return Report.of(*[tables.printed_table(table) for table in chosen_tables])
    if options.table is None and options.trains:
        progress, location = progress_of(chosen_tables, options, session.settings)
        data = session.settings.data
        contents = tables.contents_table(options.paper, chosen_tables, progress, location, data)
        return Report.of(contents)
    if options.dry_run:
        start = prepare_start(options, session.settings)
        planned_grids = planned_trainings(chosen_tables, options, session.settings)
        try:
            refuse_uncomputable(chosen_tables[0], options, start, session.settings)
        except MissingError as error:
            if not planned_grids:
                raise
            session.report(error)
        return cells_report(planned_grids, session)
    if options.html is not None:
        check_page_path(options.html)
    return (_claims if options.claims else _reproduce_tables)(chosen_tables, options, session)


def _claims(
    chosen_tables: Sequence[PaperTable], options: ReproductionOptions, session: Session
) -> Report:
    """The verdicts on a paper's claims; the frame has one row a claim."""
    import polars as pl

    from embedlab.commands.pages import write_claims_page
    from embedlab.commands.reproduce_run import measure_claims
    from embedlab.reports.claims_table import KEYS, claims_table

    claims = measure_claims(chosen_tables, options, session)
    shown_table = claims_table(
        claims.paper, claims.tables, claims.verdicts, marks=claims.marks, notes=claims.notes
    )
    if options.html is not None:
        write_claims_page(options.html, claims, shown_table, session)
    numbers = {"size", "printed", "ours", "low", "high", "p", "visible"}
    schema = {key: pl.Float64() if key in numbers else pl.String() for key in KEYS}
    return Report.of(shown_table, frame=pl.DataFrame(shown_table.data()["rows"], schema=schema))


def _reproduce_tables(
    chosen_tables: Sequence[PaperTable], options: ReproductionOptions, session: Session
) -> Report:
    """Every chosen table next to ours; one that holds no scores is shown as it is published. The
    frame has one row a number, of slices as compare has them.
    """
    import polars as pl

    from embedlab.commands.pages import write_reproduction_page
    from embedlab.commands.reproduce_run import reproduce_tables, shown_tables

    reproductions = reproduce_tables(chosen_tables, options, session)
    is_typed = isinstance(session, Terminal)
    is_brief = is_typed and session.settings.format == "table" and not session.settings.notes
    has_failed = any(reproduction.has_failed for reproduction in reproductions)
    if options.html is not None:
        write_reproduction_page(options.html, reproductions, session)
    return Report.of(
        *shown_tables(chosen_tables, reproductions, is_brief=is_brief),
        frame=pl.concat([*map(_numbers, reproductions)], how="diagonal_relaxed")
        if reproductions
        else pl.DataFrame(),
        command="reproduce",
        figure_subject={"reproductions": reproductions},
        exit_code=ExitCode.FAILED if has_failed else ExitCode.OK,
        behind={"has_failed": has_failed, "found": reproductions},
    )


def _numbers(reproduction: Reproduction) -> pl.DataFrame:
    import polars as pl

    names = {"paper": reproduction.table.paper, "table": reproduction.table.name}
    named = [pl.lit(name).alias(key) for key, name in names.items()]
    compared = [table.frame for table in reproduction.answers if table.frame is not None]
    numbers = reproduction.numbers
    if numbers.is_empty() and compared:
        numbers = pl.concat(compared, how="diagonal_relaxed")
    return numbers.select(*named, pl.all())
