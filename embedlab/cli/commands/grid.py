"""`embedlab grid`: run an ablation, see how far it is, read its table, stop it."""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.cli import completion
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.durations import duration
from embedlab.core.errors import EmbedlabError, ExitCode, UsageError

if TYPE_CHECKING:
    from embedlab.core.settings import Settings
    from embedlab.grids.estimate import Cost
    from embedlab.grids.plan import GridFolder, GridPlan
    from embedlab.grids.queue import QueueEntry

app = typer.Typer(name="grid", help="Run ablations: a recipe and axes, each combination with several seeds.", no_args_is_help=True)


def _complete(incomplete: str) -> list[str]:
    from embedlab.grids.grid_file import grid_names

    return [name for name in grid_names() if name.startswith(incomplete)]


GridName = Annotated[str, typer.Argument(metavar="GRID", help="A grid's name, or its TOML file.", autocompletion=_complete)]

DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the cells; run nothing.")]


@app.command(
    epilog=examples("embedlab grid run snli-supcl-lambda --data DIR --workers 2", "embedlab grid run mine.toml --dry-run --sample")
)
@common("data", "runs", "machine", "output")
def run(
    grid: GridName,
    workers: Annotated[
        int | None, typer.Option("--workers", metavar="N", min=1, max=4096, help="Cells at once. [default: GPUs, or CPUs]")
    ] = None,
    cell: Annotated[int | None, typer.Option("--cell", metavar="K", help="Only the cell of this number, for a job array.")] = None,
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Another value for a key of every cell.")] = None,
    seeds: Annotated[int | None, typer.Option("--seeds", metavar="N", min=1, max=10_000, help="Each of the seeds 1 to N.")] = None,
    encoder: Annotated[
        str | None, typer.Option("--encoder", metavar="MODEL", help="Start every cell from this encoder.", autocompletion=completion.models)
    ] = None,
    budget: Annotated[
        float | None, typer.Option("--budget", metavar="F", help="Stop hopeless cells early: take about this share of the full time.")
    ] = None,
    cluster: Annotated[str | None, typer.Option("--cluster", metavar="ADDRESS", help="Run the cells on this Ray cluster.")] = None,
    dry_run: DryRun = False,
    *,
    terminal: Terminal,
) -> None:
    """Run the cells of GRID that are not done yet, each in a process of its own.

    Kill it whenever you like: the same command goes on, also beside another one. A cell that fails is tried once more and stops
    no other. With --threads each cell takes so many processor threads, instead of the number in the grid file.
    """
    from embedlab.cli import grid_tables as tables
    from embedlab.grids.halving import check_rungs, rungs_for
    from embedlab.grids.plan import GridFolder

    plan = _plan(grid, terminal.settings, set_ or [], seeds, encoder)
    folder = GridFolder.of(plan.place.runs_folder, plan.name)
    if budget is not None and cluster is not None:
        raise UsageError("--budget and --cluster exclude each other", hint="halve on one machine, or run every cell on the cluster")
    rungs = rungs_for(budget) if budget is not None else ()
    check_rungs(plan, rungs)
    if dry_run:
        return show_cells([plan], workers, cluster, terminal)
    if cell is not None:
        return _run_cell(plan, folder, cell, terminal)
    entries = run_plan(plan, folder, rungs, workers, cluster, terminal)
    terminal.show(tables.summary_table(plan, entries))
    if any(entry.state == "failed" for entry in entries):
        raise typer.Exit(ExitCode.FAILED)
    return None


@app.command(epilog=examples("embedlab grid status", "embedlab grid status snli-supcl-lambda --json"))
@common("data", "runs", "output")
def status(
    grid: Annotated[str | None, typer.Argument(metavar="GRID", help="One grid, cell by cell.", autocompletion=_complete)] = None,
    *,
    terminal: Terminal,
) -> None:
    """Show how far GRID is, or list all grids."""
    from embedlab.cli import grid_tables as tables
    from embedlab.grids.plan import GridFolder
    from embedlab.grids.progress import GridFollower

    if grid is None:
        return terminal.show(tables.grids_table(terminal.settings.runs_folder))
    follower = GridFollower(GridFolder.find(terminal.settings.runs_folder, grid))
    progress = follower.look()
    follower.close()
    return terminal.show(tables.status_table(progress))


