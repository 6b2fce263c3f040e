"""Scored pairs of several datasets: which splits are opened, and what is missing."""

import pytest

from embedlab.core.errors import MissingError
from embedlab.core.paths import TINY_FOLDER
from embedlab.data.pair_parts import open_parts
from embedlab.data.source import Source


def test_the_test_pairs_are_opened_and_of_sts_benchmark_all_where_they_are_wanted() -> None:
    sample = Source(folder=TINY_FOLDER)
    for all_splits in (False, True):
        parts, missing = open_parts(sample, ["sick-r", "sts-benchmark"], all_splits=all_splits)
        more = [("sts-benchmark", "train"), ("sts-benchmark", "dev")] if all_splits else []
        assert [(part.state.name, part.state.split) for part in parts] == [
            ("sick-r", "test"),
            ("sts-benchmark", "test"),
            *more,
        ]
        assert missing == []
    assert [part.state.split for part in open_parts(sample, ["sick-r"], all_splits=True)[0]] == [
        "test"
    ]
    with pytest.raises(MissingError, match="sts12"):
        open_parts(Source(offline=True), ["sts12", "sts13"])
