"""What trained runs reached, as a tidy frame; the list of runs needs no polars."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite

import polars as pl

from embedlab.core.recipe import EvaluateSection
from embedlab.reports.frames import Row, schema_of, tidy_frame
from embedlab.reports.tables import attributes
from embedlab.runs.evaluations import Evaluation
from embedlab.runs.status import Status
from embedlab.runs.store import RunFolder

TRAINED = schema_of(
    """
    run text
    seed count
    state text
    steps count  # taken
    task text  # "dev" for the dev score during training; null where a run has no score
    by text
    dataset text  # or another slice, as `by` says
    metric text
    setting text
    split text
    value number  # as tables show it: x 100 where it is a share
    items count
    marks text
    """
)


def trained_frame(
    runs: Iterable[tuple[RunFolder, Status]],
    selected: EvaluateSection,
    evaluations: Mapping[str, Sequence[Evaluation]],
) -> pl.DataFrame:
    """Return the scores of RUNS, with the columns TRAINED: of the checkpoint that is kept on the
    SELECTED dev set, and of their EVALUATIONS by the run's id.
    """
    rows: list[Row] = []
    for run, status in runs:
        step = status.step.step if status.step is not None else None
        run_values = {"run": run.id, "seed": run.seed, "state": status.state, "steps": step}
        scores: list[Row] = []
        dev = status.best_dev if selected.keep == "best" else status.dev
        if dev is not None:
            scores = [
                {
                    "task": "dev",
                    "by": "dataset",
                    "dataset": selected.dev,
                    "metric": "spearman",
                    "value": dev.score,
                }
            ]
        for evaluation in evaluations.get(run.id, ()):
            scores += _scores(evaluation)
        rows += [run_values | score for score in scores or [{}]]
    return tidy_frame(rows, TRAINED)


def _scores(evaluation: Evaluation) -> Iterator[Row]:
    for score in evaluation.scores:
        yield {
            **attributes(score, "by metric setting split items"),
            "task": evaluation.task,
            "dataset": score.slice,
            "value": score.scale * score.value if isfinite(score.value) else None,
            "marks": " ".join(evaluation.marks),
        }
