"""What the Launch screen starts: a recipe or a grid with other values, planned as the command line
plans it.
"""

import hashlib
import json
import re
import shutil
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from embedlab.core.durations import duration
from embedlab.core.errors import EmbedlabError, UsageError, shorten_values
from embedlab.core.hints import Hint, NamedOption, RecipeValue
from embedlab.core.names import recipe_names, recipe_path, refuse_path
from embedlab.core.paths import state_folder, typed_path
from embedlab.core.plain_values import quote
from embedlab.core.recipe import flatten, load_recipe, recipe_to_table
from embedlab.core.schema import parse_value, read_toml
from embedlab.core.settings import Settings
from embedlab.data.file_name import is_row_file
from embedlab.data.own_columns import own_data
from embedlab.experiments.estimate import Cost, remaining_cost
from embedlab.experiments.grid_file import grid_names, load_grid
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.experiments.progress import GridFollower
from embedlab.experiments.queue import QueueEntry
from embedlab.experiments.worker import is_alive
from embedlab.runs.launch import shared_flags
from embedlab.runs.store import RunFolder
from embedlab.store.files import write_atomic
from embedlab.tui.key_table import shown_key
from embedlab.workflows.grid.checks import check_variant_rows, missing_of_variants
from embedlab.workflows.grid.plan import plan_grid
from embedlab.workflows.options.grid import GridOptions
from embedlab.workflows.options.train import TrainOptions
from embedlab.workflows.train.missing import check_rows, missing_evaluation, missing_to_train
from embedlab.workflows.train.own_file import recipe_of
from embedlab.workflows.train.plan import plan_training, train_arguments

STARTED = "started grid"
NAME, SEEDS, OTHERS, WORKERS = "run name", "seeds", "other keys", "workers"
GRID_NAME = "grid name"
PARTIAL = "allow partial"
_LINES = {
    "--name": (NAME, GRID_NAME),
    "--seeds": (SEEDS,),
    "--workers": (WORKERS,),
    "--allow-partial": (PARTIAL,),
}  # of options
_PARTIAL_FIELD_HINT = "yes: take incomplete data; every number from it is marked partial"
_VARIANTS_SHOWN = 9
_EDITED_LIMIT = 50  # files of edited grids; a grid that was started has read its own within seconds
_MOST = 1000  # seeds, or cells at once; the folder of each seed is looked at while one types


@dataclass(frozen=True, kw_only=True)
class Field:
    """One line of the form."""

    key: str
    value: str
    hint: str = ""


@dataclass(frozen=True, kw_only=True)
class Launch:
    """What would be started now."""

    title: str  # the run or grid, as the other screens name it
    arguments: tuple[str, ...]  # of `embedlab`
    log: Path
    notes: tuple[str, ...]  # what the user should know before
    missing: tuple[str, ...] = ()  # what it needs and this machine lacks
    plan: GridPlan | None = None  # of a grid
    run: RunFolder | None = None  # of a recipe, the first that is to be trained
    check: Callable[[], None] = lambda: (
        None
    )  # raises for rows that cannot be trained on; reads them, which may take a moment


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A recipe or a grid by its name."""

    kind: str  # "recipe", "grid" or STARTED
    name: str
    summary: str

    @property
    def key(self) -> str:
        """What distinguishes the entry from all others of the list."""
        return f"{self.kind} {self.name}"


def choice_of_file(text: str) -> Choice:
    """The recipe or grid in the user's own TOML file; another file is a UsageError."""
    path = str(typed_path(text))
    if is_row_file(path):
        return Choice(kind="recipe", name=path, summary=f"{own_data(path).kind.title} of your own")
    if not path.endswith(".toml"):
        refuse_path("recipe", path)
        raise UsageError(
            f"{path!r} is not a .toml file",
            hint="give the path of a recipe, of a grid, or of rows to train on",
        )
    table = read_toml(recipe_path(path))
    kind = "grid" if "base" in table else "recipe"
    _ = load_grid(path) if kind == "grid" else load_recipe(path)  # refuses what cannot be one
    return Choice(kind=kind, name=path, summary=str(table.get("summary", "")))


def choices_of_files(paths: Sequence[str]) -> list[Choice]:
    """The recipes and grids in the files at PATHS, without those that were deleted or cannot be
    read any more.
    """
    file_choices = []
    for path in paths:
        with suppress(EmbedlabError, OSError):
            file_choices.append(choice_of_file(path))
    return file_choices


def choices() -> list[Choice]:
    """Every shipped recipe, then every grid."""
    recipes = [
        Choice(
            kind="recipe", name=name, summary=str(read_toml(recipe_path(name)).get("summary", ""))
        )
        for name in recipe_names()
    ]
    return [
        *recipes,
        *(Choice(kind="grid", name=name, summary=load_grid(name).summary) for name in grid_names()),
    ]


