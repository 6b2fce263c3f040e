"""`embedlab train`: a recipe becomes one run a seed."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from embedlab.choices import Tracker
from embedlab.cli import completion
from embedlab.cli.options import common, examples
from embedlab.cli.run_log import logged
from embedlab.cli.terminal import Terminal, report
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.printable import one_line
from embedlab.core.progress import ProgressDisplay
from embedlab.core.settings import Precision, Settings, process_rank
from embedlab.workflows.sample_encoder import build_sample_encoder
from embedlab.workflows.starting import starting_encoder

if TYPE_CHECKING:
    from embedlab.core.recipe import Recipe
    from embedlab.runs.events import Event
    from embedlab.runs.store import RunFolder


EXAMPLES = examples(
    "embedlab train snli-supcl --data DIR --seeds 3",
    "embedlab train snli-ce --set optim.lr=1e-5 --name snli-ce-slow --resume",
)


@common("data", "runs", "machine", "output")
def train(
    recipe: Annotated[
        str, typer.Argument(metavar="RECIPE", help="A name from `embedlab recipes`, or a TOML file.", autocompletion=completion.recipes)
    ],
    set_: Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Another value for a key of the recipe.")] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="S", min=0, max=2**63 - 1, help="The one seed to train with. [default: 1]")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option("--seeds", metavar="N", min=1, max=10_000, help="Train with each of the seeds 1 to N.")
    ] = None,
    max_steps: Annotated[
        int | None,
        typer.Option(
            "--max-steps",
            metavar="N",
            min=1,
            help="A training of N steps: stages in their order until N is reached, warm-up and schedule over the steps that a stage "
            "then has. Its scores are marked as shortened.",
        ),
    ] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the run. [default: the recipe's]")] = None,
    encoder: Annotated[
        str | None, typer.Option("--encoder", metavar="MODEL", help="Start from this encoder.", autocompletion=completion.models)
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the newest unfinished run of this name; start it where there is none.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the resolved recipe and one example in words; train nothing.")] = False,
    detach: Annotated[bool, typer.Option("--detach", help="Train in a process that outlives this terminal.")] = False,
    gpus: Annotated[int | None, typer.Option("--gpus", metavar="N", min=1, help="Train with N GPUs: the same loss and gradient.")] = None,
    keep_checkpoints: Annotated[bool, typer.Option("--keep-checkpoints", help="Keep the checkpoints of the finished run.")] = False,
    track: Annotated[Tracker | None, typer.Option("--track", help="Also log to an experiment tracker.")] = None,
    *,
    terminal: Terminal,
) -> None:
    """Train RECIPE and score the model on the recipe's tasks.

    Ctrl-C saves a checkpoint and stops, a second one stops at once; `--resume` goes on from the checkpoint. A job that may be
    started again can always type `--resume`: it starts the run, goes on with it, evaluates it, or says that it is finished.
    """
    from embedlab.core.recipe import load_recipe
    from embedlab.models.catalog import starting_members
    from embedlab.objectives.needs import check_columns
    from embedlab.runs.store import RunFolder

    if seed is not None and seeds is not None:
        raise UsageError("--seed and --seeds exclude each other", hint="--seeds 3 trains with the seeds 1, 2 and 3")
    settings = terminal.settings
    set_ = _with_length(set_ or [], max_steps)
    is_set = any(one.startswith("encoder.model=") for one in set_ or ())
    start = None if is_set and encoder is None else starting_encoder(encoder, settings)
    chosen = load_recipe(recipe, set_ or (), encoder=start)
    check_columns(chosen)
    label = name if name is not None else chosen.name
    numbers = range(1, seeds + 1) if seeds is not None else [seed if seed is not None else 1]
    runs = [RunFolder.of(settings.runs_folder, label, number) for number in numbers]
    if resume and seed is None and seeds is None and not dry_run:
        runs = _to_resume(settings.runs_folder, label) or runs
        if not set_ and encoder is None and runs[0].recipe_file.exists():
            chosen = _stored_recipe(runs[0], chosen, is_named=name is not None)
    if start is None and not (resume and any(run.recipe_file.exists() for run in runs)):  # it may have been begun with another
        starting_members(chosen.encoder.model, settings.runs_folder, numbers)
    if dry_run:
        return _show_plan(chosen, numbers[0], terminal)
    build_sample_encoder(start, settings)
    todo = _still_to_train(runs, chosen, terminal, keeps_checkpoints=keep_checkpoints)
    _check_evaluation(chosen, todo, terminal)
    if gpus is not None:
        _require_gpus(gpus)
    if detach and todo:
        return _detach(chosen, todo, terminal)
    if gpus is not None and gpus > 1 and todo:
        return _train_together(gpus)
    train_runs(chosen, todo, terminal, resume=resume, track=track, keeps_checkpoints=keep_checkpoints)
    if process_rank() != 0:
        return None
    _show_scores(chosen, label if seeds is not None or len(runs) > 1 else runs[0].id, terminal)
    return None


def _check_evaluation(recipe: "Recipe", todo: "Sequence[RunFolder]", terminal: Terminal) -> None:
    """Refuse what cannot be evaluated, and report what will be missing, before a step of the runs TODO is trained."""
    from embedlab.evaluation.readiness import check_recipe_evaluation

    missing = check_recipe_evaluation(recipe, terminal.settings) if todo else ()
    for error in missing if process_rank() == 0 else ():
        report(error)


def _with_length(overrides: list[str], max_steps: int | None) -> list[str]:
    """What is set in a recipe, with the length that `--max-steps` gives the training."""
    return [*overrides, f"max_steps={max_steps}"] if max_steps is not None else overrides


def train_runs(
    recipe: "Recipe",
    runs: "Sequence[RunFolder]",
    terminal: Terminal,
    *,
    resume: bool = True,
    track: Tracker | None = None,
    keeps_checkpoints: bool = False,
) -> None:
    """Train RECIPE into each of RUNS, one after the other."""
    if not runs:
        return
    seeds = ", ".join(str(run.seed) for run in runs)
    terminal.note(f"training {runs[0].name} ({recipe.summary}), seed {seeds}, into {runs[0].path.parent}")

    from embedlab.data.source import Source
    from embedlab.encoders.device import has_bf16_units, machine
    from embedlab.evaluation.dev_score import dev_score
    from embedlab.training.stages import train_run

    settings = terminal.settings
    source = Source.from_settings(settings)
    default = machine(settings, training=True)
    score_dev = dev_score(source, recipe.evaluate.dev) if recipe.evaluate.dev != "none" else None
    shown = ""
    for run in runs:
        computer = machine(_as_before(run, settings, default.threads) if resume else settings, training=True)
        emulated = " (emulated: no bf16 units here)" if computer.precision == "bf16" and not has_bf16_units(computer.device) else ""
        threads = f"{computer.threads} thread{'s' if computer.threads > 1 else ''}"
        if (where := f"on {computer.device} in {computer.precision}{emulated}, {threads}") != shown:
            terminal.note(shown := where)
        with terminal.progress(run.id) as tick:
            report = follow(run.id, logged(run.log_file, terminal), tick)
            train_run(
                recipe,
                source,
                computer,
                run,
                run.seed,
                resume=resume,
                dev_score=score_dev,
                report=report,
                progress=tick,
                track=track,
                cache=settings.cache,
                keeps_checkpoints=keeps_checkpoints,
            )


def _require_gpus(count: int) -> None:
    import torch

    if torch.cuda.device_count() < count:
        hint = f"several processes on a processor: torchrun --standalone --nproc-per-node {count} -m embedlab train … --device cpu"
        raise MissingError(f"--gpus {count}: {torch.cuda.device_count()} GPUs are here", hint=hint)


def _train_together(count: int) -> None:
    """Start the same command without `--gpus` once a GPU; its exit code is this command's."""
    from embedlab.runs.launch import run_together

    words = [word for place, word in enumerate(sys.argv[1:]) if not word.startswith("--gpus") and sys.argv[place] != "--gpus"]
    if code := run_together(words, count):
        raise SystemExit(code)  # whatever there is to say, they have said


