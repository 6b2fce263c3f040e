"""The models that reproduce the rows of a paper's table: runs that match a recipe, untuned
encoders, combinations of rows.
"""

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

from embedlab.core.errors import EmbedlabError
from embedlab.core.recipe import Recipe, flatten, recipe_to_table
from embedlab.core.schema import unbuild
from embedlab.experiments.paper_table import ENCODER, PaperTable, RowSource
from embedlab.experiments.paper_trainings import (
    expected_recipe,
    keys_set,
    other_profiles,
    refuse_clash,
    trainings,
)
from embedlab.models.catalog import finished_runs, finished_seeds
from embedlab.models.grammar import name_of
from embedlab.runs.status import trained_flaw
from embedlab.runs.store import RunFolder

CellKey = tuple[str, str]  # row and column of a table

_Fit = tuple[
    bool, bool, int, str
]  # of another recipe, of another name, differences, the run's name

NOT_DECISIVE = ("summary", "evaluate.")  # keys that do not distinguish trainings


@dataclass(frozen=True, kw_only=True)
class Member:
    """One model that contributes to a number: the name that a user types, and its seed if it has
    one.
    """

    name: str
    seed: int | None
    runs: frozenset[str] = frozenset()  # its runs; of a combination those of its parts


@dataclass(frozen=True, kw_only=True)
class RowMembers:
    """The models of a row, one a seed, and those of its columns that are trainings of their own."""

    own: Sequence[Member] = ()
    by_column: Mapping[str, Sequence[Member]] = field(default_factory=dict)

    def at(self, column: str) -> Sequence[Member]:
        """Return the models behind the number in a column."""
        return self.by_column.get(column, self.own)

    @property
    def groups(self) -> list[Sequence[Member]]:
        """The row's own models, and those of each column that has others."""
        return [self.own, *self.by_column.values()]

    @property
    def names(self) -> list[str]:
        """The names of all models of the row."""
        return [*dict.fromkeys(member.name for member in chain(*self.groups))]

    @property
    def runs(self) -> list[str]:
        """The runs behind all models of the row."""
        return [*dict.fromkeys(chain(*(sorted(member.runs) for member in chain(*self.groups))))]

    def without(self, names: Collection[str]) -> "RowMembers":
        """Return the models that are not called one of NAMES."""

        def left(members: Sequence[Member]) -> tuple[Member, ...]:
            return tuple(member for member in members if member.name not in names)

        by_column = {column: left(members) for column, members in self.by_column.items()}
        return RowMembers(own=left(self.own), by_column=by_column)


def find_runs_of(
    table: PaperTable, runs: Path, overrides: Sequence[str], encoder: str | None
) -> dict[str, str]:
    """Return, for each training of a table, the name of the finished run that matches it best, if
    any.

    A run with exactly the row's recipe is best. Otherwise it must come from the row's recipe and
    agree in every key that the row sets or that distinguishes the table's rows, and not be one of
    another profile; among several, the ones that agree with the other rows' runs in everything else
    win, then the one named like the recipe, then the one with the fewest differences.
    """
    for _, source in trainings(table).values():
        refuse_clash(table, source, overrides)
    finished = _finished_recipes(runs)
    values = {name: _values(recipe) for name, recipe in finished.items()}
    targets = {
        key: (source, expected_recipe(source, overrides, encoder))
        for key, (_, source) in trainings(table).items()
    }
    fitting: dict[str, list[_Fit]] = {}
    for key, (source, expected) in targets.items():
        siblings = [
            recipe for _, recipe in targets.values() if _objectives(recipe) == _objectives(expected)
        ]
        expected_values = _values(expected)
        undecisive = {*_common_keys(siblings, ())} - keys_set(source)
        decisive = expected_values.keys() - undecisive
        if source.encoder is None and encoder is None:
            decisive.discard(ENCODER)
        other_values = other_profiles(source, table.profile, encoder)
        fits = []
        for name, recipe in finished.items():
            apart = [
                setting
                for setting, value in expected_values.items()
                if values[name].get(setting) != value
            ]
            if (
                decisive.isdisjoint(apart)
                and _is_of(expected, recipe, runs)
                and not _is_among(other_values, recipe)
            ):
                is_other = recipe.hash != expected.hash
                fits.append((is_other, name != expected.name, len(apart), name))
        fitting[key] = sorted(fits)
    return _choose_runs(
        fitting, values, _common_keys([recipe for _, recipe in targets.values()], values.values())
    )


