"""The grid file: base recipes, axes over their keys, seeds, tasks, combinations to skip; and which
grids there are, in the package and in a runs folder.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.names import refuse_path
from embedlab.core.nearest import nearest_hint, unknown_name_error
from embedlab.core.paths import recipes_folder
from embedlab.core.recipe import Seed, Threads
from embedlab.core.schema import build, quote, read_toml, table
from embedlab.experiments.plan import GridFolder, GridPlan
from embedlab.runs.store import GRIDS

RECIPE_AXIS = "recipe"  # the axis of several base recipes
SHORT_KEYS = {"encoder": "encoder.model", "data": "data.datasets"}


@table
class _File:
    """The tables of a grid file."""

    base: str | tuple[str, ...]  # one recipe, or several
    summary: str = ""  # absent: which keys of which recipe it varies
    axes: dict[str, Any] = field(default_factory=dict)
    set: dict[str, Any] = field(default_factory=dict)  # other values for keys of every base recipe
    seeds: tuple[Seed, ...] = (1,)
    tasks: tuple[str, ...] | None = None  # absent: those of the base recipe
    threads: Threads = 1
    skip: tuple[
        dict[str, Any], ...
    ] = ()  # combinations to leave out: axis = value or list of values


Choices = Mapping[str, Mapping[str, Any]]
"""The values of an axis by their labels, each as the recipe keys that it sets."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """An ablation as its file describes it, not yet checked against the recipes."""

    name: str
    where: str  # names the file in errors
    summary: str
    bases: tuple[str, ...]
    axes: Mapping[str, Choices]
    fixed: tuple[str, ...]  # KEY=VALUE, as `--set` takes them, for every base recipe
    seeds: tuple[int, ...]
    tasks: tuple[str, ...] | None
    threads: int
    skip: tuple[
        Mapping[str, frozenset[str]], ...
    ]  # each: axis → labels; a combination that matches all is skipped


def grid_names() -> list[str]:
    """Return the names of the shipped grids, in alphabetical order."""
    return sorted(path.stem for path in (recipes_folder() / "grids").glob("*.toml"))


def grid_path(name: str) -> Path:
    """Return the file of a grid by name, or by the path of the user's own TOML file."""
    GridFolder.of(Path(), Path(name).stem if name.endswith(".toml") else name)  # not too long
    path = Path(name) if name.endswith(".toml") else recipes_folder() / "grids" / f"{name}.toml"
    if path.is_file():
        return path
    refuse_path("grid", name)
    if name.endswith(".toml"):
        raise UsageError(
            f"no grid file {name!r}",
            hint="give a path to a TOML file or a name from `embedlab grid status`",
        )
    raise unknown_name_error("grid", name, grid_names(), listing="`embedlab grid status` lists all")


def load_grid(name: str) -> Grid:
    """Load the grid called NAME (or in the file NAME); errors name it, the key and the nearest
    valid name.
    """
    path = grid_path(name)
    location = str(path) if name.endswith(".toml") else f"grid {name}"
    values = build(_File, read_toml(path), where=location)
    bases = (values.base,) if isinstance(values.base, str) else values.base
    choices = {
        axis: _choices(axis, axis_choices, location) for axis, axis_choices in values.axes.items()
    }
    if len(bases) > 1:
        choices = {RECIPE_AXIS: [(base, {}) for base in bases], **choices}
    _refuse_repeats(bases, values.seeds, choices, location)
    axes = {axis: dict(labelled) for axis, labelled in choices.items()}
    summary = " and ".join(bases)
    if values.axes:
        summary += f" by {' and '.join(values.axes)}"
    return Grid(
        name=path.stem,
        where=location,
        summary=values.summary or summary,
        bases=bases,
        axes=axes,
        fixed=tuple(
            f"{_full_key(key)}={json.dumps(value)}" for key, value in _set_values(values.set)
        ),
        seeds=values.seeds,
        tasks=values.tasks,
        threads=values.threads,
        skip=tuple(_skip(rule, axes, location) for rule in values.skip),
    )


