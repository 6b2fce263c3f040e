"""Which models stand for the rows of a paper's table: runs that fit a recipe, encoders as they are, combinations of rows."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from embedlab.core.errors import EmbedlabError
from embedlab.core.recipe import Recipe, flatten, recipe_to_table
from embedlab.core.schema import unbuild
from embedlab.models.catalog import finished_runs, finished_seeds
from embedlab.papers.plan import expected_recipe, keys_set, training_key, trainings
from embedlab.papers.table import ENCODER, PaperTable, RowSource
from embedlab.runs.store import RunFolder

CellKey = tuple[str, str]  # row and column of a table

_Fit = tuple[bool, bool, int, str]  # of another recipe, of another name, differences, the run's name

NOT_DECISIVE = ("summary", "evaluate.")  # keys that do not tell one row's training from another's


@dataclass(frozen=True, kw_only=True)
class Member:
    """One model behind a number: what a user types for it, and its seed where it has one."""

    name: str
    seed: int | None
    runs: frozenset[str] = frozenset()  # those behind it: of a combination those of its parts


def find_runs_of(table: PaperTable, runs: Path, overrides: Sequence[str], encoder: str | None) -> dict[str, str]:
    """For each training of a table the finished run that fits it, where there is one.

    Best is a run whose recipe is the row's to the last value. Otherwise it must come from the row's recipe and agree in every
    key that the row sets or that tells the table's own rows apart; of several those win that agree with the other rows' runs in
    everything else, then the one named like the recipe, then the one with the fewest differences.
    """
    there = _finished_recipes(runs)
    wanted = {key: (source, expected_recipe(source, overrides, encoder)) for key, (_, source) in trainings(table).items()}
    fitting = {}
    for key, (source, expected) in wanted.items():
        siblings = [_values(recipe) for _, recipe in wanted.values() if _objectives(recipe) == _objectives(expected)]
        decisive = {name for name in _values(expected) if len({json.dumps(values.get(name)) for values in siblings}) > 1}
        decisive |= keys_set(source) & _values(expected).keys()
        is_free = source.encoder is None and encoder is None
        own = {name: recipe for name, recipe in there.items() if _is_of(expected, recipe, runs)}
        fitting[key] = _fitting(expected, decisive - ({ENCODER} if is_free else set()), own)
    values = {name: _values(recipe) for name, recipe in there.items()}
    return _alike(fitting, values, _common([recipe for _, recipe in wanted.values()], values.values()))


def settings_apart(table: PaperTable, runs: Path, run_of: Mapping[str, str]) -> dict[str, list[str]]:
    """The keys in which the runs behind the rows differ from each other though the paper's rows do not, with their values."""
    values = [_values(_recipe_of(runs, name)) for name in dict.fromkeys(run_of.values())]
    common = _common([expected_recipe(source) for _, source in trainings(table).values()], values)
    found = {key: list(dict.fromkeys(json.dumps(own.get(key)) for own in values)) for key in common if key != ENCODER}
    return {key: texts for key, texts in found.items() if len(texts) > 1}


def _is_of(expected: Recipe, recipe: Recipe, runs: Path) -> bool:
    """Whether RECIPE is the EXPECTED one, whatever its numbers are set to.

    A summary belongs to one recipe, of which a run keeps it; a recipe of the user's own may train the same thing under another.
    What starts from another run of the folder has been trained on more than its own stages say.
    """
    if recipe.encoder.model != expected.encoder.model and _starts_from_run(recipe, runs):
        return False
    is_same = recipe.summary == expected.summary and _objectives(recipe) == _objectives(expected)
    return is_same or _signal(recipe) == _signal(expected)


def _starts_from_run(recipe: Recipe, runs: Path) -> bool:
    start = Path(recipe.encoder.model.partition("?")[0].partition("@")[0])
    folder = (runs / start).resolve()
    return folder.is_dir() and folder != runs.resolve() and folder.is_relative_to(runs.resolve())


def _signal(recipe: Recipe) -> str:
    """What a recipe learns from and how, apart from how much of it and at which rate."""
    stages = [[stage.data.datasets, stage.data.split, unbuild(stage.objective)] for stage in recipe.stages]
    return json.dumps([recipe.encoder.pooling, stages, unbuild(recipe.mix)])


def _fitting(expected: Recipe, decisive: set[str], there: Mapping[str, Recipe]) -> list[_Fit]:
    """The runs that may stand for a recipe, the best first."""
    values = _values(expected)
    fits: list[_Fit] = []
    for name, recipe in there.items():
        own = _values(recipe)
        if all(own.get(key) == values[key] for key in decisive):
            differences = sum(own.get(key) != value for key, value in values.items())
            fits.append((recipe.hash != expected.hash, name != expected.name, differences, name))
    return sorted(fits)


