"""What a grid will run, from what a user typed: its cells, what is left to do, what that costs, and
what this machine lacks. Nothing is written.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from embedlab.commands.options import Flag, Trainings
from embedlab.commands.training_plan import starting_encoder
from embedlab.core.errors import (
    MissingError,
    NotDownloadedError,
    NotLoadedError,
    UsageError,
)
from embedlab.core.printable import count_text, duration
from embedlab.core.settings import Settings

if TYPE_CHECKING:
    from embedlab.experiments.cells import CellEntry
    from embedlab.experiments.grid_file import Grid
    from embedlab.experiments.plan import GridPlan, Variant
    from embedlab.experiments.progress import Cost


@dataclass(frozen=True, kw_only=True)
class GridName:
    """One grid."""

    grid: Annotated[
        str, Flag(metavar="GRID", help="A grid's name, or its TOML file.", completes="grids")
    ]


@dataclass(frozen=True, kw_only=True)
class GridOptions(Trainings, GridName):
    """What a user selects of a grid."""

    cell: Annotated[
        int | None,
        Flag(
            metavar="K",
            help="Only the cell of this number, for a job array.",
            python="",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class PlannedGrid:
    """A grid ready to run."""

    plan: GridPlan
    # who works on the cells: this machine, or a cluster
    run_options: Trainings = field(default_factory=Trainings)
    rows_without_data: tuple[
        str, ...
    ] = ()  # rows of a paper that are not in the plan, as they lack data
    notes: tuple[str, ...] = ()  # how the trainings deviate from their paper


@dataclass(frozen=True, kw_only=True)
class GridEstimate:
    """What is left of a grid, where it runs, and what it costs."""

    cost: Cost
    gpus: tuple[str, ...]  # of this machine
    at_once: int  # cells
    location: str
    text: str  # all in one line
    seconds: Mapping[str, float] | None  # of each cell to do, by its id


def plan_grid(options: GridOptions, settings: Settings) -> PlannedGrid:
    """Return the cells that OPTIONS select; a key, value, seed or place that cannot be is a
    UsageError.

    A grid that was started from the user's own file continues by its name as it was planned. The
    encoder of the generated corpora decides the names of its runs; where it is not built yet, the
    cells are named by the recipe's own encoder.
    """
    plan = _started_plan(options, settings) or _new_plan(options, settings)
    return PlannedGrid(plan=plan, run_options=options)


def entries_of_runs(plan: GridPlan, number: int | None = None) -> list[CellEntry]:
    """Return the state of every cell according to its run, in the order of the plan; with a NUMBER
    of the cell that has it alone.
    """
    from embedlab.experiments.cells import entry_of_run

    return [entry_of_run(cell) for cell in (plan.cells if number is None else [plan.cell(number)])]


def estimate(planned: PlannedGrid, entries: Sequence[CellEntry]) -> GridEstimate:
    """Return what the cells cost that are still to do according to ENTRIES, which may be of some
    cells alone.
    """
    from embedlab.experiments.executors.executor import visible_gpus
    from embedlab.experiments.executors.slurm import is_slurm
    from embedlab.experiments.progress import CellTimes

    plan, options = planned.plan, planned.run_options
    has_affinity = hasattr(os, "sched_getaffinity")
    processors = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    gpus = tuple(visible_gpus(plan.place.device)) if options.cluster is None else ()
    worker_count = options.workers or len(gpus) or processors // plan.threads or 1
    cell_count = count_text(len(plan), "cells")
    if len(entries) < len(plan):
        worker_count, cell_count = (
            min(worker_count, len(entries)),
            f"{len(entries)} of {cell_count}",
        )
    location = f"{worker_count} at once" + (f" on {count_text(len(gpus), 'GPUs')}" if gpus else "")
    if options.cluster:
        slurm = "as jobs of Slurm" if is_slurm(options.cluster) else ""
        location = slurm or f"on the Ray cluster {options.cluster}"
    times = CellTimes.of(plan, entries)
    cost = times.cost(worker_count)
    runs = plan.place.runs
    existing = next(path for path in (runs, *runs.parents) if path.is_dir())
    time, disk = cost.measured, "disk not known"
    if cost.seconds is not None:
        time = f"about {duration(cost.seconds)} (from {cost.measured})"
    if cost.disk_bytes is not None:
        free_bytes = shutil.disk_usage(existing).free
        warning = "; THIS DISK IS TOO SMALL" * (cost.disk_bytes > free_bytes)
        needed = max(cost.disk_bytes / 2**30, 0.1)
        disk = f"up to {needed:.1f} GiB of {free_bytes / 2**30:.1f} GiB free{warning}"
    threads = f"{plan.threads} thread{'s' * (plan.threads > 1)} each"
    return GridEstimate(
        cost=cost,
        gpus=gpus,
        at_once=worker_count,
        location=location,
        text=(
            f"{plan.name}: {cell_count}, {cost.cells} to do, {location}, {threads}; {time}; {disk}"
        ),
        seconds=times.seconds,
    )


def cancel_grid(name: str, settings: Settings) -> GridPlan:
    """Request every process that works on a started grid to save its cell and stop."""
    from embedlab.experiments.cells import Cells, is_alive
    from embedlab.experiments.executors.slurm import cancel_tasks
    from embedlab.experiments.plan import GridPlan

    plan = GridPlan.find(settings.runs, name)
    # their process stops its jobs itself
    left = [] if is_alive(plan.folder) else cancel_tasks(plan.folder)
    if not left and not is_alive(plan.folder):
        raise UsageError(
            f"grid {plan.name!r} is not running",
            hint=f"`embedlab grid status {plan.name}` shows its cells",
        )
    Cells(plan).request_cancel()
    return plan


def _started_plan(options: GridOptions, settings: Settings) -> GridPlan | None:
    """The plan of a grid of the user's own that was started; None for a grid of the package, and
    for a file.
    """
    from embedlab.experiments.grid_file import grid_names
    from embedlab.experiments.plan import GridFolder, GridPlan

    name, plan_file = options.grid, GridFolder.of(settings.runs, options.grid).plan_file
    if name in grid_names() or name.endswith(".toml") or not plan_file.is_file():
        return None
    if options.all_overrides or options.seeds is not None or options.encoder is not None:
        raise UsageError(
            f"grid {name!r} continues as it was planned",
            hint="for --set, --profile, --max-steps, --seeds or --encoder give its TOML file",
        )
    plan = GridPlan.load(plan_file)
    _refuse_other_place(plan, settings)
    return plan


def start_of(options: GridOptions, settings: Settings) -> str | None:
    """Return where all cells start from; None where the grid or its recipes say so. The
    generated corpora have an encoder of their own.
    """
    from embedlab.experiments.grid_file import sets_key

    is_open = options.encoder is not None or not sets_key(_selected_grid(options), "encoder.model")
    return starting_encoder(options.encoder, settings) if is_open else None


def _new_plan(options: GridOptions, settings: Settings) -> GridPlan:
    from embedlab.experiments.grid_file import with_fixed
    from embedlab.experiments.plan import absolute_settings
    from embedlab.experiments.planner import expand_grid

    grid, start = _selected_grid(options), start_of(options, settings)
    if start is not None and (options.encoder is not None or Path(start).is_dir()):
        grid = with_fixed(grid, [f"encoder.model={start}"])
    if settings.threads is not None:
        grid = replace(grid, threads=settings.threads)
    return expand_grid(
        grid,
        absolute_settings(settings),
        seeds=range(1, options.seeds + 1) if options.seeds is not None else None,
    )


def _selected_grid(options: GridOptions) -> Grid:
    from embedlab.experiments.grid_file import load_grid, with_fixed

    return with_fixed(load_grid(options.grid), options.all_overrides)


def _refuse_other_place(plan: GridPlan, settings: Settings) -> None:
    """Refuse a selection that differs from how the cells of a started grid are made, instead of
    ignoring it.
    """
    from embedlab.experiments.plan import SHARED, absolute_settings

    default, selected = Settings(), absolute_settings(settings)
    other_settings = [
        name
        for name in SHARED
        if name != "cache"
        and getattr(selected, name) not in {getattr(default, name), getattr(plan.place, name)}
    ]
    other_settings += ["threads"] if settings.threads not in {None, plan.threads} else []
    if other_settings:
        raise UsageError(
            f"grid {plan.name!r} continues as it was planned, not with other "
            f"{' or '.join(other_settings)}",
            hint="remove that option, or plan the grid again by its TOML file or the command that "
            "began it",
        )


def check_variants(
    variants: Sequence[Variant], seed: int, settings: Settings
) -> list[MissingError]:
    """Refuse encoders and data that no cell of VARIANTS could use, and rows that a stage cannot be
    trained on, as `embedlab train` does; return what their evaluation lacks.

    What has to be downloaded is not read. Variants with the same data are checked once, also with
    different numbers of rows.
    """
    from embedlab.core.recipe import from_table
    from embedlab.data.source import Source
    from embedlab.models.catalog import starting_location
    from embedlab.objectives.needs import check_columns
    from embedlab.scoring.readiness import check_recipe_evaluation
    from embedlab.training.blocks import open_stages

    source = Source.from_settings(settings)
    encoders = list(dict.fromkeys(str(variant.recipe["encoder"]["model"]) for variant in variants))
    for name in encoders:
        starting_location(name, settings.runs)
    recipes = [
        from_table(variant.recipe, name=variant.run, where=variant.run) for variant in variants
    ]
    evaluated, trained = {}, {}
    for recipe in recipes:
        # a task looks at the data and the objectives of the stages, besides its own data
        signals = [(stage.objective.name, stage.data.datasets) for stage in recipe.stages]
        evaluated[repr((recipe.evaluate.tasks, recipe.evaluate.dev, signals))] = recipe
        rows = [(stage.objective, replace(stage.data, rows=None)) for stage in recipe.stages]
        trained[repr(rows)] = recipe
    errors = {
        error.message: error
        for recipe in evaluated.values()
        for error in check_recipe_evaluation(recipe, source)
    }
    if missing_encoders := lost_encoders(encoders, settings):
        raise MissingError(
            f"no encoder {', '.join(missing_encoders)} on this machine, and the hub cannot be "
            "reached",
            hint="give the folder of one, or minilm, with --encoder",
        )
    for recipe in recipes:
        check_columns(recipe)
    for recipe in trained.values():
        with suppress(NotDownloadedError, NotLoadedError):
            open_stages(recipe, replace(source, downloads=False), seed)
    return list(errors.values())


def lost_encoders(names: Sequence[str], settings: Settings) -> list[str]:
    """Return the encoders NAMES where none of them is on this machine or on a hub that answers."""
    from embedlab.commands.training_plan import missing_encoder
    from embedlab.core.network import is_reachable

    is_lost = all(any(missing_encoder(name, settings)) for name in names)
    is_cut_off = settings.offline or not is_reachable()
    return list(dict.fromkeys(names)) if is_lost and is_cut_off else []
