"""What a comparison makes of a test for independent rows; comparisons as wholes are in tests/comparison."""

from math import isnan, nan, sqrt
from statistics import stdev

import numpy as np
import pytest
from scipy.stats import norm

from embedlab.analysis.comparison import ComparedSlice, SliceScore, compare_evidence, design_corrected
from embedlab.analysis.evidence import evidence_of
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.scores import ModelColumns


@pytest.mark.parametrize("p", [1e-12, 0.003, 0.04, 0.5, 1.0])
@pytest.mark.parametrize("design_effect", [1.0, 1.3, 4.0])
def test_the_deviate_of_a_closed_test_is_divided_by_the_root_of_the_design_effect(p: float, design_effect: float) -> None:
    assert design_corrected(p, design_effect) == pytest.approx(2 * norm.sf(norm.isf(p / 2) / sqrt(design_effect)), rel=1e-9)


@pytest.mark.parametrize("design_effect", [0.2, 0.99, nan])
def test_a_closed_test_is_never_made_sharper(design_effect: float) -> None:
    assert design_corrected(0.04, design_effect) == 0.04
    assert isnan(design_corrected(nan, design_effect))


@pytest.mark.parametrize("members", [(0.5, 0.7), (0.1, 0.2, 0.6), (0.3, 0.3, 0.3)])
def test_the_spread_of_a_score_is_that_of_a_sample_of_seeds(members: tuple[float, ...]) -> None:
    score = SliceScore(value=sum(members) / len(members), members=members, low=0.0, high=1.0, letters="")
    assert score.sd == pytest.approx(stdev(members))
    assert isnan(SliceScore(value=0.5, members=members[:1], low=0.0, high=1.0, letters="").sd)


def test_where_nothing_is_tested_nothing_decides() -> None:
    empty = ComparedSlice(key="sts12", title="sts12", pairs=100, scores={}, differences={})
    assert empty.is_concentrated is False
    assert isnan(empty.design_effect)
    assert (empty.task, empty.metric, empty.setting, empty.sentences, empty.tests) == ("sts", "spearman", None, 0, 0)
    assert (empty.notes, empty.average_of) == ((), ())


def test_the_interval_of_a_high_correlation_reaches_farther_down_and_never_above_one() -> None:
    rng = np.random.default_rng(0)
    gold = rng.normal(size=24)
    evidence = evidence_of("sts", "made", gold, {0: gold + rng.normal(scale=0.35, size=24)}, 1, measure=MEASURES["spearman"])
    (found,) = compare_evidence([evidence], [ModelColumns(name="one", members=("one",))], "one")
    score = found.scores["one"]
    assert score.value > 0.85
    assert score.low < score.value < score.high < 1
    assert score.value - score.low > 1.5 * (score.high - score.value)
