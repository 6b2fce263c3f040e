"""The names of slices without their metrics."""

import pytest

from embedlab.analysis.evidence import NamedSlice


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
    named = NamedSlice()
    named.key, named.title, named.metric = key, f"{key} spearman", "spearman"
    assert named.slice_key == slice_key
    assert named.slice_title == key
