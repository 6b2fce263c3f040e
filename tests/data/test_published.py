"""Hashes of published files: what is whole, and what has the right counts alone."""

from dataclasses import asdict
from typing import Any

import pytest

from embedlab.data.dataset import DatasetState
from embedlab.data.published import (
    content_of,
    other_files,
    published_hash,
    shipped_hashes,
    state_remarks,
)

SICK = "SICK/SICK_trial.txt"


def test_a_file_of_another_content_is_distinguished_from_the_published_one() -> None:
    published = shipped_hashes()[SICK]
    assert content_of({SICK: published}) == "published"
    assert content_of({SICK: published, "SNLI/snli_1.0_dev.jsonl": "0" * 64}) == "unrecorded"
    assert (
        content_of({SICK: "0" * 64, "SICK/SICK_train.txt": shipped_hashes()["SICK/SICK_train.txt"]})
        == "unknown"
    )
    assert content_of({}) == "unrecorded"
    assert other_files({SICK: "0" * 64}) == [SICK]
    # SentEval's own data folder has the same files
    assert published_hash("downstream/MR/rt-polarity.pos")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, []),
        (
            {"sha256": {SICK: "0" * 64}},
            [f"sick-r dev: the counts are right, but {SICK!r} differs from the published file"],
        ),
        (
            {"sha256": {SICK: "0" * 64}, "rows": 7, "partial": True},
            ["sick-r is partial: 7 of 500 rows"],
        ),
        ({"empty": 2}, ["sick-r dev: 2 empty sentences"]),
        (
            {"partial": True},
            [
                "sick-r dev is partial: its classes or empty sentences are not those of the "
                "published corpus"
            ],
        ),
    ],
)
def test_what_is_said_of_data_follows_from_its_stored_state(
    given: dict[str, Any], said: list[str]
) -> None:
    published = {SICK: shipped_hashes()[SICK]}
    state = DatasetState(
        name="sick-r", split="dev", expected_rows=500, origin="folder",
        **{"rows": 500, "sha256": published, **given},
    )  # fmt: skip
    assert list(state_remarks(asdict(state))) == said
