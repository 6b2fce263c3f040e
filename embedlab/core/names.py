"""Recipes, tasks and objectives by their names, found by listing, and options behind a name.

`NAME@key=value@key=value` is one grammar for models and for datasets of the hub.
`NAME?key=value&key=value` is the same, and must be quoted in a shell.
"""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from embedlab.core import plugins
from embedlab.core.errors import MissingError, UsageError
from embedlab.core.foreign_files import hint_of_content
from embedlab.core.nearest import unknown_name_error
from embedlab.core.paths import recipes_folder
from embedlab.core.version import __version__

DEFAULT_TASK = "sts"  # where none is named


def recipe_names() -> list[str]:
    """Return the names of the shipped recipes, in alphabetical order."""
    return sorted(path.stem for path in recipes_folder().glob("*.toml"))


_LONGEST = 250  # bytes of a file's name, with .toml behind it


def recipe_path(name: str) -> Path:
    """Return the file of a recipe given by name, or by the path of the user's own TOML file."""
    if any(len(part.encode(errors="replace")) > _LONGEST for part in name.split("/")):
        raise UsageError(
            f"a recipe's name of {len(name)} characters is too long",
            hint="`embedlab recipes` lists all",
        )
    is_file = name.endswith(".toml")
    path = Path(name) if is_file else recipes_folder() / f"{name}.toml"
    if path.is_file() and (is_file or "/" not in name):
        return path
    refuse_path("recipe", name)
    if is_file:
        raise UsageError(
            f"no recipe file {name!r}",
            hint="give a path to a TOML file or a name from `embedlab recipes`",
        )
    raise unknown_name_error("recipe", name, recipe_names(), listing="`embedlab recipes` lists all")


def refuse_path(kind: str, name: str) -> None:
    """Refuse a NAME that does not name a KIND where it is a folder, or a file of another type."""
    hint = f"give the name of a {kind}, or the path of its .toml file"
    if kind == "recipe":
        hint += "; rows to train on are in a .csv, .tsv, .jsonl, .parquet or .txt file"
    if name and Path(name).is_dir():
        raise UsageError(f"{name!r} is a folder, not a {kind}", hint=hint)
    if Path(name).is_file():
        hint = hint_of_content(Path(name), hint)
        raise UsageError(f"{name!r} is not a .toml file", hint=hint)


def task_names() -> list[str]:
    """Return the names of the evaluation tasks, those of plug-ins last."""
    return plugins.names("tasks")


def code_version(task: str) -> str:
    """Return the version of the code that makes the numbers of a TASK: embedlab's, and for a
    plug-in also that of its code.
    """
    code = plugins.identity("tasks", task)
    if not code:
        return __version__
    return f"{__version__}+{hashlib.sha256(code.encode()).hexdigest()[:12]}"


def objective_names() -> list[str]:
    """Return the names of the objectives, those of plug-ins last."""
    return plugins.names("objectives")


def objective_options(name: str) -> Any:
    """Return the module with an objective's Options, the columns it needs and its SUMMARY; a
    shipped one imports no loss.

    It is loaded by name, so that recipes can be checked without this layer importing any objective.
    """
    plugin = plugins.require("objectives", name)
    module = plugin.load()
    for attribute in ("SUMMARY", "Options", "needs"):
        if not hasattr(module, attribute):
            raise MissingError(
                f"{plugin.title} has no {attribute!r}", hint="docs/plugins.md shows a whole one"
            )
    return module


def can_load_objective(name: str, *, is_stored: bool = False) -> bool:
    """Whether this process may load the objective NAME: the dashboard loads no plug-in.

    An unknown name is a UsageError, or False if it IS_STORED: the plug-in of an earlier run may be
    gone or fail.
    """
    plugin = plugins.find("objectives", name)
    if not is_stored:
        return plugins.can_load(plugin or plugins.require("objectives", name))
    try:
        return (
            plugin is not None and plugins.can_load(plugin) and objective_options(name) is not None
        )
    except MissingError:
        return False


def pooling_names() -> list[str]:
    """Return the names of the poolings, those of plug-ins last."""
    return plugins.names("poolings")


def check_pooling(name: str) -> str:
    """Return the NAME of a pooling; an unknown name is a UsageError with the nearest one. A plug-in
    that cannot be used raises its fault.
    """
    plugin = plugins.require("poolings", name)
    if plugin.fault is not None:
        raise plugin.fault
    return name


def outside_quotes(text: str, separator: str) -> list[str]:
    """Split TEXT at each SEPARATOR that is not between double quotes."""
    parts = []
    start = 0
    is_quoted = False
    for index, character in enumerate(text):
        is_quoted ^= character == '"'
        if character == separator and not is_quoted:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def with_question_marks(text: str, keys: Sequence[str], switches: Sequence[str]) -> str:
    """Return TEXT with a "?" in the place of each "@" before an option; any other "@" stays."""
    pattern = re.compile(rf"(?:{'|'.join(keys)})=|(?:{'|'.join(switches) or '$^'})(?=[@?&]|$)")
    base, *options = outside_quotes(text, "@")
    marked = [("?" if pattern.match(option) else "@") + option for option in options]
    return base + "".join(marked)


def split_name(text: str, keys: Sequence[str], switches: Sequence[str] = ()) -> list[str]:
    """Return a name and the options behind it, which follow "?", or "@" and a known key."""
    return outside_quotes(with_question_marks(text, keys, switches), "?")


def option_values(
    text: str,
    parts: Sequence[str],
    keys: Sequence[str],
    switches: Sequence[str] = (),
    *,
    several: Sequence[str] = (),
) -> dict[str, str]:
    """Return the values in PARTS, the texts between each "?" of a name, by key; a switch has no
    value, and an option of SEVERAL a line for each time that it is given. An error quotes the whole
    TEXT.
    """
    values: dict[str, str] = {}
    for option in (option for part in parts for option in outside_quotes(part, "&")):
        key, _, value = option.partition("=")
        if option not in switches and (key not in keys or not value):
            allowed = [*(f"@{key}=" for key in keys), *(f"@{name}" for name in switches)]
            name = text[: -len("?".join(parts)) - 1]
            raise UsageError(
                f"{text!r}: no option {option!r}{' without a value' * (key in keys)}",
                hint=f"write {name}; options: {', '.join(allowed)}",
            )
        value = value.removeprefix('"').removesuffix('"')
        if key in several and key in values:
            value = f"{values.pop(key)}\n{value}"
        if key in values:
            raise UsageError(f"{text!r}: {key} is given twice", hint="keep one of them")
        values[key] = value
    return values
