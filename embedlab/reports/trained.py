"""What trained runs reached, as a tidy frame."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any

import polars as pl

from embedlab.core.recipe import EvaluateSection
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.status import Status
from embedlab.runs.store import RunFolder

_NUMBER, _TEXT, _COUNT = pl.Float64(), pl.String(), pl.Int64()

TRAINED: Mapping[str, pl.DataType] = {
    "run": _TEXT,
    "seed": _COUNT,
    "state": _TEXT,
    "steps": _COUNT,  # taken
    "task": _TEXT,  # "dev" for the dev score during training; null where a run has no score
    "by": _TEXT,
    "dataset": _TEXT,  # or another slice, as `by` says
    "metric": _TEXT,
    "setting": _TEXT,
    "split": _TEXT,
    "value": _NUMBER,  # as tables show it: x 100 where it is a share
    "items": _COUNT,
    "marks": _TEXT,
}


def trained_frame(
    runs: Iterable[tuple[RunFolder, Status]],
    selected: EvaluateSection,
    evaluations: Mapping[str, Sequence[Evaluation]],
) -> pl.DataFrame:
    """The scores of RUNS, with the columns TRAINED: that on the SELECTED dev set, and those of
    their EVALUATIONS by the run's id.
    """
    rows: list[dict[str, Any]] = []
    for run, status in runs:
        facts = {
            "run": run.id,
            "seed": run.seed,
            "state": status.state,
            "steps": status.step.step if status.step is not None else None,
        }
        scores = [
            *_dev_scores(status, selected),
            *(score for evaluation in evaluations.get(run.id, ()) for score in _scores(evaluation)),
        ]
        rows += [{**facts, **score} for score in scores or [{}]]
    return pl.DataFrame(
        [{name: row.get(name) for name in TRAINED} for row in rows], schema=dict(TRAINED)
    )


def _dev_scores(status: Status, selected: EvaluateSection) -> Iterator[dict[str, Any]]:
    """The dev score of the state that the model is of: the best one or the last."""
    if (dev := status.best_dev if selected.keep == "best" else status.dev) is not None:
        yield {
            "task": "dev",
            "by": "dataset",
            "dataset": selected.dev,
            "metric": "spearman",
            "value": dev.score,
        }


def _scores(evaluation: Evaluation) -> Iterator[dict[str, Any]]:
    for score in evaluation.scores:
        yield {
            "task": evaluation.task,
            "by": score.by,
            "dataset": score.slice,
            "metric": score.metric,
            "setting": score.setting,
            "split": score.split,
            "value": score.scale * score.value if isfinite(score.value) else None,
            "items": score.items,
            "marks": " ".join(evaluation.marks),
        }
