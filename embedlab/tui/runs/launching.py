"""What the Launch sheet starts: a recipe or a grid, few values as fields, the rest as TOML.

The command line checks and starts it, so that both refuse the same.
"""

import asyncio
import hashlib
import json
import os
import re
import shutil
import signal
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any, Literal

import tomli_w

from embedlab.commands.training_plan import recipe_of
from embedlab.core.disk import write_atomic
from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.names import recipe_names, recipe_path, refuse_path
from embedlab.core.paths import STARTER_FOLDER, data_name, typed_path
from embedlab.core.python_processes import python_command, start_piped
from embedlab.core.recipe import flatten, load_recipe, recipe_to_table
from embedlab.core.schema import parse_value, read_toml
from embedlab.core.settings import Settings
from embedlab.data.file_name import is_row_file
from embedlab.data.source import is_starter
from embedlab.experiments.grid_file import grid_names, grid_path, load_grid
from embedlab.experiments.plan import GridFolder
from embedlab.models.published import PACKAGED
from embedlab.runs.launch import shared_flags, start_detached

_SMALL_ENCODER = "minilm"  # that the starter set is trained from in minutes
AXIS = "axis "  # before the name of an axis, as a field
_WRITTEN_GRIDS = 50  # files of changed grids that stay; a grid that was started has read its own
_LOG = "launch.txt"  # of a grid that was started here, beside the words that started it


@dataclass(frozen=True, kw_only=True)
class Choice:
    """A recipe or a grid, by its name or the path of its file."""

    kind: Literal["recipe", "grid"]
    name: str
    summary: str = ""

    @property
    def key(self) -> str:
        """What it is remembered by."""
        return f"{self.kind} {self.name}"

    @property
    def title(self) -> str:
        """Its name as lists show it."""
        return Path(self.name).stem if self.name.endswith(".toml") else Path(self.name).name


@dataclass(frozen=True, kw_only=True)
class Form:
    """What was typed: the values of the fields, and TOML for all others."""

    values: Mapping[str, str]
    text: str


def choices() -> list[Choice]:
    """Every grid of the package, then every recipe."""
    grids = [
        Choice(kind="grid", name=name, summary=load_grid(name).summary) for name in grid_names()
    ]
    recipes = [
        Choice(
            kind="recipe", name=name, summary=str(read_toml(recipe_path(name)).get("summary", ""))
        )
        for name in recipe_names()
    ]
    return [*grids, *recipes]


def choice_of_file(text: str) -> Choice:
    """The recipe, grid or rows in the user's own file; another file is a UsageError."""
    path = str(typed_path(text))
    if is_row_file(path):
        return Choice(kind="recipe", name=path, summary="rows of your own")
    if not path.endswith(".toml"):
        refuse_path("recipe", path)
        raise UsageError(
            f"{path!r} is not a .toml file",
            hint="give the path of a recipe, of a grid, or of rows to train on",
        )
    table = read_toml(recipe_path(path))
    is_grid = "base" in table
    _ = load_grid(path) if is_grid else load_recipe(path)  # refuses what cannot be one
    kind: Literal["recipe", "grid"] = "grid" if is_grid else "recipe"
    return Choice(kind=kind, name=path, summary=str(table.get("summary", "")))


def new_form(choice: Choice, settings: Settings) -> Form:
    """The form of CHOICE as its file has it; on the starter set it starts from the small model that
    is installed.
    """
    folder = settings.data or STARTER_FOLDER
    is_small = is_starter(folder) and PACKAGED[_SMALL_ENCODER].state == "installed"
    name, axes, run_fields = choice.title, {}, {"steps": "", "seeds": "1"}
    if choice.kind == "recipe":
        name = recipe_of(choice.name)[0].name
    else:
        axes = read_toml(grid_path(choice.name)).get("axes", {})
        run_fields = {"seeds": str(len(load_grid(choice.name).seeds)), "workers": "1"}
    values = {
        "name": _free_name(name, settings.runs),
        **{f"{AXIS}{axis}": _one_line(values) for axis, values in axes.items()},
        "encoder": _SMALL_ENCODER if is_small else "",
        "data": data_name(folder),
        "rows": "",
        **run_fields,
    }
    return Form(values=values, text=toml_text(_shown_table(choice)))