def _as_before(run: "RunFolder", settings: Settings, threads: int) -> Settings:
    """SETTINGS with the precision and the threads that RUN was begun with, where nobody asks for others."""
    before = run.environment() if run.environment_file.exists() else None
    precision = before.precision if before is not None and settings.precision == "auto" else settings.precision
    threads = settings.threads or (before.threads if before is not None else threads)
    return replace(settings, precision=cast("Precision", precision), threads=threads)


def follow(label: str, note: "Callable[[str], None]", tick: ProgressDisplay) -> "Callable[[Event], None]":
    """What tells a run's events."""
    from embedlab.runs import events

    said = ""  # of the last step with a loss

    def report(event: "Event") -> None:
        nonlocal said
        match event:
            case events.Started(step=step) if step:
                note(f"{label}: resumed after step {step} of {event.steps}")
            case events.Step():
                said = f"loss {event.loss:.4f}  {event.rows_per_s:.0f} rows/s  "
                tick(event.step, event.steps, f"{said}{event.eta_s:.0f} s left")
            case events.Progress():
                tick(event.step, event.steps, f"{said}{event.eta_s:.0f} s left")
            case events.Dev():
                note(f"{label}: dev {event.score:.2f} after step {event.step}")
            case events.Note():
                note(f"{label}: {event.text}")
            case events.Finished():
                note(f"{label}: finished after {event.step} steps")
            case _:
                pass

    return report


