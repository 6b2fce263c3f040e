"""Recipes: one training in strict TOML, its overrides, and the hash that identifies it."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import pairwise, product
from pathlib import Path
from typing import Annotated, Any, Literal

import tomli_w
from annotated_types import Ge, Gt, Le, Lt, MinLen

from embedlab.core.errors import Hint, RecipeValue, UsageError
from embedlab.core.names import (
    DEFAULT_TASK,
    can_load_objective,
    check_pooling,
    objective_names,
    objective_options,
    recipe_path,
)
from embedlab.core.overrides import (
    PAPER,
    PROFILE,
    DeclaredDeviation,
    check_declared,
    declared_deviations,
    joined_tables,
    merge_declared,
    set_values,
    short_keys,
)
from embedlab.core.paths import absolute_paths, place_files, published_name
from embedlab.core.schema import TomlTable, build, known_keys, quote, read_toml, table, unbuild


@table
class LoraSection:
    """Low-rank changes that are trained in place of the encoder's own weights (Hu et al. 2021), by
    peft.
    """

    rank: Annotated[int, Ge(1), Le(4096)] = 8
    alpha: Annotated[float, Gt(0), Le(1_000_000)] = 16.0  # changes are scaled by alpha / rank
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.0  # of their input
    # ends of the names of linear layers; absent = all linear layers
    targets: tuple[str, ...] | None = None
    # the model as a whole, or the changes alone, on the base that they name
    save: Literal["merged", "adapter"] = "merged"


# keys that cannot change the trained model
UNTRAINED = ("summary", "evaluate.tasks", "evaluate.log_every")

Pooling = str  # one of `pooling_names()`, or several joined by "+"
Schedule = Literal["linear", "constant"]

# How neighbouring stages with a `turn` are trained together: batches in turn, epochs in turn, or
# one step on a batch of each with the average of their losses, or with gradient surgery and the
# mean or sum of the projected gradients.
Combine = Literal["turns", "epochs", "average", "surgery", "surgery-sum"]
JOINT_COMBINES: tuple[Combine, ...] = ("average", "surgery", "surgery-sum")

_OF_FILES = ("columns", "labels", "where", "drop", "held_out")  # keys for own files alone
# settings that a joint step has only once
_ONE_STEP = (
    "lr",
    "schedule",
    "warmup",
    "warmup_steps",
    "weight_decay",
    "clip",
)

# Every number has an upper limit: larger ones are typing errors, and some would run for ever.
Share = Annotated[float, Ge(0), Le(1)]
Positive = Annotated[float, Gt(0), Le(1_000_000)]
Count = Annotated[int, Ge(1), Le(1_000_000_000)]
Epochs = Annotated[float, Gt(0), Le(10_000)]
Rate = Annotated[float, Gt(0), Le(100)]
Threads = Annotated[int, Ge(1), Le(4096)]
Seeds = Annotated[int, Ge(1), Le(10_000)]  # how many
Seed = Annotated[int, Ge(0), Lt(2**63)]  # which one


@table
class EncoderSection:
    """The encoder to train, its pooling and its token limit."""

    model: str  # a model name: folder, hub id, catalog name or run
    pooling: Pooling
    max_tokens: Annotated[int, Ge(4), Le(8192)] = 128
    lora: LoraSection | None = None  # absent = all weights are trained


@table
class DataSection:
    """What a stage is trained on."""

    datasets: tuple[str, ...] = ()  # dataset names or the user's own files, concatenated
    split: str = "train"  # of the datasets
    rows: Count | None = None  # a sample of this many rows of each dataset; absent = all
    # rows are sampled by the run's seed; absent = the same rows for every seed
    sample: Literal["seed"] | None = None
    # The datasets one after the other in each epoch; "file": all rows as they are read, never
    # shuffled. Absent = shuffled together.
    order: Literal["in-turn", "file"] | None = None
    # dataset → the share of it that each epoch samples anew
    shares: dict[str, Annotated[float, Gt(0), Le(1)]] | None = None
    files: tuple[str, ...] | None = (
        # the user's own files in any columns, after the datasets: TSV, CSV, JSONL, parquet or text
        None
    )
    # column of the objective → column of the files, where their names differ
    columns: dict[str, str] | None = None
    # label in the files → class of the objective, where they differ
    labels: dict[str, str] | None = None
    # column of the files → values, with commas between them, of the rows that are read, or are not
    where: dict[str, str] | None = None
    drop: dict[str, str] | None = None
    # share of the file's rows, by whole topics, that is left for the dev score
    held_out: Annotated[float, Gt(0), Le(0.5)] | None = None
    # datasets, or sts: rows with a sentence of their dev or test splits are left out
    exclude_text_of: tuple[str, ...] | None = None
    # true: all scores are in the lower half of their scale, and that is right
    low_scores: bool | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Return the datasets and the files' names without their folders, in the order in which
        they are read.
        """
        return (*self.datasets, *(Path(file).name for file in self.files or ()))


