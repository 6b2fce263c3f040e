"""`embedlab runs`: look at what was trained, stop it, go on with it, tidy up."""

import time
from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.cli import completion
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.printable import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from embedlab.reports.tables import Value
    from embedlab.runs.events import Event
    from embedlab.runs.store import RunFolder

app = typer.Typer(name="runs", help="See, stop, resume, rename and remove runs.", no_args_is_help=True)

RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run, or one seed of it as name@seed.", autocompletion=completion.runs)]


@app.command(epilog=examples("embedlab runs ls", "embedlab runs ls --sample --format json"))
@common("data", "runs", "output")
def ls(*, terminal: Terminal) -> None:
    """List runs with their state and latest numbers."""
    from embedlab.reports.tables import Column, Table
    from embedlab.runs.store import find_runs, unreadable_folders

    folder = terminal.settings.runs_folder
    rows: list[dict[str, Value]] = [_row(run) for run in find_runs(folder)]
    rows += [{"run": path.name, "state": "unreadable", "note": reason} for path, reason in unreadable_folders(folder)]
    columns = (
        Column(key="run", title="run"),
        Column(key="state", title="state"),
        Column(key="step", title="step"),
        Column(key="steps", title="of"),
        Column(key="loss", title="loss", digits=4),
        Column(key="dev", title="dev", digits=2),
        Column(key="last", title="last event"),
        Column(key="note", title="note"),
    )
    notes = () if rows else (f"no runs in {str(folder)!r}; start one with `embedlab train RECIPE`",)
    terminal.show(Table(title=f"Runs in {folder}", columns=columns, rows=rows, notes=notes))


def _row(run: "RunFolder") -> "dict[str, Value]":
    from embedlab.runs.status import run_status

    found = run_status(run)
    step = found.step
    return {
        "run": run.id,
        "state": found.state,
        "step": step.step if step else None,
        "steps": step.steps if step else None,
        "loss": step.loss if step else None,
        "dev": found.dev.score if found.dev else None,
        "last": _clock(found.last_s),
        "note": found.message,
    }


def _clock(time_s: float | None) -> str | None:
    if time_s is None:
        return None
    return datetime.fromtimestamp(time_s).astimezone().isoformat(sep=" ", timespec="seconds")


@app.command(epilog=examples("embedlab runs show snli-supcl", "embedlab runs show snli-supcl@2 --json"))
@common("data", "runs", "output")
def show(run: RunName, *, terminal: Terminal) -> None:
    """Show what a run is, what it ran on and how far it is."""
    from embedlab.reports.tables import Column, Table
    from embedlab.runs.store import select_runs

    tables = []
    for chosen in select_runs(terminal.settings.runs_folder, run):
        facts: dict[str, Value] = {**_row(chosen), **_circumstances(chosen), "folder": str(chosen.path)}
        rows: list[dict[str, Value]] = [{"fact": key, "value": value} for key, value in facts.items() if value not in {None, ""}]
        tables.append(Table(title=chosen.id, columns=(Column(key="fact", title="fact"), Column(key="value", title="value")), rows=rows))
    terminal.show(*tables)


def _circumstances(run: "RunFolder") -> "dict[str, Value]":
    """What recipe and environment say; a damaged file is a fact too."""
    try:
        recipe, environment = run.recipe(), run.environment()
    except EmbedlabError as error:
        return {"note": error.message}
    marks = (("partial", environment.is_partial), ("sample", environment.is_sample), ("shortened", environment.is_shortened))
    parts = [f"{part.get('name')} {part.get('split')}: {_rows(part)} rows" for part in environment.data]
    return {
        "summary": recipe.summary,
        "recipe": recipe.hash,
        "encoder": recipe.encoder.model,
        "pooling": recipe.encoder.pooling,
        "data": "; ".join(parts),
        "marks": " ".join(mark for mark, is_on in marks if is_on),
        "steps taken": f"{environment.steps} of {environment.whole_steps}, by --max-steps" if environment.is_shortened else None,
        "device": environment.device,
        "precision": environment.precision,
        "threads": environment.threads,
        "host": environment.host,
        "commit": environment.commit,
        "embedlab": environment.embedlab,
    }


def _rows(part: "Mapping[str, object]") -> str:
    return f"{part['used']} of {part.get('rows')}" if "used" in part else str(part.get("rows"))


@app.command(epilog=examples("embedlab runs log snli-supcl", "embedlab runs log snli-supcl@1 --follow"))
@common("data", "runs", "output")
def log(
    run: RunName,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the run ends.")] = False,
    *,
    terminal: Terminal,
) -> None:
    """Print a run's events in words, or with --format json as JSON lines; then what a detached process printed."""
    from embedlab.runs import events
    from embedlab.runs.status import run_status
    from embedlab.runs.store import select_runs

    chosen = select_runs(terminal.settings.runs_folder, run)[0]
    offset = 0
    while True:
        is_running = run_status(chosen).state in {"starting", "running", "silent"}
        found, offset = events.events_after(chosen.events_file, offset) if chosen.events_file.exists() else ([], 0)
        if found and terminal.settings.format == "json":
            terminal.write_json("".join(events.to_line(event) for event in found))
        elif found:
            terminal.write("".join(f"{one_line(words(event))}\n" for event in found))
        if not (follow and is_running):
            break
        time.sleep(0.5)
    if chosen.log_file.exists() and terminal.settings.format != "json":
        terminal.write(f"--- {chosen.log_file}\n{chosen.log_file.read_text(encoding='utf-8', errors='replace')}")


