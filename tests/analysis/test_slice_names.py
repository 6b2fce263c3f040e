"""The names of slices without their metrics."""

from dataclasses import replace

import pytest

from tests.analysis.made import scored


@pytest.mark.parametrize(
    ("key", "slice_key"),
    [
        ("sts12 spearman", "sts12"),
        ("sts12/MSRpar spearman", "sts12/MSRpar"),
        ("spearman", "spearman"),
        ("mr accuracy", "mr accuracy"),
    ],
)
def test_the_metric_alone_is_taken_off(key: str, slice_key: str) -> None:
    named = replace(scored(9, []), key=key, title=f"{key} spearman")
    assert named.slice_key == slice_key
    assert named.slice_title == key
