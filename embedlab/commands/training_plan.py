"""What a training will do, from what a user typed: its recipe, or that of a file of rows, its
start, its runs, and what is there already. Nothing is written but the encoder of `--data tiny`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from embedlab.choices import Tracker
from embedlab.commands.options import Flag, RecipeValues, typed_words, with_profile
from embedlab.core.errors import UsageError
from embedlab.core.network import OFFLINE
from embedlab.core.note import Note
from embedlab.core.overrides import overrides_of
from embedlab.core.paths import TINY_FOLDER
from embedlab.core.settings import Settings, words_of

if TYPE_CHECKING:
    from embedlab.core.recipe import Recipe
    from embedlab.data.file_name import FileName
    from embedlab.data.own_columns import OwnData
    from embedlab.runs.store import RunFolder


@dataclass(frozen=True, kw_only=True)
class TrainOptions(RecipeValues):
    """What a user selects of a training."""

    recipe: Annotated[
        str,
        Flag(
            metavar="RECIPE|FILE",
            help="A name from `embedlab recipes`, a TOML file, or your own rows in a .csv, .tsv, "
            ".jsonl, .parquet or .txt file.",
            completes="recipes",
        ),
    ]
    seed: Annotated[
        int | None,
        Flag(
            metavar="S",
            help="Train the seed S alone. [default: 1]",
            python="",
            min=0,
            max=2**63 - 1,
        ),
    ] = None
    seeds: Annotated[
        tuple[int, ...],
        Flag(
            metavar="N",
            help="Train the seeds 1 to N, one run each.",
            min=1,
            max=10_000,
            typed=int | None,
            reads=lambda last_seed: tuple(range(1, last_seed + 1)),
        ),
    ] = ()
    epochs: Annotated[
        int | None,
        Flag(
            metavar="N",
            help="Passes over the data: short for --set optim.epochs=N.",
            min=1,
        ),
    ] = None
    lr: Annotated[
        float | None,
        Flag(
            metavar="RATE",
            help="Learning rate: short for --set optim.lr=RATE.",
        ),
    ] = None
    batch_size: Annotated[
        int | None,
        Flag(
            metavar="N",
            help="Rows a step: short for --set optim.batch_size=N.",
            min=1,
        ),
    ] = None
    name: Annotated[str | None, Flag(help="Name of the run. [default: the recipe's]")] = None
    dev: Annotated[
        str | None,
        Flag(
            metavar="FILE",
            help="Your own file, or a dataset, to score during training.",
        ),
    ] = None  # None: the recipe's, or a part of the user's own rows
    resume: Annotated[
        bool,
        Flag(
            help="Continue the newest unfinished run of this name, or start one.",
        ),
    ] = False
    gpus: Annotated[
        int | None,
        Flag(
            is_expert=True,
            metavar="N",
            help="Train on N GPUs, with the same loss and gradient.",
            python="",
            min=1,
        ),
    ] = None
    keeps_checkpoints: Annotated[
        bool,
        Flag(
            names=("--keep-checkpoints",),
            is_expert=True,
            help="Keep the checkpoints of the finished run.",
            python="keep_checkpoints",
        ),
    ] = False
    track: Annotated[
        Tracker | None,
        Flag(is_expert=True, help="Also log to an experiment tracker."),
    ] = None

    dry_run: Annotated[
        bool,
        Flag(
            python="",
            help="Print the resolved recipe and one example in words; train nothing.",
        ),
    ] = False
    detach: Annotated[
        bool,
        Flag(
            python="",
            is_expert=True,
            help="Train in a process that outlives this terminal.",
        ),
    ] = False
    cluster: Annotated[
        str | None,
        Flag(
            python="",
            is_expert=True,
            metavar="ADDRESS",
            help="Train as jobs of Slurm: slurm[:KEY=VALUE,...].",
        ),
    ] = None

    @property
    def all_overrides(self) -> tuple[str, ...]:
        """What is set in the recipe, with its profile and the length that `max_steps` gives the
        training.
        """
        short_options = {
            "optim.epochs": self.epochs,
            "optim.lr": self.lr,
            "optim.batch_size": self.batch_size,
        }
        set_by_short = [
            f"{key}={value}" for key, value in short_options.items() if value is not None
        ]
        return with_profile(self.profile, [*self.overrides, *set_by_short], self.max_steps)

    @property
    def planned_seeds(self) -> tuple[int, ...]:
        """The seeds to train with."""
        return self.seeds or (self.seed if self.seed is not None else 1,)


@dataclass(frozen=True, kw_only=True)
class TrainPlan:
    """A training that can begin."""

    options: TrainOptions
    recipe: Recipe
    start: str | None  # where the encoder to start from is; None = as the recipe says
    runs: Mapping[RunFolder, bool]  # whether each is finished
    own: OwnTraining | None = None  # where a file of rows was given in place of a recipe
    encoder_notes: tuple[str, ...] = ()

    @property
    def todo(self) -> list[RunFolder]:
        """The runs that are not finished."""
        return [run for run, is_finished in self.runs.items() if not is_finished]

    @property
    def model(self) -> str:
        """The name under which what was trained is evaluated: all seeds of a run, or the one that
        was selected.
        """
        first_run = next(iter(self.runs))
        return first_run.name if self.options.seeds or len(self.runs) > 1 else first_run.id

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know before it begins."""
        finished = (
            f"{run.id} is finished already: skipped"
            for run, is_finished in self.runs.items()
            if is_finished
        )
        own_notes = self.own.notes if self.own is not None else ()
        return (*own_notes, *self.encoder_notes, *finished)


