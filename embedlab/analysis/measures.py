"""Measures: what turns the outcomes of items into a number, with the influence of each item on
it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from embedlab.analysis.correlations import pearson, spearman, spearman_of_columns
from embedlab.analysis.influence import (
    Floats,
    accuracy,
    accuracy_influence,
    f1,
    f1_influence,
    matthews,
    matthews_influence,
    pearson_influence,
    spearman_influences,
)
from embedlab.analysis.leaving_out import Without, spearman_without

CUTS = (1, 10, 100)  # of recall@k in tables
TOPS = (1, 3, 10)  # ranks at which a predicted word counts as found
FIRST = 10  # of nDCG@10 and MRR@10
MOST_GRADES = 1024

OfQueries = Callable[["_Queries", Floats], Floats]
"""The value of each query, from the ranks of its items."""


def query_gold(query: ArrayLike, grades: ArrayLike) -> Floats:
    """Return the gold value of items: the number of the query, and as its fraction how much a grade
    from 1 to 1024 is above 1.
    """
    return (
        np.asarray(query, dtype=np.float64)
        + (np.asarray(grades, dtype=np.float64) - 1) / MOST_GRADES
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Queries:
    """Which query each item is of, and how relevant its text is."""

    index: NDArray[np.intp]  # (items,)
    sizes: NDArray[np.intp]  # (queries,) relevant texts
    grades: Floats  # (items,) 1 and more

    @classmethod
    def of(cls, gold: ArrayLike) -> Self:
        values = np.asarray(gold, dtype=np.float64)
        numbers = np.trunc(values)
        _, index, sizes = np.unique(numbers, return_inverse=True, return_counts=True)
        return cls(index=index, sizes=sizes, grades=(values - numbers) * MOST_GRADES + 1)

    def sums(self, values: Floats) -> Floats:
        """Return the sum of the VALUES of each query's items."""
        return np.bincount(self.index, weights=values, minlength=len(self.sizes)).astype(np.float64)

    def places(self, values: Floats) -> Floats:
        """Return the place of each item among those of its query in the order of VALUES, from 1."""
        order = np.lexsort((values, self.index))
        ranks = np.empty(len(order))
        ranks[order] = (
            1 + np.arange(len(order)) - np.repeat(np.cumsum(self.sizes) - self.sizes, self.sizes)
        )
        return ranks

    @cached_property
    def ideal(self) -> Floats:
        """The gain of each query where its texts come first, the most relevant before the
        others.
        """
        return self.sums(self.grades * _discount(self.places(np.negative(self.grades))))


def _discount(ranks: Floats) -> Floats:
    return np.where(ranks <= FIRST, 1 / np.log2(ranks + 1), 0.0)


def normalised_gain(queries: _Queries, ranks: Floats) -> Floats:
    """Return nDCG@10 of each query: the grades of its texts divided by log2(rank + 1), as a share
    of the highest that it could be.
    """
    return queries.sums(queries.grades * _discount(ranks)) / queries.ideal


def reciprocal_rank(queries: _Queries, ranks: Floats, *, cut: float = np.inf) -> Floats:
    """Return 1 over the rank of the first relevant text of each query, 0 where that is beyond
    CUT.
    """
    reciprocals = np.zeros(len(queries.sizes))
    np.maximum.at(reciprocals, queries.index, np.where(ranks <= cut, 1 / ranks, 0.0))
    return reciprocals


def average_precision(queries: _Queries, ranks: Floats) -> Floats:
    """Return the mean over the relevant texts of each query of the share of relevant texts among
    those up to its rank.
    """
    return queries.sums(queries.places(ranks) / ranks) / queries.sizes


def query_recall(queries: _Queries, ranks: Floats, *, cut: int) -> Floats:
    """Return the share of the relevant texts of each query that rank CUT or better."""
    return queries.sums((ranks <= cut).astype(np.float64)) / queries.sizes


def mean_of_query_items(
    queries: _Queries, numbers: Floats, *, of: Callable[[Floats], Floats] | None = None
) -> Floats:
    """Return the mean number of the items of each query, or of what OF makes of these numbers."""
    return queries.sums(numbers if of is None else of(numbers)) / queries.sizes


def query_mean(gold: ArrayLike, ranks: ArrayLike, *, of: OfQueries) -> float:
    """Return the mean over queries of the value OF each."""
    return float(of(_Queries.of(gold), np.asarray(ranks, dtype=np.float64)).mean())