@app.command(
    epilog=examples(
        "embedlab grid table snli-supcl-lambda --aggregate wmean",
        "embedlab grid table mine --rows optim.lr --columns encoder.pooling --score dev --latex",
    )
)
@common("data", "runs", "output")
def table(
    grid: GridName,
    rows: Annotated[list[str] | None, typer.Option("--rows", metavar="AXIS", help="What a row stands for. [default: all axes]")] = None,
    columns: Annotated[str | None, typer.Option("--columns", metavar="AXIS", help="What a column stands for. [default: scores]")] = None,
    score: Annotated[str | None, typer.Option("--score", metavar="NAME", help="Only this score: dev, a dataset, an average.")] = None,
    where: Annotated[list[str] | None, typer.Option("--where", metavar="AXIS=VALUE", help="Only cells with this value.")] = None,
    task: Annotated[str, typer.Option("--task", metavar="NAME", help="Whose scores.", autocompletion=completion.tasks)] = "sts",
    metric: Annotated[str, typer.Option("--metric", help="Which measure of the task.")] = "spearman",
    setting: Annotated[str, typer.Option("--aggregate", help="How the measure was taken.")] = "all",
    by: Annotated[list[str] | None, typer.Option("--by", help="Kinds of scores to show: dataset, average, source, dice.")] = None,
    latex: Annotated[bool, typer.Option("--latex", help="Write LaTeX for booktabs.")] = False,
    *,
    terminal: Terminal,
) -> None:
    """Show the results of GRID: mean ± standard deviation over seeds.

    * is the best of its column (with --columns, of the table), = cannot be told apart from it.
    """
    from embedlab.grids.plan import GridFolder, GridPlan
    from embedlab.grids.table import ScoreFilter, pivot
    from embedlab.reports.grid_scores import pivot_table
    from embedlab.reports.latex import to_latex

    plan = GridPlan.load(GridFolder.find(terminal.settings.runs_folder, grid).plan_file)
    measure = ScoreFilter(task=task, metric=metric, setting=setting, by=tuple(by or ("dataset", "average")))
    found = pivot(plan, measure, rows=rows, columns=columns, score=score, where=dict(_pair(text) for text in where or ()))
    if not found.rows:
        _refuse_unknown_task(task)
        raise EmbedlabError(
            f"grid {plan.name!r} has no finished cell with {task} scores ({metric}, {setting})",
            hint=f"`embedlab grid status {plan.name}` shows its cells",
        )
    measured = f"{task} {metric} ({setting})" if setting else f"{task} {metric}"
    what = measured + (" x 100" if measure.is_share else "") + (f", {found.shown[0]}" if columns else "")
    shown = pivot_table(plan, found, what)
    terminal.write(to_latex(shown)) if latex else terminal.show(shown)


@app.command(epilog=examples("embedlab grid cancel snli-supcl-lambda", "embedlab grid cancel mine --sample"))
@common("data", "runs", "output")
def cancel(grid: GridName, *, terminal: Terminal) -> None:
    """Ask every process that works on GRID to save its cell and stop."""
    from embedlab.grids.plan import GridFolder, GridPlan
    from embedlab.grids.queue import Queue
    from embedlab.grids.worker import is_alive

    folder = GridFolder.find(terminal.settings.runs_folder, grid)
    plan = GridPlan.load(folder.plan_file)
    if not is_alive(folder):
        raise UsageError(f"grid {plan.name!r} is not running", hint=f"`embedlab grid status {plan.name}` shows its cells")
    with Queue(folder.queue_file) as queue:
        queue.request_cancel()
    terminal.done(f"asked the workers of {plan.name} to stop; the command that started it goes on from there", cancelled=plan.name)


def _plan(name: str, settings: "Settings", overrides: Sequence[str], seeds: int | None, encoder: str | None) -> "GridPlan":
    """The plan of a grid as the command line asks for it."""
    from embedlab.grids.expand import expand_grid
    from embedlab.grids.grid_file import grid_names, load_grid, sets_key, with_fixed
    from embedlab.grids.plan import GridFolder, GridPlace, GridPlan
    from embedlab.workflows.sample_encoder import build_sample_encoder
    from embedlab.workflows.starting import starting_encoder

    started = GridFolder.of(settings.runs_folder, name).plan_file
    if name not in grid_names() and not name.endswith(".toml") and started.is_file():
        if overrides or seeds is not None or encoder is not None:
            raise UsageError(f"grid {name!r} goes on as it was planned", hint="for --set, --seeds or --encoder give its TOML file")
        plan = GridPlan.load(started)
        _refuse_other_place(plan, settings)
        return plan
    grid = with_fixed(load_grid(name), overrides)
    if encoder is not None or (settings.sample and not sets_key(grid, "encoder.model")):
        start = starting_encoder(encoder, settings)
        build_sample_encoder(start, settings)
        grid = with_fixed(grid, [f"encoder.model={start}"])
    if settings.threads is not None:
        grid = replace(grid, threads=settings.threads)
    return expand_grid(grid, GridPlace.of(settings), seeds=range(1, seeds + 1) if seeds is not None else None)


def _refuse_other_place(plan: "GridPlan", settings: "Settings") -> None:
    """Refuse what was asked for otherwise than the cells of a grid that goes on are made, instead of leaving it out."""
    from embedlab.grids.plan import GridPlace

    default, selected = GridPlace(runs="", cache=""), GridPlace.of(settings)
    keys = ("data", "offline", "allow_partial", "device", "precision")
    others = [key for key in keys if getattr(selected, key) not in {getattr(default, key), getattr(plan.place, key)}]
    others += ["threads"] if settings.threads not in {None, plan.threads} else []
    if others:
        raise UsageError(
            f"grid {plan.name!r} goes on as it was planned, not with other {' or '.join(others)}",
            hint="leave that out, or plan the grid anew by its TOML file or the command that began it",
        )


