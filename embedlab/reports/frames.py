"""Results as tidy frames: one row a model, slice and metric, or a model and pair. The rows of JSON
and CSV are the same.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

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


def tidy_frame(rows: Iterable[Row], schema: Schema) -> pl.DataFrame:
    """A frame with the columns of SCHEMA; what a row lacks or what is undefined is null."""
    values = ([row.get(name) for name in schema] for row in rows)
    known = [[None if value != value else value for value in row] for row in values]
    return pl.DataFrame(known, schema=dict(schema), orient="row")