def _set_values(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the keys and values of [set]; TOML reads the key encoder.pooling without quotes as a
    table of the key encoder.
    """
    for key, value in values.items():
        if key in SHORT_KEYS and isinstance(value, dict):
            yield from ((f"{key}.{name}", inner) for name, inner in value.items())
        else:
            yield key, value


def with_fixed(grid: Grid, overrides: Sequence[str]) -> Grid:
    """Return the grid with KEY=VALUE overrides of every base recipe; a key that is an axis is
    refused.
    """
    overrides = with_full_keys(overrides)
    for key in (override.partition("=")[0] for override in overrides):
        if (axis := _axis_of(grid, key)) is not None:
            raise UsageError(
                f"{key!r} is the axis {axis!r} of {grid.where}",
                hint="set another key, or edit a copy of the grid file",
            )
    return replace(grid, fixed=(*grid.fixed, *overrides))


def with_full_keys(overrides: Sequence[str]) -> list[str]:
    """Return KEY=VALUE overrides with the full keys of short ones such as `encoder`."""
    return [
        f"{_full_key(key)}{sign}{value}"
        for key, sign, value in (override.partition("=") for override in overrides)
    ]


def sets_key(grid: Grid, key: str) -> bool:
    """Return whether the grid itself sets KEY, as an axis or for all cells."""
    is_fixed = any(override.startswith(f"{key}=") for override in grid.fixed)
    return is_fixed or _axis_of(grid, key) is not None


def _axis_of(grid: Grid, key: str) -> str | None:
    """Return the axis that sets KEY; None where none does."""
    axes = grid.axes.items()
    return next((axis for axis, choices in axes if key in set().union(*choices.values())), None)


def label_of(value: Any) -> str:
    """Return the label of a value of an axis."""
    if isinstance(value, list):
        return "+".join(label_of(item) for item in value)
    if isinstance(value, str):
        return Path(value).name if Path(value).is_absolute() else value
    return json.dumps(value)


def _choices(axis: str, choices: Any, location: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the values of an axis with their labels: a list has values of the axis's key, a table
    has named sets of several keys.
    """
    if (
        isinstance(choices, dict)
        and choices
        and all(isinstance(values, dict) for values in choices.values())
    ):
        return [
            (label, {_full_key(key): value for key, value in values.items()})
            for label, values in choices.items()
        ]
    if not isinstance(choices, list) or not choices:
        raise UsageError(
            f"{location}: axis {axis!r} is {quote(choices)}: not a list of values, nor a table "
            f"of named sets",
            hint=f'for example "{axis}" = [0.1, 0.5]',
        )
    key = _full_key(axis)
    is_list = key.endswith("data.datasets")  # a single name is a list of one
    labels = [label_of(value) for value in choices]
    if len({*labels}) < len({*map(json.dumps, choices)}):  # folders of one name, such as model
        labels = [value if isinstance(value, str) else label_of(value) for value in choices]
    return [
        (label, {key: [value] if is_list and isinstance(value, str) else value})
        for label, value in zip(labels, choices, strict=True)
    ]


def _full_key(key: str) -> str:
    return SHORT_KEYS.get(key, key)


def _refuse_repeats(
    bases: Sequence[str],
    seeds: Sequence[int],
    axes: Mapping[str, Sequence[tuple[str, Mapping[str, Any]]]],
    location: str,
) -> None:
    lists = {"base": list(bases), "seeds": [str(seed) for seed in seeds]}
    lists |= {f"axis {axis}": [label for label, _ in choices] for axis, choices in axes.items()}
    for name, labels in lists.items():
        if not labels:
            raise UsageError(f"{location}: {name!r} is empty", hint="name at least one")
        if repeated := next((label for label in labels if labels.count(label) > 1), None):
            raise UsageError(
                f"{location}: {name!r} holds {repeated!r} twice",
                hint="a cell is done once; for repetitions add seeds",
            )
    owner: dict[str, str] = {}
    for axis, choices in axes.items():
        for key in {key for _, values in choices for key in values}:
            if key in owner:
                raise UsageError(
                    f"{location}: axes {owner[key]!r} and {axis!r} both set {key!r}",
                    hint="let one axis set it",
                )
            owner[key] = axis


def _skip(
    rule: Mapping[str, Any], axes: Mapping[str, Choices], location: str
) -> Mapping[str, frozenset[str]]:
    fitting = {}
    for axis, values in rule.items():
        if axis not in axes:
            hint = nearest_hint(axis, axes, f"axes: {', '.join(axes)}")
            raise UsageError(f"{location}: skip names {axis!r}, which is not an axis", hint=hint)
        axis_labels = axes[axis]
        labels = [
            value if isinstance(value, str) and value in axis_labels else label_of(value)
            for value in (values if isinstance(values, list) else [values])
        ]
        if unknown_label := next((label for label in labels if label not in axis_labels), None):
            raise UsageError(
                f"{location}: skip names {unknown_label!r}, which axis {axis!r} does not take",
                hint=f"its values: {', '.join(axis_labels)}",
            )
        fitting[axis] = frozenset(labels)
    if not fitting:
        raise UsageError(
            f"{location}: an empty skip would leave out every cell",
            hint='for example skip = [{ recipe = "sbert" }]',
        )
    return fitting


@dataclass(frozen=True, kw_only=True)
class ListedGrid:
    """A grid by its name, and what it is about."""

    name: str
    axes: tuple[tuple[str, int], ...]  # each axis with the number of its values
    is_started: bool
    summary: str  # of a plan that cannot be read, the reason


def list_grids(runs: Path) -> list[ListedGrid]:
    """Return the shipped grids, and those that were started in RUNS, by name."""
    started = {path.parent.name for path in (runs / GRIDS).glob("*/plan.json")}
    return [
        _listed(name, GridFolder.of(runs, name), is_started=name in started)
        for name in sorted({*grid_names(), *started})
    ]


def _listed(name: str, folder: GridFolder, *, is_started: bool) -> ListedGrid:
    """A grid as its file describes it, or as its plan does where the file is the user's own; a
    damaged plan costs its own line.
    """
    try:
        described = load_grid(name) if name in grid_names() else GridPlan.load(folder.plan_file)
    except MissingError as error:
        return ListedGrid(name=name, axes=(), is_started=is_started, summary=error.message)
    return ListedGrid(
        name=name,
        axes=tuple((axis, len(choices)) for axis, choices in described.axes.items()),
        is_started=is_started,
        summary=described.summary,
    )