def form_fields(choice: Choice) -> list[Field]:
    """The lines of the form of CHOICE; a started grid has none."""
    if choice.kind == STARTED:
        return []
    return recipe_fields(choice.name) if choice.kind == "recipe" else grid_fields(choice.name)


def launch_or_error(
    choice: Choice, values: Mapping[str, str], settings: Settings
) -> Launch | EmbedlabError:
    """Return what starting CHOICE with these VALUES does, or the error of what cannot be; a started
    grid is resumed.
    """
    try:
        if choice.kind == STARTED:
            return resume_launch(choice.name, settings)
        if {field.key for field in form_fields(choice)} != set(
            values
        ):  # a start would use values that the form does not show
            return UsageError(
                f"{choice.name!r} was changed: its keys are not those of this form",
                hint=f"{shown_key('undo')} shows those that it has now",
            )
        if choice.kind == "recipe":
            return recipe_launch(choice.name, values, settings)
        return grid_launch(choice.name, values, settings, state_folder() / "grids")
    except EmbedlabError as error:
        return in_form(error, values)
    except OSError as error:
        return EmbedlabError(str(error))


# recipes


def recipe_fields(name: str) -> list[Field]:
    """The form of a recipe: its name, seeds, every value, and room for keys that it leaves out."""
    recipe, _ = recipe_of(name)
    values = flatten(recipe_to_table(recipe))
    fields = [
        Field(key=_short(key, values), value=_text(value))
        for key, value in values.items()
        if key != "summary"
    ]
    return [
        Field(key=NAME, value=recipe.name, hint="letters, digits, . _ + -"),
        Field(key=SEEDS, value="1", hint="how many: 3 trains with 1, 2 and 3"),
        Field(key=PARTIAL, value="", hint=_PARTIAL_FIELD_HINT),
        *fields,
        Field(key=OTHERS, value="", hint="such as optim.clip=1.0 data.rows=1000"),
    ]


def recipe_launch(name: str, values: Mapping[str, str], settings: Settings) -> Launch:
    """Return what starting the recipe with these VALUES does; what cannot be is a UsageError."""
    original = {field.key: field.value for field in recipe_fields(name)}
    settings = _with_partial(values, settings)
    overrides = [
        f"{key}={text}"
        for key, text in values.items()
        if key not in {NAME, SEEDS, PARTIAL, OTHERS} and text != original[key]
    ]
    overrides += _overrides(values[OTHERS])
    seeds, run = _count(values[SEEDS], SEEDS), values[NAME].strip()
    options = TrainOptions(
        recipe=name,
        overrides=tuple(overrides),
        seeds=tuple(range(1, seeds + 1)),
        name=run if run != original[NAME] else None,
    )
    plan = plan_training(options, settings)
    plan.refuse_running()
    first = next(iter(plan.todo), None)
    missing = missing_to_train(plan.recipe, settings) if plan.todo else []
    return Launch(
        title=f"{run} with {seeds} seeds" if seeds > 1 else run,
        arguments=tuple(train_arguments(options, settings)),
        log=(first or plan.runs[0].run).log_file,
        notes=plan.notes,
        missing=_shown(
            (*missing, *(missing_evaluation(plan.recipe, settings) if plan.todo else ())), values
        ),
        run=first,
        check=partial(_check_in_form, partial(check_rows, plan, settings), values)
        if plan.todo and not missing
        else lambda: None,
    )


def _plain_name(name: str) -> str:
    """The name of a recipe or grid, which of the user's own is that of its file."""
    return Path(name).stem if name.endswith(".toml") else name


def _short(key: str, values: Mapping[str, Any]) -> str:
    """A key as people type it: with a single stage, without "stage.0."."""
    return (
        key
        if any(other.startswith("stage.1.") for other in values)
        else key.removeprefix("stage.0.")
    )


# grids


def grid_fields(name: str) -> list[Field]:
    """The form of a grid: seeds, each axis as a TOML list, values for every cell, workers."""
    grid = load_grid(name)
    table = _grid_table(name)
    axes = [
        Field(key=f"axis {axis}", value=_text(value), hint="a list, or a table of named sets")
        for axis, value in table["axes"].items()
    ]
    plain = _plain_name(name)
    return [
        Field(key=GRID_NAME, value="", hint=f"{plain}, or {plain}-edited with other values"),
        Field(key=SEEDS, value=_text(list(grid.seeds)), hint="a list"),
        Field(key=PARTIAL, value="", hint=_PARTIAL_FIELD_HINT),
        *axes,
        Field(key=OTHERS, value="", hint="for every cell, such as data.rows=1000"),
        Field(key=WORKERS, value="1", hint="cells at once"),
    ]


