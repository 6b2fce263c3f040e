"""What of a reproduction differs from the paper: recipe keys, data, seeds, and what the paper's file says beforehand."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from embedlab.grids.grid_file import label_of
from embedlab.grids.paper_table import Deviation, PaperTable
from embedlab.grids.row_models import NOT_DECISIVE
from embedlab.recipe import flatten
from embedlab.runs.evaluations import Evaluation


def deviations(
    table: PaperTable,
    recipes: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]],
    evaluations: Iterable[Evaluation],
    data: Iterable[Mapping[str, Any]],
    seeds: Sequence[int],
) -> list[Deviation]:
    """Every deviation of a table: RECIPES are those of the paper and of the run, resolved, by row; DATA the states of what was learnt from.

    SEEDS: how many models are behind each row.
    """
    evaluated = [state for evaluation in evaluations for state in evaluation.data]
    found = [*_of_recipes(recipes), *_of_data([*data, *evaluated]), *table.deviations]
    ours = sorted(set(seeds))
    if ours and ours != [table.averaged]:
        here = " to ".join(dict.fromkeys(str(count) for count in (ours[0], ours[-1])))
        found.append(Deviation(what="seeds a number", paper=str(table.averaged), here=here))
    return list(dict.fromkeys(found))


def _of_recipes(recipes: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Iterator[Deviation]:
    """A line for each key that a run sets otherwise than the paper; the rows are named unless it is all of them."""
    rows_of: dict[tuple[str, str, str], list[str]] = {}
    for row, (printed, ours) in recipes.items():
        before, after = flatten(printed), flatten(ours)
        is_single = len(printed["stage"]) == 1
        for key in dict.fromkeys([*before, *after]):
            if before.get(key) != after.get(key) and not key.startswith(NOT_DECISIVE):
                short = key.removeprefix("stage.0.") if is_single else key
                rows_of.setdefault((short, _said(before.get(key)), _said(after.get(key))), []).append(row)
    for (key, before_, after_), rows in rows_of.items():
        where = "" if len(rows) == len(recipes) else f" ({', '.join(rows)})"
        yield Deviation(what=f"{key}{where}", paper=before_, here=after_)


def _of_data(states: Iterable[Mapping[str, Any]]) -> Iterator[Deviation]:
    for state in states:
        what = f"{state['name']} {state['split']}"
        if state.get("sample"):
            yield Deviation(what=what, paper="the corpus", here="sample: generated, no number is about real language")
        elif state.get("partial"):
            yield Deviation(what=what, paper=f"{state['expected_rows']} rows", here=f"{state['rows']} rows (partial)")


def _said(value: Any) -> str:
    return "not set" if value is None else label_of(value)
