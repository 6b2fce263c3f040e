"""The one planner: trainings of a grid, every combination of its axes that no skip leaves out, or
of a paper's table become cells, checked against their recipes, named, and tied to the state of
their data.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain, product
from math import prod
from pathlib import Path
from typing import Any

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.nearest import nearest_hint
from embedlab.core.overrides import CHOICES, IN_STAGE, PROFILE, TASK, set_values
from embedlab.core.paths import TINY_FOLDER, absolute_paths, file_hash
from embedlab.core.plugins import identity
from embedlab.core.printable import first_few
from embedlab.core.recipe import (
    Recipe,
    decisive_settings,
    from_table,
    identifying_options,
    keys_of,
    recipe_table,
    recipe_to_table,
)
from embedlab.core.schema import TomlTable
from embedlab.core.settings import Settings
from embedlab.data.file_name import file_path, is_hub_name, is_pair_file, is_row_file
from embedlab.data.published import datasets_of
from embedlab.data.source import Source, dataset
from embedlab.experiments.grid_file import RECIPE_AXIS, Grid
from embedlab.experiments.plan import GridPlan, Variant, stored_evaluations
from embedlab.models.catalog import finished_seeds, starting_location
from embedlab.models.folder import read_usage
from embedlab.models.folder_identity import missed_files, used_fingerprint, weights_fingerprint
from embedlab.models.reading import UsageOptions
from embedlab.objectives.needs import check_columns

LABEL_LENGTH = 60
_LAST_SECTIONS = ("mix", "evaluate", "max_steps")  # of a recipe, behind encoder and stages
MOST_CELLS = 100_000  # before skips; a mistake in an axis would be counted for ever


def expand_grid(grid: Grid, place: Settings, *, seeds: Sequence[int] | None = None) -> GridPlan:
    """Return the plan of GRID in the folders of PLACE; SEEDS replaces the file's.

    A base recipe without the key of an axis has one cell along that axis, as a baseline does; an
    axis whose key no base has, a value that a recipe refuses, and skips that leave no cell are
    UsageErrors.
    """
    bases = [
        RecipeVariants(
            base,
            grid.fixed,
            experiment=grid.name,
            where=grid.where,
            tasks=grid.tasks,
            threads=grid.threads,
            place=place,
        )
        for base in grid.bases
    ]
    seeds = grid.seeds if seeds is None else seeds
    _refuse_unknown_axes(grid, bases)
    _refuse_too_many(grid, len(seeds))
    variants = [variant for base in bases for variant in _variants(grid, base)]
    if not variants:
        raise UsageError(f"{grid.where}: its skips leave no cell", hint="remove one of them")
    variants = with_existing_runs(variants, place.runs)
    used_labels = {axis: {variant.labels.get(axis) for variant in variants} for axis in grid.axes}
    return GridPlan(
        name=grid.name,
        summary=grid.summary,
        axes={
            axis: tuple(label for label in labels if label in used_labels[axis])
            for axis, labels in grid.axes.items()
        },
        variants=tuple(variants),
        seeds=tuple(seeds),
        threads=grid.threads,
        place=place,
    )


def _variants(grid: Grid, base: "RecipeVariants") -> Iterator[Variant]:
    """Yield the trainings of a base recipe in the order of the axes, without skipped ones."""
    base_label = {RECIPE_AXIS: base.name} if RECIPE_AXIS in grid.axes else {}
    axes = {
        axis: choices.items()
        for axis, choices in grid.axes.items()
        if axis != RECIPE_AXIS and base.keys.issuperset(chain(*choices.values()))
    }
    for combination in product(*axes.values()):
        labels = {
            **base_label,
            **{axis: label for axis, (label, _) in zip(axes, combination, strict=True)},
        }
        if not any(
            all(labels.get(axis) in fitting for axis, fitting in rule.items()) for rule in grid.skip
        ):
            yield base.variant(labels, [values for _, values in combination])


def _refuse_too_many(grid: Grid, seeds: int) -> None:
    cells = prod(len(choices) for choices in grid.axes.values()) * seeds
    if cells > MOST_CELLS:
        raise UsageError(
            f"{grid.where}: {cells} cells, more than {MOST_CELLS}",
            hint="shorten an axis, or divide the grid among files",
        )


def _refuse_unknown_axes(grid: Grid, bases: "Sequence[RecipeVariants]") -> None:
    known_keys = sorted(frozenset().union(*(base.keys for base in bases)))
    for axis, choices in grid.axes.items():
        for key in sorted({*chain(*choices.values())} - set(known_keys)):
            table = key.rpartition(".")[0]
            table_keys = [
                known_key for known_key in known_keys if known_key.rpartition(".")[0] == table
            ] or known_keys
            raise UsageError(
                f"{grid.where}: axis {axis!r} sets {key!r}, which is not a key of "
                f"{' or '.join(grid.bases)}",
                hint=nearest_hint(key, known_keys, f"keys: {first_few(table_keys)}"),
            )


def with_existing_runs(variants: Sequence[Variant], runs: Path) -> list[Variant]:
    """Return VARIANTS under the names that other grids and tables gave to the same trainings in
    RUNS: they are not repeated.

    A finished run is taken first, then the variant's own, then one that was begun. Variants that
    are one training go on as they are.
    """
    counts = Counter(run_identity(variant.run) for variant in variants)
    existing_names: dict[str, list[str]] = {}
    for name in sorted({path.parent.name for path in runs.glob("*.*/seed-*")}):
        if counts[run_identity(name)] == 1:
            existing_names.setdefault(run_identity(name), []).append(name)

    def existing(variant: Variant) -> str:
        names = existing_names.get(run_identity(variant.run), [])
        return max(
            names,
            key=lambda name: (bool(finished_seeds(runs, name)), name == variant.run),
            default=variant.run,
        )

    return [replace(variant, run=existing(variant)) for variant in variants]


class RecipeVariants:
    """One recipe with its fixed values, KEY=VALUE, and all the variants that axes make of it; the
    names of new runs begin with the EXPERIMENT.
    """

    def __init__(
        self,
        recipe: str,
        fixed: Sequence[str],
        *,
        experiment: str,
        where: str,
        tasks: Sequence[str] | None,
        threads: int,
        place: Settings,
    ) -> None:
        self.name, self.fixed, self.experiment = recipe, fixed, experiment
        self.threads, self.place = threads, place
        self.where = f"{where}: recipe {recipe}"
        self.table = recipe_table(recipe)
        if tasks is not None:
            section = self.table.setdefault("evaluate", {})
            if isinstance(section, dict):  # anything else is refused below
                section["tasks"] = list(tasks)
        choices = {PROFILE: "profiles", TASK: "tasks"}
        self.keys = keys_of(self._resolved(())) | {
            key for key in CHOICES if choices[key] in self.table
        }
        # many variants share an encoder and data: they are looked at once a plan
        part_state.cache_clear()
        file_state.cache_clear()
        self._facts = cache(self._decisive)
        self._start = cache(partial(starting_location, runs_folder=place.runs))

    def _resolved(self, overrides: Sequence[str], where: str = "") -> Recipe:
        """Return the recipe with the fixed values and OVERRIDES; errors add WHERE."""
        table = deepcopy(self.table)
        set_values(table, [*self.fixed, *overrides])
        return from_table(table, name=self.name, where=f"{self.where}{where}")

    def variant(
        self, labels: Mapping[str, str], chosen: Sequence[Mapping[str, Any]] = ()
    ) -> Variant:
        """Return the training with these LABELS by axis and the values that the axes have CHOSEN,
        checked and named. A value that is refused is a UsageError.
        """
        values = {key: json.dumps(value) for key, value in chain(*(own.items() for own in chosen))}
        assigned = ", ".join(f"{key} = {value}" for key, value in values.items())
        where = f" with {assigned}" if assigned else ""
        recipe = self._resolved([f"{key}={value}" for key, value in values.items()], where)
        try:
            check_columns(recipe)
        except UsageError as error:
            # a key of an axis is not for --set
            hint = "give the axis another value" if assigned else error.advice
            raise UsageError(f"{self.where}{where}: {error.message}", hint=hint) from error
        stored_evaluations(recipe.evaluate.tasks, f"{self.where}: evaluate.tasks")
        table = recipe_to_table(recipe)
        encoder, evaluate, stages = table["encoder"], table["evaluate"], table["stage"]
        encoder["model"] = self._start(encoder["model"])
        evaluate["tasks"] = [
            absolute_paths([task])[0] if is_row_file(task) else task for task in evaluate["tasks"]
        ]
        sections = [
            ("encoder", encoder),
            *((part, stage[part]) for stage in stages for part in IN_STAGE),
            *((name, table[name]) for name in _LAST_SECTIONS if name in table),
        ]
        facts = [self._facts(name, json.dumps(section)) for name, section in sections]
        state = [json.dumps(section_facts, sort_keys=True) for section_facts in facts]
        # Threads and precision are chosen and change every number. The device belongs to the
        # machine that happens to run a cell: another device draws other dropout of the same rate,
        # but a finished cell is not trained again for that.
        state += [str(self.threads), self.place.precision]
        identity = hashlib.sha256("\n".join(state).encode()).hexdigest()[:8]
        return Variant(
            run=run_name(self.experiment, labels, identity),
            labels=labels,
            recipe=table,
            rows=sum(stage_rows(stage, self.place) for stage in stages),
        )

    def _decisive(self, name: str, text: str) -> list[Any]:
        """Return what changes a training in a section, given as JSON: its values, the states of the
        data and the encoder that it names, and the code of a plug-in.

        Tasks and the log do not: with other tasks, only the evaluation is repeated. A folder counts
        by its content, not its path.
        """
        source, section = Source.from_settings(self.place), json.loads(text)
        if name == "encoder":
            if (folder := Path(section["model"])).is_dir():
                usage = read_usage(folder, UsageOptions(pooling=section["pooling"]))
                reading = replace(usage.reading, max_tokens=0)
                usage = replace(usage, pooling="", reading=reading)
                # Cells are called by what decides a training, and by further files where there are
                # any.
                is_covered = not missed_files(usage)
                fingerprint = weights_fingerprint if is_covered else used_fingerprint
                section = {**section, "model": fingerprint(usage, precision="")}
            return [section, *filter(None, [identity("poolings", section["pooling"])])]
        if name == "evaluate":
            dev_datasets = datasets_of(section["dev"]) if section["dev"] != "none" else ()
            dev = [part_state(source, dataset, "dev").digest for dataset in dev_datasets]
            return [decisive_settings(section), *dev]
        if name == "objective":
            code = identity("objectives", section["name"])
            return [identifying_options(section), *filter(None, [code])]
        if name == "data":
            parts = [
                part_state(source, dataset, section["split"]) for dataset in section["datasets"]
            ]
            files = map(file_state, section.get("files", ()))
            return [section, *(state.digest for state in (*parts, *files))]
        return [section]


def run_name(experiment: str, labels: Mapping[str, str], identity: str) -> str:
    """Return the name of a variant's run: the experiment, labels for a reader, and the identity
    that makes it unique.
    """
    label_text = "_".join(
        f"{axis.rpartition('.')[2]}-{label}" if axis != RECIPE_AXIS else label
        for axis, label in labels.items()
    )
    readable = re.sub(r"[^A-Za-z0-9._+-]+", "-", label_text)[:LABEL_LENGTH].strip("-._")
    return ".".join(text for text in (experiment, readable, identity) if text)


def run_identity(run: str) -> str:
    """Return the hash at the end of the name of a grid's run, with the seed of a cell's."""
    return run.rpartition(".")[2]


def stage_rows(stage: TomlTable, place: Settings) -> float:
    """Return about how many rows a stage reads, over all epochs."""
    data, source = stage["data"], Source.from_settings(place)
    counts = [(name, part_state(source, name, data["split"]).rows) for name in data["datasets"]]
    counts += [(Path(file).name, file_state(file).rows) for file in data.get("files", ())]
    limit, shares = data.get("rows"), data.get("shares", {})
    total = 0.0
    for name, rows in counts:
        read_rows = min(rows, limit) if limit else rows
        total += read_rows * shares.get(name, 1)
    return float(total * stage["optim"]["epochs"])


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
    if source.is_at_hand(chosen, split):
        folder = source.folder_of(chosen)
        assert folder is not None  # or the split is not at hand
        return _files([folder / file for file in source.hashes(chosen, split)])
    declared = chosen.splits[split]
    assert declared.hub is not None  # or it is missing
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