def plan_training(options: TrainOptions, settings: Settings) -> TrainPlan:
    """Return what OPTIONS select; a key, value, encoder, name or run that cannot be is a
    UsageError.
    """
    from embedlab.objectives.needs import require_data
    from embedlab.runs.store import find_runs

    recipe, start, training = selected_recipe(options, settings)
    runs = planned_folders(options, recipe, settings)
    if options.resume and options.seed is None and not options.seeds:
        runs = _to_resume(settings.runs, runs[0].name) or runs
        if not options.all_overrides and options.encoder is None and runs[0].recipe_file.exists():
            typed_recipe, recipe = recipe, runs[0].recipe()
            # a name that the user gave may belong to another training
            if options.name is not None and _outline(recipe) != _outline(typed_recipe):
                runs[0].refuse_other(typed_recipe)
    require_data(recipe)
    if not (
        options.resume and any(run.recipe_file.exists() for run in runs)
    ):  # it may have been begun with another encoder
        check_start(options, recipe, start, settings)
    if not all(run.recipe_file.exists() for run in runs):
        for run in find_runs(settings.runs):  # the seeds of a run differ in nothing but the seed
            if (
                run.name == runs[0].name
                and run.environment_file.exists()
                and run.recipe_file.exists()
            ):
                run.refuse_other(recipe)
    planned_runs = {run: _is_finished(run, recipe, resume=options.resume) for run in runs}
    return TrainPlan(
        options=options,
        recipe=recipe,
        start=start,
        runs=planned_runs,
        own=training,
        encoder_notes=encoder_notes(options.encoder, settings),
    )


def selected_recipe(
    options: TrainOptions, settings: Settings
) -> tuple[Recipe, str | None, OwnTraining | None]:
    """Return the recipe with all its values, where the encoder is that replaces its own, and what a
    file in place of a recipe gives.
    """
    from embedlab.experiments.plan import stored_evaluations
    from embedlab.objectives.needs import check_columns

    if options.seed is not None and options.seeds:
        raise UsageError(
            "--seed and --seeds exclude each other",
            hint="--seeds 3 trains with the seeds 1, 2 and 3",
        )
    if invalid_seed := next(
        (seed for seed in options.planned_seeds if not 0 <= seed < 2**63), None
    ):
        raise UsageError(
            f"seed {invalid_seed} is not a number from 0 to 2^63 - 1",
            hint="for example seeds 1, 2 and 3",
        )
    if repeated_seeds := [seed for seed in options.seeds if options.seeds.count(seed) > 1]:
        raise UsageError(f"seed {repeated_seeds[0]} is given twice", hint="give each seed once")
    is_set = any(override.startswith("encoder.model=") for override in options.overrides)
    is_own_encoder = is_set and options.encoder is None
    start = None if is_own_encoder else starting_encoder(options.encoder, settings)
    recipe, training = recipe_of(
        options.recipe, options.all_overrides, encoder=start, dev=options.dev
    )
    check_columns(recipe)
    stored_evaluations(recipe.evaluate.tasks)
    return recipe, start, training