@table
class OptimSection:
    """The optimizer of a stage: AdamW, linear warm-up, then the schedule."""

    lr: Rate
    batch_size: Count  # rows (pairs) a step
    epochs: Epochs = 1.0
    schedule: Schedule = "linear"
    warmup: Share = 0.1  # share of the stage's steps
    # in place of a share; all steps where there are fewer
    warmup_steps: Annotated[int, Ge(0), Le(1_000_000_000)] | None = None
    weight_decay: Annotated[float, Ge(0), Le(100)] = 0.0
    clip: Positive | None = None  # gradient norm; absent = not clipped
    # sentences per graph (gradient caching: the whole batch's loss); absent = all
    micro_batch: Count | None = None
    # Parts of a batch, each with a loss of its own; their gradients add up to one step. Absent =
    # the batch is one part.
    accumulate: Annotated[int, Ge(2), Le(1_000_000)] | None = None
    # Steps in a row before the next of the neighbouring stages takes its turn; "epoch": each trains
    # a whole epoch in turn; "batch": each takes a step on the same batch, of the first stage's
    # dataset. Absent = the stage is trained alone.
    turn: Count | Literal["epoch", "batch"] | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class ObjectiveSection:
    """An objective's name and its own checked options."""

    name: str
    # the Options of the objective; as a file states them where this process does not load its
    # plug-in
    options: Any

    @property
    def is_loaded(self) -> bool:
        """Whether its options are checked, and its needs known."""
        return not isinstance(self.options, dict)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Stage:
    """One step of a recipe."""

    data: DataSection
    objective: ObjectiveSection
    optim: OptimSection


@table
class MixSection:
    """How neighbouring stages that have a `turn` are trained together."""

    combine: Combine = "turns"
    # the stage whose end ends all; the others restart their rows
    until: Literal["first", "smallest", "largest"] = "first"


@table
class EvaluateSection:
    """What is measured while training and afterwards."""

    tasks: tuple[str, ...] = (DEFAULT_TASK,)  # after training
    # The dataset whose dev split gives the dev score: Spearman of an STS dataset, the metric of the
    # task multitask for one of its three datasets, their mean for "multitask"; "none" = no dev
    # score.
    dev: str = "sts-benchmark"
    every: Share = 0.25  # dev score each this share of an epoch
    keep: Literal["last", "best"] = "last"  # which checkpoint becomes the model
    log_every: Count = 10  # steps between two events with a loss


@table
class _StageTable:
    """A stage as a file has it."""

    data: DataSection
    objective: dict[str, Any]  # its name and its options
    optim: OptimSection


@table
class _RecipeTable:
    """A recipe as a file has it."""

    summary: str
    encoder: EncoderSection
    stage: Annotated[tuple[_StageTable, ...], MinLen(1)]
    max_steps: Count | None = None  # of all stages together; absent = no limit
    mix: MixSection | None = None
    evaluate: EvaluateSection = dataclasses.field(default_factory=EvaluateSection)
    # what `--set` chose of them is in the others
    tasks: Any = None
    profiles: Any = None
    deviations: Any = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class Recipe:
    """One training, fully resolved."""

    name: str
    summary: str
    encoder: EncoderSection
    stages: tuple[Stage, ...]
    evaluate: EvaluateSection
    mix: MixSection | None = None
    # ends the training early, with its own schedule; absent = no limit
    max_steps: int | None = None
    # declared by its file; runs do not store them
    deviations: tuple[DeclaredDeviation, ...] = dataclasses.field(default=(), compare=False)

    @property
    def hash(self) -> str:
        """Return twelve hex digits that change exactly when the training does: not with name,
        summary, evaluation tasks or log.
        """
        values = recipe_to_table(self)
        del values["summary"]
        for stage in values["stage"]:
            stage["objective"] = identifying_options(stage["objective"])
        values["evaluate"] = decisive_settings(values["evaluate"])
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:12]


