"""Sign flips by topic at their limits; tests/analysis/the_page tries all signs of few topics."""

import numpy as np
import pytest
from scipy.stats import norm

from embedlab.analysis.sign_flips import TopicSums
from tests.analysis.made import drawn_topics


def test_many_equal_topics_give_a_normal_tail_far_out() -> None:
    topics = 4000
    sums = np.tile([1.0, -1.0], topics // 2)[None] / topics
    found = TopicSums(sums=sums, shares=np.full(topics, 1 / topics))
    distances = np.array([0.5, 1.96, 6.0]) / np.sqrt(topics)
    for distance in distances:
        spread = np.sqrt(((sums + distance / topics) ** 2).sum())
        expected = 2 * norm.sf(distance / spread)
        assert found.p(np.array([distance])) == pytest.approx(expected, rel=0.02)
    assert 0 < found.p(np.array([25 / np.sqrt(topics)]))[0] < 1e-110


def test_a_side_that_no_sign_rejects_is_open() -> None:
    found = drawn_topics(6, 2)
    assert np.isinf(found.reach(0.02)).all()  # the smallest p of six topics is 1/32
    assert np.isfinite(found.reach(0.05)).all()


@pytest.mark.parametrize("topics", [9, 40, 600])
def test_p_falls_to_alpha_where_the_interval_ends_on_either_side(topics: int) -> None:
    found = drawn_topics(topics, 5)
    below, above = found.reach(0.05).T
    assert below != pytest.approx(above, rel=0.001)
    for distance in (below, -above):
        assert (found.p(distance * 0.999) > 0.05).all()
        assert (found.p(distance * 1.001) < 0.05 + 1e-9).all()


@pytest.mark.parametrize("topics", [9, 40, 300])
def test_topics_that_agree_decide_by_their_number_and_those_without_error_do_not_count(
    topics: int,
) -> None:
    """As the sign test: three items against none, of three hundred, are three topics."""
    flipped = np.where(np.arange(topics) < 3, 1 / topics, 0.0)
    found = TopicSums(sums=(flipped - flipped.mean())[None], shares=np.full(topics, 1 / topics))
    assert found.p(flipped.sum(keepdims=True)) == pytest.approx(0.25)


def test_equal_scores_have_p_one_and_an_interval_of_no_width() -> None:
    found = TopicSums(sums=np.zeros((1, 30)), shares=np.full(30, 1 / 30))
    assert found.p(np.zeros(1))[0] == 1
    assert found.reach(0.05).tolist() == [[0.0, 0.0]]