def query_influence(gold: ArrayLike, ranks: ArrayLike, *, of: OfQueries) -> Floats:
    """Return the influence of each item on the mean over queries, (items,): divided by the number
    of items, those of a query add up to the query's own influence.
    """
    queries = _Queries.of(gold)
    values = of(queries, np.asarray(ranks, dtype=np.float64))
    shares: Floats = (
        ((values - values.mean()) / queries.sizes)[queries.index]
        * len(queries.index)
        / len(queries.sizes)
    )
    return shares


Rows = NDArray[np.intp]


def pair_average_precision(gold: Floats, scores: Floats) -> float:
    """Return the mean precision at the places of the positive pairs, equal scores as one place.

    gold, scores: (pairs,), gold 0 or 1; nan without a positive pair.
    """
    if not gold.any():
        return float("nan")
    hits, called, score_place = _cumulative_hits(gold, scores)
    return float((gold * (hits / called)[score_place]).sum() / gold.sum())


def pair_average_precision_influence(gold: Floats, scores: Floats) -> Floats:
    """Return the influence of each pair on average precision; (pairs,), with mean zero.

    With h, p the shares of positive pairs and of all pairs that score at least s, and π the share
    of positive ones, the measure is E[y h(s)/p(s)]/π. A pair changes the outer mean at its own
    place, and h and p at the places of all pairs that score at most as much.
    """
    n = len(gold)
    share = gold.mean()
    if share == 0:
        return np.full(n, np.nan)
    hits, called, score_place = _cumulative_hits(gold, scores)
    precision = hits / called
    positives = np.bincount(score_place, gold)  # at each place
    # Places are in descending order of scores: what scores at most as much comes at or after them.
    by_hits = np.cumsum((positives / called)[::-1])[::-1]
    by_called = np.cumsum((positives * precision / called)[::-1])[::-1]
    mean = float((gold * precision[score_place]).sum() / gold.sum())
    changes = gold * (precision[score_place] + by_hits[score_place] - mean) - by_called[score_place]
    influence: Floats = (changes - changes.mean()) / share
    return influence


def area_under_roc(gold: Floats, scores: Floats) -> float:
    """Return how often a positive pair scores more than a negative one, equal scores as a half.

    gold, scores: (pairs,), gold 0 or 1; nan where one of both is lacking.
    """
    share_below, _ = _shares_below_and_above(gold, scores)
    return float(share_below[gold == 1].mean()) if 0 < gold.sum() < len(gold) else float("nan")


def area_under_roc_influence(gold: Floats, scores: Floats) -> Floats:
    """Return the influence of each pair on the area under the ROC curve; (pairs,), mean zero."""
    share = gold.mean()
    if not 0 < share < 1:
        return np.full(len(gold), np.nan)
    share_below, share_above = _shares_below_and_above(gold, scores)
    area = share_below[gold == 1].mean()
    changes = np.where(gold == 1, (share_below - area) / share, (share_above - area) / (1 - share))
    influence: Floats = changes - changes.mean()
    return influence


def best_threshold(gold: Floats, scores: Floats, *, by_f1: bool) -> float:
    """Return the threshold, half-way between two scores, above which calling a pair positive gives
    the highest accuracy, or F1; of equally good ones the highest.

    gold, scores: (pairs,), gold 0 or 1.
    """
    hits, called, _ = _cumulative_hits(gold, scores)
    values = np.unique(scores)[::-1]
    hits, called = np.append(0, hits), np.append(0, called)  # nothing is called positive
    positives = gold.sum()
    quality = 2 * hits / (called + positives) if by_f1 and positives else 2 * hits - called
    thresholds = np.concatenate([[values[0] + 1], (values[:-1] + values[1:]) / 2, [values[-1] - 1]])
    return float(thresholds[int(np.argmax(quality))])


def classes_by_threshold(
    gold: Floats, scores: Floats, folds: Rows, *, by_f1: bool
) -> NDArray[np.int64]:
    """Return the class of each pair, 1 above the threshold that is best on the pairs of the other
    folds.

    gold, scores: (pairs,); folds: (pairs,), which of at least two folds a pair is in. Pairs of one
    topic must share a fold.
    """
    classes = np.zeros(len(gold), np.int64)
    for fold in np.unique(folds):
        in_fold = folds == fold
        threshold = best_threshold(gold[~in_fold], scores[~in_fold], by_f1=by_f1)
        classes[in_fold] = scores[in_fold] > threshold
    return classes