def load_recipe(name: str, overrides: Sequence[str] = (), *, encoder: str | None = None) -> Recipe:
    """Return the recipe called NAME (or in the file NAME) after `--set` OVERRIDES and `--encoder`.

    Unknown keys, wrong types and impossible values are refused with file, key and the nearest valid
    name.
    """
    values = recipe_table(name)
    set_values(values, overrides)
    is_file = name.endswith(".toml")
    where = name if is_file else f"recipe {name}"
    if encoder is not None:
        section = values.setdefault("encoder", {})
        if isinstance(section, dict):  # anything else is refused below
            section["model"] = encoder
    overridden = dict(override.partition("=")[::2] for override in overrides)
    profile = overridden.get(PROFILE, PAPER)
    base = Path(name).stem if is_file else name
    try:
        return from_table(
            values, name=base if profile == PAPER else f"{base}-{profile}", where=where
        )
    except UsageError as error:
        renamed = [key for key in overridden if f".{key}".endswith(".objective.name")]
        if not renamed or "unknown key 'stage." not in error.message:
            raise
        section, objective = renamed[0].removesuffix(".name"), overridden[renamed[0]].strip("\"'")
        hint = f"; without the former options: --set '{section}={{name=\"{objective}\"}}'"
        raise UsageError(error.message, hint=Hint(error.advice, hint)) from error


def recipe_table(name: str) -> TomlTable:
    """Return the table of a recipe; for "a+b" the stages of a, then those of b, and all else from
    b.
    """
    paths = [recipe_path(text) for text in ([name] if name.endswith(".toml") else name.split("+"))]
    tables = [place_files(read_toml(path), path.parent) for path in paths]
    return joined_tables(tables) if len(tables) > 1 else tables[0]


def from_table(
    values: Mapping[str, Any], *, name: str, where: str, is_stored: bool = False
) -> Recipe:
    """Build a recipe from its table; WHERE names its file in errors.

    Of one that IS_STORED, what plug-ins added may be gone since: its objective, pooling and tasks
    stay as they are written.
    """
    parsed = build(_RecipeTable, values, where=where)
    if not is_stored:
        _check_pooling(parsed.encoder, where)
    recipe = Recipe(
        name=name,
        summary=parsed.summary,
        encoder=parsed.encoder,
        stages=tuple(
            _stage(stage, where, f"stage.{index}", is_stored=is_stored)
            for index, stage in enumerate(parsed.stage)
        ),
        evaluate=parsed.evaluate,
        mix=parsed.mix,
        max_steps=parsed.max_steps,
        deviations=declared_deviations(values, where=where),
    )
    _check_reading(recipe.stages, where)
    if recipe.mix is not None:
        _check_mix(recipe.mix, recipe.stages, where)
    if recipe.deviations:
        check_declared(recipe.deviations, keys_of(recipe), where=where)
    return recipe


def _check_pooling(encoder: EncoderSection, where: str) -> None:
    """Refuse a pooling that does not exist."""
    try:
        for pooling in encoder.pooling.split("+"):  # several are concatenated
            check_pooling(pooling)
    except UsageError as error:
        raise UsageError(
            f"{where}: 'encoder.pooling' is {quote(encoder.pooling)}: not a pooling",
            hint=error.hint,
        ) from error


def _check_reading(stages: Sequence[Stage], where: str) -> None:
    """Refuse shares of datasets that a stage does not read, samples of all rows, and joint stages
    that read rows differently.
    """
    for index, stage in enumerate(stages):
        data, optim = stage.data, stage.optim
        if data.sample is not None and data.rows is None:
            raise UsageError(
                f"{where}: 'stage.{index}.data.sample' is set, but the stage reads all rows",
                hint=Hint(RecipeValue(f"stage.{index}.data.rows", "N")),
            )
        for name in data.shares or {}:
            if name not in data.names:
                raise UsageError(
                    f"{where}: 'stage.{index}.data.shares' names {name!r}, which the stage "
                    f"does not read",
                    hint=f"it reads {', '.join(data.names)}",
                )
        if optim.accumulate is not None and optim.micro_batch is not None:
            raise UsageError(
                f"{where}: 'stage.{index}.optim' has accumulate and micro_batch: both save "
                f"memory, in different ways",
                hint="keep micro_batch for the loss of the whole batch, or accumulate for a loss "
                "a part",
            )
    for index, (previous, stage) in enumerate(pairwise(stages), start=1):
        turn = stage.optim.turn
        if isinstance(turn, str) and turn == previous.optim.turn:
            keys = ("epochs", "batch_size")[: 1 + (turn == "batch")]
            reason = f"stages with turn {turn!r} step together"
            _require_alike(stages, [index - 1, index], keys, reason, where)


