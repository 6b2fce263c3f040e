"""Apply `--set KEY=VALUE` to the table of a recipe; what a recipe declares about its keys: where it
differs from the paper, or says what the paper leaves open.
"""

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any

from embedlab.core.errors import Hint, RecipeValue, UsageError
from embedlab.core.nearest import nearest_hint, unknown_name_error
from embedlab.core.printable import count_text
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

IN_STAGE = ("data", "objective", "optim")  # sections of a stage


@table
class Declaration:
    """What `[deviations]` of a recipe declares about a key."""

    paper: str  # what the paper says, or that it says nothing
    source: str  # where this can be read
    here: str | None = None  # what is done here; absent: the value of the key


@dataclass(frozen=True, kw_only=True)
class DeclaredDeviation(Declaration):
    """One declared difference from the paper, or what the paper leaves open."""

    keys: tuple[str, ...]  # in full: "stage.0.optim.clip"


@table
class Choices:
    """What a recipe's file declares of its keys, and sets that `--set` chooses."""

    deviations: dict[str, Declaration] = field(default_factory=dict)
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)


def _choices(values: Mapping[str, Any], key: str, where: str) -> Choices:
    return build(Choices, {key: values.get(key, {})}, where=where)


def declared_deviations(values: Mapping[str, Any], *, where: str) -> tuple[DeclaredDeviation, ...]:
    """Return what the table [deviations] in VALUES of a recipe declares; whether its keys exist is
    for the caller to check.
    """
    count = stage_count(values)
    return tuple(
        DeclaredDeviation(
            keys=full_keys(key, count, f"{where}: 'deviations.{key}'"), **vars(declaration)
        )
        for key, declaration in _choices(values, "deviations", where).deviations.items()
    )


def check_declared(
    declared: Sequence[DeclaredDeviation], recipe_keys: frozenset[str], *, where: str
) -> None:
    """Refuse a deviation of a key that the recipe does not have; RECIPE_KEYS are all that it could
    set.
    """
    for deviation in declared:
        for key in deviation.keys:
            if key not in recipe_keys:
                otherwise = "`embedlab recipes NAME` shows the keys of a recipe"
                raise UsageError(
                    f"{where}: 'deviations' names {key!r}, which is not a key of the recipe",
                    hint=nearest_hint(key, recipe_keys, otherwise),
                )


def merge_declared(declared: Sequence[DeclaredDeviation]) -> list[DeclaredDeviation]:
    """Return DECLARED with equal declarations of the same key in several stages merged."""
    merged: dict[object, DeclaredDeviation] = {}
    for deviation in declared:
        for key in deviation.keys:
            group_key = (without_stage(key), replace(deviation, keys=()))
            keys = merged[group_key].keys if group_key in merged else ()
            merged[group_key] = replace(deviation, keys=(*keys, key))
    return list(merged.values())


def without_stage(key: str) -> str:
    """Return "optim.lr" for "stage.0.optim.lr"."""
    return key.split(".", 2)[-1] if key.startswith("stage.") else key


def short_keys(keys: Sequence[str], stages: int) -> str:
    """Return the KEYS with the same name in several stages as one text; without stages if they
    cover all STAGES of a recipe.
    """
    name = without_stage(keys[0])
    numbers = [key.split(".")[1] for key in keys if key.startswith("stage.")]
    return name if len(numbers) in {0, stages} else f"stage.{'+'.join(numbers)}.{name}"


def full_keys(key: str, stages: int, where: str) -> tuple[str, ...]:
    """Return the full keys of KEY as `--set` reads it: "optim.lr" of a single stage,
    "stages.optim.lr" of each.
    """
    section, _, rest = key.partition(".")
    if section == "stages":
        return tuple(f"stage.{index}.{rest}" for index in range(stages))
    if section not in IN_STAGE:
        return (key,)
    if stages != 1:
        raise UsageError(
            f"{where}: the recipe has {count_text(stages, 'stages') if stages else 'no stages'}",
            hint=f"name one, stage.0.{key}, or all of them, stages.{key}",
        )
    return (f"stage.0.{key}",)


