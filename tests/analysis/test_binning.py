"""Binned points, quantiles and calibration, compared with slow loops, numpy and scikit-learn."""

import numpy as np
import pytest

from embedlab.analysis.binning import (
    Axis,
    binned_quantiles,
    calibration_curve,
    cell_counts,
    density_steps,
    span,
)

RNG = np.random.default_rng(7)
X = np.concatenate([RNG.normal(size=500), [0.0, np.nan, -3.0, 3.0]])
Y = np.concatenate([RNG.uniform(size=500), [0.5, 0.5, 0.0, 1.0]])


def test_cells_count_the_points_that_a_slow_loop_counts() -> None:
    x, y = Axis(low=-2, high=2, bins=9), Axis(low=0, high=1, bins=6)
    slow = np.zeros((6, 9), dtype=int)
    for one, other in zip(X, Y, strict=True):
        if -2 <= one <= 2 and 0 <= other <= 1:
            slow[min(int((other - 0) / 1 * 6), 5), min(int((one + 2) / 4 * 9), 8)] += 1
    assert np.array_equal(cell_counts(x.places(X), y.places(Y), (6, 9)), slow)
    assert slow.sum() == 504 - np.isnan(X).sum() - (np.abs(X) > 2).sum()


def test_the_bins_are_those_of_numpy() -> None:
    axis = Axis(low=-2, high=2, bins=8)
    places = axis.places(X)
    assert np.array_equal(
        np.bincount(places[places >= 0], minlength=8),
        np.histogram(X[~np.isnan(X)], bins=8, range=(-2, 2))[0],
    )
    assert [axis.edge(number) for number in (0, 4, 8)] == [-2, 0, 2]


def test_quantiles_of_bins_are_those_of_a_slow_loop() -> None:
    axis = Axis(low=-3, high=3, bins=7)
    found = binned_quantiles(X, Y, axis, (0.1, 0.5, 0.9))
    expected = []
    for number in range(7):
        inside = [
            (x, y)
            for x, y in zip(X, Y, strict=True)
            if abs(x) <= 3 and min(int((x + 3) / 6 * 7), 6) == number
        ]
        if len(inside) >= 5:
            ys = sorted(y for _, y in inside)
            expected.append(
                [len(ys), np.mean([x for x, _ in inside]), *np.percentile(ys, [10, 50, 90])]
            )
    assert 2 < len(expected) < 7
    np.testing.assert_allclose(
        np.column_stack([found.counts, found.centres, found.quantiles.T]), expected
    )


def test_the_calibration_of_two_classes_is_the_reliability_curve_of_scikit_learn() -> None:
    from sklearn.calibration import (
        calibration_curve as reliability_curve,
    )  # seconds, which each test process would pay

    predicted = np.round(RNG.uniform(size=400), 2)  # with ties at the edges
    observed = (RNG.uniform(size=400) < predicted).astype(float)
    found = calibration_curve(predicted, observed, 10)
    truth, mean = reliability_curve(observed, predicted, n_bins=10, strategy="quantile")
    np.testing.assert_allclose(found.observed, truth)
    np.testing.assert_allclose(found.predicted, mean)
    assert found.counts.sum() == 400
    slow = (
        sum(
            count * abs(p - o)
            for p, o, count in zip(found.predicted, found.observed, found.counts, strict=True)
        )
        / 400
    )
    assert found.error == pytest.approx(slow)


def test_nothing_known_draws_nothing() -> None:
    empty = np.array([np.nan])
    assert span(empty) == (0.0, 1.0)
    assert span(np.array([2.0, np.nan])) == (1.5, 2.5)
    assert not len(binned_quantiles(empty, empty, Axis(low=0, high=1, bins=3), (0.5,)).counts)
    assert np.isnan(calibration_curve(empty, empty, 5).error)
    assert len(calibration_curve(empty, empty, 5).counts) == 0


@pytest.mark.parametrize("most", [0, 1, 2, 5, 40, 100_000])
def test_density_steps_rise_from_one_to_at_most_the_largest_count(most: int) -> None:
    steps = density_steps(most, 5)
    assert steps[0] == 1
    assert list(steps) == sorted(set(steps))
    assert steps[-1] <= max(most, 1)
