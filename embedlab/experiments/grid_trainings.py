"""From a grid file to the trainings of its plan: every combination of its axes that no skip leaves
out.
"""

import itertools
import math
from collections.abc import Iterator, Sequence

from embedlab.core.errors import UsageError
from embedlab.core.nearest import nearest_hint
from embedlab.core.printable import first_few
from embedlab.experiments.grid_file import RECIPE_AXIS, AxisValue, Grid
from embedlab.experiments.plan import GridPlace, GridPlan
from embedlab.experiments.planner import Planner, Training, with_existing_runs

MOST_CELLS = 100_000  # before skips; a mistake in an axis would be counted for ever


def expand_grid(grid: Grid, place: GridPlace, *, seeds: Sequence[int] | None = None) -> GridPlan:
    """Return the plan of GRID in the folders of PLACE; SEEDS replaces the file's.

    A base recipe without the key of an axis has one cell along that axis, as a baseline does; an
    axis whose key no base has, a value that a recipe refuses, and skips that leave no cell are
    UsageErrors.
    """
    planner = Planner(
        grid.name, where=grid.where, tasks=grid.tasks, threads=grid.threads, place=place
    )
    seeds = grid.seeds if seeds is None else seeds
    _refuse_unknown_axes(grid, planner)
    _refuse_too_many(grid, len(seeds))
    variants = [
        planner.variant(training)
        for base in grid.bases
        for training in _trainings(grid, base, planner)
    ]
    if not variants:
        raise UsageError(f"{grid.where}: its skips leave no cell", hint="remove one of them")
    variants = with_existing_runs(variants, place.runs_folder)
    axes = {axis: [choice.label for choice in choices] for axis, choices in grid.axes.items()}
    return planner.plan(variants, name=grid.name, summary=grid.summary, axes=axes, seeds=seeds)


def _trainings(grid: Grid, base: str, planner: Planner) -> Iterator[Training]:
    """Yield the trainings of a base recipe in the order of the axes, without skipped ones."""
    named = {RECIPE_AXIS: base} if RECIPE_AXIS in grid.axes else {}
    keys = planner.keys(base, grid.fixed)
    axes = {
        axis: choices
        for axis, choices in grid.axes.items()
        if axis != RECIPE_AXIS and _is_among(keys, choices)
    }
    for combination in itertools.product(*axes.values()):
        labels = {
            **named,
            **{axis: choice.label for axis, choice in zip(axes, combination, strict=True)},
        }
        if not any(
            all(labels.get(axis) in fitting for axis, fitting in rule.items()) for rule in grid.skip
        ):
            yield Training(
                recipe=base,
                labels=labels,
                fixed=grid.fixed,
                chosen=tuple(choice.values for choice in combination),
            )


def _is_among(keys: frozenset[str], choices: Sequence[AxisValue]) -> bool:
    return all(key in keys for choice in choices for key in choice.values)


def _refuse_too_many(grid: Grid, seeds: int) -> None:
    cells = math.prod(len(choices) for choices in grid.axes.values()) * seeds
    if cells > MOST_CELLS:
        raise UsageError(
            f"{grid.where}: {cells} cells, more than {MOST_CELLS}",
            hint="shorten an axis, or divide the grid among files",
        )


def _refuse_unknown_axes(grid: Grid, planner: Planner) -> None:
    known = sorted(frozenset().union(*(planner.keys(base, grid.fixed) for base in grid.bases)))
    for axis, choices in grid.axes.items():
        for key in sorted({key for choice in choices for key in choice.values} - set(known)):
            table = key.rpartition(".")[0]
            listed = [other for other in known if other.rpartition(".")[0] == table] or known
            raise UsageError(
                f"{grid.where}: axis {axis!r} sets {key!r}, which is not a key of "
                f"{' or '.join(grid.bases)}",
                hint=nearest_hint(key, known, f"keys: {first_few(listed)}"),
            )
