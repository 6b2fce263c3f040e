"""What a comparison makes of a test for independent rows; comparisons as wholes are in
tests/comparison.
"""

from math import isnan

import pytest

from embedlab.analysis.comparison import (
    compare_evidence,
    comparison_notes,
)
from embedlab.analysis.seed_tests import holm
from embedlab.analysis.weighing import Weighed
from tests.analysis.made import scored, single


def test_equivalence_is_corrected_over_the_differences_that_are_shown() -> None:
    evidence, models = [scored(400, [0.5, 0.5, 0.55], seed=1)], single("abc")
    (both,) = compare_evidence(evidence, models, margin=0.05)
    alone = Weighed(evidence[0], models)
    expected = holm(
        [
            alone.pair_uncertainties["a", name].equivalence(
                alone.means["a"] - alone.means[name], 0.05
            )
            for name in "bc"
        ]
    )
    shown = [difference.p_equivalent for difference in both.differences.values()]
    assert shown == pytest.approx(expected)
    assert [one.equivalent for one in both.differences.values()] == [p < 0.05 for p in shown]
    assert isnan(compare_evidence(evidence, models)[0].differences["b"].p_equivalent)
    said = "smaller than ±5 (two one-sided tests, 5%, corrected by Holm over 2 differences)"
    assert any(said in note for note in comparison_notes([both], models, 0.05))
