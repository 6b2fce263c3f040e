"""Differences between a reproduction and the paper: recipe keys, data, seeds, and those that the paper's file declares."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from embedlab.core.recipe import flatten
from embedlab.grids.grid_file import label_of
from embedlab.papers.matching_runs import NOT_DECISIVE
from embedlab.papers.table import Deviation, PaperTable
from embedlab.runs.evaluations import Evaluation

States = Iterable[Mapping[str, Any]]


def deviations(
    table: PaperTable,
    recipes: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]],
    evaluations: Iterable[Evaluation],
    data: Mapping[str, States],
    seeds: Mapping[str, int],
) -> list[Deviation]:
    """Return every deviation of a table with the rows that it holds for.

    By row: RECIPES are those of the paper and of the run, resolved; DATA the states of the training data; SEEDS the number of
    models.
    """
    evaluated = (state for evaluation in evaluations for state in evaluation.data)
    return [*_of_recipes(recipes), *_of_data(data), *_evaluated_on(evaluated), *_beforehand(table), *_of_seeds(table, seeds)]


def _of_recipes(recipes: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Iterator[Deviation]:
    """Yield one deviation for each key that a run sets differently from the paper."""
    rows_of: dict[tuple[str, str, str], list[str]] = {}
    for row, (printed, ours) in recipes.items():
        before, after = flatten(printed), flatten(ours)
        is_single = len(printed["stage"]) == 1
        for key in dict.fromkeys([*before, *after]):
            if before.get(key) != after.get(key) and not key.startswith(NOT_DECISIVE):
                short = key.removeprefix("stage.0.") if is_single else key
                rows_of.setdefault((short, _said(before.get(key)), _said(after.get(key))), []).append(row)
    for (key, before_, after_), rows in rows_of.items():
        yield Deviation(what=key, paper=before_, here=after_, rows=tuple(rows))


def _of_data(data: Mapping[str, States]) -> Iterator[Deviation]:
    rows_of: dict[Deviation, list[str]] = {}
    for row, states in data.items():
        for found in dict.fromkeys(_evaluated_on(states)):
            rows_of.setdefault(found, []).append(row)
    for found, rows in rows_of.items():
        yield replace(found, rows=tuple(rows))


def _evaluated_on(states: States) -> Iterator[Deviation]:
    """Yield one deviation for each dataset that is not complete."""
    yield from dict.fromkeys(found for state in states if (found := _of_state(state)) is not None)


def _of_state(state: Mapping[str, Any]) -> Deviation | None:
    what = f"{state['name']} {state['split']}"
    if state.get("sample"):
        return Deviation(what=what, paper="the corpus", here="sample: generated, no number is about real language")
    if state.get("partial"):
        return Deviation(what=what, paper=f"{state['expected_rows']} rows", here=f"{state['rows']} rows (partial)")
    return None


def _beforehand(table: PaperTable) -> Iterator[Deviation]:
    """Yield the deviations that the paper's file declares, limited to the rows of TABLE (rows on a replaced encoder are absent)."""
    for deviation in table.deviations:
        rows = tuple(row for row in deviation.rows if row in table.sources)
        if rows or not deviation.rows:
            yield replace(deviation, rows=rows)


def _of_seeds(table: PaperTable, seeds: Mapping[str, int]) -> Iterator[Deviation]:
    for count in sorted(set(seeds.values()) - {table.averaged}):
        rows = tuple(row for row, own in seeds.items() if own == count)
        yield Deviation(what="seeds per number", paper=str(table.averaged), here=str(count), rows=rows)


def rows_text(deviation: Deviation, trained: Sequence[str]) -> str:
    """Return the rows of a deviation as text; TRAINED are the labels of the trained rows."""
    if not deviation.rows:
        return "all trained" if deviation.is_of_training else "all"
    return "all trained" if len(trained) > 1 and set(trained) <= set(deviation.rows) else ", ".join(deviation.rows)


def _said(value: Any) -> str:
    return "not set" if value is None else label_of(value)
