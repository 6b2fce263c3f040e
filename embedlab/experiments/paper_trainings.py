"""From a table of a paper to a grid: what has to be trained for it, at rates that a search here
chose where the paper chose them by one, and which cells other tables and grids already have.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from statistics import fmean
from typing import Any

from embedlab.core.errors import MissingError, UsageError
from embedlab.core.nearest import unknown_name_error
from embedlab.core.overrides import PAPER, PROFILE, TASK, profiles_of, without_stage
from embedlab.core.printable import count_text
from embedlab.core.recipe import (
    Recipe,
    load_recipe,
    recipe_differences,
    recipe_table,
    recipe_to_table,
)
from embedlab.core.settings import Settings
from embedlab.experiments.grid_file import with_full_keys
from embedlab.experiments.paper_table import ENCODER, PaperTable, RowSource
from embedlab.experiments.plan import GridFolder, GridPlan, Variant
from embedlab.experiments.planner import RecipeVariants, run_identity, with_existing_runs
from embedlab.runs.status import last_dev, run_status, trained_flaw


@dataclass(frozen=True, kw_only=True)
class TablePlan:
    """What has to be trained for a table, and which training produces which row."""

    plan: GridPlan | None  # None: nothing to train
    variants: Mapping[str, Variant]  # by `RowSource.key`
    absent: Mapping[str, MissingError] = field(
        default_factory=dict
    )  # what the trainings lack that were left out, by label


def trainings(table: PaperTable) -> dict[str, tuple[str, RowSource]]:
    """Return every training of a table by key, each with the label of its first row (and its column
    where that is its own training).
    """
    by_key: dict[str, tuple[str, RowSource]] = {}
    for row in table.sources:
        cells = [(row, table.source_of(row))] if table.by is not None or table.pairs else []
        cells += [
            (f"{row} {point.column}" if point.set else row, table.source_of(row, point))
            for point in table.points
            if point.row == row
        ]
        for label, source in cells:
            if source.recipe is not None:
                by_key.setdefault(source.key, (label, source))
    return by_key


def limit_to_claims(table: PaperTable) -> PaperTable:
    """Return the table with only the rows that its claims are about, and those they combine."""
    claims = table.claims.values()
    claimed_rows = {row for claim in claims for row in (claim.first, claim.second)}
    claimed_rows |= {member for row in claimed_rows for member in table.sources[row].of}
    columns = {column for claim in claims for column in table.columns_of(claim)}
    table, _ = _without(table, {*table.sources} - claimed_rows)
    return replace(table, points=tuple(point for point in table.points if point.column in columns))


def limit_to_encoder(table: PaperTable, encoder: str | None) -> tuple[PaperTable, tuple[str, ...]]:
    """Return the table with every row starting from ENCODER, and the rows left out: those about
    another encoder of the paper.
    """
    if encoder is None:
        return table, ()
    table, left_out = _without(
        table, {row for row, source in table.sources.items() if source.encoder is not None}
    )
    if not table.sources and left_out:
        raise UsageError(
            f"every row of {table.name!r} is about an encoder of its own", hint="remove --encoder"
        )
    points = tuple(replace(point, set=_started(point.set)) for point in table.points)
    sources = {
        row: replace(source, set=_started(source.set)) for row, source in table.sources.items()
    }
    return replace(table, sources=sources, points=points), left_out


def limit_to_profile(table: PaperTable, profile: str | None) -> tuple[PaperTable, tuple[str, ...]]:
    """Return the table under a PROFILE, and the rows left out: those whose recipe does not have it,
    and combinations of them.
    """
    profiles = {
        row: _profiles(source.recipe) for row, source in table.sources.items() if source.recipe
    }
    if profile in {None, PAPER} or not profiles:
        return table, ()
    paper_table, left_out = _without(
        table, {row for row, names in profiles.items() if profile not in names}
    )
    if profiles.keys() <= {*left_out}:
        profile_names = sorted({*chain(*profiles.values())})
        hint = f"{table.paper} has none but paper: no code of its authors is public"
        if len(profile_names) > 1:
            hint = unknown_name_error("profile", str(profile), profile_names).hint
        raise UsageError(f"no recipe of {table.name!r} has a profile {profile!r}", hint=hint)
    return replace(
        paper_table, profile=str(profile), summary=f"{table.summary} (profile {profile})"
    ), left_out


def other_profiles(
    source: RowSource, profile: str | None, encoder: str | None
) -> list[dict[str, Any]]:
    """Return, for each other profile of a row's recipe, the keys in which it differs from PROFILE,
    with its values.
    """
    assert source.recipe is not None
    recipe_by_profile = {
        name: expected_recipe(source, (f"{PROFILE}={name}",), encoder)
        for name in _profiles(source.recipe)
    }
    current = recipe_by_profile.pop(profile or PAPER)
    return [
        {key: value for key, _, value in recipe_differences(current, recipe)}
        for recipe in recipe_by_profile.values()
    ]


def _profiles(recipe: str) -> tuple[str, ...]:
    return profiles_of(recipe_table(recipe))


def _without(table: PaperTable, left_out: set[str]) -> tuple[PaperTable, tuple[str, ...]]:
    """Return the table without the rows LEFT OUT and what combines them, and all those rows."""
    left_out = left_out | {
        row for row, source in table.sources.items() if left_out & set(source.of)
    }  # an ensemble has the rows that remain
    remaining = {row: source for row, source in table.sources.items() if row not in left_out}
    points = tuple(point for point in table.points if point.row not in left_out)
    claims = {
        name: claim
        for name, claim in table.claims.items()
        if not left_out & {claim.first, claim.second}
    }
    return replace(table, sources=remaining, points=points, claims=claims), tuple(
        row for row in table.sources if row in left_out
    )


def _started(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if key != ENCODER}


def expand_table(
    table: PaperTable,
    place: Settings,
    *,
    seeds: Sequence[int],
    threads: int,
    overrides: Sequence[str],
    leaves_out: bool = False,
) -> TablePlan:
    """Return the cells of a table as one grid; a cell that another table or grid already has keeps
    that name.

    Trainings whose data is missing are left out if LEAVES_OUT, and refused otherwise.
    """
    axis = table.key[-1] if table.by is None else "row"
    set_everywhere = with_full_keys(overrides)
    variants: dict[str, Variant] = {}
    absent: dict[str, MissingError] = {}
    for key, (label, source) in trainings(table).items():
        assert source.recipe is not None
        refuse_clash(table, source, overrides)
        fixed = (*set_options(source), *set_everywhere)
        try:
            recipe = RecipeVariants(
                source.recipe,
                fixed,
                experiment=table.paper,
                where=table.title,
                tasks=table.tasks,
                threads=threads,
                place=place,
            )
            variants[key] = recipe.variant({axis: label})
        except MissingError as error:
            if not leaves_out:
                raise
            absent[label] = error
    if not variants:
        return TablePlan(plan=None, variants={}, absent=absent)
    # With one encoder for all, several rows may be the same training: that of the first of them.
    first_variants = {run_identity(variant.run): variant for variant in reversed(variants.values())}
    distinct = with_existing_runs([*reversed(first_variants.values())], place.runs)
    by_identity = {run_identity(variant.run): variant for variant in distinct}
    plan = GridPlan(
        name=f"{table.paper}-{table.name}"
        if table.profile == PAPER
        else f"{table.paper}-{table.name}-{table.profile}",
        summary=table.summary,
        axes={axis: tuple(variant.labels[axis] for variant in distinct)},
        variants=tuple(distinct),
        seeds=tuple(seeds),
        threads=threads,
        place=place,
    )
    variant_by_key = {
        key: by_identity[run_identity(variant.run)] for key, variant in variants.items()
    }
    return TablePlan(plan=plan, variants=variant_by_key, absent=absent)


def refuse_clash(table: PaperTable, source: RowSource, overrides: Sequence[str]) -> None:
    """Refuse an override of a key that distinguishes the table's rows."""
    row_keys = [_stage_and_key(key) for key in source.set if key != ENCODER]
    for key in (override.partition("=")[0] for override in overrides):
        stage, name = _stage_and_key(key)
        for row_stage, row_name in row_keys:
            if name == row_name and (stage == row_stage or "" in {stage, row_stage}):
                raise UsageError(
                    f"{key!r} distinguishes the rows of {table.name!r}",
                    hint="set another key, or write a grid of your own",
                )


