"""`embedlab explain` as people and programs read it."""

from tests.cli.conftest import Embedlab

WORDS = ("explain", "A man is playing a guitar.", "A man is not playing a guitar.", "-m", "dice")


def test_models_that_rank_a_pair_alike_are_not_said_to_differ(embedlab: Embedlab) -> None:
    answer = embedlab(*WORDS, "-m", "other=dice").out
    assert "other ranks the pair like dice" in answer
    assert "0.0 points" not in answer
    assert "\nWhat each word does: " in answer
