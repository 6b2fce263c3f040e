"""`embedlab runs`: see, stop, resume, rename and remove runs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from embedlab.commands.command import command, confirm
from embedlab.commands.options import ConfirmationOptions, FigureOptions, Flag
from embedlab.commands.terminal import Terminal
from embedlab.core.errors import UsageError
from embedlab.core.printable import first_few
from embedlab.core.session import Session
from embedlab.reports.report import Report

if TYPE_CHECKING:
    from embedlab.runs import events
    from embedlab.runs.store import RunFolder


FOLLOW_S = 0.5  # between two looks at the events of a running run


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """One run."""

    run: Annotated[
        str,
        Flag(
            metavar="RUN",
            help="A run, or one seed of it as name@seed.",
            completes="runs",
            python="name",
        ),
    ]


@dataclass(frozen=True, kw_only=True)
class ShowOptions(FigureOptions, RunOptions):
    """One run, and what is drawn of it."""


@dataclass(frozen=True, kw_only=True)
class LogOptions(RunOptions):
    """One run, and whether its events are followed."""

    follow: Annotated[
        bool, Flag(names=("--follow", "-f"), help="Keep printing until the run ends.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class CancelOptions(RunOptions):
    """One run, and how it ends."""

    force: Annotated[bool, Flag(help="End the process at once, without a checkpoint.")] = False


@dataclass(frozen=True, kw_only=True)
class RenameOptions(RunOptions):
    """One run, and its other name."""

    new: Annotated[str, Flag(metavar="NEW", help="The new name.")]


@dataclass(frozen=True, kw_only=True)
class PruneOptions:
    """Runs, or all of them."""

    names: Annotated[
        Sequence[str],
        Flag(
            is_argument=True,
            metavar="[RUN]...",
            help="Runs, or single seeds as name@seed. [default: all]",
            completes="runs",
        ),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class RemoveOptions(ConfirmationOptions, RunOptions):
    """One run that is deleted."""


@command("data runs output", also=("list",))
def ls(session: Terminal) -> None:
    """List runs with their state and latest numbers.

    Examples:
        $ embedlab runs ls
        $ embedlab runs ls --format json

    """
    from embedlab.reports.runs import runs_table

    session.show(runs_table(session.settings.runs))


@command("data runs output", draws="runs")
def show(options: ShowOptions, session: Terminal) -> Report:
    """Show what a run is, what it ran on and how far it is; --figure draws its loss and dev score,
    a line for each seed.

    --json prints one object: the facts of the run, or {"runs": [facts, …]} for several seeds.

    Examples:
        $ embedlab runs show snli-supcl
        $ embedlab runs show snli-supcl@2 --json
        $ embedlab runs show snli-supcl --figure curves.pdf

    """
    from embedlab.reports.runs import run_facts

    report = run(options, session)
    if session.settings.format != "json":
        return report
    run_records = [run_facts(folder) for folder in report.runs]
    answer = run_records[0] if len(run_records) == 1 else {"runs": run_records}
    session.write_json(json.dumps(answer, ensure_ascii=False, allow_nan=False, indent=2))
    return replace(report, tables=())


def run(options: RunOptions, session: Session) -> Report:
    """What a run is, what it ran on and how far it is; its frame has the loss and the dev scores,
    `.plot()` draws them.
    """
    import polars as pl

    from embedlab.reports.runs import run_table
    from embedlab.runs.events import Curve
    from embedlab.runs.store import select_runs

    runs = tuple(select_runs(session.settings.runs, options.run))
    curves = {"run": pl.String(), "step": pl.Int64(), "what": pl.String(), "value": pl.Float64()}
    rows = []
    for run_folder in runs:
        curve = Curve()
        curve.read_on(run_folder.events_file)
        for series_name, series in (("loss", curve.losses), ("dev", curve.dev_scores)):
            rows += [(run_folder.id, step, series_name, value) for step, value in series.items()]
    return Report.of(
        *map(run_table, runs),
        frame=pl.DataFrame(rows, schema=curves, orient="row"),
        command="runs",
        figure_subject={"runs": runs},
        behind={"runs": runs},
    )


@command("data runs output")
def log(options: LogOptions, session: Terminal) -> None:
    """Print a run's events in words, or with --format json as JSON lines; then what a detached
    process printed.

    Examples:
        $ embedlab runs log snli-supcl
        $ embedlab runs log snli-supcl@1 --follow

    """
    from embedlab.core.foreign_files import refuse_links
    from embedlab.reports.runs import event_line
    from embedlab.runs import events
    from embedlab.runs.store import select_runs

    chosen_run, *others = select_runs(session.settings.runs, options.run)
    if others:
        session.note(
            f"{chosen_run.id} alone, of {len(others) + 1} seeds; `embedlab runs log "
            f"{others[0].id}` shows the next"
        )
    refuse_links(chosen_run.path)
    is_json = session.settings.format == "json"
    for recorded in read_events(chosen_run, follows=options.follow):
        if is_json:
            session.write_json("".join(map(events.to_line, recorded)))
        else:
            session.write("".join(f"{event_line(event)}\n" for event in recorded))
    if chosen_run.log_file.exists() and not is_json:
        log_text = chosen_run.log_file.read_text(encoding="utf-8", errors="replace")
        session.write(f"--- {chosen_run.log_file}\n{log_text}")


def read_events(run: RunFolder, *, follows: bool) -> Iterator[Sequence[events.Event]]:
    """Yield a run's events as they come; with FOLLOWS until the run ends."""
    from embedlab.runs import events
    from embedlab.runs.status import run_status

    offset = 0
    while True:
        is_running = run_status(run).is_alive
        recorded, offset = (
            events.events_after(run.events_file, offset) if run.events_file.exists() else ([], 0)
        )
        if recorded:
            yield recorded
        if not (follows and is_running):
            return
        time.sleep(FOLLOW_S)