def _stage_and_key(key: str) -> tuple[str, str]:
    """Return the stage that KEY is of, empty for all or the only one, and the key in it."""
    key = key.removeprefix("stages.")
    name = without_stage(key)
    return key.removesuffix(name), name


def set_options(source: RowSource) -> list[str]:
    """Return what a row sets, as `--set` options."""
    values = {**source.set, **source.chosen}
    return [f"{key}={json.dumps(value)}" for key, value in values.items()]


def keys_set(source: RowSource) -> set[str]:
    """Return the full recipe keys that a row sets beyond its recipe, without a task's own
    settings.
    """
    assert source.recipe is not None
    bare_recipe = load_recipe(
        source.recipe, [f"{TASK}={source.set[TASK]}"] if TASK in source.set else []
    )
    return {key for key, _, _ in recipe_differences(bare_recipe, expected_recipe(source))}


def expected_recipe(
    source: RowSource, overrides: Sequence[str] = (), encoder: str | None = None
) -> Recipe:
    """Return the recipe of a row as in the paper, or with OVERRIDES and from another ENCODER."""
    assert source.recipe is not None
    return load_recipe(source.recipe, [*set_options(source), *overrides], encoder=encoder)


def with_chosen_rates(
    table: PaperTable, place: Settings, overrides: Sequence[str], encoder: str | None
) -> tuple[PaperTable, list[str]]:
    """Return TABLE with the rates that its paper's grids chose, and a note for each such grid.

    A grid counts once all its cells are trained, from the encoder and on the data of the row. A
    rate in OVERRIDES is the user's choice, and stays.
    """
    if any(text.partition("=")[0].endswith("optim.lr") for text in overrides):
        return table, []
    chosen: dict[str, dict[str, float]] = {}  # by the training's key
    notes = []
    for grid, stages in table.rates.items():
        file = GridFolder.of(place.runs, grid).plan_file
        plan = GridPlan.load(file) if file.is_file() else None
        scores = _dev_scores(plan) if plan is not None and plan.place.data == place.data else {}
        if plan is None or not scores:
            continue
        best = max(scores, key=lambda run: scores[run])
        searched_recipes = {variant.run: variant.recipe for variant in plan.variants}
        rate = searched_recipes[best]["stage"][0]["optim"]["lr"]
        is_applied = False
        for key, (_, source) in trainings(table).items():
            if (stage := stages.get(source.recipe or "")) is None:
                continue
            recipe = recipe_to_table(expected_recipe(source, overrides, encoder))
            if all(
                _start(searched_recipe, 0) == _start(recipe, stage)
                for searched_recipe in searched_recipes.values()
            ):
                chosen.setdefault(key, {})[f"stage.{stage}.optim.lr"] = rate
                is_applied = True
        if is_applied:
            notes.append(
                f"grid {grid} chose the rate {rate:g}: mean dev score {scores[best]:.2f} over "
                f"{count_text(len(plan.seeds), 'seeds')}"
            )
    return replace(table, chosen=chosen), notes


def _start(recipe: Mapping[str, Any], stage: int) -> tuple[Any, Any]:
    """Return what a rate was searched for: the encoder, and the data of the stage."""
    return recipe["encoder"], recipe["stage"][stage]["data"]


def _dev_scores(plan: GridPlan) -> dict[str, float]:
    """Return the mean last dev score of each run whose trainings all learnt; nothing until all are
    finished.
    """
    scores: dict[str, list[float]] = {}
    flawed_runs = set()
    for cell in plan.cells:
        if run_status(cell.run).state != "finished":
            return {}
        dev = last_dev(cell.run)
        if dev is None or trained_flaw(cell.run):
            flawed_runs.add(cell.variant.run)
        else:
            scores.setdefault(cell.variant.run, []).append(dev.score)
    return {run: fmean(values) for run, values in scores.items() if run not in flawed_runs}