def joined_tables(tables: Sequence[TomlTable]) -> TomlTable:
    """Return the tables of successive recipes as one: the stages of all, numbered on, with what is
    declared of them, and all else from the last.
    """
    *_, last_table = tables
    joined: TomlTable = {**last_table, "stage": [], "deviations": {}}
    joined.pop("profiles", None)  # its keys would be of other stages
    for values in tables:
        offset = len(joined["stage"])
        declared = _moved_keys(values.get("deviations", {}), values, offset)
        joined["stage"] += values.get("stage", ())
        joined["deviations"] |= {
            key: value
            for key, value in declared.items()
            if key.startswith("stage.") or values is last_table
        }
        if values is last_table and "tasks" in values:
            joined["tasks"] = {
                task: _moved_keys(_of_all_stages(chosen), values, offset)
                for task, chosen in values["tasks"].items()
            }
    return joined


def _moved_keys(
    chosen: Mapping[str, Any], values: Mapping[str, Any], offset: int
) -> dict[str, Any]:
    """Return what is CHOSEN by the keys of a recipe's VALUES by its keys behind OFFSET other
    stages.
    """
    moved = {}
    for key, value in _by_full_keys(chosen, stage_count(values), "a joined recipe").items():
        section, _, place = key.partition(".")
        index, _, rest = place.partition(".")
        moved[f"stage.{offset + int(index)}.{rest}" if section == "stage" else key] = value
    return moved


def stage_count(values: Mapping[str, Any]) -> int:
    """Return the number of stages in the table of a recipe."""
    stages = values.get("stage")
    return len(stages) if isinstance(stages, list) else 0


TASK = "data.task"  # what `--set` calls the choice among a recipe's [tasks]
PROFILE = "profile"  # what `--set` calls the choice among a recipe's [profiles]
PAPER = "paper"  # the profile that every recipe has: its file as it is
# keys that choose the values of others, in the order in which they are applied
CHOICES = (PROFILE, TASK)
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
        items = value.items()
        pairs = (f"{json.dumps(str(name))} = {_toml_text(key, item)}" for name, item in items)
        return f"{{ {', '.join(pairs)} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml_text(key, item) for item in value)}]"
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
        choice = _parse_value(key, text)
        refuse_flaws(choice, where="--set", prefix=key)
        choose = _choose_task if key == TASK else _choose_profile
        choose(values, str(choice))
        return
    if key.endswith(".max_steps"):
        hint = Hint("it is of the whole training: ", RecipeValue("max_steps", "N"))
        raise UsageError(f"unknown key {quote(key)}", hint=hint)
    if (depth := len(key.split("."))) > DEEPEST:
        raise UsageError(f"{_short(key)}: a key of {depth} parts", hint=_EXAMPLE)
    for full_key in full_keys(key, stage_count(values), _short(key)):
        _put(values, full_key, _parse_value(key, text))


def _put(values: TomlTable, key: str, value: Any) -> None:
    """Put a VALUE into a recipe's table under a full KEY."""
    *path, leaf = key.split(".")
    target: Any = values
    for position, step in enumerate(path):
        if isinstance(target, list):
            if not re.fullmatch("[0-9]{1,9}", step) or int(step) >= len(target):
                is_number = step.removeprefix("-").isdecimal()
                raise UsageError(
                    f"{_short(key)}: there is no stage {quote(step)}",
                    hint=f"stages are 0 to {len(target) - 1}: name one, "
                    + _short(".".join(["stage.0", *path[position + is_number :], leaf])),
                )
            target = target[int(step)]
        elif isinstance(target, dict):
            target = target.setdefault(step, {})
        else:
            path = path[:position]
            break
    if not isinstance(target, dict):
        raise UsageError(f"{_short(key)}: {dotted(tuple(path))!r} is not a table", hint=CORRECT)
    if leaf == "objective" and isinstance(values.get("deviations"), dict):  # of another's options
        stages = stage_count(values)
        values["deviations"] = {
            declared: deviation
            for declared, deviation in values["deviations"].items()
            if not all(one.startswith(f"{key}.") for one in full_keys(declared, stages, key))
        }
    is_list = isinstance(value, str) and path[-1:] == ["data"] and leaf in LISTS
    target[leaf] = [value] if is_list else value


