"""Measures of ranks against plain loops, and their influence against what a little more weight does."""

import numpy as np
import pytest

from embedlab.analysis.dependence import SharedSentences
from embedlab.analysis.evidence import evidence_of
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.retrieval import CUTS

NAMES = ("mrr", *(f"recall@{cut}" for cut in CUTS))


def ranked(seed: int, queries: int = 12) -> tuple[np.ndarray, np.ndarray]:
    """Queries with one to four relevant texts each, in any order, and their ranks."""
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(queries), rng.integers(1, 5, queries))
    order = rng.permutation(len(query))
    return query[order].astype(float), rng.integers(1, 15, len(query)).astype(float)


def of_one(name: str, ranks: list[float]) -> float:
    if name == "mrr":
        return 1 / min(ranks)
    return sum(rank <= int(name.partition("@")[2]) for rank in ranks) / len(ranks)


def by_query(name: str, query: np.ndarray, ranks: np.ndarray) -> dict[float, float]:
    return {one: of_one(name, [rank for own, rank in zip(query, ranks, strict=True) if own == one]) for one in dict.fromkeys(query)}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_a_score_is_the_mean_over_queries(name: str, seed: int) -> None:
    query, ranks = ranked(seed)
    assert MEASURES[name].value(query, ranks) == pytest.approx(np.mean(list(by_query(name, query, ranks).values())), abs=1e-15)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_the_influence_of_a_query_is_what_a_little_more_weight_of_it_changes(name: str, seed: int) -> None:
    query, ranks = ranked(seed)
    (found,) = MEASURES[name].influences(query, [ranks])
    values = by_query(name, query, ranks)
    assert found.sum() == pytest.approx(0, abs=1e-12)
    count, step = len(values), 1e-6
    for one in values:
        weights = {other: 1 / count + step * ((other == one) - 1 / count) for other in values}
        moved = sum(weights[other] * values[other] for other in values)
        slope = (moved - np.mean(list(values.values()))) / step
        assert found[query == one].sum() / len(query) == pytest.approx(slope / count, abs=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_the_variance_is_that_of_independent_queries_where_they_share_no_text(name: str) -> None:
    query, ranks = ranked(7, queries=200)
    texts = np.stack([query.astype(np.uint64), 10_000 + np.arange(len(query), dtype=np.uint64)], axis=1)
    evidence = evidence_of("retrieval", "faq", query, {0: ranks}, 1, measure=MEASURES[name], texts=texts)
    assert evidence.rows is not None
    found = evidence.rows.shared.sums(evidence.rows.contributions).variances().value[0]
    values = np.array(list(by_query(name, query, ranks).values()))
    assert found == pytest.approx(values.var(ddof=1) / len(values), rel=0.03)


def test_queries_that_share_a_relevant_text_are_dependent() -> None:
    query, ranks = np.arange(20.0), np.repeat([1.0, 20.0], 10)
    alone = SharedSentences.of(np.arange(20), 100 + np.arange(20))
    joint = SharedSentences.of(np.arange(20), 100 + np.arange(20) // 2)
    (moved,) = MEASURES["mrr"].influences(query, [ranks])
    values = [shared.sums(moved[None] / 20).variances().value[0] for shared in (alone, joint)]
    assert values[1] > 1.8 * values[0]
