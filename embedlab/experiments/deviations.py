"""Differences between a reproduction and the paper: recipe keys, what recipes and the paper's file
declare, data, and seeds.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from embedlab.core.cache import TINY_ENCODER
from embedlab.core.overrides import PROFILE, DeclaredDeviation, merge_declared, short_keys
from embedlab.core.recipe import flatten, recipe_to_table
from embedlab.experiments.grid_file import label_of
from embedlab.experiments.matching_runs import NOT_DECISIVE
from embedlab.experiments.paper_table import Deviation, PaperTable, RowSource
from embedlab.experiments.paper_trainings import expected_recipe, trainings
from embedlab.runs.evaluations import Evaluation

States = Iterable[Mapping[str, Any]]


@dataclass(frozen=True, kw_only=True)
class RowRecipes:
    """The recipe of a row as the paper has it, and as it was run."""

    printed: Mapping[str, Any]  # the paper's, resolved
    run_recipe: Mapping[str, Any]  # the run's, resolved
    paper_deviations: tuple[DeclaredDeviation, ...]  # what the recipe declares of the paper
    declared: tuple[DeclaredDeviation, ...]  # what it declares under the profile of the run

    @classmethod
    def of(
        cls, source: RowSource, run_recipe: Mapping[str, Any], profile: Sequence[str] = ()
    ) -> "RowRecipes":
        """Return the recipes of a row from RUN RECIPE, the recipe of its run, and the override that
        selects its PROFILE.
        """
        printed = expected_recipe(replace(source, chosen={}))
        return cls(
            printed=recipe_to_table(printed),
            run_recipe=run_recipe,
            paper_deviations=printed.deviations,
            declared=expected_recipe(source, profile).deviations,
        )


def deviations(
    table: PaperTable,
    recipes: Mapping[str, RowRecipes],
    evaluations: Iterable[Evaluation],
    data: Mapping[str, States],
    seeds: Mapping[str, int],
) -> list[Deviation]:
    """Return every deviation of a table with the rows that it holds for.

    By row: RECIPES are those of the paper and of the run; DATA the states of the training data;
    SEEDS the number of models.
    """
    evaluation_states = (state for evaluation in evaluations for state in evaluation.data)
    return [
        *_merge_rows({row: _changed_keys(recipe) for row, recipe in recipes.items()}),
        *_merge_rows(
            {row: _declared(recipe, data.get(row, ())) for row, recipe in recipes.items()}
        ),
        *_merge_rows({row: _evaluated_on(states) for row, states in data.items()}),
        *_evaluated_on(evaluation_states),
        *_stated_by_paper(table),
        *_of_seeds(table, seeds),
    ]


def recipes_of(
    table: PaperTable, profile: str, overrides: Sequence[str] = (), encoder: str | None = None
) -> dict[str, RowRecipes]:
    """Return the recipe of each trained row of TABLE as the paper has it and as it would run under
    PROFILE with OVERRIDES, before anything is trained.
    """
    recipes = {}
    for label, source in trainings(table).values():
        profile_override = (f"{PROFILE}={profile}",)
        expected = expected_recipe(source, (*profile_override, *overrides), encoder)
        recipes[label] = RowRecipes.of(source, recipe_to_table(expected), profile_override)
    return recipes


def _merge_rows(deviations_by_row: Mapping[str, Iterable[Deviation]]) -> Iterator[Deviation]:
    """Yield each deviation once, with all rows that have it."""
    rows_by_deviation: dict[Deviation, list[str]] = {}
    for row, deviations in deviations_by_row.items():
        for deviation in deviations:
            rows_by_deviation.setdefault(deviation, []).append(row)
    for deviation, rows in rows_by_deviation.items():
        yield replace(deviation, rows=tuple(rows))


def _changed_keys(recipes: RowRecipes) -> Iterator[Deviation]:
    """Yield one deviation for each key that a run sets differently from the paper's recipe."""
    paper_values, run_values = flatten(recipes.printed), flatten(recipes.run_recipe)
    declared = {key: deviation for deviation in recipes.paper_deviations for key in deviation.keys}
    for key in dict.fromkeys([*paper_values, *run_values]):
        if paper_values.get(key) != run_values.get(key) and not key.startswith(NOT_DECISIVE):
            paper = declared[key].paper if key in declared else _value_text(paper_values.get(key))
            yield Deviation(
                what=_short([key], recipes),
                paper=paper,
                here=_value_text(run_values.get(key)),
                source=declared[key].source if key in declared else "",
            )


