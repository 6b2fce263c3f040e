"""Scored pairs of several datasets: which splits are opened, and what is missing."""

import pytest

from embedlab.core.errors import MissingError
from embedlab.core.paths import TINY_FOLDER
from embedlab.data.source import Source, open_parts


def test_the_test_pairs_are_opened() -> None:
    parts, missing = open_parts(Source(folder=TINY_FOLDER), ["sick-r", "sts-benchmark"])
    assert [(part.state.name, part.state.split) for part in parts] == [
        ("sick-r", "test"),
        ("sts-benchmark", "test"),
    ]
    assert missing == []
    with pytest.raises(MissingError, match="sts12"):
        open_parts(Source(offline=True), ["sts12", "sts13"])
