"""A planned training carried out: what it lacks is said first, each run is trained, the models are
scored; or it is started in other processes.
"""

import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import starmap
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from embedlab.choices import Tracker
from embedlab.commands.evaluate import EvaluateOptions, evaluate
from embedlab.commands.training_plan import (
    TrainPlan,
    build_tiny_encoder,
    missing_encoder,
    missing_on_hub,
    selected_recipe,
    train_arguments,
    train_words,
)
from embedlab.core.cache import trim
from embedlab.core.disk import as_disk_errors
from embedlab.core.errors import (
    EmbedlabError,
    Hint,
    MissingError,
    NamedOption,
    NotDownloadedError,
    NotLoadedError,
    UsageError,
)
from embedlab.core.foreign_files import open_own
from embedlab.core.network import is_reachable
from embedlab.core.note import kind_of
from embedlab.core.paths import STARTER_FOLDER
from embedlab.core.printable import count_text
from embedlab.core.python_processes import python_command
from embedlab.core.recipe import Recipe
from embedlab.core.session import ProgressDisplay, Session
from embedlab.core.settings import Precision, Settings, process_rank, words_of
from embedlab.data.file_name import file_path, is_hub_name, is_pair_file
from embedlab.data.hub import is_local
from embedlab.data.hub_pairs import parse_hub_name
from embedlab.data.source import Source, dataset
from embedlab.experiments.executors.slurm import Submission, is_slurm
from embedlab.reports.report import Report
from embedlab.reports.trained import trained_frame
from embedlab.runs import events
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.launch import SHARED, run_together, start_run
from embedlab.runs.status import Status, run_status
from embedlab.runs.store import RunFolder
from embedlab.runs.tidy import drop_checkpoints
from embedlab.scoring.selection import recipe_evaluations
from embedlab.scoring.training_text import store_earlier_text

if TYPE_CHECKING:
    from embedlab.encoders.device import Machine


class TrainedRun(NamedTuple):
    """One run after its training."""

    run: RunFolder
    status: Status


def check_training(plan: TrainPlan, session: Session) -> None:
    """Refuse what cannot be trained or evaluated, and report what will be missing, before a step of
    any run is trained.

    What a file in place of a recipe holds is noted first. Finished runs are noted too, and lose the
    checkpoints that a killed process could not delete.
    """
    from embedlab.scoring.readiness import check_recipe_evaluation
    from embedlab.training.stage_data import check_own_rows

    for note in plan.notes:
        if session.settings.notes or kind_of(note) != "detail":  # examples and other readings
            session.note(note)
    source, errors = Source.from_settings(session.settings), list[EmbedlabError]()
    if plan.todo:
        check_own_rows(plan.recipe, source, plan.todo[0].seed)
        refuse_missing(plan, session.settings)
    build_tiny_encoder(plan.start, session.settings)
    for run, is_finished in plan.runs.items():
        if is_finished and not plan.options.keeps_checkpoints:
            drop_checkpoints(run)
    if plan.todo:
        errors += check_recipe_evaluation(plan.recipe, source)
    for error in errors if process_rank() == 0 else ():
        session.report(error)
    if plan.options.gpus is not None:
        _require_gpus(plan.options.gpus)


