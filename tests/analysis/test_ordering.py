"""The probability that an order holds, beside bootstraps written out and scipy."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import kendalltau, norm, rankdata, spearmanr, ttest_ind

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


def fixed(*values: float, other: float = 0.0) -> list[Estimate]:
    """Estimates of one member each whose items are not stored."""
    return [Estimate(members=np.array([value]), other=other) for value in values]


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
    alone, ordering = Ordering(pair), Ordering([others[0], pair[0], others[1], pair[1]])
    assert ordering.order(1, 3) == alone.order(0, 1)
    assert ordering.order(0, 2) == Ordering(others).order(0, 1)
    assert ordering.agreement([1, 3], [2, 1]) == alone.agreement([0, 1], [2, 1])
    # Of other rows each has a variance of its own, and both are added.
    apart, *each = (
        Ordering([one, other]).order(0, 1)
        for one, other in (
            (pair[0], others[0]),
            *((one, fixed(0.0)[0]) for one in (pair[0], others[0])),
        )
    )
    widths = [one.high - one.low for one in each]
    assert apart.high - apart.low == pytest.approx(np.hypot(*widths), rel=0.02)


def test_an_accuracy_without_stored_items_varies_as_a_binomial_share() -> None:
    variance = 0.8 * 0.2 / 250
    found = Ordering(fixed(0.83, 0.8, other=variance)).order(0, 1)
    expected = norm.cdf(0.03 / np.sqrt(2 * variance))
    assert found.probability == pytest.approx(expected, abs=1e-6)


def test_without_anything_that_varies_or_where_all_are_printed_equal_tau_has_no_interval() -> None:
    steady = Ordering(fixed(3.0, 1.0, 2.0))
    assert np.isnan(steady.order(0, 1).probability)
    found = steady.agreement([0, 1, 2], [3, 2, 1])
    assert found.tau == pytest.approx(1 / 3)
    tied = Ordering(fixed(3.0, 1.0, 2.0, other=1e-6)).agreement([0, 1, 2], [1, 1, 1])
    assert np.isnan([found.low, found.high, tied.tau, tied.low, tied.high]).all()


def test_three_seeds_without_items_are_compared_by_welchs_t() -> None:
    first, second = [3.0, 3.4, 3.9], [2.0, 2.1, 2.9]
    ordering = Ordering([Estimate(members=np.array(values)) for values in (first, second)])
    one_sided = ttest_ind(first, second, equal_var=False).pvalue / 2
    assert ordering.order(0, 1).probability == pytest.approx(1 - one_sided, abs=1e-6)


def test_kendall_is_scipys_tau_b() -> None:
    rng = np.random.default_rng(1)
    printed, ours = rng.integers(0, 4, 8), rng.integers(0, 5, (8, 20))
    assert kendall(printed, ours) == pytest.approx(
        [kendalltau(printed, column).statistic for column in ours.T]
    )
    assert np.isnan(kendall([1, 1, 1], np.ones((3, 2)))).all()


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
    shared = [replace(one, runs_behind=runs) for one in pair]
    assert Ordering(pair).order(0, 1).probability < 0.7
    assert Ordering(shared).order(0, 1).probability > 0.94


def test_the_agreement_of_estimates_has_the_fewest_degrees_of_freedom_of_any_two() -> None:
    """Nine estimates of twenty seeds and one of three, whose spread is known least: draws of a t
    distribution written out.
    """
    rng = np.random.default_rng(6)
    spreads = [(20, 1.0)] * 9 + [(3, 6.0)]
    seeds = [
        place + rng.normal(scale=scale, size=count) for place, (count, scale) in enumerate(spreads)
    ]
    found = Ordering([Estimate(members=one) for one in seeds]).agreement(range(10), range(10))
    freedom = min(ttest_ind(one, seeds[9], equal_var=False).df for one in seeds[:9])
    errors = np.array([one.std(ddof=1) / np.sqrt(len(one)) for one in seeds])
    scale = np.sqrt(freedom / rng.chisquare(freedom, 1500))
    means = np.array([one.mean() for one in seeds])
    drawn = means[:, None] + errors[:, None] * rng.standard_normal((10, 1500)) * scale
    taus = [kendalltau(range(10), one).statistic for one in drawn.T]
    assert (found.low, found.high) == pytest.approx(np.quantile(taus, [0.025, 0.975]), abs=0.06)


def test_the_two_sided_p_of_an_order_is_twice_the_smaller_side() -> None:
    for probability, p in ((0.01, 0.02), (0.3, 0.6), (0.5, 1.0), (0.9, 0.2)):
        one = Order(difference=0.1, low=0.0, high=0.2, probability=probability)
        assert one.p == pytest.approx(p)
