"""Results as tidy frames: one row a model, slice and metric, or a model and pair. The rows of JSON
and CSV are the same.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

Row = dict[str, Any]
Schema = Mapping[str, pl.DataType]

NUMBER, TEXT, COUNT, TRUTH = pl.Float64(), pl.String(), pl.Int64(), pl.Boolean()

COMPARED: Schema = {
    "task": TEXT,
    "by": TEXT,  # "dataset", "source" or another property of items, or "average" over datasets
    "slice": TEXT,
    "metric": TEXT,
    "setting": TEXT,  # the aggregation of correlations
    "model": TEXT,
    "score": NUMBER,  # as tables show it: x 100 where it is a share
    "low": NUMBER,  # 95% interval
    "high": NUMBER,
    "sd": NUMBER,  # over the seeds
    "seeds": COUNT,
    "items": COUNT,
    "sentences": COUNT,  # distinct ones; null where no items are behind the numbers
    "design_effect": NUMBER,  # of the score
    "topics": NUMBER,  # the effective number of independent ones
    # of the topic that weighs most in the differences shown, and its share of the variance
    "component_rows": COUNT,
    "component_share": NUMBER,
    "letters": TEXT,
    # pairs and sentences of the slice that are in the model's training data
    "shared_pairs": COUNT,
    "shared_sentences": COUNT,
    "published": NUMBER,  # what a paper prints for a model of this name
    "difference": NUMBER,  # from the first model; null of that model itself
    "difference_low": NUMBER,
    "difference_high": NUMBER,
    "difference_design_effect": NUMBER,
    "difference_without_topic": NUMBER,  # where it hangs on one topic
    "test": TEXT,  # null, as p and what follows from it, where the difference was not tested
    "p": NUMBER,
    "p_corrected": NUMBER,
    "p_equivalent": NUMBER,  # null, as "equivalent", where no margin was set
    "significant": TRUTH,
    # of a significant difference: "models", these recipes or published checkpoints, or
    # "checkpoints", these weights
    "reach": TEXT,
    "equivalent": TRUTH,
    "marks": TEXT,
}
EVALUATED: Schema = {
    "task": TEXT,
    "by": TEXT,
    "slice": TEXT,
    "metric": TEXT,
    "setting": TEXT,  # the aggregation of correlations, the classifier setting of accuracies
    "split": TEXT,
    "model": TEXT,
    "score": NUMBER,  # the mean over the seeds
    "low": NUMBER,  # 95% interval, of rank correlations of pairs
    "high": NUMBER,
    "sd": NUMBER,
    "seeds": COUNT,
    "items": COUNT,
    "shared_pairs": COUNT,
    "shared_sentences": COUNT,
    "marks": TEXT,
}
PAIRED: Schema = {
    "dataset": TEXT,
    "source": TEXT,
    "pair": COUNT,
    "sentence1": TEXT,
    "sentence2": TEXT,
    "gold": NUMBER,
    "dice": NUMBER,  # word overlap
    "gap": NUMBER,  # between the models' percentile ranks of the pair
    "model": TEXT,
    "similarity": NUMBER,
    "error": NUMBER,  # percentile rank of the similarity minus that of the gold score
    "shared_pairs": COUNT,  # 1 where the pair is in the model's training data
    "shared_sentences": COUNT,
    "marks": TEXT,
}


def tidy_frame(rows: Iterable[Row], schema: Schema) -> pl.DataFrame:
    """A frame with the columns of SCHEMA; what a row lacks or what is undefined is null."""
    values = ([row.get(name) for name in schema] for row in rows)
    known = [[None if value != value else value for value in row] for row in values]
    return pl.DataFrame(known, schema=dict(schema), orient="row")
