"""Scored pairs of several datasets: which splits are opened, and what is missing."""

import pytest

from embedlab.core.errors import MissingError
from embedlab.core.paths import TINY_FOLDER
from embedlab.data.pair_parts import is_scored, open_parts
from embedlab.data.source import Source, dataset, dataset_names


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


def test_scored_pairs_are_those_with_a_test_split_or_one_alone() -> None:
    found = {name for name in dataset_names("sts") if is_scored(dataset(name))}
    assert {"sts12", "sts-benchmark", "sick-r", "c-sts", "starter"} <= found
    assert "sts-course" not in found  # dev and train
    assert not is_scored(dataset("snli"))
    assert not is_scored(dataset("mr"))  # one split, but of sentences
