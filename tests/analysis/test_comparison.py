"""What a comparison makes of a test for independent rows; comparisons as wholes are in tests/comparison."""

from math import isnan, nan, sqrt

import pytest
from scipy.stats import norm

from embedlab.analysis.comparison import design_corrected


@pytest.mark.parametrize("p", [1e-12, 0.003, 0.04, 0.5, 1.0])
@pytest.mark.parametrize("design_effect", [1.0, 1.3, 4.0])
def test_the_deviate_of_a_closed_test_is_divided_by_the_root_of_the_design_effect(p: float, design_effect: float) -> None:
    assert design_corrected(p, design_effect) == pytest.approx(2 * norm.sf(norm.isf(p / 2) / sqrt(design_effect)), rel=1e-9)


@pytest.mark.parametrize("design_effect", [0.2, 0.99, nan])
def test_a_closed_test_is_never_made_sharper(design_effect: float) -> None:
    assert design_corrected(0.04, design_effect) == 0.04
    assert isnan(design_corrected(nan, design_effect))