def two_folds(topics: Sequence[int] | NDArray[np.integer]) -> Rows:
    """Return a fold, 0 or 1, for each pair, so that topics stay whole and both have about half of
    the pairs; topics are put in a drawn order, the largest first.

    topics: (pairs,) the topic of each pair.
    """
    _, topic, sizes = np.unique(np.asarray(topics), return_inverse=True, return_counts=True)
    permutation = np.random.default_rng(0).permutation(len(sizes))
    order = permutation[np.argsort(-sizes[permutation], kind="stable")]
    fold_sizes = [0, 0]
    fold_of = np.zeros(len(sizes), np.intp)
    for number in order.tolist():
        fold_of[number] = int(fold_sizes[1] < fold_sizes[0])
        fold_sizes[fold_of[number]] += int(sizes[number])
    return fold_of[topic]


def _cumulative_hits(gold: Floats, scores: Floats) -> tuple[Floats, Floats, Rows]:
    """Return how many positive pairs and how many pairs score at least each different score, the
    highest first, and the place of each pair among these scores.
    """
    _, ascending, counts = np.unique(scores, return_inverse=True, return_counts=True)
    score_place = len(counts) - 1 - ascending
    hits: Floats = np.cumsum(np.bincount(score_place, gold, minlength=len(counts)))
    return hits, np.cumsum(counts[::-1]).astype(np.float64), score_place


