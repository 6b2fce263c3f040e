"""Sign flips by topic, next to all signs tried one by one and to draws."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import norm

from embedlab.analysis.sign_flips import FEWEST_TOPICS, MOST_COUNTED, TopicSums


def world(topics: int, estimates: int = 5, seed: int = 0, spread: float = 5.0) -> TopicSums:
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(topics, spread))
    sums = rng.standard_t(4, (estimates, topics)) * shares
    return TopicSums(sums=sums - shares * sums.sum(axis=1, keepdims=True), shares=shares)


def tried(sums: np.ndarray, shares: np.ndarray, distance: float, noise: float = 0.0) -> float:
    """The share of all signs whose sum reaches the distance, a normal value added."""
    flipped = sums + shares * distance
    totals = np.array([np.array(signs) @ flipped for signs in product((-1, 1), repeat=len(shares))])
    if not noise:
        return float((np.abs(totals) >= abs(distance) * (1 - 1e-9)).mean())
    scale = np.sqrt(noise)
    return float(
        (
            norm.sf((abs(distance) - totals) / scale) + norm.sf((abs(distance) + totals) / scale)
        ).mean()
    )


@pytest.mark.parametrize("topics", range(FEWEST_TOPICS, MOST_COUNTED + 1))
@pytest.mark.parametrize("noise", [0.0, 0.6])
def test_the_p_of_few_topics_is_the_count_over_all_signs(topics: int, noise: float) -> None:
    found = world(topics, 3)
    for factor in (-3.0, -1.2, 0.4, 2.1):
        distance, extra = factor * np.sqrt(found.variance), noise * found.variance
        expected = [
            tried(own, found.shares, one, more)
            for own, one, more in zip(found.sums, distance, extra, strict=True)
        ]
        assert found.p(distance, extra) == pytest.approx(expected, abs=1e-12)


def test_many_equal_topics_give_a_normal_tail_far_out() -> None:
    topics = 4000
    sums = np.tile([1.0, -1.0], topics // 2)[None] / topics
    found = TopicSums(sums=sums, shares=np.full(topics, 1 / topics))
    for z in (0.5, 1.96, 6.0):
        distance = z / np.sqrt(topics)
        spread = np.sqrt(((sums + distance / topics) ** 2).sum())
        assert found.p(np.array([distance]))[0] == pytest.approx(
            2 * norm.sf(distance / spread), rel=0.02
        )
    assert 0 < found.p(np.array([25 / np.sqrt(topics)]))[0] < 1e-110


@pytest.mark.parametrize("topics", [6, 9, 12, 13, 30, 200, 1500])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_p_at_each_end_of_an_interval_is_its_level(topics: int, noise: float) -> None:
    found = world(topics, 4, seed=topics)
    extra = noise * found.variance
    for alpha in (0.05, 0.4):
        for sign, reach in zip((1, -1), found.reach(alpha, extra).T, strict=True):
            if topics > MOST_COUNTED or noise:
                assert found.p(sign * reach, extra) == pytest.approx(alpha, rel=1e-3)
            else:  # p has steps: within the end it is more, beyond it at most the level
                assert (found.p(sign * reach * (1 - 1e-6)) > alpha).all()
                beyond = np.where(np.isinf(reach), 1e9, reach * (1 + 1e-6))
                assert (found.p(sign * beyond) <= alpha + 1e-12).all()


def test_a_side_that_no_sign_rejects_is_open() -> None:
    found = world(6, 2)
    assert np.isinf(found.reach(0.02)).all()  # the smallest p of six topics is 1/32
    assert np.isfinite(found.reach(0.05)).all()


def test_topics_that_agree_decide_by_their_number_and_those_without_error_do_not_count() -> None:
    """As the sign test: three items against none, of three hundred, are three topics."""
    for topics in (9, 40, 300):
        shares = np.full(topics, 1 / topics)
        flipped = np.zeros(topics)
        flipped[:3] = 1 / topics
        sums = flipped - shares * flipped.sum()
        assert TopicSums(sums=sums[None], shares=shares).p(np.array([flipped.sum()]))[
            0
        ] == pytest.approx(0.25)


def test_equal_scores_have_p_one_and_an_interval_of_no_width() -> None:
    found = TopicSums(sums=np.zeros((1, 30)), shares=np.full(30, 1 / 30))
    assert found.p(np.zeros(1))[0] == 1
    assert found.reach(0.05).tolist() == [[0.0, 0.0]]


def test_an_estimates_numbers_do_not_depend_on_those_beside_it() -> None:
    found = world(100, 8)
    distance, noise = 1.7 * np.sqrt(found.variance), np.linspace(0, 1, 8) * found.variance
    assert found.of([3]).p(distance[3:4], noise[3:4])[0] == found.p(distance, noise)[3]
    assert found.of([3]).reach(0.05, noise[3:4])[0].tolist() == found.reach(0.05, noise)[3].tolist()


def test_noise_beside_some_estimates_is_that_of_these_alone() -> None:
    for topics in (8, 20):
        found = world(topics, 4, seed=1)
        distance, noise = (
            1.5 * np.sqrt(found.variance),
            np.array([0.0, 0.4, 0.0, 1.0]) * found.variance,
        )
        with np.errstate(all="raise", under="ignore"):
            together = found.p(distance, noise)
        assert together == pytest.approx(
            [found.of([place]).p(distance[[place]], noise[[place]])[0] for place in range(4)],
            rel=1e-12,
        )


@pytest.mark.parametrize("topics", [13, 16])
def test_no_p_is_smaller_than_the_signs_as_they_are_and_all_reversed_allow(topics: int) -> None:
    for seed in range(4):
        found = world(topics, 4, seed=seed)
        for factor in (2.0, 3.0, 4.0, 6.0, 10.0, 100.0):
            for sign in (-1, 1):
                p = found.p(sign * factor * np.sqrt(found.variance))
                assert (p >= 2.0 ** (1 - topics) * (1 - 1e-9)).all()
        assert found.p(1e9 * np.sqrt(found.variance)) == pytest.approx(2.0 ** (1 - topics))
