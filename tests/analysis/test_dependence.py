"""Variances of sums over rows that share sentences, beside sums over every two rows written out."""

import numpy as np
import pytest

from embedlab.analysis.dependence import SharedSentences, combined


def slow_variance(first: np.ndarray, second: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Σ v_p v_q over rows that share a sentence, and the share of such ordered pairs of rows."""
    total, linked = 0.0, 0
    for p in range(len(values)):
        for q in range(len(values)):
            if {first[p], second[p]} & {first[q], second[q]}:
                total += values[p] * values[q]
                linked += 1
    return total, linked / len(values) ** 2


@pytest.fixture
def graph() -> tuple[np.ndarray, np.ndarray]:
    """Eighty rows over fifty sentences; some rows recur, turned round too, and some have one
    sentence twice.
    """
    rng = np.random.default_rng(0)
    first, second = rng.integers(0, 50, (2, 80))
    first[:3], second[:3] = (4, 5, 4), (5, 4, 5)
    second[10:13] = first[10:13]
    return first, second


@pytest.fixture
def values() -> np.ndarray:
    values = np.random.default_rng(1).normal(size=(3, 80))
    return values - values.mean(axis=1, keepdims=True)


def test_every_two_rows_that_share_a_sentence_are_counted_once(
    graph: tuple[np.ndarray, np.ndarray], values: np.ndarray
) -> None:
    found = SharedSentences.of(*graph).sums(values).variances()
    for place, row in enumerate(values):
        total, linked = slow_variance(*graph, row)
        independent = (row**2).sum() * 80 / 79  # unbiased: the row sums to zero
        assert found.independent[place] == pytest.approx(independent)
        assert found.value[place] == pytest.approx(max(total / (1 - linked), independent))


def test_groups_are_corrected_for_their_own_centring() -> None:
    rng = np.random.default_rng(3)
    first, second = np.concatenate(
        [rng.integers(0, 12, (2, 20)), rng.integers(5, 60, (2, 60))], axis=1
    )
    group, errors = np.repeat([0, 1], [20, 60]), rng.normal(size=60)
    values = errors[first] + errors[second] + rng.normal(size=80)
    for number in (0, 1):
        values[group == number] -= values[group == number].mean()
    total, _ = slow_variance(first, second, values)
    linked = [
        slow_variance(first[group == number], second[group == number], values[group == number])[1]
        for number in (0, 1)
    ]
    weights = [(values[group == number] ** 2).sum() for number in (0, 1)]
    expected = total / (1 - min(0.5, np.average(linked, weights=weights)))
    found = SharedSentences.of(first, second, group).sums(values[None]).variances()
    assert found.value[0] == pytest.approx(expected)
    assert expected > found.independent[0]


def test_combined_values_are_a_product_of_matrices_whose_zeros_do_not_count() -> None:
    rng = np.random.default_rng(0)
    weights, values = (
        np.vstack([rng.normal(size=(3, 4)), [[1, 0, 0, -1], [-1, 1, 0, 0], [0, 0, 0, 0]]]),
        rng.normal(size=(4, 6)),
    )
    np.testing.assert_allclose(combined(weights, values), weights @ values)
    weights[:, 2], values[2] = 0.0, np.inf
    np.testing.assert_allclose(
        combined(weights, values), np.delete(weights, 2, 1) @ np.delete(values, 2, 0)
    )


@pytest.mark.parametrize("order", ["together", "the last first", "mixed"])
@pytest.mark.parametrize("sizes", [(20, 60), (2, 78), (1, 1, 78)])
def test_independent_rows_are_corrected_for_the_mean_of_each_group(
    sizes: tuple[int, ...], order: str
) -> None:
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(len(sizes)), sizes)
    values = rng.normal(size=(2, 80))
    group = {"together": group, "the last first": group[::-1], "mixed": rng.permutation(group)}[
        order
    ]
    found = SharedSentences.of(np.arange(80), np.arange(80), group).sums(values).variances()
    for place, row in enumerate(values):
        share = sum(
            value**2 / sizes[number] for value, number in zip(row, group, strict=True)
        ) / sum(value**2 for value in row)
        assert found.independent[place] == pytest.approx((row**2).sum() / (1 - min(share, 0.5)))


def test_the_variance_of_rows_alone_in_their_groups_is_doubled_and_what_does_not_vary_has_none() -> (
    None
):
    found = (
        SharedSentences.of(np.arange(10), np.arange(10), np.arange(10))
        .sums(np.array([np.ones(10), np.zeros(10)]))
        .variances()
    )
    assert found.independent.tolist() == [20.0, 0.0]