def grid_launch(name: str, values: Mapping[str, str], settings: Settings, folder: Path) -> Launch:
    """Return what starting the grid with these VALUES does; a grid with other axes is written as a
    file of its own to FOLDER.
    """
    original = {field.key: field.value for field in grid_fields(name)}
    workers, settings = _count(values[WORKERS], WORKERS), _with_partial(values, settings)
    edited = any(
        values[key] != text
        for key, text in original.items()
        if key.startswith("axis ") or key == SEEDS
    )
    own_name = values.get(GRID_NAME, "").strip()
    base = _plain_name(name)
    title = (
        _free_name(own_name, base, settings.runs) if edited or own_name not in {"", base} else base
    )
    typed = name if title == base else str(_write_grid(name, values, folder, title))
    overrides = _overrides(values[OTHERS])
    called = (
        title if typed != name else None
    )  # the user knows the grid by its name, and not the file that the form wrote
    plan = plan_grid(
        GridOptions(grid=typed, called=called, overrides=tuple(overrides)), settings
    ).plan
    arguments = [
        "grid",
        "run",
        typed,
        "--workers",
        str(workers),
        *(word for override in overrides for word in ("--set", override)),
    ]
    cost = remaining_cost(plan, _waiting(plan), workers)
    return Launch(
        title=f"{plan.name} with {len(plan)} cells",
        arguments=(*arguments, *shared_flags(settings)),
        log=GridFolder.of(settings.runs, plan.name).path / "launch.txt",
        notes=(
            f"{len(plan)} cells: {len(plan.variants)} variants x {len(plan.seeds)} seeds",
            *_variants(plan),
            cost_text(cost),
        ),
        missing=_shown(missing_of_variants(plan.variants, settings), values),
        plan=plan,
        check=partial(_check_in_form, partial(check_variant_rows, plan, settings), values),
    )


def resume_launch(name: str, settings: Settings) -> Launch:
    """Return what resuming the started grid NAME does; a grid that runs or was planned with other
    values is a UsageError.
    """
    folder = GridFolder.find(settings.runs, name)
    stored = GridPlan.load(folder.plan_file)
    if is_alive(folder):
        raise UsageError(f"grid {name!r} is running", hint=f"{shown_key('stop')} stops it")
    settings = replace(settings, allow_partial=stored.place.allow_partial)  # as its form said
    planned = plan_grid(GridOptions(grid=name), settings).plan
    if planned != stored:
        raise UsageError(
            f"grid {name!r} was started with other values than its file has now",
            hint="resume it by the command that began it",
        )
    with closing(GridFollower(folder)) as follower:
        entries = [
            entry if entry.state == "done" else replace(entry, state="waiting")
            for entry in follower.look().entries
        ]
    left = remaining_cost(stored, entries, 1)  # failed and cancelled cells run again
    if not left.cells:
        raise UsageError(f"all cells of {name!r} are done")
    return Launch(
        title=f"the rest of {name}, {left.cells} of {len(stored)} cells",
        arguments=("grid", "run", name, *shared_flags(settings)),
        log=folder.path / "launch.txt",
        notes=(
            f"{left.cells} of {len(stored)} cells are left",
            *_variants(stored),
            cost_text(left),
        ),
        missing=_shown(missing_of_variants(stored.variants, settings), ()),
        plan=stored,
    )


def _shown(missing: Iterable[Hint], lines: Collection[str]) -> tuple[str, ...]:
    return tuple(hint_in_form(line, lines) for line in missing)


def _free_name(typed: str, base: str, runs: Path) -> str:
    """The name of an edited grid: the TYPED one, which no started grid may have, or the first free
    one after BASE.
    """
    if typed in {"", base}:
        names = (f"{base}-edited{f'-{number}' if number > 1 else ''}" for number in count(1))
        return next(name for name in names if not GridFolder.of(runs, name).plan_file.is_file())
    RunFolder.of(runs, typed, 0)  # the same letters as of a run
    if GridFolder.of(runs, typed).plan_file.is_file():
        raise UsageError(
            f"a grid named {typed!r} has been started already",
            hint=f"choose another name, or embedlab grid run {typed}",
        )
    if typed in grid_names():
        raise UsageError(f"{typed!r} is the name of another grid", hint="choose another name")
    return typed


def cost_text(cost: Cost) -> str:
    """The estimate in words."""
    if cost.seconds is None:
        time = f"time unknown: {cost.measured}"
    else:
        time = f"about {duration(cost.seconds)}, measured on {cost.measured}"
    return f"{time}, {_size(cost.disk_bytes)} of disk" if cost.disk_bytes else time


def _size(count: int) -> str:
    return f"{count / 2**30:z.1f} GiB" if count >= 2**30 else f"{count / 2**20:z.0f} MiB"


