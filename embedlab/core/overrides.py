"""Apply `--set KEY=VALUE` to the table of a recipe."""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import PurePath
from typing import Any

from embedlab.core.deviations import full_keys
from embedlab.core.errors import Hint, RecipeValue, UsageError
from embedlab.core.nearest import unknown
from embedlab.core.schema import (
    CORRECT,
    DEEPEST,
    TomlTable,
    build,
    dotted,
    parse_value,
    quote,
    refuse_flaws,
    table,
)

TASK = "data.task"  # what `--set` calls the choice among a recipe's [tasks]
PROFILE = "profile"  # what `--set` calls the choice among a recipe's [profiles]
PAPER = "paper"  # the profile that every recipe has: its file as it is
CHOICES = (
    PROFILE,
    TASK,
)  # keys that choose the values of others, in the order in which they are applied
LISTS = ("datasets", "files")  # keys of a stage's data whose single value is a list of one
SECTIONS = ("encoder", "stage", "mix", "evaluate")


def overrides_of(values: Mapping[str, object]) -> tuple[str, ...]:
    """Return Python VALUES by key as `--set` takes them; a value that TOML cannot write is a
    UsageError.
    """
    refuse_flaws(values, where="the values of a recipe")
    return tuple(f"{key}={_toml_text(key, value)}" for key, value in values.items())


def _toml_text(key: str, value: object) -> str:
    if isinstance(value, Mapping):
        return (
            "{ "
            + ", ".join(
                f"{json.dumps(str(name))} = {_toml_text(key, item)}" for name, item in value.items()
            )
            + " }"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml_text(key, item) for item in value) + "]"
    if isinstance(value, str | PurePath):
        return json.dumps(str(value), ensure_ascii=False)
    if isinstance(value, bool | int | float):
        return json.dumps(value).replace("NaN", "nan").replace("Infinity", "inf")
    raise UsageError(
        f"{key!r} is {quote(value)}: not a value that a recipe can hold",
        hint="give text, a number or a list",
    )


_EXAMPLE = Hint("for example ", RecipeValue("optim.lr", "1e-5"))


def set_values(values: TomlTable, overrides: Sequence[str]) -> None:
    """Apply `--set` OVERRIDES to a recipe's table, in whichever order they come: a profile, then a
    task, then explicit keys, which win.
    """
    for override in sorted(overrides, key=_rank):
        set_value(values, override)


def _rank(override: str) -> int:
    key = override.partition("=")[0]
    return CHOICES.index(key) if key in CHOICES else len(CHOICES)


def set_value(values: TomlTable, override: str) -> None:
    """Apply one `--set KEY=VALUE` to a recipe's table; with a single stage, `optim.lr` means
    `stage.0.optim.lr`.

    `stages.optim.lr` means that of every stage.
    """
    key, separator, text = override.partition("=")
    if not separator or not all(key.split(".")):
        raise UsageError(f"{quote(override)} is not KEY=VALUE", hint=_EXAMPLE)
    if key in CHOICES:
        value = _parse_value(key, text)
        refuse_flaws(value, where="--set", prefix=key)
        return (
            _choose_task(values, str(value)) if key == TASK else _choose_profile(values, str(value))
        )
    if key.startswith("stages."):
        for index in range(_stage_count(values)):
            set_value(values, f"stage.{index}.{key.removeprefix('stages.')}={text}")
        return None
    if key.endswith(".max_steps"):
        whole = Hint("it is of the whole training: ", RecipeValue("max_steps", "N"))
        raise UsageError(f"unknown key {quote(key)}", hint=whole)
    *path, last = _steps(values, key)
    target: Any = values
    for position, step in enumerate(path):
        if isinstance(target, list):
            if not re.fullmatch("[0-9]{1,9}", step) or int(step) >= len(target):
                raise UsageError(
                    f"{_short(key)}: there is no stage {quote(step)}",
                    hint=f"stages are 0 to {len(target) - 1}",
                )
            target = target[int(step)]
        elif isinstance(target, dict):
            target = target.setdefault(step, {})
        else:
            raise UsageError(
                f"{_short(key)}: {dotted(tuple(path[:position]))!r} is not a table", hint=CORRECT
            )
    if not isinstance(target, dict):
        raise UsageError(f"{_short(key)}: {dotted(tuple(path))!r} is not a table", hint=CORRECT)
    value = _parse_value(key, text)
    target[last] = (
        [value] if isinstance(value, str) and path[-1:] == ["data"] and last in LISTS else value
    )
    return None


def _short(key: str) -> str:
    """Return KEY as a message shows it: what users type may be of any length and contain
    anything.
    """
    return quote(key)[1:-1]


def _stage_count(values: TomlTable) -> int:
    stages = values.get("stage")
    return len(stages) if isinstance(stages, list) else 0