def train_plan(plan: TrainPlan, session: Session) -> Report:
    """Train the runs of PLAN that are not finished, one after the other, and evaluate all on the
    tasks of its recipe; the frame has one row a run and score.
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
    evaluated = _evaluate_models([plan.model], plan.recipe, session) or _evaluate_on_own_rows(
        plan, session
    )
    statuses = {run: run_status(run) for run in plan.runs}
    evaluations = {
        run.id: [
            Evaluation.load(path)
            for task in recipe_evaluations(plan.recipe.evaluate.tasks)
            if (path := run.evaluations / f"{task}.json").is_file()
        ]
        for run in plan.runs
    }
    if evaluated is None and process_rank() == 0:
        for run in plan.todo:
            session.note(f"{run.id} is trained and not scored: its recipe names no tasks")
    return replace(
        evaluated or Report.of(),
        frame=trained_frame(statuses.items(), plan.recipe.evaluate, evaluations),
        by_model=0,
        command="runs",
        figure_subject={"runs": [*plan.runs]},
        behind={"runs": tuple(starmap(TrainedRun, statuses.items()))},
    )


def continue_training(
    runs: Sequence[RunFolder], session: Session, *, begun: RunFolder, model: str
) -> Report | None:
    """Train RUNS, seeds of one recipe, on from their newest checkpoints, as BEGUN was where they
    have none, and evaluate MODEL on its tasks, if it has any.
    """
    recipe = begun.recipe()
    train_runs(recipe, runs, session, begun=begun)
    return _evaluate_models([model], recipe, session)


def _evaluate_models(models: Sequence[str], recipe: Recipe, session: Session) -> Report | None:
    if process_rank() != 0 or not recipe.evaluate.tasks:
        return None
    return evaluate(EvaluateOptions(models=models, tasks=recipe.evaluate.tasks), session)


def _evaluate_on_own_rows(plan: TrainPlan, session: Session) -> Report | None:
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
    return evaluate(EvaluateOptions(models=[plan.model], tasks=[plan.own.dev]), session)


def train_runs(
    recipe: Recipe,
    runs: Sequence[RunFolder],
    session: Session,
    *,
    resume: bool = True,
    track: Tracker | None = None,
    keeps_checkpoints: bool = False,
    begun: RunFolder | None = None,
) -> None:
    """Train RECIPE into each of RUNS, one after the other; what has no environment of its own takes
    that of BEGUN.
    """
    from embedlab.encoders.device import machine
    from embedlab.scoring.dev_score import dev_notes, dev_score
    from embedlab.training.stages import train_run

    if not runs:
        return
    settings = session.settings
    source = Source.from_settings(settings)
    threads = machine(settings, training=True).threads
    score_dev = dev_score(source, recipe.evaluate.dev) if recipe.evaluate.dev != "none" else None
    for note in dev_notes(source, recipe.evaluate.dev) if score_dev is not None else ():
        session.note(note)
    for run in runs:
        like = run if begun is None or run.environment_file.exists() else begun
        computer = machine(
            settings_of_run(like, settings, threads) if resume else settings, training=True
        )
        session.note(f"training {run.id} into {run.path}, {_place(computer)}")
        with session.progress(run.id) as progress:
            train_run(
                recipe,
                source,
                computer,
                run,
                run.seed,
                resume=resume,
                dev_score=score_dev,
                report=event_reporter(
                    run.id,
                    note_to_log(run.log_file, session),
                    progress,
                    log=partial(_append, run.log_file, session=session),
                ),
                progress=progress,
                track=track,
                cache=settings.cache,
                keeps_checkpoints=keeps_checkpoints,
                seeds=[run.seed for run in runs],
            )
        if process_rank() == 0:
            store_earlier_text(run, settings)
    trim(settings.cache, limit_bytes=int(settings.cache_gib * 2**30))


def settings_of_run(run: RunFolder, settings: Settings, threads: int) -> Settings:
    """SETTINGS with the precision and the threads that RUN was begun with, except where others are
    selected.
    """
    environment = run.environment() if run.environment_file.exists() else None
    precision = settings.precision
    if environment is not None and precision == "auto":
        precision = cast("Precision", environment.precision)
    threads = settings.threads or (environment.threads if environment is not None else threads)
    return replace(settings, precision=precision, threads=threads)


def start_detached_training(plan: TrainPlan, session: Session) -> None:
    """Train PLAN in a process that outlives this one, once its data and its tracker are known to be
    there.
    """
    from embedlab.training.blocks import open_stages
    from embedlab.training.meter import require_tracker

    require_tracker(plan.options.track)
    first_run, names = plan.todo[0], ", ".join(run.id for run in plan.todo)
    open_stages(plan.recipe, Source.from_settings(session.settings), first_run.seed)
    detached = start_run(train_arguments(plan.options, session.settings), first_run)
    session.note(
        f"process {detached.process.pid} trains {names}; `embedlab runs log {first_run.id} "
        "--follow` follows it"
    )


def submit_training(plan: TrainPlan, address: str, session: Session) -> tuple[str, ...]:
    """Submit the runs of PLAN as jobs of Slurm, which outlive this process; return their numbers.

    A job that nears its time limit saves a checkpoint and goes on later.
    """
    if not is_slurm(address):
        raise UsageError(
            f"--cluster {address}: a training runs on Slurm",
            hint="for example --cluster slurm:partition=gpu,time=2:00:00",
        )
    submission, settings = Submission.from_address(address), session.settings
    jobs = []
    for run in plan.todo:
        options = replace(plan.options, seeds=(), seed=run.seed, resume=True)
        job_id = submission.submit(
            f"embedlab-{run.id}",
            shlex.join(python_command(*train_arguments(options, settings))),
            run.path / "slurm",
            device=settings.device,
            threads=settings.threads or 1,
            gpus=options.gpus or 1,
            folder=Path.cwd(),
        )
        jobs.append(job_id)
        session.note(
            f"job {job_id} of Slurm trains {run.id}; `embedlab runs log {run.id} --follow` "
            "follows it"
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
    emulated = " (emulated: no bf16 units here)" * is_emulated
    threads = f"{computer.threads} thread{'s' * (computer.threads > 1)}"
    return f"on {computer.device} in {computer.precision}{emulated}, {threads}"


def _require_gpus(count: int) -> None:

    import torch

    if (available := torch.cuda.device_count()) < count:
        hint = (
            f"several processes on a processor: torchrun --standalone --nproc-per-node "
            f"{count} -m embedlab train … --device cpu"
        )
        raise MissingError(f"--gpus {count}: found {count_text(available, 'GPUs')}", hint=hint)


def missing_to_train(recipe: Recipe, settings: Settings) -> list[str]:
    """Return a line about each dataset, file and encoder that is read before the first step."""
    lines = [*_missing_data(recipe, settings), *missing_encoder(recipe.encoder.model, settings)]
    return [*dict.fromkeys(lines)]


def refuse_missing(plan: TrainPlan, settings: Settings) -> None:
    """Refuse a training that lacks data or weights which the hub cannot give now: all of it at
    once, with a command that needs nothing more where there is one.
    """
    lines = _missing_now(plan.recipe, settings)
    if lines and (settings.offline or not is_reachable()):
        all_lines = [
            *missing_to_train(plan.recipe, settings),
            *missing_evaluation(plan.recipe, settings),
        ]
        raise MissingError("; ".join(all_lines), hint=_local_command(plan, settings))


def _missing_now(recipe: Recipe, settings: Settings) -> list[str]:
    """Return what is missing to train RECIPE and for its dev score."""
    untasked = replace(recipe, evaluate=replace(recipe.evaluate, tasks=()))
    return [*missing_to_train(recipe, settings), *missing_evaluation(untasked, settings)]


def _local_command(plan: TrainPlan, settings: Settings) -> Hint:
    """Return the command that trains the same on what is inside embedlab or installed, or else what
    to bring.
    """
    folder, options = settings.data or STARTER_FOLDER, plan.options
    usual_settings = Settings()
    if any(missing_encoder(plan.recipe.encoder.model, settings)):
        options = replace(options, encoder="minilm")
    # minilm has no head for words
    needs_head = any(stage.objective.name == "definition_to_word" for stage in plan.recipe.stages)
    is_possible = options == plan.options or not needs_head
    for changes in ((), ("evaluate.dev=none",)) if is_possible else ():
        tried_options = replace(options, overrides=(*options.overrides, *changes))
        local_settings = replace(settings, data=folder)
        with suppress(EmbedlabError):
            recipe, *_ = selected_recipe(tried_options, local_settings)
            if not _missing_now(recipe, local_settings):
                changed = [
                    name
                    for name in SHARED
                    if getattr(local_settings, name) != getattr(usual_settings, name)
                ]
                words = [*train_words(tried_options), *words_of(local_settings, changed)]
                return Hint(f"on this machine: embedlab {shlex.join(words)}")
    return Hint(
        "give the folder of the corpora with ",
        NamedOption("--data", "DIR"),
        " and that of an encoder with ",
        NamedOption("--encoder", "DIR"),
        ", or run once with a network",
    )


def missing_evaluation(recipe: Recipe, settings: Settings) -> Iterator[str]:
    """Yield a line about the missing data that a recipe's dev score or its tasks read, and one with
    the number of further datasets.
    """
    from embedlab.scoring.readiness import check_recipe_evaluation

    try:
        source = replace(Source.from_settings(settings), downloads=False)
        errors = check_recipe_evaluation(recipe, source)
        load_errors = (error for error in errors if not isinstance(error, NotLoadedError))
        lines = [*dict.fromkeys(_line(error, settings) for error in load_errors)]
        yield from lines[:1]
        if hidden_count := len(lines[1:]):
            yield f"{hidden_count} more of the evaluation's datasets"
    except NotLoadedError:  # the training loads its plug-ins, and checks then
        return
    except MissingError as error:  # the training refuses to begin
        yield _line(error, settings)


def _line(error: EmbedlabError, settings: Settings) -> str:
    """What is missing in one line."""
    if isinstance(error, NotDownloadedError):
        return missing_on_hub(error.subject, settings)
    return error.message


def _missing_data(recipe: Recipe, settings: Settings) -> Iterator[str]:
    source = Source.from_settings(settings)
    for stage in recipe.stages:
        yield from (
            f"no file {file!r}" for file in stage.data.files or () if not Path(file).is_file()
        )
        for name in stage.data.datasets:
            try:
                yield from _missing_dataset(source, name, stage.data.split, settings)
            except EmbedlabError as error:
                yield error.message


def _missing_dataset(source: Source, name: str, split: str, settings: Settings) -> Iterator[str]:
    if is_hub_name(name):
        repository = parse_hub_name(name)[0].repository
        if not is_local(repository):
            yield missing_on_hub(f"dataset {name!r}", settings)
        elif not Path(repository).is_dir():
            yield f"no folder {repository!r}"
    elif is_pair_file(name):  # hub names would be one too
        if not file_path(name).is_file():
            yield f"no file {str(file_path(name))!r}"
    elif not source.is_at_hand(dataset(name), split):
        yield missing_on_hub(f"dataset {name!r} ({split})", settings)


Note = Callable[[str], None]


def note_to_log(log: Path, session: Session) -> Note:
    """Return a function that notes a line in SESSION and appends it to LOG, unless stderr is that
    file already, as of a detached run.
    """

    def note(text: str) -> None:
        session.note(text)
        if not _is_stderr(log):
            _append(log, text, session=session)

    return note


def event_reporter(
    label: str, note: Note, progress: ProgressDisplay, *, log: Note
) -> Callable[[events.Event], None]:
    """Return a function that reports each event of the run LABEL as a line or as progress; its end
    and all dev scores but the last in the LOG alone.
    """
    latest = ""  # loss and speed of the last step that has them
    dev = ""  # the newest score, which the log gets with the next one or the end

    def report(event: events.Event) -> None:
        nonlocal latest, dev
        match event:
            case events.Started(step=step) if step:
                note(f"{label}: resumed after step {step} of {event.steps}")
            case events.Step() | events.Progress():
                if isinstance(event, events.Step):
                    skipped = f"{event.skipped} skipped  " if event.skipped else ""
                    latest = f"loss {event.loss:.4f}  {event.rows_per_s:.0f} rows/s  {skipped}"
                progress(event.step, event.steps, f"{latest}{event.eta_s:.0f} s left")
            case events.Dev():
                if dev:
                    log(dev)
                dev = f"{label}: dev {event.score:.2f} after step {event.step}"
            case events.VectorSpread() if event.collapse:
                note(f"{label}: after step {event.step} {event.collapse}")
            case events.Noted():
                note(f"{label}: {event.text}")
            case events.Finished():
                if dev:
                    note(dev)
                log(f"{label}: finished after {count_text(event.step, 'steps')}")
                if event.flaw:
                    note(f"{label}: {event.flaw}")

    return report


def _append(log: Path, text: str, *, session: Session) -> None:
    """A disk that refuses costs the line, not the training."""
    try:
        with as_disk_errors(log):
            log.parent.mkdir(parents=True, exist_ok=True)
            with open_own(log) as file:
                file.write(f"{text}\n".encode())
    except MissingError as error:
        session.warn(error.message)


def _is_stderr(log: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(sys.stderr.fileno()), log.stat())
    except (OSError, ValueError):  # no log yet, or a stderr without a descriptor
        return False