def _shown_table(choice: Choice) -> dict[str, Any]:
    """What a form shows as TOML: the values of a file that are not fields."""
    if choice.kind == "grid":
        table = read_toml(grid_path(choice.name))
        return {key: table[key] for key in table if key not in {"summary", "seeds", "axes"}}
    recipe, _ = recipe_of(choice.name)
    table = recipe_to_table(recipe)
    table = {key: value for key, value in table.items() if key not in {"summary", "max_steps"}}
    stages = table["stage"]
    if len(stages) == 1:  # keys as people type them: optim.lr
        table = {
            key: value
            for name, section in table.items()
            for key, value in (stages[0].items() if name == "stage" else [(name, section)])
        }
    encoder = {key: value for key, value in table["encoder"].items() if key != "model"}
    return {**table, "encoder": encoder}


def toml_text(table: Mapping[str, Any]) -> str:
    """TABLE as TOML with a list of values in one line."""

    def one_line(values: re.Match[str]) -> str:
        return re.sub(r",?\n\s*", lambda _: ", ", values[0]).replace("[, ", "[").replace(", ]", "]")

    return re.sub(r"\[\n[^\[\]]*\]", one_line, tomli_w.dumps(table))


def _one_line(value: Any) -> str:
    """VALUE as TOML in one line."""
    if isinstance(value, dict):
        items = (f"{json.dumps(str(key))} = {_one_line(item)}" for key, item in value.items())
        return "{ " + ", ".join(items) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_one_line, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def _free_name(base: str, runs: Path) -> str:
    """BASE, or BASE-2 and so on where runs or a grid have the name."""
    names = (f"{base}-{number}" if number > 1 else base for number in count(1))
    return next(
        name
        for name in names
        if not (runs / name).exists() and not GridFolder.of(runs, name).path.exists()
    )


def arguments(choice: Choice, form: Form, settings: Settings, folder: Path) -> list[str]:
    """The words behind `embedlab` that start FORM. A grid with another name, axes or TOML is
    written to FOLDER; TOML that cannot be read is a UsageError.
    """
    values = {key: text.strip() for key, text in form.values.items()}
    table = _parsed(form.text)
    flags = [
        *(("--data", values["data"]) if values["data"] else ()),
        *(("--encoder", values["encoder"]) if values["encoder"] else ()),
        *(("--seeds", values["seeds"]) if values["seeds"] else ()),
        *shared_flags(replace(settings, data=None)),
    ]
    if choice.kind == "grid":
        rows = [f"stages.data.rows={values['rows']}"] if values["rows"] else []
        flags = [
            *_set(rows),
            *flags,
            *(("--workers", values["workers"]) if values["workers"] else ()),
        ]
        return ["grid", "run", _grid_to_run(choice, values, table, folder), *flags]
    original = flatten(_shown_table(choice))
    changed = flatten(table)
    if removed := [key for key in original if key not in changed]:
        raise UsageError(
            f"{removed[0]!r} is missing", hint=f"it was {_one_line(original[removed[0]])}"
        )
    overrides = [
        f"{key}={value if isinstance(value, str) else _one_line(value)}"
        for key, value in changed.items()
        if key not in original or value != original[key]
    ]
    overrides += [f"stages.data.rows={values['rows']}"] if values["rows"] else []
    steps = ["--max-steps", values["steps"]] if values["steps"] else []
    recipe_name = recipe_of(choice.name)[0].name
    name = ["--name", values["name"]] if values["name"] not in {"", recipe_name} else []
    return ["train", choice.name, *_set(overrides), *steps, *name, *flags]


def _set(overrides: Sequence[str]) -> list[str]:
    return [argument for override in overrides for argument in ("--set", override)]


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"the TOML cannot be read: {error}") from error


