"""Learning rates that a paper chose by a search: its rows take what that search chose here."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

from embedlab.core.recipe import recipe_to_table
from embedlab.experiments.paper_table import PaperTable
from embedlab.experiments.paper_trainings import expected_recipe, training_key, trainings
from embedlab.experiments.pivot import last_dev
from embedlab.experiments.plan import GridFolder, GridPlace, GridPlan
from embedlab.runs.status import run_status, trained_flaw


def with_chosen_rates(
    table: PaperTable, place: GridPlace, overrides: Sequence[str], encoder: str | None
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
        file = GridFolder.of(place.runs_folder, grid).plan_file
        plan = GridPlan.load(file) if file.is_file() else None
        scores = _dev_scores(plan) if plan is not None and plan.place.data == place.data else {}
        if plan is None or not scores:
            continue
        best = max(scores, key=lambda run: scores[run])
        searched = {variant.run: variant.recipe for variant in plan.variants}
        rate = searched[best]["stage"][0]["optim"]["lr"]
        is_taken = False
        for key, (_, source) in trainings(table).items():
            if (stage := stages.get(source.recipe or "")) is None:
                continue
            recipe = recipe_to_table(expected_recipe(source, overrides, encoder))
            if all(_start(own, 0) == _start(recipe, stage) for own in searched.values()):
                chosen.setdefault(key, {})[f"stage.{stage}.optim.lr"] = rate
                is_taken = True
        if is_taken:
            notes.append(
                f"grid {grid} chose the rate {rate:g}: mean dev score {scores[best]:.2f} over "
                f"{len(plan.seeds)} seeds"
            )
    if not chosen:
        return table, notes
    sources = {
        row: replace(source, chosen=chosen.get(training_key(source), {}))
        for row, source in table.sources.items()
    }
    points = tuple(
        replace(
            point, source=replace(point.source, chosen=chosen.get(training_key(point.source), {}))
        )
        for point in table.points
    )
    return replace(table, sources=sources, points=points), notes


def _start(recipe: Mapping[str, Any], stage: int) -> tuple[Any, Any]:
    """Return what a rate was searched for: the encoder, and the data of the stage."""
    return recipe["encoder"], recipe["stage"][stage]["data"]


def _dev_scores(plan: GridPlan) -> dict[str, float]:
    """Return the mean last dev score of each run whose trainings all learnt; nothing while any is
    not finished.
    """
    scores: dict[str, list[float]] = {}
    flawed = set()
    for cell in plan.cells:
        run = cell.run
        if not run.path.is_dir() or run_status(run).state != "finished":
            return {}
        dev = last_dev(run)
        if dev is None or trained_flaw(run):
            flawed.add(cell.variant.run)
        else:
            scores.setdefault(cell.variant.run, []).append(dev.score)
    return {run: fmean(values) for run, values in scores.items() if run not in flawed}
