"""Which numbers a title says are x 100."""

import pytest

from embedlab.reports.notes import Scales, measures_in, unit_text


@pytest.mark.parametrize(
    ("scales", "measures", "unit"),
    [
        ({"spearman": 100}, "Spearman x 100", " x 100"),
        ({"spearman": 100, "accuracy": 100}, "Spearman and accuracy x 100", " x 100"),
        ({"entailed closer": 100, "margin": 1}, "entailed closer x 100 and margin", ""),
        ({"margin": 1}, "margin", ""),
    ],
)
def test_only_shares_are_said_to_be_x_100(scales: Scales, measures: str, unit: str) -> None:
    assert (measures_in(scales), unit_text(scales)) == (measures, unit)
