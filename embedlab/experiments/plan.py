"""The plan of a grid: variants of its recipes, each with every seed, fixed at the start of the
work.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Self

from embedlab.core.disk import as_reading_errors, read_sealed, sealed_json, write_atomic
from embedlab.core.errors import UsageError
from embedlab.core.names import task_names
from embedlab.core.nearest import unknown_name_error
from embedlab.core.paths import INSIDE, data_name, recipes_folder
from embedlab.core.recipe import Seed, Threads
from embedlab.core.schema import build, read_json
from embedlab.core.settings import Settings
from embedlab.runs.store import GRIDS, RunFolder, find_moved_folder

SCHEMA = 2  # schema 1 had the absolute path of the runs folder, and broke when that was moved
_ANEW = "`embedlab grid run` writes it anew; no run is lost"


_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?(e[+-]?[0-9]+)?")  # as JSON writes it

LONGEST_NAME = 150  # of a grid; its runs add a label and a hash


# the settings that all cells of a grid share, beside the folder of its runs
SHARED = ("cache", "data", "offline", "allow_partial", "device", "precision", "deterministic")


def absolute_settings(settings: Settings) -> Settings:
    """Return SETTINGS with absolute folders, as the cells of a grid get them."""
    data = settings.data.absolute() if settings.data is not None else None
    return replace(
        settings, runs=settings.runs.absolute(), cache=settings.cache.absolute(), data=data
    )


def shared_values(settings: Settings) -> dict[str, Any]:
    """Return the SHARED settings by name; data inside embedlab is a name too."""
    values = {name: getattr(settings, name) for name in SHARED}
    if settings.data is not None:
        values["data"] = data_name(settings.data)
    return values


def _stored_settings(settings: Settings) -> dict[str, Any]:
    """Return the settings that a plan stores; folders are relative to the runs folder, which is
    where the plan is.
    """
    values = shared_values(settings)
    if not settings.deterministic:
        del values["deterministic"]
    for name in ("cache", "data"):
        folder = getattr(settings, name)
        if folder is not None and folder.is_relative_to(settings.runs):
            inner = str(folder.relative_to(settings.runs))
            values[name] = inner if inner not in INSIDE else folder
    return values


def _settings_in(runs: Path, stored: Mapping[str, Any], where: Path) -> Settings:
    """Return what `_stored_settings` gave, in this runs folder; errors name WHERE."""
    values = {name: stored[name] for name in SHARED if name in stored}
    for name in ("cache", "data"):
        if (folder := values.get(name)) is not None:
            values[name] = INSIDE.get(folder, runs / folder)
    return build(Settings, {**values, "runs": runs}, where=f"{where}: place")


@cache
def stored_evaluations(
    tasks: tuple[str, ...], location: str = "evaluate.tasks"
) -> Mapping[str, tuple[str, ...]]:
    """Return the names under which evaluations on TASKS are stored, each with the words that select
    it for `evaluate`; what is no task is a UsageError that names the LOCATION of the list.
    """
    if set(tasks) <= set(task_names()):  # the usual case, without the code of a task
        return {task: ("--suite", task) for task in tasks}
    from embedlab.scoring.selection import recipe_evaluations

    return {
        stored: tuple(
            word for name in selection.names or (selection.task,) for word in ("--task", name)
        )
        for stored, selection in recipe_evaluations(tasks, location).items()
    }


@dataclass(frozen=True, kw_only=True)
class Variant:
    """One point of the grid without its seed; its cells are the seeds of one run."""

    # the run's name, which ends in the identity: hash of resolved recipe, data, starting encoder
    # and threads
    run: str
    labels: Mapping[str, str]  # axis → label of its value; an axis that the recipe lacks is absent
    recipe: Mapping[str, Any]  # the resolved table
    rows: float  # rows that its stages read over all epochs; 0 = not known

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """Return the stored evaluations of a cell; see `stored_evaluations`."""
        return stored_evaluations(tuple(self.recipe["evaluate"]["tasks"]))


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One run of a grid."""

    number: int  # from 1, in the order of the grid file
    variant: Variant
    seed: int
    runs: Path  # the folder of all runs

    @cached_property
    def run(self) -> RunFolder:
        """Return its run folder."""
        return RunFolder.of(self.runs, self.variant.run, self.seed)

    @property
    def id(self) -> str:
        """Return what a user types for this cell's run."""
        return f"{self.variant.run}@{self.seed}"

    @property
    def tasks(self) -> Mapping[str, tuple[str, ...]]:
        """Return the stored evaluations of this cell; see `stored_evaluations`."""
        return self.variant.tasks

    @property
    def unscored(self) -> list[tuple[str, ...]]:
        """Return the tasks that it is not evaluated on yet, each by the words that select it."""
        folder = self.run.evaluations
        return [
            words for task, words in self.tasks.items() if not (folder / f"{task}.json").is_file()
        ]


