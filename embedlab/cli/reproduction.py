"""One table of a paper reproduced: its models trained or found, evaluated where that is missing, and its numbers put beside print."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from embedlab.analysis.comparison import Comparison, compare_models
from embedlab.analysis.scores import ModelColumns
from embedlab.cli.grid_board import board
from embedlab.cli.reproduce_models import Evaluated, absent_rows, evaluate_models, training_data_of
from embedlab.cli.reproduction_options import ReproductionOptions
from embedlab.cli.terminal import Terminal
from embedlab.core.recipe import recipe_to_table
from embedlab.core.settings import Settings
from embedlab.evaluation.scored_pairs import ScoredPairs
from embedlab.grids.plan import GridPlace, GridPlan
from embedlab.models.catalog import finished_seeds
from embedlab.papers.deviations import deviations
from embedlab.papers.matching_runs import CellKey, Member, RowModels, find_runs_of, settings_apart
from embedlab.papers.order import ComparedNumber, RowOrder, find_row_order, numbers_of
from embedlab.papers.plan import TablePlan, expected_recipe, for_encoder, plan_cells, trainings
from embedlab.papers.table import PaperTable
from embedlab.reports.comparison_table import comparison_table
from embedlab.reports.reproduction_tables import deviations_table, numbers_table, orders_table
from embedlab.reports.tables import Table
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.signature import merged
from embedlab.runs.store import RunFolder
from embedlab.workflows.grid.plan import Hands, PlannedGrid
from embedlab.workflows.grid.run import run_grid
from embedlab.workflows.sample_encoder import build_sample_encoder
from embedlab.workflows.starting import starting_encoder


@dataclass(frozen=True, kw_only=True)
class Reproduction:
    """A table of a paper beside ours."""

    table: PaperTable
    deviations: Table
    answers: tuple[Table, ...]  # the numbers, and whether the order holds
    numbers: Mapping[CellKey, ComparedNumber]  # empty for a figure
    row_order: RowOrder | None
    comparison: Comparison | None  # of a figure
    scored: ScoredPairs | None
    failed: bool  # whether a training failed

    @property
    def tables(self) -> tuple[Table, ...]:
        """What is shown, deviations first."""
        return self.deviations, *self.answers


@dataclass(frozen=True, kw_only=True)
class _Trained:
    """The runs behind the trained rows of a table."""

    models: RowModels
    recipes: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]  # by row: the paper's, resolved, and the run's
    failed: bool
    failures: Mapping[str, str] = field(default_factory=dict)  # why a training failed, by the label of its row
    apart: tuple[str, ...] = ()  # what is said of runs that differ from each other in more than the table's rows do


def reproduce_table(table: PaperTable, selected: ReproductionOptions, terminal: Terminal) -> Reproduction:
    """Train or find the models of TABLE, evaluate what is missing, and judge it."""
    encoder = starting_encoder(selected.encoder, terminal.settings)
    build_sample_encoder(encoder, terminal.settings)
    table_of_encoder, left_out = for_encoder(table, encoder)
    trained = (
        _train(table_of_encoder, selected, encoder, terminal) if selected.trains else _find(table_of_encoder, selected, encoder, terminal)
    )
    everything = trained.models.all_members()
    known = evaluate_models(table_of_encoder, everything, selected, terminal)
    members = known.present(everything)
    missing = [*trained.apart, *absent_rows(table_of_encoder, everything, known, trained.failures, selected, terminal), *known.missing]
    missing += [f"left out with one encoder for every row: {', '.join(left_out)}"] if left_out else []
    training_text = training_data_of(table_of_encoder, members, terminal)
    found = deviations(
        table_of_encoder, trained.recipes, known.evaluations.values(), training_text, _seeds_behind(table_of_encoder, members)
    )
    listed = deviations_table(table_of_encoder, found, list(trained.recipes))
    if table.by is not None:
        return _figure(table_of_encoder, members, known, listed, missing, failed=trained.failed, terminal=terminal)
    numbers = numbers_of(table_of_encoder, members, known.evaluations)
    with terminal.progress("comparing") as tick:
        row_order = find_row_order(table_of_encoder, members, known.evaluations, known.items, tick)
    marks = sorted({mark for evaluation in known.evaluations.values() for mark in evaluation.marks})
    ours = replace(numbers_table(table_of_encoder, numbers, marks, missing), signatures=_signatures(members, known.evaluations))
    answers = (ours, orders_table(table_of_encoder, row_order, trained.apart))
    return Reproduction(
        table=table_of_encoder,
        deviations=listed,
        answers=answers if table_of_encoder.ranked_by else answers[:1],
        numbers=numbers,
        row_order=row_order,
        comparison=None,
        scored=known.scored,
        failed=trained.failed,
    )


def _signatures(members: Mapping[CellKey, Sequence[Member]], evaluations: Mapping[tuple[str, str], Evaluation]) -> dict[str, str]:
    """The signature of each row's own numbers, over all its columns."""
    behind: dict[str, set[str]] = {}
    for (row, _), own in members.items():
        behind.setdefault(row, set()).update(member.name for member in own)
    found = {row: [one.signature for (name, _), one in evaluations.items() if name in names] for row, names in behind.items()}
    return {row: str(merged(own)) for row, own in found.items() if own}


def planned(tables: Sequence[PaperTable], selected: ReproductionOptions, settings: Settings) -> list[PlannedGrid]:
    """What would be trained for TABLES."""
    encoder = starting_encoder(selected.encoder, settings)
    build_sample_encoder(encoder, settings)
    plans = (_cells(for_encoder(table, encoder)[0], selected, encoder, settings).plan for table in tables)
    return [_planned(plan, selected) for plan in plans if plan is not None]


