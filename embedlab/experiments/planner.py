"""From a grid file to the plan: every combination is checked against its recipe, named, and tied to its data."""

import hashlib
import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from embedlab.core.errors import UsageError
from embedlab.core.nearest import nearest_name
from embedlab.core.overrides import CHOICES, PROFILE, TASK, set_values
from embedlab.core.paths import data_folder
from embedlab.core.plugins import identity
from embedlab.core.recipe import (
    decisive,
    from_table,
    keys_of,
    recipe_table,
    recipe_to_table,
    sub_table,
)
from embedlab.core.schema import TomlTable
from embedlab.data.aliases import datasets_of
from embedlab.data.source import Source
from embedlab.experiments.data_state import file_state, part_state
from embedlab.experiments.grid_file import RECIPE_AXIS, AxisValue, Grid
from embedlab.experiments.plan import GridPlace, GridPlan, Variant
from embedlab.models.catalog import starting_location
from embedlab.models.fingerprint import earlier_used_fingerprint, missed_files, used_fingerprint
from embedlab.models.folder import Wishes, read_usage
from embedlab.objectives.needs import check_columns

LABEL_LENGTH = 60
MAX_STEPS_KEY = "max_steps"  # the only recipe key outside tables
MOST_CELLS = 100_000  # before skips; a mistake in an axis would be counted for ever

Assignments = tuple[tuple[str, str], ...]  # (key, JSON value), as for `--set`


def expand_grid(grid: Grid, place: GridPlace, *, seeds: Sequence[int] | None = None) -> GridPlan:
    """Return the plan of GRID in the folders of PLACE; SEEDS replaces the file's.

    A base recipe without the key of an axis has one cell along that axis, as a baseline does; an axis whose key no
    base has, a value that a recipe refuses, and skips that leave no cell are UsageErrors.
    """
    bases = [_Base(grid, name, place) for name in grid.bases]
    for axis, choices in grid.axes.items():
        _refuse_unknown_axis(grid, axis, choices, bases)
    _refuse_too_many(grid, len(grid.seeds if seeds is None else seeds))
    variants = [variant for base in bases for variant in base.variants()]
    if not variants:
        raise UsageError(f"{grid.where}: its skips leave no cell", hint="remove one of them")
    taken = {axis: {variant.labels.get(axis) for variant in variants} for axis in grid.axes}
    return GridPlan(
        name=grid.name,
        summary=grid.summary,
        axes={axis: tuple(choice.label for choice in choices if choice.label in taken[axis]) for axis, choices in grid.axes.items()},
        variants=tuple(variants),
        seeds=tuple(seeds) if seeds is not None else grid.seeds,
        threads=grid.threads,
        place=place,
    )


@dataclass(frozen=True)
class _Section:
    """A checked section of a recipe under some choices, with the facts about it for a cell's identity."""

    table: Any  # a Table, or a recipe's value outside tables; None if absent
    text: str


