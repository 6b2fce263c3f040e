import warnings
from itertools import combinations

import numpy as np
import pytest
import scipy.stats

from embedlab.analysis import significance
from embedlab.analysis.significance import (
    interval,
    member_weights,
    resample_counts,
    resampled_spearman,
    tie_groups,
    two_sided_p,
)


def explicit_spearman(gold: np.ndarray, scores: np.ndarray, counts: np.ndarray) -> list[float]:
    """The resample written out row by row and handed to scipy."""
    rows = np.repeat(np.arange(len(gold)), counts)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [scipy.stats.spearmanr(gold[rows], row[rows]).statistic for row in scores]


@pytest.mark.parametrize(("pairs", "levels"), [(2, 2), (3, 2), (8, 3), (60, 6), (300, 26)])
def test_each_resample_equals_scipy_on_the_resampled_pairs(pairs: int, levels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(significance, "CHUNK", 7 * pairs)  # several chunks, the last one short
    rng = np.random.default_rng(pairs)
    gold = rng.integers(0, levels, pairs) / 5
    scores = np.stack([rng.normal(size=pairs), rng.normal(size=pairs).round(1), gold + rng.normal(size=pairs), np.ones(pairs)])
    counts = np.concatenate(list(resample_counts(pairs, 40, np.random.default_rng(5))))
    expected = np.array([explicit_spearman(gold, scores, row) for row in counts]).T
    found = resampled_spearman(gold, scores, 40, np.random.default_rng(5))
    assert found.shape == (4, 40)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.isnan(found[3]).all()


def test_a_resample_draws_as_many_pairs_as_there_are() -> None:
    counts = np.concatenate(list(resample_counts(50, 2000, np.random.default_rng(0))))
    assert (counts.sum(axis=1) == 50).all()
    assert counts.mean(axis=0) == pytest.approx(np.ones(50), abs=0.12)
    assert counts.var(axis=0).mean() == pytest.approx(1 - 1 / 50, abs=0.02)  # multinomial


def test_large_datasets_lose_no_precision() -> None:
    rng = np.random.default_rng(0)
    gold, scores = rng.integers(0, 26, 40_000) / 5.0, rng.normal(size=(1, 40_000)).round(3)
    (counts,) = resample_counts(40_000, 2, np.random.default_rng(1))
    expected = [explicit_spearman(gold, scores, row)[0] for row in counts]
    np.testing.assert_allclose(resampled_spearman(gold, scores, 2, np.random.default_rng(1))[0], expected, atol=1e-12)


def test_no_pairs_and_no_resamples_give_nothing() -> None:
    rng = np.random.default_rng(0)
    assert np.isnan(resampled_spearman([], np.empty((2, 0)), 3, rng)).all()
    assert resampled_spearman([1, 2], [[1, 2]], 0, rng).shape == (1, 0)
    assert np.isnan(interval(np.empty(0))).all()
    assert np.isnan(two_sided_p(np.full(3, np.nan)))


def test_member_weights_are_a_draw_with_replacement() -> None:
    weights = member_weights(3, 3000, np.random.default_rng(0))
    assert weights.sum(axis=0) == pytest.approx(np.ones(3000))
    assert set(np.round(weights * 3).ravel()) == {0, 1, 2, 3}
    assert weights.mean(axis=1) == pytest.approx(np.full(3, 1 / 3), abs=0.02)
    assert (member_weights(1, 5, np.random.default_rng(0)) == 1).all()


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    truth, inside = 6 / np.pi * np.arcsin(0.6 / 2), 0  # Spearman of a bivariate normal with Pearson 0.6
    for _ in range(150):
        gold, noise = rng.normal(size=(2, 120))
        low, high = interval(resampled_spearman(gold, [0.6 * gold + 0.8 * noise], 200, rng)[0])
        inside += low <= truth <= high
    assert 0.88 <= inside / 150 <= 0.99


def test_interval_and_p_leave_undefined_draws_out() -> None:
    draws = np.array([np.nan, *np.linspace(0, 1, 101)])
    assert interval(draws) == pytest.approx((0.025, 0.975))
    assert two_sided_p(draws - 2) == pytest.approx(2 / 102)


@pytest.mark.parametrize(("differences", "p"), [([1, 2, 3], 2 / 4), ([-1, 2, 3, 4], 4 / 5), ([0, 0, 0], 1), ([-1, 1], 1)])
def test_two_sided_p(differences: list[float], p: float) -> None:
    assert two_sided_p(np.array(differences, dtype=float)) == pytest.approx(p)


def test_models_share_a_letter_exactly_inside_a_run_without_differences() -> None:
    rng = np.random.default_rng(0)
    for models in range(1, 7):
        for _ in range(30):
            scores = rng.permutation(models) / 10
            differs = np.triu(rng.random((models, models)) < 0.4, 1)
            differs |= differs.T
            letters = tie_groups(scores, differs)
            assert all(letters)
            assert letters[int(np.argmax(scores))].startswith("a")
            order = np.argsort(-scores)
            for first, second in combinations(range(models), 2):
                run = order[first : second + 1]
                together = not differs[np.ix_(run, run)].any()
                assert bool(set(letters[order[first]]) & set(letters[order[second]])) == together


def test_a_model_without_a_score_has_no_letter() -> None:
    assert tie_groups([float("nan"), 0.5, 0.7], np.zeros((3, 3), dtype=bool)) == ["", "a", "a"]