def _variants(plan: GridPlan) -> list[str]:
    """What each variant changes, in a line of its own as far as there is room."""
    lines = [
        "  " + "  ".join(f"{axis}={label}" for axis, label in variant.labels.items())
        for variant in plan.variants
    ]
    rest = len(lines) - _VARIANTS_SHOWN
    return lines if rest <= 0 else [*lines[:_VARIANTS_SHOWN], f"  and {rest} more"]


def _waiting(plan: GridPlan) -> Sequence[QueueEntry]:
    return [
        QueueEntry(run=cell.variant.run, seed=cell.seed, number=cell.number, state="waiting")
        for cell in plan.cells
    ]


def _grid_table(name: str) -> dict[str, Any]:
    from embedlab.experiments.grid_file import grid_path

    return {"axes": {}, **read_toml(grid_path(name))}


def _write_grid(name: str, values: Mapping[str, str], folder: Path, title: str) -> Path:
    import tomli_w

    table = _grid_table(name)
    table["axes"] = {axis: _value(f"axis {axis}", values[f"axis {axis}"]) for axis in table["axes"]}
    table["seeds"] = _value(SEEDS, values[SEEDS])
    table["base"] = _absolute(table["base"], Path(name).absolute().parent)
    text = tomli_w.dumps(table)
    # Beside the others under its contents: a grid that starts reads its file while the form is
    # edited already.
    path = folder / hashlib.sha256(text.encode()).hexdigest()[:12] / f"{title}.toml"
    write_atomic(path, text)
    for old in sorted(folder.iterdir(), key=lambda path: path.stat().st_mtime)[
        :-_EDITED_LIMIT
    ]:  # each change of the form leaves one
        shutil.rmtree(old, ignore_errors=True)
    return path


def _absolute(base: Any, folder: Path) -> Any:
    """The base recipes of a grid, those of files beside it by paths that hold elsewhere too."""
    if isinstance(base, str):
        return str(folder / base) if base.endswith(".toml") else base
    return [_absolute(entry, folder) for entry in base]


def _with_partial(values: Mapping[str, str], settings: Settings) -> Settings:
    """SETTINGS with what the line about incomplete data says; an empty one leaves how the dashboard
    was started.
    """
    text = values[PARTIAL].strip().lower()
    if text not in {"", "yes", "no"}:
        raise UsageError(
            f"{PARTIAL} is {values[PARTIAL]!r}: neither yes nor no",
            hint=f"type yes or no in the line {PARTIAL!r}",
        )
    return replace(settings, allow_partial=text == "yes") if text else settings


def in_form(error: EmbedlabError, lines: Collection[str]) -> EmbedlabError:
    """ERROR with a hint that speaks of the LINES of a form, and not of the options of a command."""
    shown = copy(error)
    shown.hint = shorten_values(hint_in_form(error.advice, lines))
    return shown


def hint_in_form(hint: Hint, lines: Collection[str]) -> str:
    """HINT with each option and value as one types it into a form with these LINES."""
    return hint.shown(partial(_as_line, lines))


def _as_line(lines: Collection[str], option: NamedOption | RecipeValue) -> str:
    if isinstance(option, RecipeValue):
        line = option.key if option.key in lines else option.key.removeprefix("stage.0.")
        value, line = (option.value, line) if line in lines else (f"{line}={option.value}", OTHERS)
    elif option.name == "--resume":
        return f"{shown_key('resume')} on Runs"
    else:
        line = next((line for line in _LINES.get(option.name, ()) if line in lines), "")
        value = option.value or "yes"
    return f"{value} in the line {line!r}" if line else f"{option} when the dashboard is started"


def _check_in_form(check: Callable[[], None], lines: Collection[str]) -> None:
    """Run CHECK, whose errors speak of the form."""
    try:
        check()
    except EmbedlabError as error:
        raise in_form(error, lines) from error


def _value(key: str, text: str) -> Any:
    try:
        return parse_value(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(
            f"{key} is {quote(text)}: not a TOML value", hint="write for example [0.1, 0.5]"
        ) from error


def _count(text: str, key: str) -> int:
    if not re.fullmatch("[0-9]{1,5}", text.strip()) or not 1 <= int(text) <= _MOST:
        raise UsageError(
            f"{key} is {text!r}: not a number from 1 to {_MOST}", hint="type for example 3"
        )
    return int(text)


def _overrides(text: str) -> list[str]:
    """Each KEY=VALUE of a line; a value may hold blanks, as a list does."""
    return [override for override in re.split(r"\s+(?=[\w.-]+=)", text.strip()) if override]


def _text(value: Any) -> str:
    """A value as TOML writes it, names without quotes."""
    return value if isinstance(value, str) else _quoted(value)


def _quoted(value: Any) -> str:
    if isinstance(value, dict):
        return (
            "{ "
            + ", ".join(f"{json.dumps(key)} = {_quoted(item)}" for key, item in value.items())
            + " }"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_quoted(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False)
