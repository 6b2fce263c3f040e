"""Kendall's tau beside scipy's, and its interval beside draws written out."""

import numpy as np
import pytest
from scipy.stats import kendalltau, rankdata

from embedlab.analysis.evidence import ModelColumns, evidence_of
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.rank_agreement import kendall, rank_agreement
from embedlab.analysis.weighing import Weighed
from tests.analysis.made import recipe, scored, single

PAIRS = 400


def weighed(members: list[np.ndarray], gold: np.ndarray, models: list[ModelColumns]) -> Weighed:
    texts = np.arange(2 * len(gold), dtype=np.uint64).reshape(-1, 2)
    evidence = evidence_of(
        "sts",
        "set",
        gold,
        dict(enumerate(members)),
        len(members),
        measure=MEASURES["spearman"],
        texts=texts,
    )
    return Weighed(evidence, models)


def test_kendall_is_scipys_tau_b() -> None:
    rng = np.random.default_rng(1)
    printed, ours = rng.integers(0, 4, 8), rng.integers(0, 5, (8, 20))
    assert kendall(printed, ours) == pytest.approx(
        [kendalltau(printed, column).statistic for column in ours.T]
    )
    assert np.isnan(kendall([1, 1, 1], np.ones((3, 2)))).all()


def test_the_interval_is_that_of_bootstrap_resamples_of_the_rows() -> None:
    """Models that err alike, whose order is more certain than their scores are."""
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 11, PAIRS) / 2
    common = rng.normal(scale=2.0, size=PAIRS)
    members = [gold + common + rng.normal(scale=own, size=PAIRS) for own in (0.2, 0.8, 1.4, 1.5)]
    found = rank_agreement(weighed(members, gold, single("abcd")), [4, 3, 2, 1])
    samples = rng.integers(0, PAIRS, (1_000, PAIRS))

    def centred_ranks(values: np.ndarray) -> np.ndarray:
        ranks: np.ndarray = rankdata(values[samples], axis=1)
        return ranks - ranks.mean(1, keepdims=True)

    gold_ranks = centred_ranks(gold)
    scores = np.array(
        [
            (ranks * gold_ranks).sum(1) / np.sqrt((ranks**2).sum(1))
            for ranks in map(centred_ranks, members)
        ]
    )
    expected = np.quantile(kendall([4, 3, 2, 1], scores), [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx(tuple(expected), abs=0.34)  # a step of tau
    assert found.low > 0


def test_without_topics_enough_or_where_all_are_printed_equal_tau_has_no_interval() -> None:
    few = rank_agreement(Weighed(scored(9, [0.2, 1.0, 4.0]), single("abc")), [3, 2, 1])
    assert few.tau == pytest.approx(1)
    alike = rank_agreement(Weighed(scored(90, [0.2, 1.0, 4.0]), single("abc")), [1, 1, 1])
    assert np.isnan([few.low, few.high, alike.tau, alike.low, alike.high]).all()


def test_the_fewest_degrees_of_freedom_of_any_two_models_widen_the_interval() -> None:
    """Nine recipes of twenty seeds and one of three, whose spread is known least: draws of a t
    distribution written out.
    """
    rng = np.random.default_rng(6)
    gold = rng.normal(size=4_000)
    counts = [20] * 9 + [3]
    members = [
        gold + rng.normal(scale=0.5 + 0.01 * place + abs(rng.normal(scale=scale)), size=len(gold))
        for place, count in enumerate(counts)
        for scale in [0.05 if count == 20 else 0.3] * count
    ]
    models = [recipe(name, count) for name, count in zip("abcdefghij", counts, strict=True)]
    found_weighed = weighed(members, gold, models)
    found = rank_agreement(found_weighed, range(10, 0, -1))
    uncertainties = [*found_weighed.score_uncertainties.values()]
    freedom = min(pair.seeds_freedom for pair in found_weighed.pair_uncertainties.values())
    assert freedom < 3
    errors = np.sqrt([each.seeds + each.variance_of_rows for each in uncertainties])
    widened = np.sqrt(freedom / rng.chisquare(freedom, 1500))
    means = np.array([*found_weighed.means.values()])
    drawn = means[:, None] + errors[:, None] * rng.standard_normal((10, 1500)) * widened
    taus = [kendalltau(range(10, 0, -1), one).statistic for one in drawn.T]
    assert (found.low, found.high) == pytest.approx(np.quantile(taus, [0.025, 0.975]), abs=0.1)