def _steps(values: TomlTable, key: str) -> list[str]:
    """Return the names of the tables that lead to KEY; a single stage may be omitted."""
    steps = key.split(".")
    if len(steps) > DEEPEST:
        raise UsageError(f"{_short(key)}: a key of {len(steps)} parts", hint=_EXAMPLE)
    if steps[0] not in {"data", "objective", "optim"}:
        return steps
    if _stage_count(values) != 1:
        short, number = _short(key), "several stages" if _stage_count(values) else "no stage"
        raise UsageError(
            f"{short}: the recipe has {number}",
            hint=f"name one, stage.0.{short}, or all of them, stages.{short}",
        )
    return ["stage", "0", *steps]


def _choose_task(values: TomlTable, name: str) -> None:
    """Apply the recipe's table [tasks.NAME]; a key without a stage applies to all stages."""
    tasks = values.get("tasks", {})
    if not isinstance(tasks, dict) or not all(isinstance(task, dict) for task in tasks.values()):
        raise UsageError(
            f"{TASK}: the recipe's 'tasks' are not tables",
            hint="each [tasks.NAME] is a table of keys and values",
        )
    if name not in tasks:
        raise (
            unknown("task", name, tasks)
            if tasks
            else UsageError(
                f"{TASK}: the recipe has no [tasks] to choose from",
                hint=Hint("name the data: ", RecipeValue("data.datasets", "NAME")),
            )
        )
    refuse_flaws(tasks[name], where=f"--set {TASK}", prefix=f"tasks.{name}")
    for key, value in tasks[name].items():
        set_value(values, _of_all_stages(key, value))


def _of_all_stages(key: str, value: Any) -> str:
    """Return KEY=VALUE for `--set`; a key without a stage is that of all stages."""
    return f"{_key_of_all_stages(key)}={json.dumps(value, default=str)}"


def _key_of_all_stages(key: str) -> str:
    return key if key.split(".")[0] in (*SECTIONS, "stages") else f"stages.{key}"


@table
class Profile:
    """Other values for the keys of a recipe, for example those of its authors' code."""

    source: str  # where they can be read
    set: dict[str, Any] = field(default_factory=dict)
    tasks: dict[str, dict[str, Any]] = field(
        default_factory=dict
    )  # other values in the recipe's [tasks]
    agrees: tuple[
        str, ...
    ] = ()  # keys of the recipe's [deviations] in which it is what this profile says
    deviations: dict[str, dict[str, Any]] = field(
        default_factory=dict
    )  # what is declared of this profile, in place of or beside the recipe's


def profiles_of(values: TomlTable) -> tuple[str, ...]:
    """Return the profiles that a recipe's table can be read with."""
    profiles = values.get("profiles", {})
    return (PAPER, *profiles) if isinstance(profiles, dict) else (PAPER,)


def _choose_profile(values: TomlTable, name: str) -> None:
    """Apply the recipe's table [profiles.NAME]; a key without a stage applies to all stages.

    A deviation that the recipe declares of a key which the profile sets is the profile's to
    declare.
    """
    if name == PAPER:
        return
    if name not in profiles_of(values):
        known = profiles_of(values)
        hint = (
            unknown("profile", name, known).hint
            if len(known) > 1
            else "the recipe has none but paper"
        )
        raise UsageError(f"no profile named {name!r} in the recipe", hint=hint)
    profile = build(
        Profile, values["profiles"][name], where=f"profile {name!r}", prefix=f"profiles.{name}"
    )
    for task, keys in profile.tasks.items():
        if task not in values.get("tasks", {}):
            raise UsageError(
                f"'profiles.{name}.tasks' names {task!r}, which the recipe does not have",
                hint="name one of its [tasks]",
            )
        values["tasks"][task].update(keys)
    stages = _stage_count(values)
    where = f"'profiles.{name}'"
    said = {
        full: said
        for key, said in profile.deviations.items()
        for full in full_keys(key, stages, where)
    }
    settled = {
        full
        for key in (*profile.set, *profile.agrees)
        for full in full_keys(_key_of_all_stages(key), stages, where)
    }
    deviations = values.get("deviations", {})
    declared = {
        full: said
        for key, said in deviations.items()
        for full in full_keys(key, stages, "'deviations'")
    }
    if unsaid := next(
        (key for key in profile.agrees if not {*full_keys(key, stages, where)} <= declared.keys()),
        None,
    ):
        raise UsageError(
            f"'profiles.{name}.agrees' names {unsaid!r}, of which 'deviations' says nothing",
            hint="remove it",
        )
    values["deviations"] = {
        full: deviation for full, deviation in declared.items() if full not in settled
    } | said
    for key, value in profile.set.items():
        set_value(values, _of_all_stages(key, value))


def _parse_value(key: str, text: str) -> Any:
    """Return TEXT as a TOML value if it is one, otherwise as text, so that names need no quotes."""
    if re.fullmatch(r"[+-]?[0-9_]{400,}", text):
        raise UsageError(
            f"{_short(key)}: an integer of {len(text)} digits", hint="at most 64 bits fit"
        )
    # TOML wants digits around the dot and no bare exponent point; people type 1e-5, .5 and 2.
    normal = re.sub(r"^(-?)\.(\d)", r"\g<1>0.\2", text)
    try:
        return parse_value(normal)
    except tomllib.TOMLDecodeError:
        return text
