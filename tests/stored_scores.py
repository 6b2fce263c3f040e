"""What trainings and evaluations store, made up: scores, outcomes of items, finished runs."""

from typing import Any

import polars as pl

from embedlab.core.recipe import from_table
from embedlab.experiments.plan import Cell
from embedlab.runs.environment import Environment
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.runs.events import Dev, EventLog, Finished
from embedlab.runs.outcomes import StoredOutcomes


def score(slice_: str, value: float, metric: str = "spearman", **facts: Any) -> StoredScore:
    """A score of a dataset's 100 items, unless FACTS say otherwise."""
    usual = {"by": "dataset", "setting": "all", "items": 100}
    return StoredScore(slice=slice_, value=value, metric=metric, **usual | facts)


def evaluation(task: str, *scores: StoredScore, **facts: Any) -> Evaluation:
    """The SCORES of a model on TASK."""
    usual: dict[str, Any] = {"model": "m", "data": (), "marks": ()}
    how = {"precision": "float32", "pooling": "mean", "max_tokens": 9, "truncated": 0}
    return Evaluation(task=task, scores=scores, fingerprint="f", **how, **usual | facts)


def outcomes(dataset: str, items: pl.DataFrame, **facts: Any) -> StoredOutcomes:
    """What a model predicts of ITEMS."""
    usual: dict[str, Any] = {"task": "glue", "split": "dev", "model": "m", "classes": ()}
    known: dict[str, Any] = {"fingerprint": "f", "data": (), "marks": ()}
    return StoredOutcomes(dataset=dataset, items=items, **known, **usual | facts)


def finish_run(cell: Cell, *, dev: float | None = None, flaw: str = "") -> None:
    """Write the recipe and the events of a training of CELL that has ended."""
    run = cell.run
    run.recipe_file.unlink(missing_ok=True)  # of the program that stands in for trainings
    run.write_once(
        from_table(cell.variant.recipe, name="mine", where="test"),
        Environment(seed=cell.seed, device="cpu", precision="float32", threads=1, data=()),
    )
    with EventLog(run.events_file) as log:
        if dev is not None:
            log.append(Dev(step=1, score=dev))
        log.append(Finished(step=1, flaw=flaw))
