"""What a comparison makes of a test for independent rows; comparisons as wholes are in
tests/comparison.
"""

from collections.abc import Mapping
from math import isnan, nan
from statistics import stdev
from typing import Any

import numpy as np
import pytest

from embedlab.analysis.comparison import (
    ComparedSlice,
    Difference,
    SliceScore,
    compare_evidence,
    comparison_notes,
    reach_signs,
)
from embedlab.analysis.evidence import ModelColumns, evidence_of
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.seed_notes import REACHES
from embedlab.analysis.uncertainty import Uncertainty


@pytest.mark.parametrize("members", [(0.5, 0.7), (0.1, 0.2, 0.6), (0.3, 0.3, 0.3)])
def test_the_spread_of_a_score_is_that_of_a_sample_of_seeds(members: tuple[float, ...]) -> None:
    score = SliceScore(
        value=sum(members) / len(members), members=members, low=0.0, high=1.0, letters=""
    )
    assert score.sd == pytest.approx(stdev(members))
    assert isnan(SliceScore(value=0.5, members=members[:1], low=0.0, high=1.0, letters="").sd)


def test_where_nothing_is_tested_nothing_decides() -> None:
    empty = ComparedSlice(key="sts12", title="sts12", items=100, scores={}, differences={})
    assert isnan(empty.design_effect)
    assert (empty.task, empty.metric, empty.setting, empty.sentences, empty.tests) == (
        "sts",
        "spearman",
        None,
        0,
        0,
    )
    assert (empty.notes, empty.average_of) == ((), ())


def test_the_interval_of_a_high_correlation_reaches_farther_down_and_never_above_one() -> None:
    rng = np.random.default_rng(0)
    gold = rng.normal(size=24)
    evidence = evidence_of(
        "sts",
        "made",
        gold,
        {0: gold + rng.normal(scale=0.35, size=24)},
        1,
        measure=MEASURES["spearman"],
    )
    (found,) = compare_evidence([evidence], [ModelColumns(name="one", members=("one",))])
    score = found.scores["one"]
    assert score.value > 0.85
    assert score.low < score.value < score.high < 1
    assert score.value - score.low > 1.5 * (score.high - score.value)


def difference(delta: float = 0.1, **fields: Any) -> Difference:
    return Difference(
        **{"delta": delta, "low": 0.0, "high": 0.2, "p": 0.01, "p_holm": 0.01, **fields}
    )


def compared(
    differences: Mapping[str, Difference], letters: str = "a", **fields: Any
) -> ComparedSlice:
    score = SliceScore(value=0.5, members=(0.5,), low=0.4, high=0.6, letters=letters)
    return ComparedSlice(
        key="sts12",
        title="sts12",
        items=100,
        scores={"one": score},
        differences=differences,
        **fields,
    )


def test_the_signs_of_a_table_are_those_of_any_tested_difference() -> None:
    both = {"b": difference(reach="models"), "c": difference(reach="checkpoints")}
    assert reach_signs([compared(both, tests=3, reach="models")]) == [
        REACHES["models"],
        REACHES["checkpoints"],
    ]
    assert reach_signs([compared({"b": difference()}, tests=1)]) == [REACHES["models"]]
    assert reach_signs([compared({"b": difference()}, tests=1, reach="checkpoints")]) == [
        REACHES["models"],
        REACHES["checkpoints"],
    ]
    assert reach_signs([compared(both, tests=0)]) == []


def test_the_design_effect_of_a_slice_is_the_largest_of_its_differences() -> None:
    parts = [
        Uncertainty(rows=rows, rows_freedom=9.0, independent=1.0) for rows in (2.0, 5.0, nan, 3.0)
    ]
    found = compared({str(place): difference(uncertainty=one) for place, one in enumerate(parts)})
    assert (
        found.design_effect
        == max(one.design_effect for one in parts if not isnan(one.rows))
        > parts[0].design_effect
    )


def test_equivalence_is_corrected_over_the_differences_that_are_shown() -> None:
    rng = np.random.default_rng(1)
    gold = rng.normal(size=400)
    predicted = {
        place: gold + rng.normal(scale=scale, size=400)
        for place, scale in enumerate((0.5, 0.5, 0.55))
    }
    evidence = evidence_of("sts", "made", gold, predicted, 3, measure=MEASURES["spearman"])
    models = [ModelColumns(name=name, members=(name,)) for name in "abc"]
    (one,) = compare_evidence([evidence], models, margin=0.05)
    (alone,) = compare_evidence([evidence], models[:2], margin=0.05)
    p = {name: each.p_equivalent for name, each in one.differences.items()}
    own = alone.differences["b"].p_equivalent
    assert p["b"] == pytest.approx(min(1.0, 2 * own)) or p["b"] == pytest.approx(max(own, p["c"]))
    assert one.differences["b"].equivalent == (p["b"] < 0.05)
    assert isnan(compare_evidence([evidence], models)[0].differences["b"].p_equivalent)
    notes = list(comparison_notes([one], models, 0.05))
    assert any(
        "smaller than ±5 (two one-sided tests, 5%, corrected by Holm over 2 differences)" in note
        for note in notes
    )