def _short(key: str) -> str:
    """Return KEY as a message shows it: what users type may be of any length and contain
    anything.
    """
    return quote(key)[1:-1]


def _choose_task(values: TomlTable, name: str) -> None:
    """Apply the recipe's table [tasks.NAME]; a key without a stage applies to all stages."""
    tasks = _choices(values, "tasks", f"--set {TASK}").tasks
    if not tasks:
        raise UsageError(
            f"{TASK}: the recipe has no [tasks] to choose from",
            hint=Hint("name the data: ", RecipeValue("data.datasets", "NAME")),
        )
    if name not in tasks:
        raise unknown_name_error("task", name, tasks)
    _set_all(values, tasks[name])


def _set_all(values: TomlTable, chosen_values: Mapping[str, Any]) -> None:
    """Apply CHOSEN_VALUES by key; a key without a stage applies to all stages."""
    for key, value in _of_all_stages(chosen_values).items():
        set_value(values, f"{key}={json.dumps(value, default=str)}")


def _of_all_stages(chosen_values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key if key.split(".")[0] in (*SECTIONS, "stages") else f"stages.{key}": value
        for key, value in chosen_values.items()
    }


@table
class Profile:
    """Other values for the keys of a recipe, for example those of its authors' code."""

    source: str  # where they can be read
    set: dict[str, Any] = field(default_factory=dict)
    # other values in the recipe's [tasks]
    tasks: dict[str, dict[str, Any]] = field(default_factory=dict)
    # keys of the recipe's [deviations] in which it is what this profile says
    agrees: tuple[str, ...] = ()
    # what is declared of this profile, in place of or beside the recipe's
    deviations: dict[str, dict[str, Any]] = field(default_factory=dict)


def profiles_of(values: TomlTable) -> tuple[str, ...]:
    """Return the profiles that a recipe's table can be read with."""
    profiles = values.get("profiles")
    return (PAPER, *(profiles if isinstance(profiles, dict) else ()))


def _choose_profile(values: TomlTable, name: str) -> None:
    """Apply the recipe's table [profiles.NAME]; a key without a stage applies to all stages.

    A deviation that the recipe declares of a key which the profile sets is the profile's to
    declare.
    """
    if name == PAPER:
        return
    if name not in profiles_of(values):
        raise unknown_name_error("profile of the recipe", name, profiles_of(values))
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
    stages = stage_count(values)
    where = f"'profiles.{name}'"
    profile_deviations = _by_full_keys(profile.deviations, stages, where)
    set_here = _of_all_stages(dict.fromkeys((*profile.set, *profile.agrees)))
    set_keys = _by_full_keys(set_here, stages, where)
    declared = _by_full_keys(values.get("deviations", {}), stages, "'deviations'")
    for key in profile.agrees:
        if not {*full_keys(key, stages, where)} <= declared.keys():
            raise UsageError(
                f"'profiles.{name}.agrees' names {key!r}, of which 'deviations' says nothing",
                hint="remove it",
            )
    inherited = {full_key: declared[full_key] for full_key in declared if full_key not in set_keys}
    values["deviations"] = inherited | profile_deviations
    _set_all(values, profile.set)


def _by_full_keys(value_by_key: Mapping[str, Any], stages: int, where: str) -> dict[str, Any]:
    return {
        full_key: value
        for key, value in value_by_key.items()
        for full_key in full_keys(key, stages, where)
    }


def _parse_value(key: str, text: str) -> Any:
    """Return TEXT as a TOML value or a table in JSON if it is one, otherwise as text, so that names
    need no quotes.
    """
    if re.fullmatch(r"[+-]?[0-9_]{400,}", text):
        raise UsageError(
            f"{_short(key)}: an integer of {len(text)} digits", hint="at most 64 bits fit"
        )
    # TOML wants digits around the dot and no bare exponent point; people type 1e-5, .5 and 2.
    normal = re.sub(r"^(-?)\.(\d)", r"\g<1>0.\2", text)
    try:
        return parse_value(normal)
    except tomllib.TOMLDecodeError:
        # as [tasks], profiles and grids hand a table over
        is_table = text.startswith("{") and text.endswith("}")
        with suppress(ValueError, RecursionError):
            return json.loads(text) if is_table else text
    return text
