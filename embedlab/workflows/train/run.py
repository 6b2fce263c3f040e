"""A planned training carried out: its data checked, each run trained, the models scored; or started
in other processes.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from embedlab.choices import Tracker
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.python_processes import python_command
from embedlab.core.recipe import Recipe
from embedlab.core.settings import Precision, Settings, process_rank
from embedlab.runs.launch import Detached, run_together, start_run
from embedlab.runs.status import Status, run_status
from embedlab.runs.store import RunFolder
from embedlab.runs.tidy import drop_checkpoints
from embedlab.workflows.evaluate import evaluation_report
from embedlab.workflows.options.evaluate import EvaluateOptions
from embedlab.workflows.report import Report
from embedlab.workflows.session import Session
from embedlab.workflows.train.log import event_reporter, logged
from embedlab.workflows.train.plan import TrainPlan, train_arguments

if TYPE_CHECKING:
    from embedlab.encoders.device import Machine


@dataclass(frozen=True, kw_only=True)
class TrainedRun:
    """One run after its training."""

    run: RunFolder
    status: Status


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainResult:
    """The runs of a training, and what their models reached on the recipe's tasks."""

    recipe: Recipe
    runs: tuple[TrainedRun, ...]
    evaluated: Report | None  # None without tasks, and in a process that does not lead its team


def check_training(plan: TrainPlan, session: Session) -> None:
    """Refuse what cannot be trained or evaluated, and report what will be missing, before a step of
    any run is trained.

    What a file in place of a recipe holds is noted first. Finished runs are noted too, and lose the
    checkpoints that a killed process could not delete.
    """
    for note in plan.notes:
        session.note(note)
    from embedlab.data.source import Source
    from embedlab.training.stage_data import check_own_rows

    if plan.todo:
        check_own_rows(plan.recipe, Source.from_settings(session.settings), plan.todo[0].seed)
    from embedlab.scoring.readiness import check_recipe_evaluation
    from embedlab.workflows.tiny_encoder import build_tiny_encoder
    from embedlab.workflows.train.missing import refuse_missing

    if plan.todo:
        refuse_missing(plan, session.settings)
    build_tiny_encoder(plan.start, session.settings)
    if not plan.options.keeps_checkpoints:
        for planned in plan.runs:
            if planned.state == "finished":
                drop_checkpoints(planned.run)
    missing = (
        check_recipe_evaluation(plan.recipe, Source.from_settings(session.settings))
        if plan.todo
        else ()
    )
    for error in missing if process_rank() == 0 else ():
        session.report(error)
    if plan.options.gpus is not None:
        _require_gpus(plan.options.gpus)


def train_plan(plan: TrainPlan, session: Session) -> TrainResult:
    """Train the runs of PLAN that are not finished, one after the other, and evaluate all on the
    tasks of its recipe.
    """
    options = plan.options
    train_runs(
        plan.recipe,
        plan.todo,
        session,
        resume=options.resume,
        track=options.track,
        keeps_checkpoints=options.keeps_checkpoints,
    )
    evaluated = _evaluated([plan.model], plan.recipe, session) or _evaluated_on_own(plan, session)
    runs = tuple(
        TrainedRun(run=planned.run, status=run_status(planned.run)) for planned in plan.runs
    )
    return TrainResult(recipe=plan.recipe, runs=runs, evaluated=evaluated)


def continue_training(runs: Sequence[RunFolder], session: Session) -> Report | None:
    """Train RUNS, seeds of one recipe, on from their newest checkpoints, and evaluate them on its
    tasks, if it has any.
    """
    recipe = runs[0].recipe()
    train_runs(recipe, runs, session)
    return _evaluated([run.id for run in runs], recipe, session)


def _evaluated(models: Sequence[str], recipe: Recipe, session: Session) -> Report | None:
    if process_rank() != 0 or not recipe.evaluate.tasks:
        return None
    return evaluation_report(EvaluateOptions(models=models, tasks=recipe.evaluate.tasks), session)


def _evaluated_on_own(plan: TrainPlan, session: Session) -> Report | None:
    """The model on the rows of the dev score of a file in place of a recipe, and what compares it
    with the encoder that it was.
    """
    if process_rank() != 0 or plan.own is None or plan.own.dev is None:
        return None
    start = plan.options.encoder or plan.recipe.encoder.model
    session.note(
        f"compare it with what it was before: embedlab compare {start} {plan.model} "
        f"'{plan.own.dev}'"
    )
    return evaluation_report(EvaluateOptions(models=[plan.model], tasks=[plan.own.dev]), session)