@command("data runs machine output")
def resume(options: RunOptions, session: Session) -> Report | None:
    """Continue the unfinished seeds of a run from their newest checkpoints, train those that its
    command had not begun, then evaluate the run on the tasks of its recipe.

    Examples:
        $ embedlab runs resume snli-supcl
        $ embedlab runs resume snli-supcl@2 --threads 2

    """
    from embedlab.commands.training import continue_training
    from embedlab.runs.status import run_status
    from embedlab.runs.store import select_runs, unbegun_seeds

    chosen_runs = select_runs(session.settings.runs, options.run)
    statuses = {run: run_status(run) for run in chosen_runs}
    unfinished = [run for run, status in statuses.items() if status.is_unfinished]
    is_alive = any(status.is_alive for status in statuses.values())
    if options.run == chosen_runs[0].name and not is_alive:
        unfinished += unbegun_seeds(chosen_runs)
    if not unfinished:
        states = first_few(f"{run.id} is {status.state}" for run, status in statuses.items())
        raise UsageError(
            f"run {options.run!r} has no seed to continue: {states}",
            hint="`embedlab runs ls` shows the state of all runs",
        )
    begun = next((run for run in chosen_runs if run.recipe_file.exists()), chosen_runs[0])
    return continue_training(unfinished, session, begun=begun, model=options.run)


@command("data runs output")
def cancel(options: CancelOptions, session: Session) -> None:
    """Stop a running run after it has saved a checkpoint.

    Examples:
        $ embedlab runs cancel snli-supcl
        $ embedlab runs cancel snli-supcl@2 --force

    """
    from embedlab.runs import launch
    from embedlab.runs.store import select_runs

    chosen_runs = select_runs(session.settings.runs, options.run)
    running = [run for run in chosen_runs if run.holder() is not None] or chosen_runs[:1]
    pids = {run.id: launch.cancel_run(run, force=options.force) for run in running}
    run_labels = [f"{name} (process {pid})" for name, pid in pids.items()]
    session.done(f"requested the stop of {', '.join(run_labels)}", cancelled=[*pids])


@command("data runs output")
def rename(options: RenameOptions, session: Session) -> None:
    """Give a run with all its seeds another name.

    Examples:
        $ embedlab runs rename snli-supcl snli-supcl-old
        $ embedlab runs rename sbert sbert-cased --runs /data/runs

    """
    from embedlab.models.catalog import refuse_other_meaning
    from embedlab.runs.store import rename_runs

    refuse_other_meaning(options.new)
    rename_runs(session.settings.runs, options.run, options.new)
    session.done(f"{options.run} is now {options.new}", run=options.run, new=options.new)


@command("data runs output")
def prune(options: PruneOptions, session: Session) -> None:
    """Delete the checkpoints of finished runs, and what killed processes and interrupted removals
    left behind.

    Models, heads, scores and the checkpoints of unfinished runs stay; it does not touch a running
    one.

    Examples:
        $ embedlab runs prune
        $ embedlab runs prune snli-supcl sbert@3 --json

    """
    from embedlab.runs.store import find_runs, select_runs
    from embedlab.runs.tidy import prune_removed, prune_run

    folder, names = session.settings.runs, options.names
    named_runs = [run for name in names for run in select_runs(folder, name)]
    chosen_runs = list(dict.fromkeys(named_runs if names else find_runs(folder)))
    idle = [run for run in chosen_runs if run.holder() is None]
    freed_by_run = {run.id: size for run in idle if (size := prune_run(run))}
    # What is left of runs whose removal was killed.
    removed = prune_removed(folder) if not names else {}
    freed_by_run |= {name: freed_by_run.get(name, 0) + size for name, size in removed.items()}
    running = [run.id for run in chosen_runs if run not in idle]
    looked_at = len({run.id for run in chosen_runs} | removed.keys())
    freed_bytes = sum(freed_by_run.values())
    text = f"freed {freed_bytes:,} bytes of {len(freed_by_run)} of {looked_at} runs"
    session.done(
        f"{text}; left alone: {', '.join(running)}" if running else text,
        freed_bytes=freed_bytes,
        pruned=list(freed_by_run),
        running=running,
    )


@command("data runs output")
def rm(options: RemoveOptions, session: Terminal) -> None:
    """Delete a run, or one seed of it, with its checkpoints, model and scores.

    Examples:
        $ embedlab runs rm snli-supcl@3
        $ embedlab runs rm snli-supcl --yes

    """
    from embedlab.runs.store import remove_runs, select_runs

    chosen_runs = select_runs(session.settings.runs, options.run)
    names = ", ".join(folder.id for folder in chosen_runs)
    confirm(f"delete {names}?", f"{names} not deleted", session, is_confirmed=options.yes)
    remove_runs(chosen_runs)
    session.done(f"deleted {names}", deleted=[folder.id for folder in chosen_runs])
