"""The one planner: trainings of a grid or of a paper's table become cells, checked against their
recipes, named, and tied to the state of their data.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from embedlab.core.errors import MissingError
from embedlab.core.overrides import CHOICES, PROFILE, TASK, set_values
from embedlab.core.own_files import absolute
from embedlab.core.paths import TINY_FOLDER, data_folder, file_hash
from embedlab.core.plugins import identity
from embedlab.core.recipe import (
    decisive,
    from_table,
    identifying,
    keys_of,
    recipe_table,
    recipe_to_table,
)
from embedlab.core.schema import TomlTable
from embedlab.data.aliases import datasets_of
from embedlab.data.dataset import FileLayout
from embedlab.data.file_name import file_path, is_hub_name, is_pair_file, is_row_file
from embedlab.data.source import Source, dataset
from embedlab.experiments.grid_file import RECIPE_AXIS
from embedlab.experiments.plan import GridPlace, GridPlan, Variant, stored_evaluations
from embedlab.models.catalog import finished_seeds, starting_location
from embedlab.models.folder import read_usage
from embedlab.models.folder_identity import missed_files, used_fingerprint, weights_fingerprint
from embedlab.models.reading import Wishes
from embedlab.objectives.needs import check_columns

LABEL_LENGTH = 60
MAX_STEPS_KEY = "max_steps"  # the only recipe key outside tables

Assignments = tuple[tuple[str, str], ...]  # (key, JSON value), as for `--set`


@dataclass(frozen=True, kw_only=True)
class Training:
    """A recipe and what is set in it: a combination of a grid's axes, or a row of a paper's
    table.
    """

    recipe: str
    labels: Mapping[str, str]  # axis → label
    fixed: tuple[str, ...] = ()  # KEY=VALUE, checked together
    chosen: tuple[
        Mapping[str, Any], ...
    ] = ()  # what each axis sets: checked in its own section of the recipe alone


class Planner:
    """Makes the cells of one experiment, whose trainings share the evaluation, the threads and the
    place.
    """

    def __init__(
        self, name: str, *, where: str, tasks: Sequence[str] | None, threads: int, place: GridPlace
    ) -> None:
        self.name = name  # which the names of new runs begin with
        self.where = where  # names the file in errors
        self.tasks, self.threads, self.place = tasks, threads, place
        self._base = cache(lambda recipe, fixed: _Base(self, recipe, fixed))

    def keys(self, recipe: str, fixed: tuple[str, ...]) -> frozenset[str]:
        """Return the keys that an axis can set in a RECIPE with its FIXED values."""
        return self._base(recipe, fixed).keys

    def variant(self, training: Training) -> Variant:
        """Return a training, checked and named; one that its recipe refuses is a UsageError."""
        return self._base(training.recipe, training.fixed).variant(training)

    def plan(
        self,
        variants: Sequence[Variant],
        *,
        name: str,
        summary: str,
        axes: Mapping[str, Sequence[str]],
        seeds: Sequence[int],
    ) -> GridPlan:
        """Return the plan of VARIANTS with each of SEEDS; a value of an axis that no variant has is
        left out.
        """
        taken = {axis: {variant.labels.get(axis) for variant in variants} for axis in axes}
        return GridPlan(
            name=name,
            summary=summary,
            axes={
                axis: tuple(label for label in labels if label in taken[axis])
                for axis, labels in axes.items()
            },
            variants=tuple(variants),
            seeds=tuple(seeds),
            threads=self.threads,
            place=self.place,
        )


def with_existing_runs(variants: Sequence[Variant], runs: Path) -> list[Variant]:
    """Return VARIANTS under the names that other grids and tables gave to the same trainings in
    RUNS: they are not repeated.

    A finished run is taken first, then the variant's own, then one that was begun. Variants that
    are one training go on as they are.
    """
    counts = Counter(run_identity(variant.run) for variant in variants)
    begun: dict[str, list[str]] = {}
    for name in sorted({path.parent.name for path in runs.glob("*.*/seed-*")}):
        if counts[run_identity(name)] == 1:
            begun.setdefault(run_identity(name), []).append(name)

    def existing(variant: Variant) -> str:
        names = begun.get(run_identity(variant.run), [])
        return max(
            names,
            key=lambda name: (bool(finished_seeds(runs, name)), name == variant.run),
            default=variant.run,
        )

    return [replace(variant, run=existing(variant)) for variant in variants]


@dataclass(frozen=True)
class _Section:
    """A checked section of a recipe under some choices, with the facts about it for a cell's
    identity.
    """

    table: Any  # a Table, or a recipe's value outside tables; None if absent
    text: str


class _Base:
    """One recipe with its fixed values, and all the variants that axes make of it.

    Combinations share sections: each is checked once for each choice of the axes that affect it,
    which limits a plan of ten thousand cells to a second or two.
    """

    def __init__(self, planner: Planner, recipe: str, fixed: Sequence[str]) -> None:
        self.planner, self.name, self.fixed, self.place = planner, recipe, fixed, planner.place
        self.where = f"{planner.where}: recipe {recipe}"
        self.table = recipe_table(recipe)
        if planner.tasks is not None:
            section = self.table.setdefault("evaluate", {})
            if isinstance(section, dict):  # anything else is refused below
                section["tasks"] = list(planner.tasks)
        self.recipe = from_table(self._table(()), name=recipe, where=self.where)
        choices = {PROFILE: "profiles", TASK: "tasks"}
        self.keys = keys_of(self.recipe) | {key for key in CHOICES if choices[key] in self.table}
        self._section = cache(self._check_section)

    def _table(self, assignments: Assignments) -> TomlTable:
        """Return the recipe's table with the fixed values and ASSIGNMENTS."""
        table = deepcopy(self.table)
        set_values(table, [*self.fixed, *(f"{key}={value}" for key, value in assignments)])
        return table

    def variant(self, training: Training) -> Variant:
        """Return a training of this recipe."""
        assigned: dict[str, list[tuple[str, str]]] = {name: [] for name in self._section_names()}
        for values in training.chosen:
            for key, value in values.items():
                for name in (
                    assigned if key in CHOICES else [section_of(key)]
                ):  # they may set any key
                    assigned[name].append((key, json.dumps(value)))
        sections = {
            name: self._section(name, tuple(assignments)) for name, assignments in assigned.items()
        }
        stages = [
            {
                section: sections[f"stage.{index}.{section}"].table
                for section in ("data", "objective", "optim")
            }
            for index in range(len(self.recipe.stages))
        ]
        state = [section.text for section in sections.values() if section.table is not None]
        # Threads and precision are chosen and change every number. The device belongs to the
        # machine that happens to run a cell: it draws other dropout of the same rate, but a
        # finished cell is not trained again for that.
        identity = hashlib.sha256(
            "\n".join([*state, str(self.planner.threads), self.place.precision]).encode()
        ).hexdigest()[:8]
        return Variant(
            run=run_name(self.planner.name, training.labels, identity),
            labels=training.labels,
            recipe={
                "summary": self.recipe.summary,
                **(
                    {"max_steps": sections[MAX_STEPS_KEY].table}
                    if sections[MAX_STEPS_KEY].table is not None
                    else {}
                ),
                "encoder": sections["encoder"].table,
                "stage": stages,
                **({"mix": sections["mix"].table} if "mix" in sections else {}),
                "evaluate": sections["evaluate"].table,
            },
            rows=sum(stage_rows(stage, self.place) for stage in stages),
        )

    def _section_names(self) -> list[str]:
        parts = [
            f"stage.{index}.{section}"
            for index in range(len(self.recipe.stages))
            for section in ("data", "objective", "optim")
        ]
        return [
            "encoder",
            *parts,
            *(["mix"] if self.recipe.mix is not None else []),
            "evaluate",
            MAX_STEPS_KEY,
        ]

    def _check_section(self, name: str, assignments: Assignments) -> _Section:
        said = ", ".join(f"{key} = {value}" for key, value in assignments)
        recipe = from_table(
            self._table(assignments),
            name=self.name,
            where=f"{self.where}{' with ' if said else ''}{said}",
        )
        check_columns(recipe)
        resolved: Any = {MAX_STEPS_KEY: None, **recipe_to_table(recipe)}
        for step in name.split("."):
            resolved = resolved[int(step)] if step.isdigit() else resolved[step]
        if name == "evaluate":
            stored_evaluations(tuple(resolved["tasks"]), f"{self.where}: evaluate.tasks")
            resolved["tasks"] = [
                absolute([task])[0] if is_row_file(task) else task for task in resolved["tasks"]
            ]
        if name == "encoder":
            resolved["model"] = starting_location(resolved["model"], self.place.runs_folder)
        return _Section(
            table=resolved,
            text=json.dumps(
                [*self._decisive(name, resolved), *_plugin_code(name, resolved)], sort_keys=True
            ),
        )

    def _decisive(self, name: str, section: Any) -> list[Any]:
        """Return what changes a training in a section: its values, and the states of the data and
        the encoder that it names.

        Tasks and the log do not: with other tasks, only the evaluation is repeated. A folder counts
        by its content, not its path.
        """
        source = source_of(self.place)
        if name == "encoder" and (folder := Path(section["model"])).is_dir():
            usage = read_usage(folder, Wishes(pooling=section["pooling"]))
            reading = replace(usage.reading, max_tokens=0)
            usage = replace(usage, pooling="", reading=reading)
            # Cells are called by what decides a training, and by further files where there are any.
            is_covered = not missed_files(usage)
            weights = (weights_fingerprint if is_covered else used_fingerprint)(usage, precision="")
            return [{**section, "model": weights}]
        if name == "evaluate":
            dev_datasets = datasets_of(section["dev"]) if section["dev"] != "none" else ()
            dev = [part_state(source, dataset, "dev").digest for dataset in dev_datasets]
            return [decisive(section), *dev]
        if name.endswith(".objective"):
            return [identifying(section)]
        if name.endswith(".data"):
            parts = [
                part_state(source, dataset, section["split"]) for dataset in section["datasets"]
            ]
            return [
                section,
                *(state.digest for state in (*parts, *map(file_state, section.get("files", ())))),
            ]
        return [section]


