"""The probability that an order holds, beside bootstraps written out and scipy."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import kendalltau, norm, rankdata, spearmanr, t, ttest_ind

from embedlab.analysis.evidence import SliceRows
from embedlab.analysis.influence import spearman_influences
from embedlab.analysis.ordering import Estimate, Order, Ordering, kendall

PAIRS = 400


def estimate(
    scores: list[np.ndarray],
    gold: np.ndarray,
    *,
    texts: np.ndarray | None = None,
    is_recipe: bool = True,
) -> Estimate:
    rows = SliceRows(
        contributions=spearman_influences(gold, np.array(scores)) / len(gold),
        texts=np.arange(2 * len(gold), dtype=np.uint64).reshape(-1, 2) if texts is None else texts,
        groups=np.zeros(len(gold), np.intp),
    )
    return Estimate(
        members=np.array([spearmanr(gold, one).statistic for one in scores]),
        rows=rows,
        is_recipe=is_recipe,
    )


def rank_correlations(gold: np.ndarray, scores: np.ndarray, samples: np.ndarray) -> np.ndarray:
    """What spearmanr gives in each of the SAMPLES of rows, all at once."""
    first, second = (
        ranks - ranks.mean(1, keepdims=True)
        for ranks in (rankdata(one[samples], axis=1) for one in (gold, scores))
    )
    correlations: np.ndarray = (first * second).sum(1) / np.sqrt(
        (first**2).sum(1) * (second**2).sum(1)
    )
    return correlations


@pytest.fixture
def gold() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 11, PAIRS) / 2


def noisy(gold: np.ndarray, noise: float, seed: int) -> np.ndarray:
    scores: np.ndarray = gold + np.random.default_rng(seed).normal(scale=noise, size=len(gold))
    return scores


def test_the_probability_is_the_share_of_bootstrap_resamples_in_which_the_first_wins(
    gold: np.ndarray,
) -> None:
    near, far = noisy(gold, 2.0, 1), noisy(gold, 2.15, 2)
    found = Ordering([estimate([near], gold), estimate([far], gold)]).order(0, 1)
    samples = np.random.default_rng(3).integers(0, PAIRS, (2000, PAIRS))
    drawn = rank_correlations(gold, near, samples) - rank_correlations(gold, far, samples)
    assert found.probability == pytest.approx(np.mean(drawn > 0), abs=0.03)
    assert (found.low, found.high) == pytest.approx(
        tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.01
    )
    turned = Ordering([estimate([far], gold), estimate([near], gold)]).order(0, 1)
    assert turned.probability == pytest.approx(1 - found.probability)


def test_estimates_are_compared_row_by_row_next_to_others_of_other_rows(gold: np.ndarray) -> None:
    pair = [estimate([noisy(gold, noise, 1)], gold) for noise in (2.0, 2.2)]
    others = [estimate([noisy(gold[:300], noise, 5)], gold[:300]) for noise in (1.0, 3.0)]
    alone = Ordering(pair)
    ordering = Ordering([others[0], pair[0], others[1], pair[1]])
    assert ordering.order(1, 3) == alone.order(0, 1)
    assert ordering.order(0, 2) == Ordering(others).order(0, 1)
    assert ordering.agreement([1, 3], [2, 1]) == alone.agreement([0, 1], [2, 1])
    mixed = ordering.agreement([0, 1, 2, 3], [4, 3, 2, 1])
    assert mixed.low <= mixed.tau <= mixed.high


def test_seeds_make_an_order_less_sure(gold: np.ndarray) -> None:
    steady = [estimate([noisy(gold, noise, 1)] * 3, gold) for noise in (1.5, 1.8)]
    spread = [
        Estimate(members=one.members + np.array([-0.1, 0.0, 0.1]), rows=one.rows) for one in steady
    ]
    assert Ordering(steady).order(0, 1).probability > Ordering(spread).order(0, 1).probability


def test_an_accuracy_without_stored_items_varies_as_a_binomial_share() -> None:
    share, items = 0.8, 250
    found = Ordering(
        [
            Estimate(members=np.array([value]), other=share * (1 - share) / items)
            for value in (0.83, 0.8)
        ]
    ).order(0, 1)
    assert found.probability == pytest.approx(
        norm.cdf(0.03 / np.sqrt(2 * share * (1 - share) / items)), abs=1e-6
    )


def test_without_anything_that_varies_there_is_no_probability_and_no_interval_of_tau() -> None:
    ordering = Ordering([Estimate(members=np.array([value])) for value in (3.0, 1.0, 2.0)])
    assert np.isnan(ordering.order(0, 1).probability)
    found = ordering.agreement([0, 1, 2], [3, 2, 1])
    assert found.tau == pytest.approx(1 / 3)
    assert np.isnan([found.low, found.high]).all()


def test_three_seeds_without_items_are_compared_by_welchs_t() -> None:
    ordering = Ordering(
        [Estimate(members=np.array(values)) for values in ([3.0, 3.4, 3.9], [2.0, 2.1, 2.9])]
    )
    found = ordering.order(0, 1)
    difference, error = (
        3.43333 - 2.33333,
        np.sqrt(np.var([3.0, 3.4, 3.9], ddof=1) / 3 + np.var([2.0, 2.1, 2.9], ddof=1) / 3),
    )
    assert found.probability == pytest.approx(t.cdf(difference / error, 3.976), abs=1e-3)


def test_kendall_is_scipys_tau_b() -> None:
    rng = np.random.default_rng(1)
    printed, ours = rng.integers(0, 4, 8), rng.integers(0, 5, (8, 20))
    assert kendall(printed, ours) == pytest.approx(
        [kendalltau(printed, column).statistic for column in ours.T]
    )
    assert np.isnan(kendall([1, 1, 1], np.ones((3, 2)))).all()


def test_the_interval_of_tau_is_that_of_rankings_drawn_again(gold: np.ndarray) -> None:
    scores = [noisy(gold, noise, seed) for seed, noise in enumerate((2.0, 2.1, 2.2, 2.6))]
    found = Ordering([estimate([one], gold) for one in scores]).agreement(
        [0, 1, 2, 3], [4, 3, 2, 1]
    )
    samples = np.random.default_rng(4).integers(0, PAIRS, (1500, PAIRS))
    values = np.array([rank_correlations(gold, one, samples) for one in scores])
    drawn = np.mean(
        [np.sign(values[better] - values[worse]) for better, worse in combinations(range(4), 2)],
        axis=0,
    )
    assert drawn[0] == pytest.approx(kendalltau([4, 3, 2, 1], values[:, 0]).statistic)
    assert (found.low, found.high) == pytest.approx(
        tuple(np.quantile(drawn, [0.025, 0.975])), abs=0.34
    )
    assert found.low <= found.tau <= found.high


def test_too_few_rows_decide_nothing_by_their_seeds_alone(gold: np.ndarray) -> None:
    few = [
        estimate([noisy(gold[:9], noise, seed) for seed in (1, 2, 3)], gold[:9])
        for noise in (0.5, 4.0)
    ]
    ordering = Ordering([*few, few[0]])
    assert np.isnan(ordering.order(0, 1).probability)
    assert np.isnan(ordering.agreement([0, 1, 2], [3, 2, 1]).low)


def test_estimates_that_share_runs_are_compared_seed_by_seed(gold: np.ndarray) -> None:
    """Seeds that differ much, but of which each is a little better by the first than by the
    second.
    """
    runs = tuple(frozenset({f"run@{seed}"}) for seed in (1, 2, 3))
    near = [noisy(gold, noise, seed) for seed, noise in enumerate((1.0, 2.0, 3.5))]
    far = [scores + np.random.default_rng(9).normal(scale=1.0, size=PAIRS) for scores in near]
    pair = [estimate(near, gold), estimate(far, gold)]
    shared = [replace(one, behind=runs) for one in pair]
    assert Ordering(pair).order(0, 1).probability < 0.7
    assert Ordering(shared).order(0, 1).probability > 0.94


def test_the_agreement_of_estimates_has_the_fewest_degrees_of_freedom_of_any_two() -> None:
    """Nine estimates of twenty seeds and one of three, whose spread is known least: draws of a t
    distribution written out.
    """
    rng = np.random.default_rng(6)
    counts = [20] * 9 + [3]
    seeds = [
        place + rng.normal(scale=1.0 if count == 20 else 6.0, size=count)
        for place, count in enumerate(counts)
    ]
    printed = list(range(10))
    found = Ordering([Estimate(members=one) for one in seeds]).agreement(range(10), printed)
    freedom = min(
        ttest_ind(one, other, equal_var=False).df for one, other in combinations(seeds, 2)
    )
    assert freedom < 5
    deviations = np.array([one.std(ddof=1) / np.sqrt(len(one)) for one in seeds])
    scale = np.sqrt(freedom / rng.chisquare(freedom, 4000))
    drawn = (
        np.array([one.mean() for one in seeds])[:, None]
        + deviations[:, None] * rng.standard_normal((10, 4000)) * scale
    )
    low, high = np.quantile([kendalltau(printed, one).statistic for one in drawn.T], [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.05)


def test_a_topic_variance_that_is_larger_over_linked_rows_counts_in_the_agreement_as_in_each_order(
    gold: np.ndarray,
) -> None:
    """Rows in chains of shared sentences: the covariance of two estimates has the larger of both
    variances of each on its diagonal.
    """
    rng = np.random.default_rng(2)
    texts = np.stack([rng.integers(0, 60, PAIRS), 1_000 + np.arange(PAIRS)], axis=1).astype(
        np.uint64
    )
    scores = [noisy(gold, noise, seed) for seed, noise in enumerate((2.0, 2.1, 2.2))]
    ordering = Ordering([estimate([one], gold, texts=texts) for one in scores])
    covariance, _ = ordering._covariance([0, 1, 2])
    for first, second in combinations(range(3), 2):
        apart = (
            covariance[first, first] + covariance[second, second] - 2 * covariance[first, second]
        )
        found = ordering.order(first, second)
        assert (found.high - found.low) / 2 == pytest.approx(1.96 * np.sqrt(apart), rel=0.15)


def test_estimates_of_other_rows_have_a_variance_of_their_own_that_is_added(
    gold: np.ndarray,
) -> None:
    one, other = (
        estimate([noisy(gold, 2.0, 1)], gold),
        estimate([noisy(gold[:300], 2.0, 1)], gold[:300]),
    )
    found = Ordering([one, other]).order(0, 1)
    alone = [
        Ordering([each, Estimate(members=np.array([0.0]))]).order(0, 1) for each in (one, other)
    ]
    widths = [each.high - each.low for each in alone]
    assert found.high - found.low == pytest.approx(np.hypot(*widths), rel=0.02)


def test_the_two_sided_p_of_an_order_is_twice_the_smaller_side() -> None:
    for probability in (0.01, 0.3, 0.5, 0.9):
        one = Order(difference=0.1, low=0.0, high=0.2, probability=probability)
        assert one.p == pytest.approx(2 * probability if probability < 0.5 else 2 - 2 * probability)


def test_an_equal_rankings_draws_leave_no_interval() -> None:
    ordering = Ordering(
        [Estimate(members=np.array([value]), other=1e-6) for value in (3.0, 1.0, 2.0)]
    )
    found = ordering.agreement([0, 1, 2], [1, 1, 1])  # what is printed ties all
    assert np.isnan([found.tau, found.low, found.high]).all()
