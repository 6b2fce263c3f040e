"""Measures: what turns the outcomes of items into a number, with the influence of each item on
it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from embedlab.analysis.binary import (
    area_under_roc,
    area_under_roc_influence,
    pair_average_precision,
    pair_average_precision_influence,
)
from embedlab.analysis.contrasts import is_closer
from embedlab.analysis.correlations import pearson, spearman_of_each
from embedlab.analysis.influence import (
    Floats,
    accuracy,
    accuracy_influence,
    f1,
    f1_influence,
    matthews,
    matthews_influence,
    pearson_influences,
    spearman_influences,
)
from embedlab.analysis.leaving_out import WithoutOf, scored_again, spearman_without
from embedlab.analysis.retrieval import (
    CUTS,
    FIRST,
    OfQueries,
    average_precision,
    mean_of_items,
    normalised_gain,
    query_influence,
    query_mean,
    reciprocal_rank,
    share_found,
)

Scale = Literal["correlation", "share", "plain"]  # which interval a score has


@dataclass(frozen=True, kw_only=True, eq=False)
class Measure:
    """A number that says how well predictions agree with gold values; gold and predictions are
    scores, or class indices.
    """

    name: str
    is_of_classes: bool  # its predictions are classes; otherwise scores, or ranks
    scale: Scale
    values: Callable[[Any, Sequence[Any]], Sequence[float]]  # gold, predictions by member
    influences: Callable[
        [Any, Sequence[Any]], Floats
    ]  # gold, predictions by member → (members, items), each row with mean zero
    without: WithoutOf  # its scores without some items
    # whether gold numbers the query or the anchor of an item; otherwise it is a score or a class
    is_of_queries: bool = False
    # whether predictions are ranks, the lowest the best; those of other measures of queries are
    # margins
    is_of_ranks: bool = False

    def value(self, gold: Any, predicted: Any) -> float:
        """Return the number of one member's predictions."""
        return self.values(gold, [predicted])[0]


def _value_of_each(
    value: Callable[[Any, Any], float], gold: Any, predictions: Sequence[Any]
) -> list[float]:
    return [value(gold, prediction) for prediction in predictions]


def _each(influence: Callable[[Any, Any], Floats], gold: Any, predictions: Sequence[Any]) -> Floats:
    return np.array([influence(gold, prediction) for prediction in predictions])


def _of_classes(
    name: str,
    scale: Scale,
    value: Callable[[Any, Any], float],
    influence: Callable[[Any, Any], Floats],
) -> Measure:
    """Return a measure of predicted classes, whose VALUE each item moves by its INFLUENCE."""
    return Measure(
        name=name,
        is_of_classes=True,
        scale=scale,
        values=partial(_value_of_each, value),
        influences=partial(_each, influence),
        without=scored_again(value),
    )


def _of_two_values(
    name: str, value: Callable[[Any, Any], float], influence: Callable[[Any, Any], Floats]
) -> Measure:
    """Return a measure of similarities where gold is 0 or 1."""
    return Measure(
        name=name,
        is_of_classes=False,
        scale="plain",
        values=partial(_value_of_each, value),
        influences=partial(_each, influence),
        without=scored_again(value),
    )


def _of_queries(name: str, scale: Scale, of: OfQueries, *, is_of_ranks: bool = True) -> Measure:
    """Return a mean over queries, of the ranks of the texts that are relevant to each; or over
    anchors, of the margins of each.
    """
    value, influence = partial(query_mean, of=of), partial(query_influence, of=of)
    return Measure(
        name=name,
        is_of_classes=False,
        scale=scale,
        values=partial(_value_of_each, value),
        influences=partial(_each, influence),
        without=scored_again(value),
        is_of_queries=True,
        is_of_ranks=is_of_ranks,
    )


MEASURES: Mapping[str, Measure] = MappingProxyType(
    {
        measure.name: measure
        for measure in (
            Measure(
                name="spearman",
                is_of_classes=False,
                scale="correlation",
                values=spearman_of_each,
                influences=spearman_influences,
                without=spearman_without,
            ),
            Measure(
                name="pearson",
                is_of_classes=False,
                scale="correlation",
                values=partial(_value_of_each, pearson),
                influences=pearson_influences,
                without=scored_again(pearson),
            ),
            _of_two_values(
                "average precision", pair_average_precision, pair_average_precision_influence
            ),
            _of_two_values("roc auc", area_under_roc, area_under_roc_influence),
            _of_classes("accuracy", "share", accuracy, accuracy_influence),
            _of_classes("f1", "plain", f1, f1_influence),
            _of_classes("matthews", "plain", matthews, matthews_influence),
            _of_queries(f"ndcg@{FIRST}", "plain", normalised_gain),
            _of_queries(f"mrr@{FIRST}", "plain", partial(reciprocal_rank, cut=FIRST)),
            _of_queries("map", "plain", average_precision),
            _of_queries("mrr", "plain", reciprocal_rank),
            *(
                _of_queries(f"recall@{cut}", "share", partial(share_found, cut=cut))
                for cut in sorted({*CUTS, 5})
            ),
            _of_queries(
                "entailed closer", "share", partial(mean_of_items, of=is_closer), is_of_ranks=False
            ),
            _of_queries("margin", "plain", mean_of_items, is_of_ranks=False),
        )
    }
)