def planned_folders(options: TrainOptions, recipe: Recipe, settings: Settings) -> list[RunFolder]:
    """Return the folder of each seed; a name that no run can have is a UsageError."""
    from embedlab.models.catalog import refuse_other_meaning
    from embedlab.runs.store import RunFolder

    label = options.name if options.name is not None else recipe.name
    if options.name not in {None, recipe.name} and not (settings.runs / label).exists():
        refuse_other_meaning(label)
    return [RunFolder.of(settings.runs, label, seed) for seed in options.planned_seeds]


def check_start(
    options: TrainOptions, recipe: Recipe, start: str | None, settings: Settings
) -> None:
    """Refuse a recipe's encoder that no training can start from; an encoder that replaces it was
    checked when it was selected.
    """
    from embedlab.models.catalog import starting_members

    if start is None:
        starting_members(recipe.encoder.model, settings.runs, options.planned_seeds)


def train_words(options: TrainOptions) -> list[str]:
    """Return the words behind `embedlab` that choose the same training."""
    if options.seeds and options.seeds != tuple(range(1, len(options.seeds) + 1)):
        raise UsageError(
            f"seeds {', '.join(map(str, options.seeds))}: another process takes 1 to N",
            hint="for example seeds 1, 2 and 3",
        )
    values = "overrides epochs lr batch_size max_steps name profile encoder dev seed"
    return [
        *("train", options.recipe, *typed_words(options, values)),
        *(("--seeds", str(len(options.seeds))) if options.seeds else ()),
        *typed_words(options, "gpus track resume keeps_checkpoints"),
    ]


def train_arguments(options: TrainOptions, settings: Settings) -> list[str]:
    """Return the words behind `embedlab` that train the same in another process."""
    from embedlab.runs.launch import shared_flags

    names = ["capture", "gradient_checkpointing", "quiet"]
    if settings.format != "table":
        names.insert(0, "format")
    return [*train_words(options), *words_of(settings, names), *shared_flags(settings)]


def _is_finished(run: RunFolder, recipe: Recipe, *, resume: bool) -> bool:
    """Return whether a run needs no training; one of another recipe is refused, and without RESUME
    one that has begun.
    """
    from embedlab.runs.status import is_trained, refuse_begun, run_status

    status = run_status(run)
    if status.state == "finished" and is_trained(run):
        run.refuse_other(recipe)
        return True
    if not status.is_alive:
        if not resume:
            refuse_begun(run)
        elif run.environment_file.exists() and run.recipe_file.exists():  # it had a first step
            run.refuse_other(recipe)
    return False


def _to_resume(folder: Path, name: str) -> list[RunFolder]:
    """The newest unfinished run of this name, or all finished ones; empty where none has been
    begun.
    """
    from embedlab.runs.status import run_status
    from embedlab.runs.store import find_runs

    runs = [(run, run_status(run)) for run in find_runs(folder) if run.name == name]
    if unfinished := [(status.last_s or 0.0, run) for run, status in runs if status.is_unfinished]:
        return [max(unfinished, key=lambda item: item[0])[1]]
    for run in (run for run, _ in runs if run.holder() is not None):
        raise UsageError(
            f"run {run.id!r} is running",
            hint=f"follow it with `embedlab runs log {run.id} --follow`, stop it with `embedlab "
            f"runs cancel {run.id}`",
        )
    return [run for run, status in runs if status.state == "finished"]


def _outline(recipe: Recipe) -> Sequence[object]:
    """What distinguishes recipes, whatever their numbers are set to."""
    return recipe.summary, *((stage.objective.name, stage.data.datasets) for stage in recipe.stages)


SHARE = 0.1  # of the rows, for the dev score, where no dev file is named


@dataclass(frozen=True, kw_only=True)
class OwnTraining:
    """The recipe and its values that train on a file, and what the user should know of them."""

    recipe: str
    overrides: tuple[str, ...]
    name: str  # of the run
    notes: tuple[str, ...]
    dev: (
        str | None
    )  # the rows of the dev score as one types them, relative to the working folder; None without any