def differing_settings(
    table: PaperTable, runs: Path, run_of: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return the keys that the paper sets alike for all rows and the rows' runs do not, with their
    values.
    """
    values = [_values(recipe_of(runs, name)) for name in dict.fromkeys(run_of.values())]
    recipes = [expected_recipe(source) for _, source in trainings(table).values()]
    differing = {}
    for key in _common_keys(recipes, values):
        texts = list(dict.fromkeys(json.dumps(value.get(key)) for value in values))
        if key != ENCODER and len(texts) > 1:
            differing[key] = texts
    return differing


def _is_of(expected: Recipe, recipe: Recipe, runs: Path) -> bool:
    """Return whether RECIPE is the EXPECTED one, whatever values it sets.

    Each recipe has a summary of its own, which its runs store; a user's recipe may describe the
    same training differently. A run that starts from another run of the folder was trained on more
    than its own stages show.
    """
    if recipe.encoder.model != expected.encoder.model and _starts_from_run(recipe, runs):
        return False
    is_same = recipe.summary == expected.summary and _objectives(recipe) == _objectives(expected)
    return is_same or _training_signal(recipe) == _training_signal(expected)


def _is_among(profiles: Sequence[Mapping[str, Any]], recipe: Recipe) -> bool:
    """Return whether RECIPE has all that distinguishes one of other PROFILES."""
    values = flatten(recipe_to_table(recipe))
    return any(
        all(values.get(key) == value for key, value in distinctive.items())
        for distinctive in profiles
    )


def _starts_from_run(recipe: Recipe, runs: Path) -> bool:
    start = Path(name_of(recipe.encoder.model).partition("@")[0])
    folder = (runs / start).resolve()
    return folder.is_dir() and folder != runs.resolve() and folder.is_relative_to(runs.resolve())


def _training_signal(recipe: Recipe) -> str:
    """Return what a recipe trains on and how, without amounts and rates."""
    stages = [
        [stage.data.names, stage.data.split, unbuild(stage.objective)] for stage in recipe.stages
    ]
    return json.dumps([recipe.encoder.pooling, stages, unbuild(recipe.mix)])


def _choose_runs(
    fitting: Mapping[str, Sequence[_Fit]],
    values: Mapping[str, Mapping[str, Any]],
    common: Sequence[str],
) -> dict[str, str]:
    """Return one run for each training: as many as possible from runs with equal COMMON keys, then
    from the others.
    """
    settings: dict[str, dict[str, _Fit]] = {}
    for key, fits in fitting.items():
        for fit in fits:
            setting = json.dumps([values[fit[-1]].get(name) for name in common])
            settings.setdefault(setting, {}).setdefault(key, fit)
    run_by_key: dict[str, str] = {}
    for fits_of in sorted(
        settings.values(),
        key=lambda fits: (
            -sum(not fit[0] for fit in fits.values()),
            -len(fits),
            sorted(fits.values()),
        ),
    ):
        for key, fit in fits_of.items():
            run_by_key.setdefault(key, fit[-1])
    return run_by_key


def _common_keys(recipes: Sequence[Recipe], runs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the keys in which all RECIPES agree, including keys that only RUNS have, such as the
    rows of a sample.
    """
    values = [_values(recipe) for recipe in recipes]
    common = []
    for key in dict.fromkeys(chain(*values, *runs)):
        texts = {json.dumps(value.get(key)) for value in values}
        if len(texts) == 1:
            common.append(key)
    return common


def _finished_recipes(runs: Path) -> dict[str, Recipe]:
    recipes = {}
    for name in finished_runs(runs):
        with suppress(EmbedlabError):  # a run of another version of embedlab
            recipes[name] = recipe_of(runs, name)
    return recipes


def failed_trainings(
    table: PaperTable, runs: Path, names: Iterable[str], overrides: Sequence[str]
) -> dict[str, str]:
    """Return those of the runs called NAMES that say nothing about TABLE, each with its reason.

    Such a run failed to learn, or was trained on less than its recipe states, with the profile in
    OVERRIDES.
    """
    recipes = [expected_recipe(source, overrides) for _, source in trainings(table).values()]
    reasons = {}
    for name in names:
        base, _, seed = name.partition("@")
        run = RunFolder.of(runs, base, int(seed or 0))
        if not run.recipe_file.is_file():
            continue
        run_recipe = run.recipe()
        same_objectives = [
            recipe for recipe in recipes if _objectives(recipe) == _objectives(run_recipe)
        ]
        if flaw := trained_flaw(run):
            reasons[name] = flaw
        elif same_objectives and all(_is_less(run_recipe, recipe) for recipe in same_objectives):
            reasons[name] = "it was trained on fewer rows or for fewer steps than its recipe says"
    return reasons


def _is_less(recipe: Recipe, expected: Recipe) -> bool:
    """Return whether RECIPE ends earlier, or reads fewer rows, than the EXPECTED one."""
    if (recipe.max_steps or math.inf) < (expected.max_steps or math.inf):
        return True
    return any(
        (stage.data.rows or math.inf) < (expected_stage.data.rows or math.inf)
        or stage.optim.epochs < expected_stage.optim.epochs
        for stage, expected_stage in zip(recipe.stages, expected.stages, strict=False)
    )


def recipe_of(runs: Path, name: str) -> Recipe:
    """Return the recipe of a finished run, which all its seeds share."""
    return RunFolder.of(runs, name, next(iter(finished_seeds(runs, name)))).recipe()


def _objectives(recipe: Recipe) -> tuple[str, ...]:
    return tuple(stage.objective.name for stage in recipe.stages)


def _values(recipe: Recipe) -> dict[str, Any]:
    return {
        key: value
        for key, value in flatten(recipe_to_table(recipe)).items()
        if not key.startswith(NOT_DECISIVE)
    }


@dataclass(frozen=True, kw_only=True)
class RowModels:
    """Finds the models of a table's rows."""

    table: PaperTable
    runs: Path
    run_of: Mapping[str, str]  # the run's name by `RowSource.key`
    encoder: str  # the encoder of untuned rows
    seeds: Collection[int] | None = None  # None: all that are finished

    def members(self, source: RowSource) -> tuple[Member, ...]:
        """Return the models of a row, one a seed; empty where one is not available yet."""
        is_trained = source.recipe is not None
        run = self.run_of.get(source.key) if is_trained else source.model
        finished: Mapping[int, Path] = {}
        if run is not None and "/" not in run:  # that is the name of a folder
            finished = finished_seeds(self.runs, run)
        if is_trained or finished:
            names = {
                seed: f"{run}@{seed}"
                for seed in finished
                if self.seeds is None or seed in self.seeds
            }
            return tuple(
                Member(name=name, seed=seed, runs=frozenset({name})) for seed, name in names.items()
            )
        if source.pooling is not None:
            encoder = source.set.get(ENCODER, self.encoder)
            if not encoder:  # no other row says what is trained
                return ()
            return (Member(name=f"{encoder}?pooling={source.pooling}", seed=None),)
        if source.model is not None:
            return (Member(name=source.model, seed=None),)
        if source.combine is None:
            return ()
        row_members = [self.members(self.table.source_of(row)) for row in source.of]
        rows = (
            list(zip(row_members[0][::2], row_members[0][1::2], strict=False))
            if source.is_control
            else _by_seed(row_members)
        )
        return tuple(_combine_members(source.combine, row) for row in rows)

    def all_members(self) -> dict[str, RowMembers]:
        """Return the models of every row."""
        return {
            row: RowMembers(
                own=self.members(self.table.source_of(row)),
                by_column={
                    point.column: self.members(self.table.source_of(row, point))
                    for point in self.table.points
                    if point.row == row and point.set
                },
            )
            for row in self.table.sources
        }


def _combine_members(combine: str, members: Sequence[Member]) -> Member:
    name = f"{combine}({','.join(member.name for member in members)})"
    runs = frozenset(chain(*(member.runs for member in members)))
    return Member(name=name, seed=members[0].seed, runs=runs)


def _by_seed(rows: Sequence[Sequence[Member]]) -> list[tuple[Member, ...]]:
    """Return for each seed that all ROWS have the member of every row that has it."""
    by_seed = [{member.seed: member for member in members} for members in rows]
    shared_seeds = [seed for seed in by_seed[0] if all(seed in members for members in by_seed)]
    return [tuple(members[seed] for members in by_seed) for seed in shared_seeds]