def _check_mix(mix: MixSection, stages: Sequence[Stage], where: str) -> None:
    """Refuse a mix of fewer than two stages, and settings that joint stages cannot have of their
    own.
    """
    mixed = [index for index, stage in enumerate(stages) if isinstance(stage.optim.turn, int)]
    if len(mixed) < 2:
        raise UsageError(
            f"{where}: 'mix' needs two or more stages with a turn",
            hint="add turn = 1 to the [stage.optim] of each",
        )
    if mix.combine == "turns":
        return
    reason = f"with mix.combine {mix.combine!r} it is one for all"
    for index in mixed:
        if stages[index].optim.turn != 1:
            raise _difference(f"stage.{index}.optim.turn", 1, reason, where)
    if mix.combine in JOINT_COMBINES:
        _require_alike(stages, mixed, _ONE_STEP, reason, where)


def _require_alike(
    stages: Sequence[Stage], indices: Sequence[int], keys: Sequence[str], reason: str, where: str
) -> None:
    """Refuse stages whose KEYS differ from those of the first of INDICES."""
    first, *others = indices
    for key, index in product(keys, others):
        required, value = (getattr(stages[place].optim, key) for place in (first, index))
        if value == required:
            continue
        if required is None:  # what is not set cannot be typed
            raise _difference(f"stage.{first}.optim.{key}", value, reason, where)
        raise _difference(f"stage.{index}.optim.{key}", required, reason, where)


def _difference(key: str, required: object, reason: str, where: str) -> UsageError:
    return UsageError(
        f"{where}: {key!r} must be {required}: {reason}",
        hint=Hint(RecipeValue(key, str(required))),
    )


def recipe_to_table(recipe: Recipe) -> TomlTable:
    """Return the plain table of a recipe, which `from_table` reads back."""
    values = {
        "summary": recipe.summary,
        "max_steps": recipe.max_steps,
        "encoder": unbuild(recipe.encoder),
        "stage": [
            {
                "data": unbuild(stage.data),
                "objective": {"name": stage.objective.name, **unbuild(stage.objective.options)},
                "optim": unbuild(stage.optim),
            }
            for stage in recipe.stages
        ],
        "mix": unbuild(recipe.mix),
        "evaluate": unbuild(recipe.evaluate),
    }
    return {key: value for key, value in values.items() if value is not None}


def decisive_settings(evaluate: TomlTable) -> TomlTable:
    """Return the part of a recipe's table [evaluate] that can change the trained model."""
    return {key: value for key, value in evaluate.items() if f"evaluate.{key}" not in UNTRAINED}


def to_toml(recipe: Recipe) -> str:
    """Return the resolved recipe as TOML, every default written out."""
    return tomli_w.dumps(recipe_to_table(recipe))


def declared_text(recipe: Recipe) -> str:
    """Return what the file of RECIPE declares of its keys, as lines of comment in TOML; empty where
    that is nothing.
    """
    if not recipe.deviations:
        return ""
    values = flatten(recipe_to_table(recipe))
    lines = ["", "# where the paper, or its authors' code, says something else or nothing:"]
    for deviation in merge_declared(recipe.deviations):
        set_here = (str(values.get(key, "not set")) for key in deviation.keys)
        own_value = deviation.here or " / ".join(dict.fromkeys(set_here))
        lines += [
            f"#   {short_keys(deviation.keys, len(recipe.stages))}: {deviation.paper}",
            f"#     here: {own_value} ({deviation.source})",
        ]
    return "\n".join(lines) + "\n"


def recipe_differences(old: Recipe, new: Recipe) -> list[tuple[str, Any, Any]]:
    """Return the keys whose values differ, as (key, old value, new value); absent values are
    None.
    """
    old_values, new_values = flatten(recipe_to_table(old)), flatten(recipe_to_table(new))
    rows = [(key, old_values.get(key), new_values.get(key)) for key in old_values | new_values]
    return [row for row in rows if row[1] != row[2]]


