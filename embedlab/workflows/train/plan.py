"""What a training will do, from what a user typed: its recipe and its runs, and what is there
already. Nothing is written.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from embedlab.core.errors import UsageError
from embedlab.core.recipe import Recipe
from embedlab.core.settings import Settings
from embedlab.experiments.plan import stored_evaluations
from embedlab.models.catalog import refuse_other_meaning, starting_members
from embedlab.objectives.needs import check_columns, require_data
from embedlab.runs.launch import shared_flags
from embedlab.runs.status import is_trained, refuse_begun, run_status
from embedlab.runs.store import RunFolder, find_runs
from embedlab.workflows.options.train import TrainOptions
from embedlab.workflows.starting import starting_encoder
from embedlab.workflows.train.own_file import OwnTraining, recipe_of

PlannedState = Literal["new", "unfinished", "running", "finished"]


@dataclass(frozen=True, kw_only=True)
class PlannedRun:
    """One run and what is there of it already."""

    run: RunFolder
    state: PlannedState


@dataclass(frozen=True, kw_only=True)
class TrainPlan:
    """A training that can begin."""

    options: TrainOptions
    recipe: Recipe
    start: str | None  # where the encoder to start from is; None = as the recipe says
    runs: tuple[PlannedRun, ...]
    own: OwnTraining | None = None  # where a file of rows was given in place of a recipe

    @property
    def todo(self) -> list[RunFolder]:
        """The runs that are not finished."""
        return [planned.run for planned in self.runs if planned.state != "finished"]

    @property
    def model(self) -> str:
        """The name under which what was trained is evaluated: all seeds of a run, or the one that
        was selected.
        """
        runs = [planned.run for planned in self.runs]
        return runs[0].name if self.options.seeds or len(runs) > 1 else runs[0].id

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know before it begins."""
        finished = (
            f"{planned.run.id} is finished already: skipped"
            for planned in self.runs
            if planned.state == "finished"
        )
        return (*(self.own.notes if self.own is not None else ()), *finished)

    def refuse_running(self) -> None:
        """Raise where a process trains one of the runs now."""
        for planned in self.runs:
            if planned.state == "running":
                raise _running(planned.run)


def plan_training(options: TrainOptions, settings: Settings) -> TrainPlan:
    """Return what OPTIONS select; a key, value, encoder, name or run that cannot be is a
    UsageError.
    """
    recipe, start, training = selected_recipe(options, settings)
    runs = planned_folders(options, recipe, settings)
    if options.resume and not options.names_seeds:
        runs = _to_resume(settings.runs, runs[0].name) or runs
        if not options.all_overrides and options.encoder is None and runs[0].recipe_file.exists():
            recipe = _stored_recipe(runs[0], recipe, is_named=options.name is not None)
    require_data(recipe)
    if not (
        options.resume and any(run.recipe_file.exists() for run in runs)
    ):  # it may have been begun with another encoder
        check_start(options, recipe, start, settings)
    planned = tuple(
        PlannedRun(run=run, state=_state(run, recipe, resume=options.resume)) for run in runs
    )
    return TrainPlan(options=options, recipe=recipe, start=start, runs=planned, own=training)


def selected_recipe(
    options: TrainOptions, settings: Settings
) -> tuple[Recipe, str | None, OwnTraining | None]:
    """Return the recipe with all its values, where the encoder is that replaces its own, and what a
    file in place of a recipe gives.
    """
    if options.seed is not None and options.seeds:
        raise UsageError(
            "--seed and --seeds exclude each other",
            hint="--seeds 3 trains with the seeds 1, 2 and 3",
        )
    if wrong := next((seed for seed in options.planned_seeds if not 0 <= seed < 2**63), None):
        raise UsageError(
            f"seed {wrong} is not a number from 0 to 2^63 - 1", hint="for example seeds 1, 2 and 3"
        )
    if twice := [seed for seed in options.seeds if options.seeds.count(seed) > 1]:
        raise UsageError(f"seed {twice[0]} is given twice", hint="give each seed once")
    is_set = any(override.startswith("encoder.model=") for override in options.overrides)
    start = (
        None if is_set and options.encoder is None else starting_encoder(options.encoder, settings)
    )
    recipe, training = recipe_of(
        options.recipe, options.all_overrides, encoder=start, dev=options.dev
    )
    check_columns(recipe)
    stored_evaluations(recipe.evaluate.tasks)
    return recipe, start, training