def train_runs(
    recipe: Recipe,
    runs: Sequence[RunFolder],
    session: Session,
    *,
    resume: bool = True,
    track: Tracker | None = None,
    keeps_checkpoints: bool = False,
) -> None:
    """Train RECIPE into each of RUNS, one after the other."""
    if not runs:
        return
    seeds = ", ".join(str(run.seed) for run in runs)
    session.note(
        f"training {runs[0].name} ({recipe.summary}), seed {seeds}, into {runs[0].path.parent}"
    )

    from embedlab.data.source import Source
    from embedlab.encoders.device import machine
    from embedlab.scoring.dev_score import dev_notes, dev_score
    from embedlab.training.stages import train_run

    settings = session.settings
    source = Source.from_settings(settings)
    threads = machine(settings, training=True).threads
    score_dev = dev_score(source, recipe.evaluate.dev) if recipe.evaluate.dev != "none" else None
    for note in dev_notes(source, recipe.evaluate.dev) if score_dev is not None else ():
        session.note(note)
    shown = ""
    for run in runs:
        computer = machine(
            settings_of_run(run, settings, threads) if resume else settings, training=True
        )
        if (where := _place(computer)) != shown:
            session.note(shown := where)
        with session.progress(run.id) as progress:
            train_run(
                recipe,
                source,
                computer,
                run,
                run.seed,
                resume=resume,
                dev_score=score_dev,
                report=event_reporter(run.id, logged(run.log_file, session), progress),
                progress=progress,
                track=track,
                cache=settings.cache,
                keeps_checkpoints=keeps_checkpoints,
            )


def settings_of_run(run: RunFolder, settings: Settings, threads: int) -> Settings:
    """SETTINGS with the precision and the threads that RUN was begun with, except where others are
    selected.
    """
    before = run.environment() if run.environment_file.exists() else None
    precision = (
        before.precision
        if before is not None and settings.precision == "auto"
        else settings.precision
    )
    threads = settings.threads or (before.threads if before is not None else threads)
    return replace(settings, precision=cast("Precision", precision), threads=threads)


def start_detached_training(plan: TrainPlan, session: Session) -> Detached:
    """Train PLAN in a process that outlives this one, once its data is known to be there."""
    from embedlab.data.source import Source
    from embedlab.training.stage_data import open_stages

    first, names = plan.todo[0], ", ".join(run.id for run in plan.todo)
    open_stages(plan.recipe, Source.from_settings(session.settings), first.seed)
    process = start_run(train_arguments(plan.options, session.settings), first)
    session.note(
        f"process {process.pid} trains {names}; `embedlab runs log {first.id} --follow` follows it"
    )
    return process


def submit_training(plan: TrainPlan, address: str, session: Session) -> tuple[str, ...]:
    """Submit the runs of PLAN as jobs of Slurm, which outlive this process; return their numbers.

    A job that nears its time limit saves a checkpoint and goes on later.
    """
    from embedlab.experiments.executors.slurm import Submission, is_slurm

    if not is_slurm(address):
        raise UsageError(
            f"--cluster {address}: a training runs on Slurm",
            hint="for example --cluster slurm:partition=gpu,time=2:00:00",
        )
    submission, settings = Submission.at(address), session.settings
    jobs = []
    for run in plan.todo:
        options = replace(plan.options, seeds=(), seed=run.seed, resume=True)
        job = submission.submit(
            f"embedlab-{run.id}",
            shlex.join(python_command(*train_arguments(options, settings))),
            run.path / "slurm",
            device=settings.device,
            threads=settings.threads or 1,
            gpus=options.gpus or 1,
            folder=Path.cwd(),
        )
        jobs.append(job)
        session.note(
            f"job {job} of Slurm trains {run.id}; `embedlab runs log {run.id} --follow` follows it"
        )
    return tuple(jobs)


def train_together(plan: TrainPlan, settings: Settings) -> int:
    """Train PLAN in one process a GPU; gives the exit code of the first that fails, which has
    reported why, else 0.
    """
    return run_together(
        train_arguments(replace(plan.options, gpus=None), settings), plan.options.gpus or 1
    )


def _place(computer: "Machine") -> str:
    """Where a training computes, in words."""
    from embedlab.encoders.device import has_bf16_units

    is_emulated = computer.precision == "bf16" and not has_bf16_units(computer.device)
    threads = f"{computer.threads} thread{'s' if computer.threads > 1 else ''}"
    return (
        f"on {computer.device} in "
        f"{computer.precision}{' (emulated: no bf16 units here)' if is_emulated else ''}, {threads}"
    )


def _require_gpus(count: int) -> None:
    import torch

    if (available := torch.cuda.device_count()) < count:
        hint = (
            f"several processes on a processor: torchrun --standalone --nproc-per-node "
            f"{count} -m embedlab train … --device cpu"
        )
        raise MissingError(f"--gpus {count}: found {available} GPUs", hint=hint)