def without_folders(recipe: Recipe) -> Recipe:
    """Return RECIPE for publication: its own files and a folder that it starts from by their names
    alone, not where they are on this machine.
    """
    replace, stages = dataclasses.replace, list[Stage]()
    for stage in recipe.stages:
        files = stage.data.names[len(stage.data.datasets) :] or stage.data.files
        stages.append(replace(stage, data=replace(stage.data, files=files)))
    return replace(
        recipe,
        encoder=replace(recipe.encoder, model=published_name(recipe.encoder.model)),
        stages=tuple(stages),
        evaluate=replace(recipe.evaluate, dev=published_name(recipe.evaluate.dev)),
    )


def _stage(stage: _StageTable, where: str, prefix: str, *, is_stored: bool) -> Stage:
    """The stage with the absolute paths of its files, which a recipe for own rows may leave to the
    command line, and the options of its objective.
    """
    data, options = stage.data, dict(stage.objective)
    if data.files is not None:
        data = dataclasses.replace(data, files=tuple(absolute_paths(data.files)))
    elif not data.datasets:
        raise UsageError(
            f"{where}: '{prefix}.data.datasets' is missing",
            hint=f"name datasets, or your own files under {prefix}.data.files",
        )
    elif key := next((key for key in _OF_FILES if getattr(data, key) is not None), None):
        raise UsageError(
            f"{where}: '{prefix}.data.{key}' has no effect: it is for own files",
            hint=Hint(RecipeValue(f"{prefix}.data.files", "FILE")),
        )
    name = options.pop("name", None)
    if not isinstance(name, str):
        problem = "missing" if name is None else f"{quote(name)}: not a name"
        raise UsageError(
            f"{where}: '{prefix}.objective.name' is {problem}",
            hint=f"one of {', '.join(objective_names())}",
        )
    checked: Any = options
    if can_load_objective(name, is_stored=is_stored):
        if is_stored:
            options = {**unwritten_options(name), **options}
        kind = objective_options(name).Options
        checked = build(kind, options, where=where, prefix=f"{prefix}.objective")
    objective = ObjectiveSection(name=name, options=checked)
    return Stage(data=data, objective=objective, optim=stage.optim)


def identifying_options(objective: TomlTable) -> TomlTable:
    """Return the part of an OBJECTIVE's table that identifies it: without what runs did before
    there was an option for it.
    """
    if not can_load_objective(objective["name"], is_stored=True):
        return objective
    unwritten = unwritten_options(objective["name"])
    return {
        key: value
        for key, value in objective.items()
        if key not in unwritten or value != unwritten[key]
    }


def unwritten_options(objective: str) -> Mapping[str, Any]:
    """Return what runs of OBJECTIVE did, and did not store, before it had an option for it."""
    return getattr(objective_options(objective), "UNWRITTEN", {})


def keys_of(recipe: Recipe) -> frozenset[str]:
    """Return every key that RECIPE could set, "optim.lr" as well as "stage.0.optim.lr" where there
    is one stage.
    """
    keys = {"max_steps", *_keys("encoder", EncoderSection), *_keys("evaluate", EvaluateSection)}
    if recipe.mix is not None:
        keys |= {*_keys("mix", MixSection)}
    for index, stage in enumerate(recipe.stages):
        options = stage.objective.options  # where its plug-in is not loaded, those that are written
        option_keys = known_keys(type(options)) if stage.objective.is_loaded else options
        stage_keys = [
            *_keys("data", DataSection),
            *_keys("optim", OptimSection),
            "objective.name",
            *(f"objective.{key}" for key in option_keys),
        ]
        keys |= {f"stage.{index}.{key}" for key in stage_keys}
        if len(recipe.stages) == 1:
            keys |= {*stage_keys}
    return frozenset(keys)


def _keys(section: str, kind: type) -> list[str]:
    return [f"{section}.{key}" for key in known_keys(kind)]


def flatten(values: Any, prefix: str = "") -> dict[str, Any]:
    """Return the values of a recipe's table by their keys as `--set` writes them:
    "stage.0.optim.lr".
    """
    if isinstance(values, list) and values and isinstance(values[0], dict):
        values = dict(enumerate(values))
    if not isinstance(values, dict):
        return {prefix: values}
    flat: dict[str, Any] = {}
    for name, item in values.items():
        flat |= flatten(item, f"{prefix}.{name}".removeprefix("."))
    return flat


def read_resolved_recipe(path: Path) -> Recipe:
    """Return the resolved recipe stored in a run directory."""
    return from_table(
        read_toml(path), name=path.parent.parent.name, where=str(path), is_stored=True
    )