def show_cells(plans: "Sequence[GridPlan]", workers: int | None, cluster: str | None, terminal: Terminal) -> None:
    """Show the cells of every plan, which of them are done, and what the others would cost; nothing is made."""
    from embedlab.cli.grid_tables import cells_table
    from embedlab.grids.progress import entry_of_run

    entries = [[entry_of_run(plan, cell) for cell in plan.cells] for plan in plans]
    terminal.show(*(cells_table(plan, own) for plan, own in zip(plans, entries, strict=True)))
    for plan, own in zip(plans, entries, strict=True):
        _note_cost(plan, own, *_hands(plan, workers, cluster), cluster, terminal)


def run_plan(
    plan: "GridPlan", folder: "GridFolder", rungs: Sequence[float], workers: int | None, cluster: str | None, terminal: Terminal
) -> "list[QueueEntry]":
    """Say what is to come, do it under the board, and give the cells as they ended."""
    from embedlab.cli.grid_board import board
    from embedlab.grids.cluster import run_on_cluster
    from embedlab.grids.local import run_local, started
    from embedlab.grids.progress import GridFollower
    from embedlab.training.signals import stop_requests

    gpus, at_once = _hands(plan, workers, cluster)
    with started(plan, folder, rungs), closing(GridFollower(folder)) as follower:
        cost = _note_cost(plan, follower.look().entries, gpus, at_once, cluster, terminal)
        if not cost.cells:
            return list(follower.look().entries)
        with stop_requests() as stop, board(plan.name, terminal) as show:

            def look() -> None:
                show(follower.look())

            def is_stopping() -> bool:
                return stop.signal is not None

            if cluster is None:
                run_local(plan, folder, at_once, gpus=gpus, show=look, is_stopping=is_stopping)
            else:
                run_on_cluster(plan, folder, cluster, at_once=workers, show=look, is_stopping=is_stopping)
        return list(follower.look().entries)


def _hands(plan: "GridPlan", workers: int | None, cluster: str | None) -> tuple[list[str], int]:
    """The GPUs of this machine that cells may take, and how many cells run at once."""
    from embedlab.grids.local import visible_gpus

    gpus = visible_gpus(plan.place.device) if cluster is None else []
    return gpus, workers or len(gpus) or _free_processors() // plan.threads or 1


def _note_cost(
    plan: "GridPlan", entries: "Sequence[QueueEntry]", gpus: Sequence[str], at_once: int, cluster: str | None, terminal: Terminal
) -> "Cost":
    """Say what is to be done, where, how long it may take and how much disk it needs."""
    import shutil

    from embedlab.grids.estimate import remaining_cost

    cost, runs = remaining_cost(plan, entries, at_once), plan.place.runs_folder
    where = f"on the Ray cluster {cluster}" if cluster else f"{at_once} at once" + (f" on {len(gpus)} GPUs" if gpus else "")
    threads = f"{plan.threads} thread{'s' if plan.threads > 1 else ''} each"
    time = f"about {duration(cost.seconds)} (from {cost.measured})" if cost.seconds is not None else cost.measured
    free = shutil.disk_usage(next(folder for folder in (runs, *runs.parents) if folder.is_dir())).free
    size = f"up to {cost.disk_bytes / 2**30:.1f} GiB of {free / 2**30:.1f} GiB free" if cost.disk_bytes is not None else "disk not known"
    short = "; THIS DISK IS TOO SMALL" if cost.disk_bytes is not None and cost.disk_bytes > free else ""
    terminal.note(f"{plan.name}: {len(plan)} cells, {cost.cells} to do, {where}, {threads}; {time}; {size}{short}")
    return cost


def _run_cell(plan: "GridPlan", folder: "GridFolder", number: int, terminal: Terminal) -> None:
    from embedlab.grids.local import alone, run_cell, store_plan

    cell = plan.cell(number)
    terminal.note(f"cell {number} of {len(plan)}: {cell.id}, log {plan.run(cell).log_file}")
    with alone(folder):
        store_plan(plan, folder)
    run_cell(plan, folder, number)
    terminal.note(f"cell {number} is done")


def _free_processors() -> int:
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _refuse_unknown_task(task: str) -> None:
    from embedlab.core.names import task_names, unknown

    if task not in task_names() and not task.endswith("-probing"):
        raise unknown("task", task, task_names())


def _pair(text: str) -> tuple[str, str]:
    axis, equals, label = text.partition("=")
    if not equals:
        raise UsageError(f"--where takes AXIS=VALUE, not {text!r}", hint="for example --where optim.lr=2e-05")
    return axis, label
