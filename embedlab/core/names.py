"""What the package and the user's folders contain, found by listing and not by importing, and the nearest name to a wrong one."""

import difflib
import importlib
import pkgutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from types import ModuleType

from embedlab.core.errors import UsageError
from embedlab.core.paths import PACKAGE, recipes_folder

_LISTED = 12  # names in a hint


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like NAME, first of all the shortest that begins with it; None when none is close."""
    known = list(known)
    typed = name.lower()
    exact_ignoring_case = [candidate for candidate in known if candidate.lower() == typed]
    longer = sorted((candidate for candidate in known if len(typed) > 1 and candidate.lower().startswith(typed)), key=len)
    return next(iter(exact_ignoring_case or longer or difflib.get_close_matches(name, known, n=1, cutoff=0.6)), None)


def unknown(kind: str, name: str, known: Iterable[str], *, listing: str = "") -> UsageError:
    """The error for a NAME that is no KIND ("recipe", "task" …); LISTING says where all of them can be seen."""
    known = sorted(known)
    guess = nearest(name, known)
    if guess:
        return UsageError(f"no {kind} named {name!r}", hint=f"did you mean {guess!r}? {listing}".strip())
    some = f"known: {', '.join(known[:_LISTED])}{', …' if len(known) > _LISTED else ''}" if known else ""
    return UsageError(f"no {kind} named {name!r}", hint="; ".join(filter(None, (some, listing))))


def recipe_names() -> list[str]:
    """Names of the shipped recipes, in alphabetical order."""
    return sorted(path.stem for path in recipes_folder().glob("*.toml"))


def recipe_path(name: str) -> Path:
    """The file of a recipe given by name, or by the path of the user's own TOML file."""
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            refuse_path("recipe", name)
            raise UsageError(f"no recipe file {name!r}", hint="give a path to a TOML file or a name from `embedlab recipes`")
        return path
    path = recipes_folder() / f"{name}.toml"
    if "/" in name or not path.is_file():
        refuse_path("recipe", name)
        raise unknown("recipe", name, recipe_names(), listing="`embedlab recipes` lists all")
    return path


def refuse_path(kind: str, name: str) -> None:
    """Say of a NAME that is no KIND that it is a folder, or a file of another type, where it is."""
    hint = f"give the name of a {kind}, or the path of its .toml file"
    if name and Path(name).is_dir():
        raise UsageError(f"{name!r} is a folder, not a {kind}", hint=hint)
    if Path(name).is_file():
        raise UsageError(f"{name!r} is not a .toml file", hint=hint)


def members(package: str) -> list[str]:
    """Names of the public modules and folders in a sub-package such as "tasks", without importing any."""
    return sorted(module.name for module in pkgutil.iter_modules([str(PACKAGE / package)]) if not module.name.startswith("_"))


@cache
def task_names() -> list[str]:
    """Names of the evaluation tasks: the files of embedlab/tasks but that of their contract."""
    return [name for name in members("tasks") if name != "task"]


def has_own_units(task: str) -> bool:
    """Whether the numbers of the task of that name are not shares of 100, nor the better the higher."""
    return _task_says(task, "has_own_units")


def scores_pairs(task: str) -> bool:
    """Whether the task of that name correlates similarities of pairs."""
    return _task_says(task, "scores_pairs")


def _task_says(task: str, fact: str) -> bool:
    """A FACT of a task, which is loaded by its name: stored results are shown without this layer knowing any task."""
    return task in task_names() and bool(getattr(importlib.import_module(f"embedlab.tasks.{task}").TASK, fact))


def objective_names() -> list[str]:
    """Names of the objectives: the folders of embedlab/objectives."""
    return sorted(path.parent.name for path in (PACKAGE / "objectives").glob("*/options.py"))


@cache
def objective_options(name: str) -> ModuleType:
    """The light half of an objective: its Options, the columns it NEEDS and its SUMMARY.

    Loaded by name, so that recipes can be checked against objectives without this floor knowing any of them.
    """
    if name not in objective_names():
        raise unknown("objective", name, objective_names())
    return importlib.import_module(f"embedlab.objectives.{name}.options")