@dataclass(frozen=True, kw_only=True)
class GridPlan:
    """All cells of a grid and what they share."""

    name: str
    summary: str
    axes: Mapping[str, tuple[str, ...]]  # axis → the labels of its values, in order
    variants: tuple[Variant, ...]
    seeds: tuple[Seed, ...]
    # of each cell, independent of parallel cells: sums in another order differ in their last digits
    threads: Threads
    place: Settings  # of `absolute_settings`

    def __len__(self) -> int:
        return len(self.variants) * len(self.seeds)

    @property
    def cells(self) -> Iterator[Cell]:
        """Yield every cell; all variants with the first seed come first, so that an early look
        shows the whole grid.
        """
        return map(self.cell, range(1, len(self) + 1))

    def cell(self, number: int) -> Cell:
        """Return the cell with this number, from 1."""
        if not 1 <= number <= len(self):
            raise UsageError(
                f"grid {self.name!r} has no cell {number}", hint=f"its cells are 1 to {len(self)}"
            )
        row, column = divmod(number - 1, len(self.variants))
        return Cell(
            number=number,
            variant=self.variants[column],
            seed=self.seeds[row],
            runs=self.place.runs,
        )

    def value(self, axis: str, label: str) -> int | float | str:
        """Return the value of AXIS that has LABEL: a number where all values of the axis are."""
        if not all(map(_NUMBER.fullmatch, self.axes[axis])):
            return label
        number: int | float = json.loads(label)
        return number

    @property
    def folder(self) -> "GridFolder":
        """The folder of the grid's own state."""
        return GridFolder.of(self.place.runs, self.name)

    def save(self) -> None:
        """Write the plan as JSON into the grid's folder."""
        write_atomic(self.folder.plan_file, self.to_json())

    def to_json(self) -> str:
        """Return the plan as text: equal plans give equal texts."""
        return sealed_json(
            {
                **vars(self),
                "schema": SCHEMA,
                "place": _stored_settings(self.place),
                "variants": [vars(variant) for variant in self.variants],
            }
        )

    @classmethod
    def from_json(cls, text: str, runs_folder: Path, *, where: Path) -> Self:
        """Return the plan that `to_json` wrote as TEXT, in this runs folder; errors name WHERE."""
        stored = read_json(_Stored, text, where=where, schema=SCHEMA, hint=_ANEW)
        values = {name: value for name, value in vars(stored).items() if name != "schema"}
        values["variants"] = tuple(_variant(variant, runs_folder) for variant in stored.variants)
        values["place"] = _settings_in(runs_folder, stored.place, where)
        return cls(**values)

    @classmethod
    def load(cls, path: Path) -> "GridPlan":
        """Load what `save` wrote into a grid's folder, which may have been moved; a damaged or
        newer file is refused by name.
        """
        with as_reading_errors(path, hint=_ANEW):
            content = read_sealed(path, hint=_ANEW).decode()
            return cls.from_json(content, path.absolute().parents[2], where=path)

    @classmethod
    def find(cls, runs: Path, name: str) -> "GridPlan":
        """Load the plan of a started grid; NAME may be the grid file's path."""
        folder = GridFolder.of(runs, Path(name).stem if name.endswith(".toml") else name)
        if not folder.plan_file.is_file():
            error = unknown_name_error(
                "started grid",
                name,
                sorted(path.parent.name for path in (runs / GRIDS).glob("*/plan.json")),
            )
            shipped = recipes_folder() / "grids" / f"{name}.toml"
            is_there = shipped.is_file() or (name.endswith(".toml") and Path(name).is_file())
            start = f"`embedlab grid run {name}` starts it"
            raise UsageError(
                f"no grid {name!r} has been started in {str(runs)!r}",
                hint=error.hint or (start if is_there else "`embedlab grid status` lists all"),
            )
        return cls.load(folder.plan_file)


@dataclass(frozen=True, kw_only=True)
class _Stored(GridPlan):
    """The content of a plan's file."""

    schema: int
    place: dict[str, Any]  # type: ignore[assignment]


def _variant(stored: Variant, runs_folder: Path) -> Variant:
    """Return a stored variant; an encoder that is a run of the runs folder has been moved along
    with it.
    """
    encoder = stored.recipe["encoder"]
    if not all(isinstance(task, str) for task in stored.recipe["evaluate"]["tasks"]):
        raise TypeError("a task is not a name")
    moved_encoder = {**encoder, "model": find_moved_folder(encoder["model"], runs_folder)}
    return replace(stored, recipe={**stored.recipe, "encoder": moved_encoder})


@dataclass(frozen=True)
class GridFolder:
    """The folder of a grid's own state: `<runs>/grids/<name>`; the results are the runs next
    to it.
    """

    path: Path

    @classmethod
    def of(cls, runs: Path, name: str) -> "GridFolder":
        """Return the folder of a grid of this name, whether it exists or not; one that is too long
        is a UsageError.
        """
        if len(name) > LONGEST_NAME:
            raise UsageError(
                f"a grid's name of {len(name)} characters is too long",
                hint=f"take at most {LONGEST_NAME}: its runs add to it",
            )
        return cls(runs / GRIDS / name)

    @property
    def plan_file(self) -> Path:
        """Return the file of the plan."""
        return self.path / "plan.json"

    @property
    def log_file(self) -> Path:
        """Return the file of the workers' own output."""
        return self.path / "log.txt"

    @property
    def alive_file(self) -> Path:
        """Return the file whose lock all living workers share."""
        return self.path / "alive"

    @property
    def cells(self) -> Path:
        """Return the folder with the recipe file of each variant, and the attempts of each
        cell.
        """
        return self.path / "cells"