def planned_folders(options: TrainOptions, recipe: Recipe, settings: Settings) -> list[RunFolder]:
    """Return the folder of each seed; a name that no run can have is a UsageError."""
    label = options.name if options.name is not None else recipe.name
    if options.name not in {None, recipe.name} and not (settings.runs / label).exists():
        refuse_other_meaning(label)
    return [RunFolder.of(settings.runs, label, seed) for seed in options.planned_seeds]


def check_start(
    options: TrainOptions, recipe: Recipe, start: str | None, settings: Settings
) -> None:
    """Refuse an encoder of the recipe that is not one to start from; one that replaces it was
    checked when it was selected.
    """
    if start is None:
        starting_members(recipe.encoder.model, settings.runs, options.planned_seeds)


def train_arguments(options: TrainOptions, settings: Settings) -> list[str]:
    """Return the words behind `embedlab` that train the same in another process."""
    if options.seeds and options.seeds != tuple(range(1, len(options.seeds) + 1)):
        raise UsageError(
            f"seeds {', '.join(map(str, options.seeds))}: another process takes 1 to N",
            hint="for example seeds 1, 2 and 3",
        )
    values = {
        "--epochs": options.epochs,
        "--lr": options.lr,
        "--batch-size": options.batch_size,
        "--max-steps": options.max_steps,
        "--name": options.name,
        "--profile": options.profile,
        "--encoder": options.encoder,
        "--dev": options.dev,
        "--seed": options.seed,
        "--seeds": len(options.seeds) or None,
        "--gpus": options.gpus,
        "--track": options.track,
        "--format": settings.format if settings.format != "table" else None,
    }
    switches = {
        "--resume": options.resume,
        "--keep-checkpoints": options.keeps_checkpoints,
        "--quiet": settings.quiet,
    }
    return [
        *("train", options.recipe),
        *(word for override in options.overrides for word in ("--set", override)),
        *(
            word
            for option, value in values.items()
            if value is not None
            for word in (option, str(value))
        ),
        *(switch for switch, is_on in switches.items() if is_on),
        *shared_flags(settings),
    ]


def _state(run: RunFolder, recipe: Recipe, *, resume: bool) -> PlannedState:
    """What is there of a run; one of another recipe is refused, and without RESUME one that has
    begun.
    """
    state = run_status(run).state
    if state == "finished" and is_trained(run):
        run.refuse_other(recipe)
        return "finished"
    if state in {"starting", "running", "silent"}:
        return "running"
    if not resume:
        refuse_begun(run)
        return "new"
    if not (
        run.environment_file.exists() and run.recipe_file.exists()
    ):  # it ended before its first step
        return "new"
    run.refuse_other(recipe)
    return "unfinished"


def _to_resume(folder: Path, name: str) -> list[RunFolder]:
    """The newest unfinished run of this name, or all finished ones; empty where none has been
    begun.
    """
    runs = [(run, run_status(run)) for run in find_runs(folder) if run.name == name]
    if unfinished := [(shown.last_s or 0.0, run) for run, shown in runs if shown.is_unfinished]:
        return [max(unfinished, key=lambda item: item[0])[1]]
    if held := [run for run, _ in runs if run.holder() is not None]:
        raise _running(held[0])
    return [run for run, shown in runs if shown.state == "finished"]


def _running(run: RunFolder) -> UsageError:
    hint = (
        f"follow it with `embedlab runs log {run.id} --follow`, stop it with `embedlab runs "
        f"cancel {run.id}`"
    )
    return UsageError(f"run {run.id!r} is running", hint=hint)


def _stored_recipe(run: RunFolder, typed: Recipe, *, is_named: bool) -> Recipe:
    """The recipe that RUN was begun with; under a name of the user's own it must be the typed one,
    but for settings within it.
    """
    stored = run.recipe()
    if is_named and _outline(stored) != _outline(typed):
        run.refuse_other(typed)
    return stored


def _outline(recipe: Recipe) -> Sequence[object]:
    """What distinguishes recipes, whatever their numbers are set to."""
    return recipe.summary, *((stage.objective.name, stage.data.datasets) for stage in recipe.stages)