def recipe_of(
    typed: str, overrides: Sequence[str] = (), *, encoder: str | None = None, dev: str | None = None
) -> tuple[Recipe, OwnTraining | None]:
    """Return the recipe called TYPED, or that of the file of rows TYPED, with the values of
    OVERRIDES, and what was detected of a file.
    """
    from embedlab.core.recipe import load_recipe

    if (training := own_training(typed, overrides, dev)) is not None:
        return replace(
            load_recipe(training.recipe, (*training.overrides, *overrides), encoder=encoder),
            name=training.name,
        ), training
    dev_override = overrides_of({"evaluate.dev": dev}) if dev is not None else ()
    return load_recipe(typed, (*dev_override, *overrides), encoder=encoder), None


def own_training(typed: str, overrides: Sequence[str], dev: str | None) -> OwnTraining | None:
    """Return how the file that was TYPED in place of a recipe is trained on; None for the name or
    the TOML file of a recipe.

    OVERRIDES are the user's own values: those of `data.columns`, `data.labels`, `data.where` and
    `data.drop` take part in what is detected. DEV is the file of the dev score; it is read as the
    file of training where it has the same columns. Without it a part of the rows is held out.
    """
    from embedlab.core.paths import absolute_paths
    from embedlab.data.file_name import is_row_file, parse_file_name, with_overrides
    from embedlab.data.own_columns import LABELLED, PAIRS, SCORED, SENTENCES, TRIPLETS, own_data

    if not is_row_file(typed):
        return None
    data = own_data(with_overrides(parse_file_name(typed), overrides).text)
    if data.file.held_out is not None:
        raise UsageError(
            f"{typed!r}: held-out names the rows that no training reads",
            hint="remove held-out: a training leaves these rows out by itself",
        )
    values: dict[str, object] = {
        "data.files": absolute_paths([str(data.file.path)]),
        "evaluate.tasks": [],
    }
    stated_values = {
        "data.columns": data.renamed_columns,
        "data.labels": dict(data.labels),
        "data.where": dict(data.file.where),
        "data.drop": dict(data.file.drop),
    }
    values |= {key: value for key, value in stated_values.items() if value}
    values |= _scale(data)
    recipes = {
        SCORED.title: "own-scored-pairs",
        LABELLED.title: "own-labelled-pairs",
        PAIRS.title: "own-pairs",
        TRIPLETS.title: "own-triplets",
        SENTENCES.title: "own-sentences",
    }
    recipe, typed_dev = recipes[data.kind.title], None
    recipe_note = Note(f"  recipe {recipe}; `embedlab recipes {recipe}` shows it", kind="detail")
    notes = [*data.lines(), recipe_note]
    if not any(override.startswith("evaluate.dev=") for override in overrides):
        note, file, typed_dev = _dev_rows(data, dev)
        notes.append(note)
        values["evaluate.dev"] = "none"
        if file is not None:
            path = Path(absolute_paths([str(file.path)])[0])
            values["evaluate.dev"] = file.with_options(path=path).text
            values |= {"data.held_out": file.held_out} if file.held_out else {}
    return OwnTraining(
        recipe=recipe,
        overrides=overrides_of(values),
        # a name that a run can have
        name=re.sub(r"^[^A-Za-z0-9]+|[^A-Za-z0-9._+-]+", "-", data.file.path.stem).strip("-")
        or "own",
        notes=tuple(notes),
        dev=typed_dev,
    )


def _scale(data: OwnData) -> dict[str, object]:
    """Return the highest score as the recipe states it; scores on an open scale are refused."""
    if data.scores is None or data.scale is None:
        return {}
    highest = max(map(abs, data.scale))
    if data.scores.contradicts(data.scale) and not data.file.low_scores:
        scaled_file = data.file.with_options(scale=data.scores.fitting).text
        low_scores_file = data.file.with_options(scale=data.scale, low_scores=True).text
        raise UsageError(
            f"{data.file.path}: the scores are {data.scores}: of which scale?",
            hint=f"write '{scaled_file}' or '{low_scores_file}'",
        )
    low = {"data.low_scores": True} if data.file.low_scores else {}
    return {"objective.highest": highest, **low}


# what to say of the rows of the dev score; their file with all that was detected, and as one types
# it, None without any
_DevRows = tuple[str, "FileName | None", str | None]