def _declared(recipes: RowRecipes, states: States) -> Iterator[Deviation]:
    """Yield the declared deviations of keys that the run sets as the recipe does; keys with the
    same declaration are one deviation. STATES say how many rows of generated data there are.
    """
    generated_rows = " and ".join(
        f"{state['name']}: {state['rows']:,} generated rows"
        for state in states
        if state.get("origin") == "tiny"
    )
    paper_values, run_values = flatten(recipes.printed), flatten(recipes.run_recipe)
    of_paper = {
        (key, declared.paper) for declared in recipes.paper_deviations for key in declared.keys
    }
    for deviation in merge_declared(recipes.declared):
        # A key that the run changes carries the paper's declaration in its own deviation.
        keys = [
            key
            for key in deviation.keys
            if paper_values.get(key) == run_values.get(key)
            or (key, deviation.paper) not in of_paper
        ]
        if keys:
            values = dict.fromkeys(_value_text(run_values.get(key)) for key in keys)
            setting = _short(keys, recipes)
            here = deviation.here or " / ".join(values)
            if generated_rows and "data.datasets" in setting:
                here = generated_rows
            yield Deviation(what=setting, paper=deviation.paper, here=here, source=deviation.source)


def _short(keys: Sequence[str], recipes: RowRecipes) -> str:
    return short_keys(keys, len(recipes.run_recipe["stage"]))


def _evaluated_on(states: States) -> Iterator[Deviation]:
    """Yield one deviation for each dataset that is not complete."""
    yield from dict.fromkeys(filter(None, map(_of_state, states)))


def _of_state(state: Mapping[str, Any]) -> Deviation | None:
    dataset = f"{state['name']} {state['split']}"
    if state.get("origin") == "tiny":
        return Deviation(
            what=dataset,
            paper="the corpus",
            here="generated: no number is about real language",
        )
    if state.get("partial"):
        return Deviation(
            what=dataset,
            paper=f"{state['expected_rows']} rows",
            here=f"{state['rows']} rows (partial)",
        )
    return None


def _stated_by_paper(table: PaperTable) -> Iterator[Deviation]:
    """Yield the deviations that the paper's file declares, limited to the rows of TABLE (rows on a
    replaced encoder are absent).
    """
    for deviation in table.deviations:
        rows = tuple(row for row in deviation.rows if row in table.sources)
        if rows or not deviation.rows:
            yield replace(deviation, rows=rows)


def _of_seeds(table: PaperTable, seeds: Mapping[str, int]) -> Iterator[Deviation]:
    for count in sorted(set(seeds.values()) - {table.averaged}):
        rows = tuple(row for row, seed in seeds.items() if seed == count)
        yield Deviation(
            what="seeds per number", paper=str(table.averaged), here=str(count), rows=rows
        )


def rows_text(deviation: Deviation, trained: Sequence[str]) -> str:
    """Return the rows of a deviation as text; TRAINED are the labels of the trained rows."""
    if not deviation.rows:
        return "all"
    is_of_all = len(trained) > 1 and set(trained) <= set(deviation.rows)
    return "all trained" if is_of_all else ", ".join(deviation.rows)


def _value_text(value: Any) -> str:
    if isinstance(value, str) and Path(value).parent.name == TINY_ENCODER:
        return "a small random encoder"
    return "not set" if value is None else label_of(value)
