"""What a user selects of a reproduction, the trainings that it needs, and the runs behind its rows:
trained now, or taken from those that are finished.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from embedlab.commands.command import refuse
from embedlab.commands.grid_plan import PlannedGrid, entries_of_runs, estimate
from embedlab.commands.options import HTML, UNSEEN, Flag, SignatureOptions, Trainings, with_profile
from embedlab.commands.training_plan import starting_encoder
from embedlab.core.errors import UsageError
from embedlab.core.nearest import unknown_name_error
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.session import Session
from embedlab.core.settings import Settings

if TYPE_CHECKING:
    from embedlab.experiments.cells import CellEntry
    from embedlab.experiments.deviations import RowRecipes
    from embedlab.experiments.matching_runs import RowMembers
    from embedlab.experiments.paper_table import PaperTable
    from embedlab.experiments.paper_trainings import TablePlan
    from embedlab.reports.papers import TableProgress


@dataclass(frozen=True, kw_only=True)
class ReproductionOptions(SignatureOptions, Trainings):
    """Which tables of a paper, which models are behind them, and whether they are trained for
    it.
    """

    paper: Annotated[
        str | None,
        Flag(
            is_argument=True,
            metavar="PAPER",
            help="A paper's name, or its folder.",
            completes="papers",
        ),
    ] = None
    table: Annotated[
        str | None,
        Flag(
            is_argument=True, metavar="TABLE", help="One of its tables, or all.", completes="tables"
        ),
    ] = None
    published_only: Annotated[bool, Flag(help="Print the paper's numbers; run nothing.")] = False
    claims: Annotated[bool, Flag(help="Print whether its claims hold; train nothing.")] = False
    from_: Annotated[
        Literal["runs", "scores"] | None,
        Flag(
            names=("--from",),
            help="Train nothing: use finished runs, or only what --row gives.",
        ),
    ] = None
    models: Annotated[
        tuple[str, ...],
        Flag(
            names=("--row",),
            metavar="ROW=MODEL",
            help="Use MODEL for a row: any model, or scores:FILE; again for more.",
            python="row",
        ),
    ] = ()
    unseen: Annotated[bool, UNSEEN] = False
    html: Annotated[Path | None, HTML] = None

    @property
    def profile_override(self) -> tuple[str, ...]:
        """The profile as it is set in every recipe."""
        return with_profile(self.profile, ())

    @property
    def trains(self) -> bool:
        """Whether what is missing is trained."""
        return self.from_ is None and not self.claims

    @property
    def uses_runs(self) -> bool:
        """Whether rows have the runs that are there, and not only the models that are named for
        them.
        """
        return self.from_ != "scores"


# what prints something of its own, what may not go with it, and what that is
_EXCLUSIVE = (
    ("--claims", "--dry-run --published-only --figure", "the verdicts on a paper's claims"),
    ("--dry-run", "--published-only --from --html --figure", "the trainings of one table"),
    ("--published-only", "--from", "what the paper says, and nothing of ours"),
)


def named_rows(options: ReproductionOptions) -> dict[str, str]:
    """Return the model that a user names for each row."""
    model_of_row: dict[str, str] = {}
    for text in options.models:
        row, equals, model = text.partition("=")
        if not (row and equals and model):
            raise UsageError(
                f"--row takes ROW=MODEL: {text!r}",
                hint="for example --row 'BERT-base SBERT=scores:sbert.csv'",
            )
        if model_of_row.setdefault(row, model) != model:
            raise UsageError(
                f"--row names {model_of_row[row]!r} and {model!r} for {row!r}",
                hint="name one model for a row; average:A,B combines two",
            )
    return model_of_row


def check_named_rows(tables: Sequence[PaperTable], options: ReproductionOptions) -> None:
    """Refuse a model for a row that no table has, and scores without any."""
    rows = dict.fromkeys(row for table in tables for row in table.sources)
    for row in named_rows(options):
        if row not in rows:
            raise unknown_name_error("row", row, rows)
    if not options.uses_runs and not options.models:
        raise UsageError(
            "--from scores reads the models that --row names",
            hint="for example --row 'BERT-base SBERT=scores:sbert.csv'",
        )


def check_servers(tables: Sequence[PaperTable], options: ReproductionOptions) -> None:
    """Refuse the servers that rows of TABLES name, but for those that the user typed or allowed."""
    from embedlab.models.hosts import note_typed, refuse_strangers

    model_of_row = named_rows(options)
    for model in model_of_row.values():
        note_typed(model)
    refuse_strangers(
        source.model or ""
        for table in tables
        for row, source in table.sources.items()
        if row not in model_of_row
    )


def check_selection(options: ReproductionOptions) -> None:
    """Refuse ways to show a paper that exclude each other, or that need a table: its trainings
    alone, or also a page or a figure.
    """
    paper, table, runs = options.paper, options.table, options.from_ is not None
    is_typed = {
        "--claims": options.claims,
        "--dry-run": options.dry_run,
        "--published-only": options.published_only,
        "--from": runs,
        "--html": options.html is not None,
        "--figure": bool(options.figure),
    }
    for option, excluded_options, printed in _EXCLUSIVE:
        for excluded in excluded_options.split():
            refuse(
                (
                    is_typed[option] and is_typed[excluded],
                    f"{option} and {excluded} exclude each other",
                    f"{option} prints {printed}; remove one of the two",
                )
            )
    is_shown = bool(options.html or options.figure or options.models or options.unseen)
    is_named = table is not None or runs or options.claims
    refuse(
        (
            options.claims and paper is None,
            "--claims prints the verdicts on a paper's claims",
            "name the paper",
        ),
        (
            options.dry_run and table is None,
            "--dry-run prints the trainings of one table",
            "name the paper and the table",
        ),
        (
            is_shown and paper is None,
            "--html, --figure, --row and --unseen are of a paper's tables",
            "name the paper, and a table or --from runs",
        ),
        (
            is_shown and (options.published_only or not is_named),
            "--html, --figure, --row and --unseen are of tables that are run or found here",
            "name a table, or take --from runs",
        ),
    )


def planned_trainings(
    tables: Sequence[PaperTable], options: ReproductionOptions, settings: Settings
) -> list[PlannedGrid]:
    """Return the trainings of TABLES, one grid a table that needs any; a list without a single
    training is a UsageError.

    A row whose data is missing is left out and named, unless no training would remain.
    """
    from embedlab.experiments.paper_trainings import trainings

    if not any(trainings(table) for table in tables):
        raise UsageError(
            f"nothing is trained for {tables[0].name!r}",
            hint=f"embedlab reproduce {tables[0].typed}",
        )
    start = start_of_rows(options, settings)
    table_plans = [_plan_rows(table, options, start, settings) for table in tables]
    return [
        PlannedGrid(
            plan=plan.plan,
            run_options=options,
            rows_without_data=tuple(plan.absent),
            notes=tuple(_foreseen_deviations(rows, options, start, settings)),
        )
        for rows, plan in table_plans
        if plan.plan is not None
    ]


def _plan_rows(
    table: PaperTable, options: ReproductionOptions, start: str | None, settings: Settings
) -> tuple[PaperTable, TablePlan]:
    """Return the rows of TABLE that can be run here, and those of their trainings with data."""
    rows, _ = select_rows(table, options, start, settings)
    return rows, plan_table(rows, options, start, settings)


def _foreseen_deviations(
    table: PaperTable, options: ReproductionOptions, start: str | None, settings: Settings
) -> Iterator[str]:
    """Yield a sentence for each deviation that is known before anything is trained."""
    from embedlab.data.source import Source
    from embedlab.experiments.deviations import deviations, recipes_of, rows_text

    recipes = recipes_of(table, table.profile, options.overrides, start)
    seeds = dict.fromkeys(recipes, len(seeds_of(table, options)))
    source = Source.from_settings(settings)
    generated = {
        row: [
            vars(source.open(name, stage["data"]["split"]).state)
            for stage in recipe.run_recipe["stage"]
            for name in stage["data"]["datasets"]
        ]
        for row, recipe in recipes.items()
        if settings.data == TINY_FOLDER
    }
    for deviation in deviations(table, recipes, [], generated, seeds):
        yield (
            f"{deviation.what}: {deviation.paper} in the paper, {deviation.here} here "
            f"({rows_text(deviation, list(recipes))})"
        )


def progress_of(
    tables: Sequence[PaperTable], options: ReproductionOptions, settings: Settings
) -> tuple[dict[str, TableProgress], str]:
    """Return the progress of each of TABLES that has trainings, by name, and of all together under
    "all"; and where the trainings would run. It only looks which runs and corpora exist.
    """
    from embedlab.experiments.paper_file import ALL_TABLES
    from embedlab.experiments.paper_trainings import expected_recipe, trainings
    from embedlab.experiments.planner import run_identity

    start = start_of_rows(options, settings)
    progress_by_table: dict[str, TableProgress] = {}
    all_seconds: dict[str, float | None] = {}
    all_absent, at_once, location = set[str](), 1, ""
    for table in tables:
        if not (trainings(table) and is_startable(table, start)):
            continue
        rows, table_plan = _plan_rows(table, options, start, settings)
        seconds_left: dict[str, float | None] = {}
        if table_plan.plan is not None:
            entries = entries_of_runs(table_plan.plan)
            estimated = estimate(PlannedGrid(plan=table_plan.plan, run_options=options), entries)
            location, at_once = estimated.location, estimated.at_once
            seconds = estimated.seconds or {}
            for entry in entries:
                left = 0.0 if entry.state == "done" else seconds.get(entry.cell.id)
                # tables may call one training by different names
                seconds_left[run_identity(entry.cell.id)] = left
        absent = {
            f"{expected_recipe(source, options.all_overrides, start).hash}@{seed}"
            for label, source in trainings(rows).values()
            if label in table_plan.absent
            for seed in seeds_of(rows, options)
        }
        missing_data = dict.fromkeys(error.message for error in table_plan.absent.values())
        progress_by_table[table.name] = _progress(
            seconds_left, absent, at_once, missing_data=tuple(missing_data)
        )
        all_seconds |= seconds_left
        all_absent |= absent
    if len(progress_by_table) > 1:
        progress_by_table[ALL_TABLES] = _progress(all_seconds, all_absent, at_once)
    return progress_by_table, location


def _progress(
    seconds_left: Mapping[str, float | None],
    absent: Collection[str],
    at_once: int,
    missing_data: tuple[str, ...] = (),
) -> TableProgress:
    """Return how far trainings are. SECONDS_LEFT has a number for each: 0 if it is done, None if no
    such training was measured; ABSENT are the trainings without data.
    """
    from embedlab.reports.papers import TableProgress

    unfinished = [seconds for seconds in seconds_left.values() if seconds != 0]
    measured = [seconds for seconds in unfinished if seconds is not None]
    is_measured = measured and len(measured) == len(unfinished)
    return TableProgress(
        done=len(seconds_left) - len(unfinished),
        cells=len(seconds_left) + len(absent),
        seconds=max(sum(measured) / at_once, *measured) if is_measured else None,
        missing_data=missing_data,
    )


def is_startable(table: PaperTable, start: str | None) -> bool:
    """Return whether rows of TABLE can start from START; rows about another encoder cannot."""
    sources = table.sources.values()
    return bool(sources) and (start is None or any(source.encoder is None for source in sources))


def select_rows(
    table: PaperTable, options: ReproductionOptions, start: str | None, settings: Settings
) -> tuple[PaperTable, list[str]]:
    """Return TABLE with the rows that can be run here, at the rates that its grids chose, and
    notes on both.
    """
    from embedlab.experiments.paper_trainings import (
        limit_to_encoder,
        limit_to_profile,
        with_chosen_rates,
    )
    from embedlab.experiments.plan import absolute_settings

    table, unprofiled = limit_to_profile(table, options.profile)
    table, foreign_rows = limit_to_encoder(table, start)
    table, notes = with_chosen_rates(
        table, absolute_settings(settings), options.all_overrides, start
    )
    if foreign_rows:
        notes.append(f"left out with one encoder for every row: {', '.join(foreign_rows)}")
    if unprofiled:
        notes.append(f"left out, without a profile {table.profile}: {', '.join(unprofiled)}")
    return _without_named_trainings(table, named_rows(options)), notes


def _without_named_trainings(table: PaperTable, named_models: Mapping[str, str]) -> PaperTable:
    """Return TABLE without the trainings of NAMED rows, unless another row is made of them."""
    ingredients = {ingredient for source in table.sources.values() for ingredient in source.of}
    model_of_row = {row: model for row, model in named_models.items() if row not in ingredients}

    named_sources = {
        row: replace(table.sources[row], recipe=None, given=model)
        for row, model in model_of_row.items()
        if row in table.sources
    }
    return replace(table, sources={**table.sources, **named_sources})


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
    leaves_out: bool = True,
) -> TablePlan:
    """Return the trainings of a table whose rows all begin from START, where that is stated.

    Those whose data is missing are left out if LEAVES_OUT, and refused otherwise.
    """
    from embedlab.experiments.paper_trainings import expand_table
    from embedlab.experiments.plan import absolute_settings

    overrides = [*([f"encoder.model={start}"] if start is not None else []), *options.all_overrides]
    return expand_table(
        table,
        absolute_settings(settings),
        seeds=seeds_of(table, options),
        threads=settings.threads or 1,
        overrides=overrides,
        leaves_out=leaves_out,
    )


def seeds_of(table: PaperTable, options: ReproductionOptions) -> range:
    """Return the seeds of each training."""
    return range(1, (options.seeds or table.seeds) + 1)


Recipes = Mapping[str, "RowRecipes"]  # by row


@dataclass(frozen=True, kw_only=True)
class TrainedRows:
    """The runs behind the trained rows of a table."""

    members: Mapping[str, RowMembers]
    recipes: Recipes
    absence_reasons: Mapping[str, str] = field(
        default_factory=dict
    )  # why there is no run, by the label of its row: what data is missing, or how it failed
    difference_notes: tuple[
        str, ...
    ] = ()  # the note on runs that differ from each other in more than the table's rows do
    has_failed: bool = False  # whether a training failed


def _trained_rows(
    table: PaperTable,
    options: ReproductionOptions,
    start: str | None,
    runs: Path,
    run_of: Mapping[str, str],
    run_recipes: Mapping[str, Mapping[str, Any]],
    seeds: Collection[int] | None,
) -> TrainedRows:
    """Return the rows whose trainings have these runs and recipes, by `RowSource.key`."""
    from embedlab.experiments.deviations import RowRecipes
    from embedlab.experiments.matching_runs import RowModels
    from embedlab.experiments.paper_trainings import expected_recipe, trainings

    encoders = chain(
        (recipe["encoder"]["model"] for recipe in run_recipes.values()),
        (expected_recipe(source).encoder.model for _, source in trainings(table).values()),
    )
    models = RowModels(
        table=table,
        runs=runs,
        run_of=run_of,
        encoder=start or next(encoders, ""),
        seeds=seeds,
    )
    recipes = {
        label: RowRecipes.of(source, run_recipes[key], options.profile_override)
        for key, (label, source) in trainings(table).items()
        if key in run_recipes
    }
    return TrainedRows(members=models.all_members(), recipes=recipes)


def train_rows(
    table: PaperTable,
    options: ReproductionOptions,
    start: str | None,
    session: Session,
) -> TrainedRows:
    """Run the trainings of TABLE that are not done."""
    from embedlab.commands.grid_run import run_grid
    from embedlab.experiments.paper_file import ALL_TABLES

    settings = session.settings
    table_plan = plan_table(table, options, start, settings, leaves_out=options.table == ALL_TABLES)
    entries = (
        run_grid(PlannedGrid(plan=table_plan.plan, run_options=options), session).entries
        if table_plan.plan is not None
        else ()
    )
    rows = _trained_rows(
        table,
        options,
        start,
        settings.runs,
        {key: variant.run for key, variant in table_plan.variants.items()},
        {key: variant.recipe for key, variant in table_plan.variants.items()},
        seeds_of(table, options),
    )
    failures = _failures(table, table_plan, entries)
    missing_data = {label: error.message for label, error in table_plan.absent.items()}
    return replace(rows, absence_reasons=missing_data | failures, has_failed=bool(failures))


def _failures(
    table: PaperTable, table_plan: TablePlan, entries: Sequence[CellEntry]
) -> dict[str, str]:
    """Why trainings failed, by the label of their rows."""
    from embedlab.experiments.paper_trainings import trainings

    reasons: dict[str, dict[str, list[int]]] = {}  # by run and reason, the seeds
    for entry in (entry for entry in entries if entry.state == "failed"):
        reasons.setdefault(entry.cell.variant.run, {}).setdefault(str(entry.reason), []).append(
            entry.cell.seed
        )
    return {
        label: "; ".join(
            f"training failed, seed {', '.join(map(str, seeds))}: {reason}"
            for reason, seeds in reasons[variant.run].items()
        )
        for key, (label, _) in trainings(table).items()
        if (variant := table_plan.variants.get(key)) is not None and variant.run in reasons
    }


def find_trained_rows(
    table: PaperTable, options: ReproductionOptions, start: str | None, runs: Path
) -> TrainedRows:
    """Take the finished runs in RUNS that fit the rows best."""
    from embedlab.core.recipe import recipe_to_table
    from embedlab.experiments.matching_runs import differing_settings, find_runs_of, recipe_of

    run_of = find_runs_of(table, runs, options.all_overrides, start)
    run_recipes = {key: recipe_to_table(recipe_of(runs, name)) for key, name in run_of.items()}
    seeds = range(1, options.seeds + 1) if options.seeds is not None else None
    rows = _trained_rows(table, options, start, runs, run_of, run_recipes, seeds)
    settings_apart = "; ".join(
        f"{key} ({', '.join(values).replace('null', 'not set')})"
        for key, values in differing_settings(table, runs, run_of).items()
    )
    note = (
        f"the runs behind the rows differ from each other in {settings_apart}: their order says "
        "nothing about that of the rows"
    )
    return replace(rows, difference_notes=(note,)) if settings_apart else rows