def _to_resume(folder: Path, name: str) -> "list[RunFolder]":
    """The newest unfinished run of this name, or all finished ones; empty where none has been begun."""
    from embedlab.runs.status import run_status
    from embedlab.runs.store import find_runs

    found = [(run, run_status(run)) for run in find_runs(folder) if run.name == name]
    if unfinished := [(shown.last_s or 0.0, run) for run, shown in found if shown.is_unfinished]:
        return [max(unfinished, key=lambda item: item[0])[1]]
    _refuse_running(folder, name)
    return [run for run, shown in found if shown.state == "finished"]


def _refuse_running(folder: Path, name: str) -> None:
    from embedlab.runs.store import find_runs

    for run in find_runs(folder):
        if run.name == name and run.holder() is not None:
            hint = f"watch it with `embedlab runs show {run.id}`, stop it with `embedlab runs cancel {run.id}`"
            raise UsageError(f"run {run.id!r} is running", hint=hint)


def _stored_recipe(run: "RunFolder", typed: "Recipe", *, is_named: bool) -> "Recipe":
    """The recipe RUN was begun with; under a name of the user's own it must be the typed one, but for settings within it."""
    stored = run.recipe()
    if is_named and _gist(stored) != _gist(typed):
        run.refuse_other(typed)
    return stored


def _gist(recipe: "Recipe") -> tuple[object, ...]:
    """What tells recipes apart, whatever their numbers are set to."""
    return recipe.summary, *((stage.objective.name, stage.data.datasets) for stage in recipe.stages)


def _still_to_train(runs: "Sequence[RunFolder]", recipe: "Recipe", terminal: Terminal, *, keeps_checkpoints: bool) -> "list[RunFolder]":
    """Those of RUNS that are not finished; the others lose the checkpoints that a killed process could not delete."""
    from embedlab.runs.tidy import drop_checkpoints

    todo = []
    for run in runs:
        if not is_finished(run, recipe, terminal):
            todo.append(run)
        elif not keeps_checkpoints:
            drop_checkpoints(run)
    return todo


def is_finished(run: "RunFolder", recipe: "Recipe", terminal: Terminal) -> bool:
    """Whether RUN is there already; a finished one of another recipe is refused with the keys that differ."""
    from embedlab.runs.status import is_trained, run_status

    if run_status(run).state != "finished" or not is_trained(run):
        return False
    run.refuse_other(recipe)
    terminal.note(f"{run.id} is finished already: skipped")
    return True


def _show_plan(recipe: "Recipe", seed: int, terminal: Terminal) -> None:
    """The resolved recipe, and one example of the first batch of each stage in words."""
    from embedlab.core.recipe import recipe_to_table, to_toml
    from embedlab.data.source import Source
    from embedlab.training.blocks import blocks
    from embedlab.training.stage_data import example, open_stages

    stages = open_stages(recipe, Source.from_settings(terminal.settings), seed)
    plan = blocks(stages, recipe.mix)
    taken, whole = plan[-1].end, sum(block.whole_steps for block in plan)
    if terminal.settings.format == "json":
        shown = [
            {
                "stage": data.index,
                "rows": len(data.rows),
                "steps": sum(data.epochs),
                "batch_size": data.stage.optim.batch_size,
                "example": [{"role": role, "sentence": sentence} for role, sentence in example(data)] if data.steps else [],
            }
            for data in stages
        ]
        return terminal.write_json(
            json.dumps(
                {"recipe": recipe_to_table(recipe), "steps": taken, "whole_steps": whole, "stages": shown}, indent=2, ensure_ascii=False
            )
        )
    lines = [to_toml(recipe), *([f"# shortened to {taken} of {whole} steps"] if taken < whole else [])]
    for data in stages:
        steps = sum(data.epochs)
        lines.append(f"# stage {data.index}: {len(data.rows)} rows, {steps} steps of {data.stage.optim.batch_size} rows; one example:")
        lines += [f"#   {role:<12} {one_line(sentence)}" for role, sentence in example(data)] if data.steps else []
    return terminal.write("\n".join(lines))


def _detach(recipe: "Recipe", runs: "Sequence[RunFolder]", terminal: Terminal) -> None:
    """Start the same command without `--detach` in a process of its own, once the data is known to be there."""
    from embedlab.data.source import Source
    from embedlab.runs.launch import start_run
    from embedlab.training.stage_data import open_stages

    open_stages(recipe, Source.from_settings(terminal.settings), runs[0].seed)
    pid = start_run([word for word in sys.argv[1:] if word != "--detach"], runs[0]).pid
    terminal.note(f"process {pid} trains {', '.join(run.id for run in runs)}; `embedlab runs log {runs[0].id} --follow` follows it")


def _show_scores(recipe: "Recipe", name: str, terminal: Terminal) -> None:
    from embedlab.cli.commands.evaluate import evaluate_tasks

    evaluate_tasks([name], recipe.evaluate.tasks, terminal)