def _alike(fitting: Mapping[str, Sequence[_Fit]], values: Mapping[str, Mapping[str, Any]], common: Sequence[str]) -> dict[str, str]:
    """One run for each training: as many as can be from runs alike in the COMMON keys, then of the rest."""
    settings: dict[str, dict[str, _Fit]] = {}
    for key, fits in fitting.items():
        for fit in fits:
            setting = json.dumps([values[fit[-1]].get(name) for name in common])
            settings.setdefault(setting, {}).setdefault(key, fit)
    found: dict[str, str] = {}
    for fits_of in sorted(settings.values(), key=lambda own: (-sum(not fit[0] for fit in own.values()), -len(own), sorted(own.values()))):
        for key, fit in fits_of.items():
            found.setdefault(key, fit[-1])
    return found


def _common(recipes: Sequence[Recipe], runs: Iterable[Mapping[str, Any]]) -> list[str]:
    """The keys in which all of the RECIPES agree, be it that none has them: then those of RUNS alone, such as a sample's rows."""
    values = [_values(recipe) for recipe in recipes]
    keys = dict.fromkeys(key for own in (*values, *runs) for key in own)
    return [key for key in keys if len({json.dumps(own.get(key)) for own in values}) == 1]


def _finished_recipes(runs: Path) -> dict[str, Recipe]:
    found = {}
    for name in finished_runs(runs):
        with suppress(EmbedlabError):  # a run of another version of embedlab
            found[name] = _recipe_of(runs, name)
    return found


def _recipe_of(runs: Path, name: str) -> Recipe:
    """The recipe of a finished run, which its seeds share."""
    return RunFolder.of(runs, name, next(iter(finished_seeds(runs, name)))).recipe()


def _objectives(recipe: Recipe) -> tuple[str, ...]:
    return tuple(stage.objective.name for stage in recipe.stages)


def _values(recipe: Recipe) -> dict[str, Any]:
    return {key: value for key, value in flatten(recipe_to_table(recipe)).items() if not key.startswith(NOT_DECISIVE)}


@dataclass(frozen=True, kw_only=True)
class RowModels:
    """Finds the models of a table's rows."""

    table: PaperTable
    runs: Path
    run_of: Mapping[str, str]  # the run's name by `training`
    encoder: str  # what untuned rows take
    seeds: Collection[int] | None = None  # None: all that are finished

    def members(self, source: RowSource) -> tuple[Member, ...]:
        """The models behind a making, one a seed; none where something is not there yet."""
        if source.recipe is not None:
            run = self.run_of.get(training_key(source))
            there = finished_seeds(self.runs, run) if run is not None else {}
            names = {seed: f"{run}@{seed}" for seed in there if self.seeds is None or seed in self.seeds}
            return tuple(Member(name=name, seed=seed, runs=frozenset({name})) for seed, name in names.items())
        if source.pooling is not None:
            return (Member(name=f"{source.set.get(ENCODER, self.encoder)}?pooling={source.pooling}", seed=None),)
        if source.combine is None:
            return ()
        parts = [self.members(self.table.sources[row]) for row in source.of]
        rows = _couples(parts[0]) if source.is_control else _by_seed(parts)
        return tuple(_combined(source.combine, row) for row in rows)

    def all_members(self) -> dict[CellKey, tuple[Member, ...]]:
        """The models behind every number by row and column, and behind every row under the column ""."""
        rows = {(row, ""): self.members(source) for row, source in self.table.sources.items()}
        return {**rows, **{(point.row, point.column): self.members(point.source) for point in self.table.points}}


def _combined(combine: str, parts: Sequence[Member]) -> Member:
    name = f"{combine}({','.join(part.name for part in parts)})"
    return Member(name=name, seed=parts[0].seed, runs=frozenset().union(*(part.runs for part in parts)))


def _couples(members: Sequence[Member]) -> list[tuple[Member, ...]]:
    """The members two by two; no seed counts twice, so that the couples vary as much as trainings do."""
    return list(zip(members[::2], members[1::2], strict=False))


def _by_seed(parts: Sequence[Sequence[Member]]) -> list[tuple[Member, ...]]:
    """The members of all PARTS that have one seed, for every seed that all of them have."""
    by_seed = [{member.seed: member for member in part} for part in parts]
    return [tuple(part[seed] for part in by_seed) for seed in by_seed[0] if all(seed in part for part in by_seed)]
