"""Measures of ranks against plain loops, and their influence against what a little more weight
does.
"""

from math import inf, log2

import numpy as np
import pytest

from embedlab.analysis.measures import CUTS, MEASURES, MOST_GRADES, query_gold

NAMES = ("ndcg@10", "mrr@10", "map", "mrr", *(f"recall@{cut}" for cut in CUTS))

Ranked = tuple[np.ndarray, np.ndarray, np.ndarray]


def ranked(seed: int, queries: int = 12) -> Ranked:
    """Queries with one to four relevant texts each, in any order, the grades of these and their
    ranks, some of which are infinite.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, queries)
    query = np.repeat(np.arange(queries), sizes)
    ranks = np.concatenate([rng.choice(np.arange(1.0, 21), size, replace=False) for size in sizes])
    ranks[rng.random(len(ranks)) < 0.15] = inf
    order = rng.permutation(len(query))
    return query[order], rng.integers(1, 4, len(query))[order], ranks[order]


def of_one(name: str, grades: list[int], ranks: list[float]) -> float:
    cut = int(name.partition("@")[2] or 10**9)
    if name.startswith("ndcg"):
        gain = sum(
            grade / log2(rank + 1) for grade, rank in zip(grades, ranks, strict=True) if rank <= cut
        )
        return gain / sum(
            grade / log2(place + 1)
            for place, grade in enumerate(sorted(grades, reverse=True)[:cut], 1)
        )
    if name.startswith("mrr"):
        return 1 / min(ranks) if min(ranks) <= cut else 0.0
    if name == "map":
        return sum(place / rank for place, rank in enumerate(sorted(ranks), 1)) / len(ranks)
    return sum(rank <= cut for rank in ranks) / len(ranks)


def by_query(
    name: str, query: np.ndarray, grades: np.ndarray, ranks: np.ndarray
) -> dict[float, float]:
    own = {one: np.flatnonzero(query == one) for one in dict.fromkeys(query.tolist())}
    return {
        one: of_one(name, grades[rows].tolist(), ranks[rows].tolist()) for one, rows in own.items()
    }


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", range(4))
def test_a_score_is_the_mean_over_queries(name: str, seed: int) -> None:
    query, grades, ranks = ranked(seed)
    expected = np.mean(list(by_query(name, query, grades, ranks).values()))
    assert MEASURES[name].value(query_gold(query, grades), ranks) == pytest.approx(
        expected, abs=1e-14
    )


def test_grades_count_in_ndcg_alone_and_all_of_them_fit_beside_the_number_of_a_query() -> None:
    query, grades, ranks = ranked(3)
    for name in NAMES:
        graded, plain = (
            MEASURES[name].value(gold, ranks)
            for gold in (query_gold(query, grades), query.astype(float))
        )
        assert (graded != plain) == name.startswith("ndcg")
    highest = query_gold([7_000_000, 7_000_000], [MOST_GRADES, 1])
    assert MEASURES["ndcg@10"].value(highest, [2.0, 1.0]) == pytest.approx(
        of_one("ndcg@10", [MOST_GRADES, 1], [2, 1]), abs=1e-15
    )


def test_more_relevant_texts_than_ten_cannot_lower_the_highest_gain() -> None:
    assert MEASURES["ndcg@10"].value(np.zeros(14), np.arange(1.0, 15)) == pytest.approx(
        1, abs=1e-15
    )
    assert MEASURES["map"].value(np.zeros(14), np.arange(1.0, 15)) == pytest.approx(1, abs=1e-15)