def _plugin_code(name: str, section: Any) -> list[str]:
    """Return the identity of the plug-in's code that a section names; nothing for what embedlab
    ships.
    """
    code = ""
    if name == "encoder":
        code = identity("poolings", section["pooling"])
    elif name.endswith(".objective"):
        code = identity("objectives", section["name"])
    return [code] if code else []


def section_of(key: str) -> str:
    """Return the section of a recipe that KEY is in: "optim.lr" and "stage.0.optim.lr" are in
    "stage.0.optim".
    """
    steps = key.split(".")
    if steps[0] == "stage":
        return ".".join(steps[:3])
    return f"stage.0.{steps[0]}" if steps[0] in {"data", "objective", "optim"} else steps[0]


def run_name(experiment: str, labels: Mapping[str, str], identity: str) -> str:
    """Return the name of a variant's run: the experiment, labels for a reader, and the identity
    that makes it unique.
    """
    said = "_".join(
        f"{axis.rpartition('.')[2]}-{label}" if axis != RECIPE_AXIS else label
        for axis, label in labels.items()
    )
    readable = re.sub(r"[^A-Za-z0-9._+-]+", "-", said)[:LABEL_LENGTH].strip("-._")
    return ".".join(text for text in (experiment, readable, identity) if text)


def run_identity(run: str) -> str:
    """Return the hash at the end of the name of a grid's run, with the seed of a cell's."""
    return run.rpartition(".")[2]


