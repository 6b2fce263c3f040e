"""Results as tidy frames: one row a model, slice and metric."""

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from statistics import fmean, stdev
from typing import Any

import polars as pl

from embedlab.analysis.comparison import ComparedSlice, Difference, SliceScore
from embedlab.core.names import has_own_units
from embedlab.runs.evaluations import Evaluation

_NUMBER, _TEXT, _COUNT = pl.Float64(), pl.String(), pl.Int64()

COMPARED: Mapping[str, pl.DataType] = {
    "task": _TEXT,
    "slice": _TEXT,
    "metric": _TEXT,
    "model": _TEXT,
    "score": _NUMBER,  # as in tables: x 100 where it is a share
    "low": _NUMBER,  # 95% interval
    "high": _NUMBER,
    "sd": _NUMBER,  # over the seeds
    "seeds": _COUNT,
    "items": _COUNT,
    "letters": _TEXT,
    "difference": _NUMBER,  # from the first model; null for that model itself
    "difference_low": _NUMBER,
    "difference_high": _NUMBER,
    "p": _NUMBER,
    "p_corrected": _NUMBER,
    "significant": pl.Boolean(),
    "equivalent": pl.Boolean(),
    "marks": _TEXT,
}
EVALUATED: Mapping[str, pl.DataType] = {
    "task": _TEXT,
    "by": _TEXT,
    "slice": _TEXT,
    "metric": _TEXT,
    "setting": _TEXT,
    "split": _TEXT,
    "model": _TEXT,
    "score": _NUMBER,  # the mean over the seeds
    "sd": _NUMBER,
    "seeds": _COUNT,
    "items": _COUNT,
    "marks": _TEXT,
}


def compared_frame(slices: Iterable[ComparedSlice], marks: Sequence[str]) -> pl.DataFrame:
    """Return the scores and differences of compared models, with the columns COMPARED; undefined values are null."""
    rows = [_compared(one, model, score, one.differences.get(model), marks) for one in slices for model, score in one.scores.items()]
    return _frame(rows, COMPARED)


def evaluated_frame(evaluations: Mapping[str, Sequence[Evaluation]]) -> pl.DataFrame:
    """Return every number of the EVALUATIONS of each model's members, with the columns EVALUATED; undefined values are null."""
    rows: dict[tuple[str, ...], dict[str, Any]] = {}
    values: dict[tuple[str, ...], list[float]] = {}
    for model, own in evaluations.items():
        for evaluation in own:
            scale = 1.0 if has_own_units(evaluation.task) else 100.0
            for score in evaluation.scores:
                names = {"by": score.by, "slice": score.slice, "metric": score.metric, "setting": score.setting, "split": score.split or ""}
                key = (evaluation.task, model, *names.values())
                rows[key] = {"task": evaluation.task, "model": model, **names, "items": score.items, "marks": " ".join(evaluation.marks)}
                values.setdefault(key, []).append(scale * score.value)
    for key, row in rows.items():
        found = values[key]
        row |= {"score": fmean(found), "sd": stdev(found) if len(found) > 1 else None, "seeds": len(found)}
    return _frame(list(rows.values()), EVALUATED)


def _compared(one: ComparedSlice, model: str, score: SliceScore, difference: Difference | None, marks: Sequence[str]) -> dict[str, Any]:
    scale = 1.0 if has_own_units(one.task) else 100.0
    row: dict[str, Any] = {
        "task": one.task,
        "slice": one.key.removesuffix(f" {one.metric}"),
        "metric": one.metric,
        "model": model,
        "score": scale * score.value,
        "low": scale * score.low,
        "high": scale * score.high,
        "sd": scale * score.sd,
        "seeds": len(score.members),
        "items": one.pairs,
        "letters": score.letters,
        "marks": " ".join(marks),
    }
    if difference is None:
        return row
    return row | {
        "difference": scale * difference.delta,
        "difference_low": scale * difference.low,
        "difference_high": scale * difference.high,
        "p": difference.p,
        "p_corrected": difference.p_holm,
        "significant": difference.significant,
        "equivalent": difference.equivalent,
    }


def _frame(rows: Sequence[Mapping[str, Any]], schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    plain = [{name: _or_null(row.get(name)) for name in schema} for row in rows]
    return pl.DataFrame(plain, schema=dict(schema))


def _or_null(value: Any) -> Any:
    return None if isinstance(value, float) and isnan(value) else value
