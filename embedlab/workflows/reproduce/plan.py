"""What a user selects of a reproduction, and the trainings that it needs. Nothing is written."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from embedlab.core.errors import UsageError
from embedlab.core.nearest import unknown
from embedlab.core.settings import Settings
from embedlab.grids.plan import GridPlace, GridPlan
from embedlab.papers.plan import TablePlan, for_encoder, plan_cells, trainings
from embedlab.papers.table import PaperTable
from embedlab.workflows.grid.plan import Hands, PlannedGrid
from embedlab.workflows.starting import starting_encoder


@dataclass(frozen=True, kw_only=True)
class ReproductionOptions:
    """Which models are behind a table, and whether they are trained for it."""

    overrides: tuple[str, ...] = ()  # KEY=VALUE for every recipe
    encoder: str | None = None
    seeds: int | None = None
    workers: int | None = None
    trains: bool = True  # otherwise only runs that are there are used
    models: tuple[str, ...] = ()  # ROW=MODEL: the model of a row, in place of a run
    uses_runs: bool = True  # otherwise the rows of MODELS alone have a model


@dataclass(frozen=True, kw_only=True)
class Shown:
    """How a user wants to see the tables of a paper; nothing of it = run here, next to the published values."""

    published: bool = False  # the published values alone
    runs: bool = False  # from runs that are there
    page: bool = False  # also as a page or as a figure
    plan: bool = False  # only the trainings
    claims: bool = False  # whether the paper's claims hold
    figure: bool = False  # as a figure


def named_rows(options: ReproductionOptions) -> dict[str, str]:
    """Return the model that a user names for each row."""
    found = {}
    for text in options.models:
        row, equals, model = text.partition("=")
        if not (row and equals and model):
            raise UsageError(f"--row takes ROW=MODEL: {text!r}", hint="for example --row 'BERT-base SBERT=scores:sbert.csv'")
        found[row] = model
    return found


def check_named_rows(tables: Sequence[PaperTable], options: ReproductionOptions) -> None:
    """Refuse a model for a row that no table has, and scores without any."""
    rows = {row for table in tables for row in table.sources}
    for row in named_rows(options):
        if row not in rows:
            raise unknown("row", row, rows)
    if not options.uses_runs and not options.models:
        raise UsageError("--from scores reads the models that --row names", hint="for example --row 'BERT-base SBERT=scores:sbert.csv'")


def check_selection(paper: str | None, table: str | None, shown: Shown) -> None:
    """Refuse ways to show a paper that exclude each other, or that need a table."""
    if shown.claims and (paper is None or shown.plan or shown.published or shown.figure):
        raise UsageError("--claims prints the verdicts on a paper's claims", hint="name the paper, without another way to show it")
    if shown.plan and (table is None or shown.published or shown.runs or shown.page):
        raise UsageError("--dry-run prints the trainings of one table", hint="name the paper and the table, without another way to show it")
    if paper is None and shown.page:
        raise UsageError("--html and --figure show a paper's tables", hint="name the paper, and a table or --from runs")
    if shown.published and shown.runs:
        raise UsageError(
            "--published-only and --from exclude each other", hint="--published-only prints what the paper says, and nothing of ours"
        )
    if shown.page and (shown.published or (table is None and not shown.runs and not shown.claims)):
        raise UsageError("--html and --figure show tables that are run or found here", hint="name a table, or take --from runs")


def planned_trainings(tables: Sequence[PaperTable], options: ReproductionOptions, settings: Settings) -> list[PlannedGrid]:
    """Return the trainings of TABLES, one grid a table that needs any; a list without a single training is a UsageError."""
    if not any(trainings(table) for table in tables):
        raise UsageError(f"nothing is trained for {tables[0].name!r}", hint=f"embedlab reproduce {tables[0].paper} {tables[0].name}")
    start = start_of_rows(options, settings)
    plans = (plan_table(for_encoder(table, start)[0], options, start, settings).plan for table in tables)
    return [as_grid(plan, options) for plan in plans if plan is not None]


def start_of_rows(options: ReproductionOptions, settings: Settings) -> str | None:
    """Return where every row starts from; None where each starts from the encoder of its paper.

    The encoder of the sample world counts once it is built.
    """
    start = starting_encoder(options.encoder, settings)
    return start if options.encoder is not None or start is None or Path(start).is_dir() else None


def plan_table(table: PaperTable, options: ReproductionOptions, start: str | None, settings: Settings) -> TablePlan:
    """Return the trainings of a table whose rows all begin from START, where that is stated."""
    overrides = [*([f"encoder.model={start}"] if start is not None else []), *options.overrides]
    return plan_cells(table, GridPlace.of(settings), seeds=seeds_of(table, options), threads=settings.threads or 1, overrides=overrides)


def as_grid(plan: GridPlan, options: ReproductionOptions) -> PlannedGrid:
    """Return the trainings of a table as a grid that can run."""
    return PlannedGrid(plan=plan, hands=Hands(workers=options.workers))


def seeds_of(table: PaperTable, options: ReproductionOptions) -> range:
    """Return the seeds of each training."""
    return range(1, (options.seeds or table.seeds) + 1)
