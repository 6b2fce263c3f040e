"""From a table of a paper to a grid: what has to be trained for it, and which cells other tables and grids have made already."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from embedlab.encoders.catalog import finished_runs
from embedlab.errors import UsageError
from embedlab.grids.expand import expand_grid
from embedlab.grids.grid_file import Choice, Grid, with_fixed
from embedlab.grids.paper_table import ENCODER, Making, PaperTable
from embedlab.grids.plan import Place, Plan, Variant
from embedlab.recipe import Recipe, load_recipe


@dataclass(frozen=True, kw_only=True)
class Cells:
    """What has to be trained for a table, and which training stands for which making."""

    plan: Plan | None  # None: nothing to train
    variants: Mapping[str, Variant]  # by the making's `training`


def training(making: Making) -> str:
    """What tells trainings apart before any recipe is resolved: the recipe's name and what is set."""
    return json.dumps([making.recipe, dict(making.set)], sort_keys=True)


def trainings(table: PaperTable) -> dict[str, tuple[str, Making]]:
    """Every training that a table asks for, each with the label of its first row (and column, where the column is another training)."""
    found: dict[str, tuple[str, Making]] = {}
    for row, making in table.makings.items():
        spots = [(row, making)] if table.by is not None else []
        for point in table.points:
            if point.row == row:
                is_own = point.making.set != making.set
                spots.append((f"{row} {point.column}" if is_own else row, point.making))
        for label, spot in spots:
            if spot.recipe is not None:
                found.setdefault(training(spot), (label, spot))
    return found


def for_encoder(table: PaperTable, encoder: str | None) -> tuple[PaperTable, tuple[str, ...]]:
    """The table when every row starts from ENCODER, and the rows left out: those that are about another encoder of the paper."""
    if encoder is None:
        return table, ()
    out = {row for row, making in table.makings.items() if making.encoder is not None}
    out |= {row for row, making in table.makings.items() if out & set(making.of)}
    if out and len(out) == len(table.makings):
        raise UsageError(f"every row of {table.name!r} is about an encoder of its own", hint="leave --encoder out")
    kept = {row: _started(making) for row, making in table.makings.items() if row not in out}
    points = tuple(replace(point, making=_started(point.making)) for point in table.points if point.row not in out)
    claims = tuple(claim for claim in table.claims if not out & {claim.better, claim.worse})
    return replace(table, makings=kept, points=points, claims=claims), tuple(row for row in table.makings if row in out)


def _started(making: Making) -> Making:
    return replace(making, set={key: value for key, value in making.set.items() if key != ENCODER})


def plan_cells(table: PaperTable, place: Place, *, seeds: Sequence[int], threads: int, overrides: Sequence[str]) -> Cells:
    """The cells of a table as one grid; a cell that another table or grid has made under another name goes by that name."""
    axis = table.key[-1] if table.by is None else "row"
    by_recipe: dict[str, dict[str, tuple[str, Making]]] = {}
    for key, (label, making) in trainings(table).items():
        assert making.recipe is not None
        by_recipe.setdefault(making.recipe, {})[key] = (label, making)
    made = runs_by_identity(place.runs_folder)
    variants: dict[str, Variant] = {}
    for recipe, wanted in by_recipe.items():
        choices = tuple(Choice(label=label, values=making.set) for label, making in wanted.values())
        grid = Grid(
            name=table.paper,
            where=f"{table.paper} {table.name}",
            summary=table.summary,
            bases=(recipe,),
            axes={axis: choices},
            fixed=(),
            seeds=tuple(seeds),
            tasks=table.tasks,
            threads=threads,
            skip=(),
        )
        expanded = expand_grid(with_fixed(grid, overrides), place).variants
        for key, variant in zip(wanted, expanded, strict=True):
            variants[key] = replace(variant, run=made.get(identity_of(variant.run), variant.run))
    if not variants:
        return Cells(plan=None, variants={})
    distinct = {variant.run: variant for variant in reversed(variants.values())}  # rows may be one training, as with one encoder
    plan = Plan(
        name=f"{table.paper}-{table.name}",
        summary=table.summary,
        axes={axis: tuple(variant.labels[axis] for variant in reversed(distinct.values()))},
        variants=tuple(reversed(distinct.values())),
        seeds=tuple(seeds),
        threads=threads,
        place=place,
    )
    return Cells(plan=plan, variants=variants)


def identity_of(run: str) -> str:
    """The hash that ends the name of a grid's run."""
    return run.rpartition(".")[2]


def runs_by_identity(runs: Path) -> dict[str, str]:
    """The names of the grid runs that are there, finished ones first, by the identity of their cells."""
    begun = sorted(path.parent.name for path in runs.glob("*.*/seed-*"))
    return {identity_of(name): name for name in (*begun, *finished_runs(runs)) if "." in name}


def expected_recipe(making: Making, overrides: Sequence[str] = (), encoder: str | None = None) -> Recipe:
    """The recipe that a row follows in the paper, or with OVERRIDES and from another ENCODER."""
    assert making.recipe is not None
    own = [f"{key}={json.dumps(value)}" for key, value in making.set.items()]
    return load_recipe(making.recipe, [*own, *overrides], encoder=encoder)
