"""McNemar, Williams and Steiger beside slow or independent versions."""

from math import comb

import numpy as np
import pytest
import scipy.stats

from embedlab.analysis.correlations import pearson
from embedlab.analysis.paired_tests import (
    EXACT_BELOW,
    dependent_correlations,
    mcnemar,
    mcnemar_of_counts,
    steiger,
    williams,
)


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 1), (3, 9), (12, 12), (0, 24)])
def test_few_discordant_items_are_tested_by_the_exact_binomial(first: int, second: int) -> None:
    expected = scipy.stats.binomtest(first, first + second, 0.5).pvalue
    assert mcnemar_of_counts(first, second) == pytest.approx(expected)
    assert mcnemar_of_counts(second, first) == mcnemar_of_counts(first, second)


@pytest.mark.parametrize(("first", "second"), [(0, 25), (10, 20), (40, 55), (500, 430), (31, 31)])
def test_many_discordant_items_are_tested_by_the_mid_p(first: int, second: int) -> None:
    total, fewer = first + second, min(first, second)
    share = [comb(total, k) / 2**total for k in range(fewer + 1)]
    assert mcnemar_of_counts(first, second) == pytest.approx(
        min(1.0, 2 * (sum(share) - share[-1] / 2)), rel=1e-9
    )
    if first != second:
        assert mcnemar_of_counts(first, second) < scipy.stats.binomtest(first, total, 0.5).pvalue


def test_equal_models_do_not_differ() -> None:
    right = np.array([True, False, True])
    assert mcnemar(right, right) == 1


def test_only_the_items_that_one_model_gets_right_count() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.random((2, 80)) < 0.7
    only_first = sum(bool(a) and not b for a, b in zip(first, second, strict=True))
    only_second = sum(bool(b) and not a for a, b in zip(first, second, strict=True))
    assert mcnemar(first, second) == mcnemar_of_counts(only_first, only_second)
    assert only_first + only_second >= EXACT_BELOW


def test_williams_is_the_published_formula() -> None:
    # A worked example by hand: r12 .5, r13 .3, r23 .4, n 103.
    determinant = 1 - 0.25 - 0.09 - 0.16 + 2 * 0.5 * 0.3 * 0.4
    t = 0.2 * np.sqrt(102 * 1.4 / (2 * 102 / 100 * determinant + 0.16 * 0.6**3))
    assert williams(0.5, 0.3, 0.4, 103) == pytest.approx(2 * scipy.stats.t.sf(t, 100))


def test_steiger_is_the_published_formula() -> None:
    mean = 0.4
    psi = 0.4 * (1 - 2 * mean**2) - mean**2 * (1 - 2 * mean**2 - 0.4**2) / 2
    z = (
        np.sqrt(100)
        * (np.arctanh(0.5) - np.arctanh(0.3))
        / np.sqrt(2 - 2 * psi / (1 - mean**2) ** 2)
    )
    assert steiger(0.5, 0.3, 0.4, 103) == pytest.approx(2 * scipy.stats.norm.sf(z))


@pytest.mark.parametrize("test", [williams, steiger])
def test_under_the_null_five_in_a_hundred_normal_samples_are_significant(test: object) -> None:
    assert callable(test)
    rng = np.random.default_rng(1)
    covariance = np.array([[1, 0.5, 0.5], [0.5, 1, 0.6], [0.5, 0.6, 1]])
    found = []
    for gold, first, second in rng.multivariate_normal(
        np.zeros(3), covariance, (2000, 60)
    ).transpose(0, 2, 1):
        found.append(test(pearson(gold, first), pearson(gold, second), pearson(first, second), 60))
    assert np.mean(np.array(found) < 0.05) == pytest.approx(
        0.05, abs=0.015
    )  # three standard errors


@pytest.mark.parametrize("test", [williams, steiger])
def test_undefined_correlations_have_no_p(test: object) -> None:
    assert callable(test)
    assert np.isnan(test(float("nan"), 0.3, 0.4, 50))
    assert np.isnan(test(0.5, 0.3, 0.4, 3))
    assert test(0.5, 0.5, 1.0, 50) == 1


def test_every_two_columns_are_tested_on_ranks_or_values() -> None:
    rng = np.random.default_rng(2)
    gold = rng.normal(size=90)
    scores = gold + rng.normal(size=(3, 90)) * np.array([[0.5], [0.9], [2.0]])
    p = dependent_correlations(gold, scores, "williams")
    ranks = [scipy.stats.rankdata(row) for row in (gold, scores[0], scores[2])]
    r = np.corrcoef(ranks)
    assert p[0, 2] == p[2, 0] == pytest.approx(williams(r[0, 1], r[0, 2], r[1, 2], 90))
    assert np.isnan(np.diag(p)).all()
    linear = np.corrcoef([gold, scores[0], scores[1]])
    assert dependent_correlations(gold, scores, "steiger", "pearson")[0, 1] == pytest.approx(
        steiger(linear[0, 1], linear[0, 2], linear[1, 2], 90)
    )


@pytest.mark.parametrize(
    ("first", "second"), [(1.0, 0.3), (0.3, 1.0), (-1.0, 0.3), (0.3, -1.0), (1.0, 1.0)]
)
def test_a_correlation_of_one_has_no_z(first: float, second: float) -> None:
    assert np.isnan(steiger(first, second, 0.3, 50))


@pytest.mark.parametrize("test", [williams, steiger])
@pytest.mark.parametrize(("first", "second"), [(0.5, 0.3), (-0.5, -0.3), (0.5, -0.3)])
def test_which_model_is_named_first_and_which_way_the_scale_runs_make_no_difference(
    test: object, first: float, second: float
) -> None:
    assert callable(test)
    found = test(first, second, 0.4, 50)
    assert 0 < found < 1
    assert found == pytest.approx(test(second, first, 0.4, 50))
    assert found == pytest.approx(test(-first, -second, 0.4, 50))


@pytest.mark.parametrize("test", [williams, steiger])
def test_four_pairs_are_the_fewest(test: object) -> None:
    assert callable(test)
    assert 0 < test(0.5, 0.3, 0.4, 4) < 1
