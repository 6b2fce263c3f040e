"""Results as tidy frames: one row a model, slice and metric, or a model and pair. The rows of JSON
and CSV are the same.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import isnan
from statistics import fmean, stdev
from typing import Any

import polars as pl

from embedlab.analysis.comparison import ComparedSlice, Difference, SliceScore
from embedlab.data.shared_text import Overlap
from embedlab.runs.evaluations import Evaluation, StoredScore
from embedlab.tasks.task import scale_of

Row = dict[str, Any]
Schema = Mapping[str, pl.DataType]

_NUMBER, _TEXT, _COUNT = pl.Float64(), pl.String(), pl.Int64()

COMPARED: Schema = {
    "task": _TEXT,
    "by": _TEXT,  # "dataset", "source" or another property of items, or "average" over datasets
    "slice": _TEXT,
    "metric": _TEXT,
    "setting": _TEXT,  # the aggregation of correlations
    "model": _TEXT,
    "score": _NUMBER,  # as tables show it: x 100 where it is a share
    "low": _NUMBER,  # 95% interval
    "high": _NUMBER,
    "sd": _NUMBER,  # over the seeds
    "seeds": _COUNT,
    "items": _COUNT,
    "sentences": _COUNT,  # distinct ones; null where no items are behind the numbers
    "design_effect": _NUMBER,  # of the score
    "topics": _NUMBER,  # the effective number of independent ones
    # of the topic that weighs most in the differences shown, and its share of the variance
    "component_rows": _COUNT,
    "component_share": _NUMBER,
    "letters": _TEXT,
    # pairs and sentences of the slice that are in the model's training data
    "shared_pairs": _COUNT,
    "shared_sentences": _COUNT,
    "published": _NUMBER,  # what a paper prints for a model of this name
    "difference": _NUMBER,  # from the first model; null of that model itself
    "difference_low": _NUMBER,
    "difference_high": _NUMBER,
    "difference_design_effect": _NUMBER,
    "difference_without_topic": _NUMBER,  # where it hangs on one topic
    "test": _TEXT,  # null, as p and what follows from it, where the difference was not tested
    "p": _NUMBER,
    "p_corrected": _NUMBER,
    "p_equivalent": _NUMBER,  # null, as "equivalent", where no margin was set
    "significant": pl.Boolean(),
    # of a significant difference: "models", these recipes or published checkpoints, or
    # "checkpoints", these weights
    "reach": _TEXT,
    "equivalent": pl.Boolean(),
    "marks": _TEXT,
}
EVALUATED: Schema = {
    "task": _TEXT,
    "by": _TEXT,
    "slice": _TEXT,
    "metric": _TEXT,
    "setting": _TEXT,  # the aggregation of correlations, the classifier setting of accuracies
    "split": _TEXT,
    "model": _TEXT,
    "score": _NUMBER,  # the mean over the seeds
    "low": _NUMBER,  # 95% interval, of rank correlations of pairs
    "high": _NUMBER,
    "sd": _NUMBER,
    "seeds": _COUNT,
    "items": _COUNT,
    "shared_pairs": _COUNT,
    "shared_sentences": _COUNT,
    "marks": _TEXT,
}
PAIRED: Schema = {
    "dataset": _TEXT,
    "source": _TEXT,
    "pair": _COUNT,
    "sentence1": _TEXT,
    "sentence2": _TEXT,
    "gold": _NUMBER,
    "dice": _NUMBER,  # word overlap
    "gap": _NUMBER,  # between the models' percentile ranks of the pair
    "model": _TEXT,
    "similarity": _NUMBER,
    "error": _NUMBER,  # percentile rank of the similarity minus that of the gold score
    "shared_pairs": _COUNT,  # 1 where the pair is in the model's training data
    "shared_sentences": _COUNT,
    "marks": _TEXT,
}


Intervals = Mapping[tuple[str, ...], tuple[float, float]]
"""The 95% interval of a score by model, slice, metric and aggregation, if there is a choice."""


def tidy_frame(rows: Iterable[Row], schema: Schema) -> pl.DataFrame:
    """A frame with the columns of SCHEMA; what a row lacks or what is undefined is null."""
    return pl.DataFrame(
        [{name: _or_null(row.get(name)) for name in schema} for row in rows], schema=dict(schema)
    )


def compared_frame(
    slices: Iterable[ComparedSlice],
    *,
    marks: Sequence[str],
    by: str = "dataset",
    shared: Mapping[str, Mapping[str, Overlap]] | None = None,
    published: Mapping[tuple[str, str], float | None] | None = None,
) -> pl.DataFrame:
    """One row a model and slice, with the columns COMPARED. SHARED text is by model, then by slice;
    PUBLISHED scores by model and slice.
    """
    published = published or {}
    rows = (
        row
        | {"published": published.get((model, compared.key))}
        | _difference_fields(compared, compared.differences.get(model))
        for compared, model, row in _scored_rows(slices, marks, by, shared or {})
    )
    return tidy_frame(rows, COMPARED)


def scored_frame(
    slices: Iterable[ComparedSlice],
    *,
    marks: Sequence[str],
    by: str,
    shared: Mapping[str, Mapping[str, Overlap]],
) -> pl.DataFrame:
    """One row a model and slice, with the columns EVALUATED: what `compared_frame` says of each
    model alone.
    """
    return tidy_frame((row for _, _, row in _scored_rows(slices, marks, by, shared)), EVALUATED)


def evaluated_frame(
    evaluations: Mapping[str, Sequence[Evaluation]],
    *,
    where: Callable[[StoredScore], bool] = lambda _: True,
    intervals: Intervals | None = None,
) -> pl.DataFrame:
    """One row a model and number of the EVALUATIONS of its members, with the columns EVALUATED; of
    the scores those that WHERE chooses.
    """
    intervals = intervals or {}
    rows: dict[tuple[str, ...], Row] = {}
    values: dict[tuple[str, ...], list[float]] = {}
    for model, model_evaluations in evaluations.items():
        for evaluation in model_evaluations:
            for score in filter(where, evaluation.scores):
                names = _names_of(evaluation, score) | {"model": model}
                key = tuple(names.values())
                shared = overlap_fields(evaluation.overlaps.get(score.slice))
                low = high = None
                if score.split != "dev":
                    ends = next(
                        (
                            intervals[of]
                            for setting in (score.setting, "")
                            if (of := (model, score.slice, score.metric, setting)) in intervals
                        ),
                        None,
                    )
                    low, high = (score.scale * end for end in ends) if ends else (None, None)
                names |= {"low": low, "high": high}
                rows.setdefault(
                    key,
                    names | {"items": score.items, "marks": ", ".join(evaluation.marks)} | shared,
                )
                values.setdefault(key, []).append(score.scale * score.value)
    for key, row in rows.items():
        row |= {"score": fmean(values[key]), "sd": _spread(values[key]), "seeds": len(values[key])}
    return tidy_frame(rows.values(), EVALUATED)


def _scored_rows(
    slices: Iterable[ComparedSlice],
    marks: Sequence[str],
    by: str,
    shared: Mapping[str, Mapping[str, Overlap]],
) -> Iterator[tuple[ComparedSlice, str, Row]]:
    """Yield each slice with each model and what is known of its score."""
    for compared in slices:
        of_slice = _slice_fields(compared, by) | {"marks": ", ".join(marks)}
        for model, score in compared.scores.items():
            yield (
                compared,
                model,
                of_slice
                | _score_fields(compared, model, score)
                | overlap_fields(shared.get(model, {}).get(compared.key)),
            )


def _slice_fields(compared: ComparedSlice, by: str) -> Row:
    return {
        "task": compared.task,
        "by": "average" if compared.average_of else by,
        "slice": compared.slice_key,
        "metric": compared.metric,
        "setting": compared.setting,
        "items": compared.pairs,
        "sentences": compared.sentences or None,
        "topics": compared.topics,
        "component_rows": compared.largest_topic.rows if compared.largest_topic else None,
        "component_share": compared.largest_topic.share if compared.largest_topic else None,
    }


def _score_fields(compared: ComparedSlice, model: str, score: SliceScore) -> Row:
    scale = scale_of(compared.task, compared.metric)
    numbers = {"score": score.value, "low": score.low, "high": score.high, "sd": score.sd}
    scaled = {name: scale * value for name, value in numbers.items()}
    scaled["design_effect"] = score.uncertainty.design_effect
    return {"model": model, **scaled, "seeds": len(score.members), "letters": score.letters or None}


def _difference_fields(compared: ComparedSlice, difference: Difference | None) -> Row:
    if difference is None:
        return {}
    scale = scale_of(compared.task, compared.metric)
    return {
        "difference": scale * difference.delta,
        "difference_low": scale * difference.low,
        "difference_high": scale * difference.high,
        "difference_design_effect": difference.uncertainty.design_effect,
        "difference_without_topic": scale * difference.topic.without if difference.topic else None,
        **(_tested_fields(difference) if not isnan(difference.p_holm) else {}),
        **(
            {"p_equivalent": difference.p_equivalent, "equivalent": difference.equivalent}
            if not isnan(difference.p_equivalent)
            else {}
        ),
    }


def _tested_fields(difference: Difference) -> Row:
    return {
        "test": "dyadic",
        "p": difference.p,
        "p_corrected": difference.p_holm,
        "significant": difference.significant,
        "reach": difference.reach,
    }


def _names_of(evaluation: Evaluation, score: StoredScore) -> Row:
    """Which number it is."""
    return {
        "task": evaluation.task,
        "by": score.by,
        "slice": score.slice,
        "metric": score.metric,
        "setting": score.setting,
        "split": score.split or "",
    }


def overlap_fields(shared: Overlap | None) -> Row:
    """Return the counts of text that a slice shares with training text, where there is any."""
    return (
        {"shared_pairs": shared.shared_pairs, "shared_sentences": shared.shared_sentences}
        if shared
        else {}
    )


def _spread(values: Sequence[float]) -> float | None:
    """Standard deviation (n − 1); None for a single value, or where one is undefined."""
    return stdev(values) if len(values) > 1 and not any(map(isnan, values)) else None


def _or_null(value: Any) -> Any:
    return None if isinstance(value, float) and isnan(value) else value
