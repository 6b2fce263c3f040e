"""`embedlab explain` as people and programs read it."""

import pytest

from tests.cli.conftest import Embedlab

WORDS = ("explain", "A man is playing a guitar.", "A man is not playing a guitar.", "-m", "dice")


def test_json_has_every_number_of_each_part(embedlab: Embedlab) -> None:
    tables = embedlab(*WORDS, "--json", "--instead", "A dog is not playing a guitar.").json[
        "tables"
    ]
    kinds = [{row["kind"] for row in table["rows"]} for table in tables]
    assert kinds == [{"pair"}, {"edit"}, {"word"}, {"words"}]
    assert len(tables[2]["rows"]) == 6 + 7
    assert len(tables[3]["rows"]) == 6 * 7
    assert tables[1]["rows"][0]["sentence"] == 2
    whole = tables[0]["rows"][0]
    for row in tables[2]["rows"]:
        assert row["effect"] == pytest.approx(whole["rank"] - row["rank"])


def test_models_that_rank_a_pair_alike_are_not_said_to_differ(embedlab: Embedlab) -> None:
    answer = embedlab(*WORDS, "-m", "other=dice").out
    assert "other ranks the pair like dice" in answer
    assert "0.0 points" not in answer
