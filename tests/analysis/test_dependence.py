"""Variances of sums over rows that share sentences, beside sums over every two rows written out."""

import numpy as np
import pytest

from embedlab.analysis.dependence import SharedSentences, independent_variances


def slow_variance(first: np.ndarray, second: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Σ v_p v_q over rows that share a sentence, and the share of such ordered pairs of rows."""
    texts = [{*row} for row in zip(first.tolist(), second.tolist(), strict=True)]
    linked = np.array([[bool(one & other) for other in texts] for one in texts])
    return values @ linked @ values, linked.mean()


def test_groups_are_corrected_for_their_own_centring() -> None:
    rng = np.random.default_rng(3)
    parts = [rng.integers(0, 12, (2, 20)), rng.integers(5, 60, (2, 60))]
    errors, own, linked = rng.normal(size=60), [], []
    for first, second in parts:
        values = errors[first] + errors[second] + rng.normal(size=len(first))
        own.append(values - values.mean())
        linked.append(slow_variance(first, second, own[-1])[1])
    (first, second), values = np.concatenate(parts, axis=1), np.concatenate(own)
    total, _ = slow_variance(first, second, values)
    weights = [(one**2).sum() for one in own]
    expected = total / (1 - min(0.5, np.average(linked, weights=weights)))
    group = np.repeat([0, 1], [20, 60])
    found = SharedSentences.of(first, second, group).sums(values[None])
    assert found.variances()[0] == pytest.approx(expected)
    assert expected > independent_variances(values[None], group)[0]


def test_the_variance_of_rows_alone_in_their_groups_is_doubled_and_what_does_not_vary_has_none() -> (
    None
):
    apart = SharedSentences.of(np.arange(10), np.arange(10), np.arange(10))
    found = apart.sums(np.array([np.ones(10), np.zeros(10)])).variances()
    assert found.tolist() == [20.0, 0.0]


def test_a_few_rows_of_two_sentences_may_come_after_hundreds_of_one() -> None:
    rng = np.random.default_rng(4)
    first = rng.integers(0, 80, 300)
    second = np.where(np.arange(300) < 290, first, rng.integers(0, 80, 300))
    values = rng.normal(size=80)[first]
    values -= values.mean()
    total, linked = slow_variance(first, second, values)
    found = SharedSentences.of(first, second).sums(values[None]).variances()
    assert found[0] == pytest.approx(total / (1 - linked))