def _grid_to_run(
    choice: Choice, values: Mapping[str, str], table: dict[str, Any], folder: Path
) -> str:
    """The name of the grid, or the path of a file with what was changed."""
    original = read_toml(grid_path(choice.name))
    axes = dict(table.get("axes", {}))  # more of them than the grid has
    for key, text in values.items():
        if key.startswith(AXIS):
            try:
                axes[key.removeprefix(AXIS)] = parse_value(text)
            except tomllib.TOMLDecodeError as error:
                raise UsageError(
                    f"{key} is {text!r}: not a TOML value", hint="write for example [0.1, 0.5]"
                ) from error
    name = values["name"] or choice.title
    is_unchanged = (name, axes, table) == (
        choice.title,
        original.get("axes", {}),
        _shown_table(choice),
    )
    if is_unchanged:
        return choice.name
    GridFolder.of(Path(), name)  # refuses a name that is too long
    if not re.fullmatch(r"[\w.-]*[^\W_][\w.-]*", name):
        raise UsageError(f"{name!r} cannot name a grid", hint="use letters, digits, '.', '_', '-'")
    grid_table: dict[str, Any] = {
        **{key: original[key] for key in ("summary", "seeds") if key in original},
        **table,
    }
    grid_table["base"] = _absolute(grid_table.get("base"), Path(choice.name).absolute().parent)
    grid_table["axes"] = axes
    text = tomli_w.dumps(grid_table)
    # Beside the others under its content: a grid that starts reads its file while the form is
    # edited already.
    path = folder / hashlib.sha256(text.encode()).hexdigest()[:12] / f"{name}.toml"
    write_atomic(path, text)
    for old_folder in sorted(folder.iterdir(), key=lambda written: written.stat().st_mtime)[
        :-_WRITTEN_GRIDS
    ]:
        shutil.rmtree(old_folder, ignore_errors=True)
    return str(path)


def _absolute(base: Any, folder: Path) -> Any:
    """The base recipes of a grid; those of files beside it by paths that hold elsewhere too."""
    if isinstance(base, list):
        return [_absolute(entry, folder) for entry in base]
    return str(folder / base) if isinstance(base, str) and base.endswith(".toml") else base


async def dry_run(words: Sequence[str]) -> str:
    """What `embedlab WORDS` would do, in lines; what the command refuses is an EmbedlabError.

    The process ends with the task that awaits it.
    """
    is_grid = words[0] == "grid"
    command = python_command(*words, "--dry-run", *(["--json"] if is_grid else []))
    process = await start_piped(command, stderr=asyncio.subprocess.PIPE)
    try:
        output, error_output = await process.communicate()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        raise _printed_error(error_output)
    if not is_grid:  # behind the recipe, which the form shows
        text = output.decode(errors="replace").rstrip().rpartition("\n\n")[2]
        return "\n".join(line.removeprefix("# ") for line in text.splitlines())
    cell_rows = json.loads(output)["rows"]
    no_axes = {"cell", "seed", "done", "seconds", "run"}
    variants = dict.fromkeys(
        "  ".join(f"{name.rpartition('.')[2]} {cell[name]}" for name in cell if name not in no_axes)
        for cell in cell_rows
    )
    summary = " ".join(error_output.decode(errors="replace").split())
    return f"{summary}\n\n" + "\n".join(variants)


def _printed_error(output: bytes) -> EmbedlabError:
    """The error with its hint that a command printed."""
    text = output.decode(errors="replace")
    start = text.find("embedlab: error:")
    if start < 0:
        return EmbedlabError((text.splitlines() or ["it ended without a message"])[-1])
    error, _, hint = " ".join(text[start:].split()).partition(" hint: ")
    return EmbedlabError(error.removeprefix("embedlab: error: "), hint=hint)


def resume_grid(name: str, settings: Settings) -> None:
    """Run the cells of the grid called NAME that are not done, by the words that started it."""
    log = GridFolder.of(settings.runs, name).path / _LOG
    command_words = ["grid", "run", name, *shared_flags(settings)]
    with suppress(OSError, ValueError):
        command_words = json.loads(log.with_suffix(".json").read_bytes())
    start_detached(command_words, log)


async def start_choice(choice: Choice, words: Sequence[str], settings: Settings) -> None:
    """Start `embedlab WORDS` in a process that outlives the dashboard; what the command refuses is
    an EmbedlabError.
    """
    if choice.kind == "recipe":
        process = await start_piped(
            python_command(*words, "--detach", "--quiet"), stderr=asyncio.subprocess.PIPE
        )
        _, error_output = await process.communicate()
        if process.returncode:
            raise _printed_error(error_output)
        return
    log = GridFolder.of(settings.runs, Path(words[2]).stem).path / _LOG
    write_atomic(log.with_suffix(".json"), json.dumps(list(words)))
    detached = await asyncio.to_thread(start_detached, words, log)
    for _ in range(30):  # what is refused is refused in the first seconds
        if (code := detached.process.poll()) is not None:
            if code:
                raise detached.error(f"the grid {log.parent.name!r}")
            return
        await asyncio.sleep(0.1)
