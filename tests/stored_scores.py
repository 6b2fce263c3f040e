"""What trainings and evaluations read and store, made up: rows, scores, outcomes of items, runs."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from embedlab.analysis.evidence import Evidence, ModelColumns
from embedlab.comparison.comparison import Slicing, compare_slices
from embedlab.core.recipe import Recipe, from_table
from embedlab.data.dataset import DatasetState, Part
from embedlab.experiments.plan import Cell
from embedlab.runs.environment import Environment
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.events import Dev, Event, EventLog, Finished, Step
from embedlab.runs.outcomes import StoredOutcomes
from embedlab.runs.store import RunFolder
from embedlab.scoring.task_comparison import TaskComparison


def part_of(name: str, frame: pl.DataFrame, split: str = "test", **facts: Any) -> Part:
    """The rows of FRAME as those of a split of a dataset."""
    usual = {"expected_rows": None, "origin": "file"}
    state = DatasetState(name=name, split=split, rows=frame.height, **usual | facts)
    return Part(frame=frame, state=state)


def compared_items(
    evidence: Sequence[Evidence], models: Sequence[ModelColumns], **facts: Any
) -> TaskComparison:
    """MODELS compared on EVIDENCE, with nothing else known unless FACTS say so."""
    compared = vars(compare_slices(evidence, models, facts.pop("slicing", Slicing())))
    nothing: dict[str, Any] = {"shared": {}, "counts": {}, "facts": {}, "model_marks": {}}
    nothing |= {"notes": (), "signatures": {}, "states": (), "is_whole": True}
    return TaskComparison(**compared | nothing | facts)


def score(slice_: str, value: float, metric: str = "spearman", **facts: Any) -> StoredScore:
    """A score of a dataset's 100 items, unless FACTS say otherwise."""
    usual = {"by": "dataset", "setting": "all", "items": 100}
    return StoredScore(slice=slice_, value=value, metric=metric, **usual | facts)


def evaluation(task: str, *scores: StoredScore, **facts: Any) -> Evaluation:
    """The SCORES of a model on TASK."""
    usual: dict[str, Any] = {"model": "m", "fingerprint": "f", "data": (), "marks": ()}
    how = {"precision": "float32", "pooling": "mean", "max_tokens": 9, "truncated": 0}
    return Evaluation(task=task, scores=scores, **how, **usual | facts)


def outcomes(dataset: str, items: pl.DataFrame, **facts: Any) -> StoredOutcomes:
    """What a model predicts of ITEMS."""
    usual: dict[str, Any] = {"task": "glue", "split": "dev", "model": "m", "classes": ()}
    known: dict[str, Any] = {"fingerprint": "f", "data": (), "marks": ()}
    return StoredOutcomes(dataset=dataset, items=items, **known, **usual | facts)


def step_of(step: int, steps: int, **facts: Any) -> Step:
    """What a run reports of a step."""
    usual = {"stage": 0, "epoch": step / steps, "loss": 0.5, "lr": 2e-5}
    load = {"rows_per_s": 1.0, "eta_s": 0.0, "memory_mib": 1.0}
    return Step(step=step, steps=steps, **usual | load | facts)


def say(run: RunFolder, *logged: Event) -> None:
    """Let the run record events."""
    with EventLog(run.events_file) as log:
        for event in logged:
            log.append(event)


def begin_run(run: RunFolder, recipe: Recipe, *logged: Event, **facts: Any) -> RunFolder:
    """Write the RECIPE of a run, the circumstances with these FACTS, and what it recorded."""
    usual: dict[str, Any] = {"seed": run.seed, "device": "cpu", "precision": "float32"}
    run.write_once(recipe, Environment(**usual | {"threads": 1, "data": ()} | facts))
    say(run, *logged)
    return run


def finish_run(cell: Cell, *, dev: float | None = None, flaw: str = "") -> None:
    """Write the recipe and the events of a training of CELL that has ended."""
    cell.run.recipe_file.unlink(missing_ok=True)  # of the program that stands in for trainings
    recipe = from_table(cell.variant.recipe, name="mine", where="test")
    scores = [Dev(step=1, score=dev)] if dev is not None else []
    begin_run(cell.run, recipe, *scores, Finished(step=1, flaw=flaw))
