"""What a user selects of a reproduction, and the trainings that it needs. Nothing is written."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from embedlab.core.errors import EmbedlabError, NotDownloadedError, UsageError
from embedlab.core.nearest import unknown
from embedlab.core.settings import Settings
from embedlab.data.source import Source
from embedlab.experiments.chosen_rates import with_chosen_rates
from embedlab.experiments.deviations import deviations, recipes_of, rows_text
from embedlab.experiments.paper_file import ALL_TABLES
from embedlab.experiments.paper_table import PaperTable
from embedlab.experiments.paper_trainings import (
    TablePlan,
    expand_table,
    expected_recipe,
    for_encoder,
    for_profile,
    trainings,
)
from embedlab.experiments.plan import GridPlace, GridPlan
from embedlab.experiments.planner import run_identity
from embedlab.models.hosts import note_typed, refuse_strangers
from embedlab.reports.papers import TableProgress
from embedlab.workflows.grid.plan import Hands, PlannedGrid, entries_of_runs, estimate
from embedlab.workflows.options.reproduce import ReproductionOptions
from embedlab.workflows.starting import starting_encoder

_OF_CLAIMS = ("--from", "--html")  # by which claims are shown, too


def named_rows(options: ReproductionOptions) -> dict[str, str]:
    """Return the model that a user names for each row."""
    named = {}
    for text in options.models:
        row, equals, model = text.partition("=")
        if not (row and equals and model):
            raise UsageError(
                f"--row takes ROW=MODEL: {text!r}",
                hint="for example --row 'BERT-base SBERT=scores:sbert.csv'",
            )
        named[row] = model
    return named


def check_named_rows(tables: Sequence[PaperTable], options: ReproductionOptions) -> None:
    """Refuse a model for a row that no table has, and scores without any."""
    rows = {row for table in tables for row in table.sources}
    for row in named_rows(options):
        if row not in rows:
            raise unknown("row", row, rows)
    if not options.uses_runs and not options.models:
        raise UsageError(
            "--from scores reads the models that --row names",
            hint="for example --row 'BERT-base SBERT=scores:sbert.csv'",
        )


def check_servers(tables: Sequence[PaperTable], options: ReproductionOptions) -> None:
    """Refuse the servers that rows of TABLES name, but for those that the user typed or allowed."""
    named = named_rows(options)
    for model in named.values():
        note_typed(model)
    refuse_strangers(
        source.model or ""
        for table in tables
        for row, source in table.sources.items()
        if row not in named
    )


def check_selection(
    options: ReproductionOptions,
    *,
    is_plan: bool = False,
    is_page: bool = False,
    is_figure: bool = False,
) -> None:
    """Refuse ways to show a paper that exclude each other, or that need a table: its trainings
    alone, or also a page or a figure.
    """
    paper, table, runs, is_shown = (
        options.paper,
        options.table,
        options.from_ is not None,
        is_page or is_figure,
    )
    ways = {
        "--dry-run": is_plan,
        "--published-only": options.published_only,
        "--from": runs,
        "--html": is_page,
        "--figure": is_figure,
    }
    if options.claims:
        _refuse_together(
            "--claims",
            "the verdicts on a paper's claims",
            [way for way in ways if ways[way] and way not in _OF_CLAIMS],
        )
    if options.claims and paper is None:
        raise UsageError("--claims prints the verdicts on a paper's claims", hint="name the paper")
    if is_plan:
        _refuse_together(
            "--dry-run",
            "the trainings of one table",
            [way for way in ways if ways[way] and way != "--dry-run"],
        )
    if is_plan and table is None:
        raise UsageError(
            "--dry-run prints the trainings of one table", hint="name the paper and the table"
        )
    if paper is None and is_shown:
        raise UsageError(
            "--html and --figure show a paper's tables",
            hint="name the paper, and a table or --from runs",
        )
    if options.published_only and runs:
        _refuse_together("--published-only", "what the paper says, and nothing of ours", ["--from"])
    if is_shown and (options.published_only or (table is None and not runs and not options.claims)):
        raise UsageError(
            "--html and --figure show tables that are run or found here",
            hint="name a table, or take --from runs",
        )


def _refuse_together(option: str, printed: str, others: Sequence[str]) -> None:
    """Refuse OPTION, by which something is PRINTED, with the first of OTHERS, by which something
    else is.
    """
    if others:
        raise UsageError(
            f"{option} and {others[0]} exclude each other",
            hint=f"{option} prints {printed}; remove one of the two",
        )


def planned_trainings(
    tables: Sequence[PaperTable], options: ReproductionOptions, settings: Settings
) -> list[PlannedGrid]:
    """Return the trainings of TABLES, one grid a table that needs any; a list without a single
    training is a UsageError.

    A row whose data is missing is left out and named, unless no training would remain.
    """
    if not any(trainings(table) for table in tables):
        raise UsageError(
            f"nothing is trained for {tables[0].name!r}",
            hint=f"embedlab reproduce {tables[0].typed}",
        )
    start = start_of_rows(options, settings)
    rows = [select_rows(table, options, start, settings)[0] for table in tables]
    plans = [plan_table(table, options, start, settings, leaves_out=True) for table in rows]
    planned = [
        replace(
            as_grid(plan.plan, options),
            absent=plan.absent,
            notes=tuple(_foreseen(table, options, start)),
        )
        for table, plan in zip(rows, plans, strict=True)
        if plan.plan is not None
    ]
    if not planned and (errors := [error for plan in plans for error in plan.absent.values()]):
        raise errors[0]
    return planned


def _foreseen(table: PaperTable, options: ReproductionOptions, start: str | None) -> Iterator[str]:
    """Yield a sentence for each deviation that is known before anything is trained."""
    recipes = recipes_of(table, table.profile, options.overrides, start)
    seeds = dict.fromkeys(recipes, len(seeds_of(table, options)))
    for deviation in deviations(table, recipes, [], {}, seeds):
        yield (
            f"{deviation.what}: {deviation.paper} in the paper, {deviation.here} here "
            f"({rows_text(deviation, list(recipes))})"
        )


def progress_of(
    tables: Sequence[PaperTable], options: ReproductionOptions, settings: Settings
) -> tuple[dict[str, TableProgress], str]:
    """Return how far each of TABLES is that has trainings, by name, and all together under "all";
    and where the trainings would run. Nothing is read or written but which runs and corpora are
    there.
    """
    start = start_of_rows(options, settings)
    found: dict[str, TableProgress] = {}
    every: dict[tuple[str, int], bool] = {}  # whether a training is done
    expected: dict[tuple[str, int], float] = {}
    lacking, where = set[str](), ""
    for table in (table for table in tables if trainings(table) and is_startable(table, start)):
        rows = select_rows(table, options, start, settings)[0]
        planned = plan_table(rows, options, start, settings, leaves_out=True)
        entries = entries_of_runs(planned.plan) if planned.plan is not None else []
        done = {
            (run_identity(entry.run), entry.seed): entry.state == "done" for entry in entries
        }  # tables may call one training by different names
        left = None
        if planned.plan is not None:
            estimated = estimate(as_grid(planned.plan, options), entries)
            left, where = estimated.cost.seconds, estimated.where
            for (run, seed), seconds in (estimated.seconds or {}).items():
                expected[run_identity(run), seed] = seconds
        lacks = tuple(dict.fromkeys(error.message for error in planned.absent.values()))
        lacking |= {
            expected_recipe(source, options.all_overrides, start).hash
            for label, source in trainings(rows).values()
            if label in planned.absent
        }
        every |= done
        found[table.name] = TableProgress(
            done=sum(done.values()),
            cells=len(done) + len(seeds_of(rows, options)) * len(planned.absent),
            seconds=left if not all(done.values()) else None,
            lacks=lacks,
        )
    todo = {key for key, is_done in every.items() if not is_done}
    at_once = int(where.split()[0]) if where[:1].isdigit() else 1
    if len(found) > 1:
        found[ALL_TABLES] = TableProgress(
            done=len(every) - len(todo),
            cells=len(every) + len(lacking) * (options.seeds or tables[0].seeds),
            seconds=sum(expected[key] for key in todo) / at_once
            if todo and todo <= expected.keys()
            else None,
            lacks=(),
        )
    return found, where


def is_startable(table: PaperTable, start: str | None) -> bool:
    """Return whether rows of TABLE can start from START; those about an encoder of their own
    cannot.
    """
    sources = table.sources.values()
    return bool(sources) and (start is None or any(source.encoder is None for source in sources))


def select_rows(
    table: PaperTable, options: ReproductionOptions, start: str | None, settings: Settings
) -> tuple[PaperTable, list[str]]:
    """Return TABLE with the rows that can be run here, at the rates that its grids chose, and
    notes on both.
    """
    table, unprofiled = for_profile(table, options.profile)
    table, foreign = for_encoder(table, start)
    table, notes = with_chosen_rates(table, GridPlace.of(settings), options.all_overrides, start)
    if foreign:
        notes.append(f"left out with one encoder for every row: {', '.join(foreign)}")
    if unprofiled:
        notes.append(f"left out, without a profile {table.profile}: {', '.join(unprofiled)}")
    return table, notes


def refused_data(planned: Sequence[PlannedGrid], settings: Settings) -> Iterator[EmbedlabError]:
    """Yield why corpora that cells are to be trained on would be refused, such as a truncated one.

    What the hub has is fetched by the first cell that reads it, and is not opened here.
    """
    source = replace(Source.from_settings(settings), downloads=False)
    wanted = {
        (name, str(stage["data"]["split"])): None
        for each in planned
        for variant in each.plan.variants
        for stage in variant.recipe["stage"]
        for name in stage["data"].get("datasets", ())
    }
    for name, split in wanted:
        try:
            source.open(name, split)
        except NotDownloadedError:
            continue
        except EmbedlabError as error:
            yield error


def start_of_rows(options: ReproductionOptions, settings: Settings) -> str | None:
    """Return where every row starts from; None where each starts from the encoder of its paper.

    The encoder of the generated corpora counts once it is built.
    """
    start = starting_encoder(options.encoder, settings)
    return start if options.encoder is not None or start is None or Path(start).is_dir() else None


def plan_table(
    table: PaperTable,
    options: ReproductionOptions,
    start: str | None,
    settings: Settings,
    *,
    leaves_out: bool = False,
) -> TablePlan:
    """Return the trainings of a table whose rows all begin from START, where that is stated.

    Those whose data is missing are left out if LEAVES_OUT, and refused otherwise.
    """
    overrides = [*([f"encoder.model={start}"] if start is not None else []), *options.all_overrides]
    place, seeds, threads = GridPlace.of(settings), seeds_of(table, options), settings.threads or 1
    return expand_table(
        table, place, seeds=seeds, threads=threads, overrides=overrides, leaves_out=leaves_out
    )


def as_grid(plan: GridPlan, options: ReproductionOptions) -> PlannedGrid:
    """Return the trainings of a table as a grid that can run."""
    return PlannedGrid(plan=plan, hands=Hands(workers=options.workers, cluster=options.cluster))


def seeds_of(table: PaperTable, options: ReproductionOptions) -> range:
    """Return the seeds of each training."""
    return range(1, (options.seeds or table.seeds) + 1)