def source_of(place: GridPlace) -> Source:
    """Return the source of the data for the cells of a grid."""
    return Source(
        folder=data_folder(Path(place.data)) if place.data is not None else None,
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
        (min(rows, limit) if limit else rows) * shares.get(name, 1)
        for name, rows in zip([*data["datasets"], *names], counts, strict=True)
    ]
    return float(sum(read) * stage["optim"]["epochs"])


@dataclass(frozen=True, kw_only=True)
class PartState:
    """The identity of one split, and an estimate of its number of rows."""

    digest: str
    rows: int  # an estimate where the files were not parsed; 0 = not known


@cache
def part_state(source: Source, name: str, split: str) -> PartState:
    """Return the state of a dataset's split as SOURCE would open it; missing data is refused as
    opening it would.
    """
    if is_hub_name(name):
        state = source.open(name).state
        return PartState(
            digest=state.revision or _digest(" ".join(state.sha256.values())), rows=state.rows
        )
    if is_pair_file(name):
        return _files([file_path(name)])
    if source.folder == TINY_FOLDER:
        frame = source.open(name, split).frame
        return PartState(digest=_digest(frame.write_ndjson()), rows=len(frame))
    chosen = dataset(name)
    declared = chosen.splits.get(split)
    folder = source.folder_of(chosen)
    if (
        declared is not None
        and folder is not None
        and (layout := _layout(folder, declared.layouts)) is not None
    ):
        return _files([folder / file for file in layout.files])
    if declared is None or declared.hub is None or source.offline:
        source.open(name, split)  # raises the error for what is missing
        raise AssertionError(f"{name!r} opened without files or hub")
    return PartState(
        digest=f"{declared.hub.repository}@{declared.hub.revision}",
        rows=declared.expected.rows if declared.expected else 0,
    )


@cache
def file_state(file: str) -> PartState:
    """Return the state of a user's own file of rows; a missing one is refused."""
    if not Path(file).is_file():
        raise MissingError(
            f"no file {file!r}", hint="data.files takes the paths of files with rows"
        )
    return _files([Path(file)])


def _layout(folder: Path, layouts: Sequence[FileLayout]) -> FileLayout | None:
    return next(
        (layout for layout in layouts if all((folder / file).is_file() for file in layout.files)),
        None,
    )


def _files(paths: Sequence[Path]) -> PartState:
    return PartState(
        digest=_digest(" ".join(file_hash(path) for path in paths)),
        rows=sum(_lines(path) for path in paths),
    )


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b""))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