class _Base:
    """One base recipe of a grid and all its variants.

    Combinations share sections: each is checked once for each choice of the axes that affect it, which limits a plan of
    ten thousand cells to a second or two.
    """

    def __init__(self, grid: Grid, name: str, place: GridPlace) -> None:
        self.grid, self.name, self.place = grid, name, place
        self.table = recipe_table(name)
        if grid.tasks is not None:
            sub_table(self.table, "evaluate", f"{grid.where}: recipe {name}")["tasks"] = list(grid.tasks)
        self.recipe = from_table(self._table(()), name=name, where=f"{grid.where}: recipe {name}")
        choices = {PROFILE: "profiles", TASK: "tasks"}
        self.keys = keys_of(self.recipe) | {key for key in CHOICES if choices[key] in self.table}
        self._section = cache(self._check_section)

    def variants(self) -> Iterator[Variant]:
        """Yield the variants in the order of the axes, without skipped ones."""
        recipe_label = {RECIPE_AXIS: self.name} if RECIPE_AXIS in self.grid.axes else {}
        axes = {axis: choices for axis, choices in self.grid.axes.items() if axis != RECIPE_AXIS and self._takes(choices)}
        for combination in itertools.product(*axes.values()):
            labels = {**recipe_label, **{axis: choice.label for axis, choice in zip(axes, combination, strict=True)}}
            if not any(all(labels.get(axis) in fitting for axis, fitting in rule.items()) for rule in self.grid.skip):
                yield self._variant(labels, combination)

    def _table(self, assignments: Assignments) -> TomlTable:
        """Return the recipe's table with the grid's fixed values and ASSIGNMENTS."""
        table = deepcopy(self.table)
        set_values(table, [*self.grid.fixed, *(f"{key}={value}" for key, value in assignments)])
        return table

    def _takes(self, choices: Iterable[AxisValue]) -> bool:
        return all(key in self.keys for choice in choices for key in choice.values)

    def _variant(self, labels: Mapping[str, str], combination: Sequence[AxisValue]) -> Variant:
        assigned: dict[str, list[tuple[str, str]]] = {name: [] for name in self._section_names()}
        for choice in combination:
            for key, value in choice.values.items():
                for name in assigned if key in CHOICES else [section_of(key)]:  # they may set any key
                    assigned[name].append((key, json.dumps(value)))
        sections = {name: self._section(name, tuple(assignments)) for name, assignments in assigned.items()}
        stages = [
            {section: sections[f"stage.{index}.{section}"].table for section in ("data", "objective", "optim")}
            for index in range(len(self.recipe.stages))
        ]
        state = [section.text for section in sections.values() if section.table is not None]
        # Threads and precision are chosen and change every number. The device belongs to the machine that
        # happens to run a cell: it draws other dropout of the same rate, but a finished cell is not trained again for that.
        identity = hashlib.sha256("\n".join([*state, str(self.grid.threads), self.place.precision]).encode()).hexdigest()[:8]
        return Variant(
            run=run_name(self.grid.name, labels, identity),
            labels=labels,
            recipe={
                "summary": self.recipe.summary,
                **({"max_steps": sections[MAX_STEPS_KEY].table} if sections[MAX_STEPS_KEY].table is not None else {}),
                "encoder": sections["encoder"].table,
                "stage": stages,
                **({"mix": sections["mix"].table} if "mix" in sections else {}),
                "evaluate": sections["evaluate"].table,
            },
            rows=sum(stage_rows(stage, self.place) for stage in stages),
        )

    def _section_names(self) -> list[str]:
        parts = [f"stage.{index}.{section}" for index in range(len(self.recipe.stages)) for section in ("data", "objective", "optim")]
        return ["encoder", *parts, *(["mix"] if self.recipe.mix is not None else []), "evaluate", MAX_STEPS_KEY]

    def _check_section(self, name: str, assignments: Assignments) -> _Section:
        said = ", ".join(f"{key} = {value}" for key, value in assignments)
        recipe = from_table(
            self._table(assignments), name=self.name, where=f"{self.grid.where}: recipe {self.name}{' with ' if said else ''}{said}"
        )
        check_columns(recipe)
        resolved: Any = {MAX_STEPS_KEY: None, **recipe_to_table(recipe)}
        for step in name.split("."):
            resolved = resolved[int(step)] if step.isdigit() else resolved[step]
        if name == "encoder":
            resolved["model"] = starting_location(resolved["model"], self.place.runs_folder)
        return _Section(table=resolved, text=json.dumps([*self._decisive(name, resolved), *_plugin_code(name, resolved)], sort_keys=True))

    def _decisive(self, name: str, section: Any) -> list[Any]:
        """Return what changes a training in a section: its values, and the states of the data and the encoder that it names.

        Tasks and the log do not: with other tasks, only the evaluation is repeated. A folder counts by its content, not its path.
        """
        source = source_of(self.place)
        if name == "encoder" and (folder := Path(section["model"])).is_dir():
            usage = replace(read_usage(folder, Wishes(pooling=section["pooling"])), pooling="", max_tokens=0)
            # Cells are called by what decides a training: what the earlier rule covers is called as it always was.
            is_covered = not missed_files(usage)
            weights = (earlier_used_fingerprint if is_covered else used_fingerprint)(usage, precision="")
            return [{**section, "model": weights}]
        if name == "evaluate":
            dev_datasets = datasets_of(section["dev"]) if section["dev"] != "none" else ()
            dev = [part_state(source, dataset, "dev").digest for dataset in dev_datasets]
            return [decisive(section), *dev]
        if name.endswith(".data"):
            parts = [part_state(source, dataset, section["split"]) for dataset in section["datasets"]]
            return [section, *(state.digest for state in (*parts, *map(file_state, section.get("files", ()))))]
        return [section]


