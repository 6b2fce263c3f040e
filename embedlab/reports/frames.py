"""Results as tidy frames: one row a model, slice and metric, or a model and pair. The rows of JSON
and CSV are the same.
"""

from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from embedlab.reports.tables import TableCell

Row = dict[str, Any]
Schema = Mapping[str, pl.DataType]

_TYPES = {"text": pl.String(), "number": pl.Float64(), "count": pl.Int64(), "truth": pl.Boolean()}


def schema_of(text: str) -> Schema:
    """Return the columns that TEXT declares: a line a column, its name and its type, and behind #
    what it is.
    """
    lines = (line.partition("#")[0].split() for line in text.splitlines())
    return {name: _TYPES[kind] for name, kind in filter(None, lines)}


COMPARED = schema_of(
    """
    task text
    by text  # "dataset", "source" or another property of items, or "average" over datasets
    slice text
    metric text
    setting text  # the aggregation of correlations
    model text
    score number  # as tables show it: x 100 where it is a share
    low number  # 95% interval
    high number
    sd number  # over the seeds
    seeds count
    items count
    sentences count  # distinct ones; null where no items are behind the numbers
    design_effect number  # of the score
    topics number  # the effective number of independent ones
    # of the topic that weighs most in the differences shown, and its share of the variance
    component_rows count
    component_share number
    letters text
    # pairs and sentences of the slice that are in the model's training data
    shared_pairs count
    shared_sentences count
    published number  # what a paper prints for a model of this name
    difference number  # from the first model; null of that model itself
    difference_low number
    difference_high number
    difference_design_effect number
    difference_without_topic number  # where it hangs on one topic
    test text  # null, as p and what follows from it, where the difference was not tested
    p number
    p_corrected number
    p_equivalent number  # null, as "equivalent", where no margin was set
    significant truth
    # of a significant difference: "models", these recipes or published checkpoints, or
    # "checkpoints", these weights
    reach text
    equivalent truth
    marks text
    """
)
EVALUATED = schema_of(
    """
    task text
    by text
    slice text
    metric text
    setting text  # the aggregation of correlations, the classifier setting of accuracies
    split text
    model text
    score number  # the mean over the seeds
    low number  # 95% interval, of rank correlations of pairs
    high number
    sd number
    seeds count
    items count
    shared_pairs count
    shared_sentences count
    marks text
    """
)
PAIRED = schema_of(
    """
    dataset text
    source text
    pair count
    sentence1 text
    sentence2 text
    gold number
    dice number  # word overlap
    gap number  # between the models' percentile ranks of the pair
    model text
    similarity number
    error number  # percentile rank of the similarity minus that of the gold score
    shared_pairs count  # 1 where the pair is in the model's training data
    shared_sentences count
    marks text
    """
)


def tidy_frame(rows: Iterable[Row], schema: Schema) -> pl.DataFrame:
    """Return a frame with the columns of SCHEMA: the values of the cells of ROWS; one that is
    absent or nan is null.
    """
    lines = []
    for row in rows:
        cells = [row.get(name) for name in schema]
        values = [cell.value if isinstance(cell, TableCell) else cell for cell in cells]
        lines.append([value if value == value else None for value in values])
    return pl.DataFrame(lines, schema=dict(schema), orient="row")