def words(event: "Event") -> str:
    """An event as one line for people."""
    facts = {key: value for key, value in vars(event).items() if key != "time"}
    shown = "  ".join(f"{key} {value:.6g}" if isinstance(value, float) else f"{key} {value}" for key, value in facts.items())
    return f"{_clock(event.time)}  {event.kind:<11} {shown}".rstrip()


@app.command(epilog=examples("embedlab runs resume snli-supcl", "embedlab runs resume snli-supcl@2 --threads 2"))
@common("data", "runs", "machine", "output")
def resume(run: RunName, *, terminal: Terminal) -> None:
    """Continue the unfinished seeds of a run from their newest checkpoints."""
    from embedlab.cli.commands.train import train_runs
    from embedlab.runs.status import run_status
    from embedlab.runs.store import select_runs

    chosen = [found for found in select_runs(terminal.settings.runs_folder, run) if run_status(found).is_unfinished]
    if not chosen:
        raise UsageError(f"run {run!r} has no unfinished seed", hint="`embedlab runs ls` shows the state of all runs")
    for unfinished in chosen:
        train_runs(unfinished.recipe(), [unfinished], terminal)


@app.command(epilog=examples("embedlab runs cancel snli-supcl", "embedlab runs cancel snli-supcl@2 --force"))
@common("data", "runs", "output")
def cancel(
    run: RunName,
    force: Annotated[bool, typer.Option("--force", help="End the process at once, without a checkpoint.")] = False,
    *,
    terminal: Terminal,
) -> None:
    """Ask a running run to save a checkpoint and stop."""
    from embedlab.runs import launch
    from embedlab.runs.store import select_runs

    chosen = select_runs(terminal.settings.runs_folder, run)
    running = [found for found in chosen if found.holder() is not None] or chosen[:1]
    shown = [f"process {launch.cancel(found, force=force)} to stop {found.id}" for found in running]
    terminal.done(f"told {', '.join(shown)}", cancelled=[found.id for found in running])


@app.command(epilog=examples("embedlab runs rename snli-supcl snli-supcl-old", "embedlab runs rename sbert sbert-cased --runs /data/runs"))
@common("data", "runs", "output")
def rename(
    run: RunName,
    new: Annotated[str, typer.Argument(help="The new name.")],
    *,
    terminal: Terminal,
) -> None:
    """Give a run with all its seeds another name."""
    from embedlab.runs.store import rename_runs

    rename_runs(terminal.settings.runs_folder, run, new)
    terminal.done(f"{run} is now {new}", run=run, new=new)


@app.command(epilog=examples("embedlab runs prune", "embedlab runs prune snli-supcl sbert@3 --json"))
@common("data", "runs", "output")
def prune(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[RUN]...", help="Runs, or single seeds as name@seed. [default: all]", autocompletion=completion.runs),
    ] = None,
    *,
    terminal: Terminal,
) -> None:
    """Delete the checkpoints of finished runs and what killed processes left behind.

    Models, heads, scores and the checkpoints of unfinished runs stay; a running one is left alone.
    """
    from embedlab.runs.store import find_runs, select_runs
    from embedlab.runs.tidy import prune_run

    folder = terminal.settings.runs_folder
    chosen = [run for name in names for run in select_runs(folder, name)] if names else find_runs(folder)
    idle = [run for run in dict.fromkeys(chosen) if run.holder() is None]
    freed = {run.id: size for run in idle if (size := prune_run(run))}
    running = [run.id for run in dict.fromkeys(chosen) if run not in idle]
    text = f"freed {sum(freed.values()):,} bytes of {len(freed)} of {len(chosen)} runs"
    terminal.done(
        f"{text}; left alone: {', '.join(running)}" if running else text,
        freed_bytes=sum(freed.values()),
        pruned=list(freed),
        running=running,
    )


@app.command(epilog=examples("embedlab runs rm snli-supcl@3", "embedlab runs rm snli-supcl --yes"))
@common("data", "runs", "output")
def rm(
    run: RunName,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    *,
    terminal: Terminal,
) -> None:
    """Delete a run, or one seed of it, with its checkpoints, model and scores."""
    from embedlab.runs.store import remove_runs, select_runs

    chosen = select_runs(terminal.settings.runs_folder, run)
    names = ", ".join(found.id for found in chosen)
    if not yes and not terminal.confirm(f"delete {names}?"):
        raise UsageError(f"{names} not deleted: nobody said yes", hint="add --yes")
    remove_runs(chosen)
    terminal.done(f"deleted {names}", deleted=[found.id for found in chosen])