def _dev_rows(data: OwnData, dev: str | None) -> _DevRows:
    """Return the rows of the dev score: the file DEV, read as the file of training where it has the
    same columns, or a part of that.
    """
    from embedlab.data.file_name import parse_file_name
    from embedlab.data.own_columns import SENTENCES, own_data
    from embedlab.data.table_file import read_rows

    if dev is None:
        return _held_out(data)
    file = parse_file_name(dev)
    if (
        file.is_plain
        and data.columns
        and file.is_table
        and {*data.columns.values()} <= {*read_rows(file.path, needed=()).columns}
    ):
        file = file.with_options(roles=data.explicit_name.roles, labels=data.explicit_name.labels)
    dev_data = own_data(file.text)
    if dev_data.kind == SENTENCES:
        raise UsageError(
            f"{dev}: single sentences give no dev score",
            hint="name a file of pairs, with scores or without",
        )
    return f"dev: {dev_data.lines()[0]}", dev_data.explicit_name, file.text


def _held_out(data: OwnData) -> _DevRows:
    """Return the part of the file that is held out, whole topics of it."""
    from embedlab.data.overlaps import SEED
    from embedlab.data.own_columns import SENTENCES, own_data

    if data.kind == SENTENCES:
        return "no dev score: single sentences have none; --dev FILE names pairs", None, None
    held_out_rows = data.explicit_name.with_options(held_out=SHARE)
    try:
        count = own_data(held_out_rows.text).rows
    except UsageError as error:  # of too few rows
        return f"no dev score: {error.message}; --dev FILE names pairs", None, None
    held_out_file = data.file.with_options(held_out=SHARE, scale=None, low_scores=False).text
    note = (
        f"dev: {count} of {data.rows} rows that share no sentence with the rest (seed "
        f"{SEED}): '{held_out_file}'"
    )
    return note, held_out_rows, held_out_file


def starting_encoder(typed: str | None, settings: Settings) -> str | None:
    """Return the location of the encoder to start from, None for that of the recipe; folders with
    their absolute path.

    The generated corpora have a small encoder of their own; `build_tiny_encoder` writes it where it
    is missing.
    """
    if typed is not None:
        from embedlab.models.catalog import starting_location

        return starting_location(typed, settings.runs)
    return str(tiny_encoder_folder(settings)) if settings.data == TINY_FOLDER else None


def encoder_notes(typed: str | None, settings: Settings) -> tuple[str, ...]:
    """Return the notes on the encoder that was TYPED, such as which of two of its name it is."""
    if typed is None:
        return ()
    from embedlab.models.catalog import trainable

    notes = dict.fromkeys(spec.note for spec in trainable(typed, settings.runs))
    return tuple(f"encoder {typed}: {note}" for note in notes if note)


def tiny_encoder_folder(settings: Settings) -> Path:
    """Return the folder of the encoder of `--data tiny`, whether it exists or not."""
    from embedlab.data import tiny

    # Corpora of other words have another encoder: this one would spell new words in letters.
    vocabulary_digest = hashlib.sha256("\n".join(tiny.vocabulary()).encode()).hexdigest()[:8]
    return (settings.cache / "tiny-encoder" / vocabulary_digest).absolute()


def build_tiny_encoder(start: str | None, settings: Settings) -> None:
    """Write the encoder of `--data tiny` where START is its folder and nothing is there yet."""
    folder = tiny_encoder_folder(settings)
    if start == str(folder) and not folder.is_dir():
        from embedlab.encoders.random_encoder import build_random_encoder

        build_random_encoder(folder, seed=0)


def missing_encoder(name: str, settings: Settings) -> Iterator[str]:
    """Yield a line about each set of weights of the encoder NAME that is not on this machine; the
    generated corpora build their own.
    """
    from embedlab.models.catalog import trainable

    if name == str(tiny_encoder_folder(settings)):
        return
    for spec in trainable(name, settings.runs):
        if not spec.is_on_hub:
            continue
        from huggingface_hub import try_to_load_from_cache

        cached_file = try_to_load_from_cache(spec.location, "config.json", revision=spec.revision)
        if not isinstance(cached_file, str):
            yield missing_on_hub(f"encoder {spec.location!r}", settings)


def missing_on_hub(description: str, settings: Settings) -> str:
    """Return that DESCRIPTION is not here, and why the hub does not give it."""
    reason = OFFLINE if settings.offline else "the hub cannot be reached"
    return f"{description} is not on this machine, and {reason}"