def _plugin_code(name: str, section: Any) -> list[str]:
    """Return the identity of the plug-in's code that a section names; nothing for what embedlab ships."""
    code = ""
    if name == "encoder":
        code = identity("poolings", section["pooling"])
    elif name.endswith(".objective"):
        code = identity("objectives", section["name"])
    return [code] if code else []


def section_of(key: str) -> str:
    """Return the section of a recipe that KEY is in: "optim.lr" and "stage.0.optim.lr" are in "stage.0.optim"."""
    steps = key.split(".")
    if steps[0] == "stage":
        return ".".join(steps[:3])
    return f"stage.0.{steps[0]}" if steps[0] in {"data", "objective", "optim"} else steps[0]


def run_name(grid: str, labels: Mapping[str, str], identity: str) -> str:
    """Return the name of a variant's run: the grid, labels for a reader, and the identity that makes it unique."""
    said = "_".join(f"{axis.rpartition('.')[2]}-{label}" if axis != RECIPE_AXIS else label for axis, label in labels.items())
    readable = re.sub(r"[^A-Za-z0-9._+-]+", "-", said)[:LABEL_LENGTH].strip("-._")
    return ".".join(text for text in (grid, readable, identity) if text)


def source_of(place: GridPlace) -> Source:
    """Return the source of the data for the cells of a grid."""
    return Source(
        folder=data_folder(Path(place.data)) if place.data is not None else None,
        sample=place.sample,
        offline=place.offline,
        allow_partial=place.allow_partial,
    )


def stage_rows(stage: TomlTable, place: GridPlace) -> float:
    """Return about how many rows a stage reads, over all epochs."""
    data = stage["data"]
    files = data.get("files", ())
    counts = [part_state(source_of(place), name, data["split"]).rows for name in data["datasets"]]
    counts += [file_state(file).rows for file in files]
    names = [Path(file).name for file in files]
    limit, shares = data.get("rows"), data.get("shares", {})
    read = [
        (min(rows, limit) if limit else rows) * shares.get(name, 1) for name, rows in zip([*data["datasets"], *names], counts, strict=True)
    ]
    return float(sum(read) * stage["optim"]["epochs"])


def _refuse_too_many(grid: Grid, seeds: int) -> None:
    cells = math.prod(len(choices) for choices in grid.axes.values()) * seeds
    if cells > MOST_CELLS:
        raise UsageError(f"{grid.where}: {cells} cells, more than {MOST_CELLS}", hint="shorten an axis, or divide the grid among files")


def _refuse_unknown_axis(grid: Grid, axis: str, choices: Sequence[AxisValue], bases: "Sequence[_Base]") -> None:
    for key in sorted({key for choice in choices for key in choice.values}):
        if not any(key in base.keys for base in bases):
            known = sorted(frozenset().union(*(base.keys for base in bases)))
            guess = nearest_name(key, known)
            listed = [name for name in known if name.rpartition(".")[0] == key.rpartition(".")[0]] or known
            raise UsageError(
                f"{grid.where}: axis {axis!r} sets {key!r}, which is not a key of {' or '.join(base.name for base in bases)}",
                hint=f"did you mean {guess!r}?" if guess else f"keys: {', '.join(listed[:12])}{' …' if len(listed) > 12 else ''}",
            )
