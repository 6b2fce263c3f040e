"""The runs behind the trained rows of a table: trained now, or taken from those that are
finished.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from embedlab.core.recipe import recipe_to_table
from embedlab.experiments.deviations import RowRecipes
from embedlab.experiments.matching_runs import RowModels, find_runs_of, settings_apart
from embedlab.experiments.paper_file import ALL_TABLES
from embedlab.experiments.paper_table import PaperTable
from embedlab.experiments.paper_trainings import TablePlan, expected_recipe, trainings
from embedlab.experiments.queue import QueueEntry
from embedlab.models.catalog import finished_seeds
from embedlab.runs.store import RunFolder
from embedlab.workflows.grid.run import Board, run_grid
from embedlab.workflows.options.reproduce import ReproductionOptions
from embedlab.workflows.reproduce.plan import as_grid, plan_table, seeds_of
from embedlab.workflows.session import Session

Recipes = Mapping[str, RowRecipes]  # by row


@dataclass(frozen=True, kw_only=True)
class TrainedRows:
    """The runs behind the trained rows of a table."""

    models: RowModels
    recipes: Recipes
    failures: Mapping[str, str] = field(
        default_factory=dict
    )  # why a training failed, by the label of its row
    lacking: Mapping[str, str] = field(default_factory=dict)  # what data is missing, likewise
    apart: tuple[
        str, ...
    ] = ()  # the note on runs that differ from each other in more than the table's rows do

    @property
    def has_failed(self) -> bool:
        """Whether a training failed."""
        return bool(self.failures)


def train_rows(
    table: PaperTable,
    options: ReproductionOptions,
    start: str | None,
    session: Session,
    board: Board | None,
) -> TrainedRows:
    """Run the trainings of TABLE that are not done."""
    settings = session.settings
    planned = plan_table(table, options, start, settings, leaves_out=options.table == ALL_TABLES)
    entries = (
        run_grid(as_grid(planned.plan, options), session, board).entries
        if planned.plan is not None
        else ()
    )
    recipes = {
        label: RowRecipes.of(source, planned.variants[key].recipe, options.profile_override)
        for key, (label, source) in trainings(table).items()
        if key in planned.variants
    }
    started = start or next((recipe.ours["encoder"]["model"] for recipe in recipes.values()), "")
    run_of = {key: variant.run for key, variant in planned.variants.items()}
    models = RowModels(
        table=table,
        runs=settings.runs,
        run_of=run_of,
        encoder=started,
        seeds=seeds_of(table, options),
    )
    return TrainedRows(
        models=models,
        recipes=recipes,
        failures=_failures(table, planned, entries),
        lacking={label: error.message for label, error in planned.absent.items()},
    )


def _failures(
    table: PaperTable, planned: TablePlan, entries: Sequence[QueueEntry]
) -> dict[str, str]:
    """Why trainings failed, by the label of their rows."""
    reasons: dict[str, dict[str, list[int]]] = {}  # by run and reason, the seeds
    for entry in (entry for entry in entries if entry.state == "failed"):
        reasons.setdefault(entry.run, {}).setdefault(str(entry.reason), []).append(entry.seed)
    return {
        label: "; ".join(
            f"training failed, seed {', '.join(map(str, seeds))}: {reason}"
            for reason, seeds in reasons[variant.run].items()
        )
        for key, (label, _) in trainings(table).items()
        if (variant := planned.variants.get(key)) is not None and variant.run in reasons
    }


def find_trained_rows(
    table: PaperTable, options: ReproductionOptions, start: str | None, runs: Path
) -> TrainedRows:
    """Take the finished runs in RUNS that fit the rows best."""
    run_of = find_runs_of(table, runs, options.all_overrides, start)
    recipes = {}
    for key, (label, source) in trainings(table).items():
        if (name := run_of.get(key)) is not None:
            seed = next(iter(finished_seeds(runs, name)))
            ours = recipe_to_table(RunFolder.of(runs, name, seed).recipe())
            recipes[label] = RowRecipes.of(source, ours, options.profile_override)
    printed = (expected_recipe(source).encoder.model for _, source in trainings(table).values())
    started = start or next(
        (recipe.ours["encoder"]["model"] for recipe in recipes.values()), next(printed, "")
    )
    seeds = range(1, options.seeds + 1) if options.seeds is not None else None
    models = RowModels(table=table, runs=runs, run_of=run_of, encoder=started, seeds=seeds)
    apart = tuple(
        f"{key} ({', '.join(values).replace('null', 'not set')})"
        for key, values in settings_apart(table, runs, run_of).items()
    )
    note = (
        f"the runs behind the rows differ from each other in {'; '.join(apart)}: their order "
        f"says nothing about that of the rows",
    )
    return TrainedRows(models=models, recipes=recipes, apart=note if apart else ())