def _planned(plan: GridPlan, selected: ReproductionOptions) -> PlannedGrid:
    return PlannedGrid(plan=plan, hands=Hands(workers=selected.workers))


def _train(table: PaperTable, selected: ReproductionOptions, encoder: str | None, terminal: Terminal) -> _Trained:
    """Run the cells that are not done."""
    settings = terminal.settings
    cells = _cells(table, selected, encoder, settings)
    reasons: dict[str, dict[str, list[int]]] = {}  # by run and reason, the seeds
    if cells.plan is not None:
        for entry in run_grid(_planned(cells.plan, selected), terminal, partial(board, terminal=terminal)).entries:
            if entry.state == "failed":
                reasons.setdefault(entry.run, {}).setdefault(str(entry.reason), []).append(entry.seed)
    failures = {
        label: "; ".join(f"training failed, seed {', '.join(map(str, own))}: {reason}" for reason, own in reasons[variant.run].items())
        for key, (label, _) in trainings(table).items()
        if (variant := cells.variants[key]).run in reasons
    }
    recipes = {
        label: (recipe_to_table(expected_recipe(source)), cells.variants[key].recipe) for key, (label, source) in trainings(table).items()
    }
    started = encoder or next((ours["encoder"]["model"] for _, ours in recipes.values()), "")
    run_of = {key: variant.run for key, variant in cells.variants.items()}
    models = RowModels(table=table, runs=settings.runs_folder, run_of=run_of, encoder=started, seeds=_seeds(table, selected))
    return _Trained(models=models, recipes=recipes, failed=bool(reasons), failures=failures)


def _cells(table: PaperTable, selected: ReproductionOptions, encoder: str | None, settings: Settings) -> TablePlan:
    overrides = [*([f"encoder.model={encoder}"] if encoder is not None else []), *selected.overrides]
    return plan_cells(table, GridPlace.of(settings), seeds=_seeds(table, selected), threads=settings.threads or 1, overrides=overrides)


def _seeds_behind(table: PaperTable, members: Mapping[CellKey, Sequence[Member]]) -> dict[str, int]:
    """How many seeds are behind each trained row, the most of its columns; a control of two seeds is not the paper's."""
    counts = {row: max(len(found) for (own, _), found in members.items() if own == row) for row in table.sources}
    seeded = {row for (row, _), found in members.items() if any(member.seed is not None for member in found)}
    return {row: count for row, count in counts.items() if row in seeded and not table.sources[row].is_control}


def _seeds(table: PaperTable, selected: ReproductionOptions) -> range:
    return range(1, (selected.seeds or table.seeds) + 1)


def _find(table: PaperTable, selected: ReproductionOptions, encoder: str | None, terminal: Terminal) -> _Trained:
    """Take the finished runs that fit the rows best."""
    runs = terminal.settings.runs_folder
    run_of = find_runs_of(table, runs, selected.overrides, encoder)
    recipes = {}
    for key, (label, source) in trainings(table).items():
        if (name := run_of.get(key)) is not None:
            seed = next(iter(finished_seeds(runs, name)))
            recipes[label] = recipe_to_table(expected_recipe(source)), recipe_to_table(RunFolder.of(runs, name, seed).recipe())
    printed = (expected_recipe(source).encoder.model for _, source in trainings(table).values())
    started = encoder or next((ours["encoder"]["model"] for _, ours in recipes.values()), next(printed, ""))
    seeds = range(1, selected.seeds + 1) if selected.seeds is not None else None
    models = RowModels(table=table, runs=runs, run_of=run_of, encoder=started, seeds=seeds)
    apart = tuple(f"{key} ({', '.join(values).replace('null', 'not set')})" for key, values in settings_apart(table, runs, run_of).items())
    said = (f"the runs behind the rows differ from each other in {'; '.join(apart)}: their order is no evidence for the rows' own",)
    return _Trained(models=models, recipes=recipes, failed=False, apart=said if apart else ())


def _figure(
    table: PaperTable,
    members: Mapping[CellKey, Sequence[Member]],
    known: Evaluated,
    listed: Table,
    missing: Sequence[str],
    *,
    failed: bool,
    terminal: Terminal,
) -> Reproduction:
    """A figure: the rows compared slice by slice with the first of them."""
    assert table.by is not None
    columns = tuple(_columns(row, members[row, ""]) for row in table.sources if members[row, ""])
    comparison, scored = None, known.scored
    answer = Table(title=f"{table.paper} {table.name}: {table.summary}", columns=(), rows=(), notes=[*table.notes, *missing])
    if scored is not None and columns:
        scored = replace(scored, models=columns)
        with terminal.progress("comparing") as tick:
            comparison = compare_models(scored.table, columns, by=table.by, progress=tick)
        found = comparison_table(comparison, scored, [])
        answer = replace(found, title=f"{table.paper} {table.name}: {table.summary}; {found.title}", notes=[*answer.notes, *found.notes])
    return Reproduction(
        table=table, deviations=listed, answers=(answer,), numbers={}, row_order=None, comparison=comparison, scored=scored, failed=failed
    )


def _columns(row: str, members: Sequence[Member]) -> ModelColumns:
    seeds = tuple(member.seed for member in members if member.seed is not None)
    return ModelColumns(name=row, members=tuple(member.name for member in members), seeds=seeds)