def _shares_below_and_above(gold: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Return, for each pair, the share of negative pairs that score less and the share of positive
    pairs that score more; equal ones count half.
    """
    hits, called, score_place = _cumulative_hits(gold, scores)
    misses = called - hits
    at_hits = np.diff(hits, prepend=0)
    at_misses = np.diff(misses, prepend=0)
    negative = max(len(gold) - gold.sum(), 1)
    positive = max(gold.sum(), 1)
    share_below = (misses[-1] - misses + at_misses / 2)[score_place] / negative
    share_above = (hits - at_hits / 2)[score_place] / positive
    return share_below, share_above


def margins(entailed: ArrayLike, contradicted: ArrayLike) -> Floats:
    """Return by how much each entailed sentence is closer than the contradicted one, (items,), in
    units of the model's own spread.

    The spread is the standard deviation of all these similarities; where a model gives all pairs
    the same similarity, margins are 0.
    """
    first = np.asarray(entailed, np.float64)
    second = np.asarray(contradicted, np.float64)
    spread = float(np.std(np.concatenate([first, second]))) if len(first) else 0.0
    difference: Floats = first - second
    return difference / spread if spread > 0 else np.zeros_like(difference)


def is_closer(margin: Floats) -> Floats:
    """Return 1 where a margin is positive, ½ where it is 0, otherwise 0."""
    return (np.sign(margin) + 1) / 2


Scale = Literal["correlation", "share", "bounded", "signed", "plain"]
"""Which interval a score has: a share of rows, and what else is between 0 and 1, stays there, what
is signed between −1 and 1."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Measure:
    """A number that says how well predictions agree with gold values; gold and predictions are
    scores, or class indices.
    """

    name: str
    scale: Scale
    value: Callable[[Any, Any], float]  # of gold and one member's predictions
    influence: Callable[[Any, Any], Floats]  # the same by item, (items,), with mean zero
    is_of_classes: bool = False  # its predictions are classes; otherwise scores, or ranks
    # whether the items of the rarer of two classes decide it, however many others there are
    is_of_rarer: bool = False
    # whether gold numbers the query or the anchor of an item; otherwise it is a score or a class
    is_of_queries: bool = False
    # whether predictions are ranks, the lowest the best; those of other measures of queries are
    # margins
    is_of_ranks: bool = False

    def count_rarer(self, gold: Any) -> int | None:
        """Return how many items are of the rarer class, or do not have the gold score that most
        items have, where these decide the number.
        """
        if not (self.is_of_rarer or self.scale == "correlation"):
            return None
        if not len(gold):
            return 0
        # a score that half of the items have is one of the two in the middle
        middle = [(len(gold) - 1) // 2, len(gold) // 2]
        scores = np.partition(gold, middle)[middle]
        others = len(gold) - max(int(np.sum(gold == score)) for score in scores)
        return others if 2 * others <= len(gold) else None

    def unseen_variance(self, gold: Any) -> float:
        """Return the variance of a difference if one more item were right for each model alone: few
        items that tell models apart understate it; 0 where it is not known how far one would count.

        An accuracy moves by 1/n; a mean over queries by half as much as a query counts; what the
        rarer class decides by half an item of it, or by a quarter where ranks soften it.
        """
        step = 0.0
        if self.scale == "share":
            step = 1 / len(gold)
        elif self.is_of_ranks:
            step = 0.5 / len(_Queries.of(gold).sizes)
        elif self.is_of_rarer:
            step = (0.5 if self.is_of_classes else 0.25) / max(self.count_rarer(gold) or 0, 1)
        return 2 * step**2

    def values(self, gold: Any, predictions: Sequence[Any]) -> Sequence[float]:
        """Return the number of each member; PREDICTIONS are by member."""
        return [self.value(gold, prediction) for prediction in predictions]

    def influences(self, gold: Any, predictions: Sequence[Any]) -> Floats:
        """Return the influence of each item on each member's number; (members, items)."""
        return np.array([self.influence(gold, prediction) for prediction in predictions])

    def without(self, gold: Any, predictions: Sequence[Any]) -> Without:
        """Return the numbers without some items: a measure that is quick is computed again."""

        def score_without(rows: NDArray[np.bool_]) -> Floats:
            is_kept = ~rows
            if not is_kept.any():
                return np.full(len(predictions), np.nan)
            kept_predictions = [prediction[is_kept] for prediction in predictions]
            return np.array(self.values(gold[is_kept], kept_predictions))

        return score_without


class _Spearman(Measure):
    """Spearman's correlation, for which gold is put in order once for all members."""

    def values(self, gold: Any, predictions: Sequence[Any]) -> Sequence[float]:
        return spearman_of_columns(gold, predictions)

    def influences(self, gold: Any, predictions: Sequence[Any]) -> Floats:
        return spearman_influences(gold, predictions)

    def without(self, gold: Any, predictions: Sequence[Any]) -> Without:
        return spearman_without(gold, predictions)


def _query_measure(name: str, scale: Scale, of: OfQueries, *, is_of_ranks: bool = True) -> Measure:
    """Return a mean over queries, of the ranks of the texts that are relevant to each; or over
    anchors, of the margins of each.
    """
    return Measure(
        name=name,
        scale=scale,
        value=partial(query_mean, of=of),
        influence=partial(query_influence, of=of),
        is_of_queries=True,
        is_of_ranks=is_of_ranks,
    )


_MEASURES = (
    _Spearman(name="spearman", scale="correlation", value=spearman, influence=spearman_influences),
    Measure(name="pearson", scale="correlation", value=pearson, influence=pearson_influence),
    Measure(
        name="average precision",
        scale="bounded",
        value=pair_average_precision,
        influence=pair_average_precision_influence,
        is_of_rarer=True,
    ),
    Measure(
        name="roc auc",
        scale="bounded",
        value=area_under_roc,
        influence=area_under_roc_influence,
        is_of_rarer=True,
    ),
    Measure(
        name="accuracy",
        scale="share",
        value=accuracy,
        influence=accuracy_influence,
        is_of_classes=True,
    ),
    Measure(
        name="f1",
        scale="bounded",
        value=f1,
        influence=f1_influence,
        is_of_classes=True,
        is_of_rarer=True,
    ),
    Measure(
        name="matthews",
        scale="signed",
        value=matthews,
        influence=matthews_influence,
        is_of_classes=True,
        is_of_rarer=True,
    ),
    _query_measure(f"ndcg@{FIRST}", "bounded", normalised_gain),
    _query_measure(f"mrr@{FIRST}", "bounded", partial(reciprocal_rank, cut=FIRST)),
    _query_measure("map", "bounded", average_precision),
    _query_measure("mrr", "bounded", reciprocal_rank),
    *(
        _query_measure(f"recall@{cut}", "share", partial(query_recall, cut=cut))
        for cut in sorted({*CUTS, 5})
    ),
    *(_query_measure(f"top-{cut}", "share", partial(query_recall, cut=cut)) for cut in TOPS),
    _query_measure(
        "entailed closer",
        "share",
        partial(mean_of_query_items, of=is_closer),
        is_of_ranks=False,
    ),
    _query_measure("margin", "plain", mean_of_query_items, is_of_ranks=False),
)
MEASURES: Mapping[str, Measure] = MappingProxyType({measure.name: measure for measure in _MEASURES})
