"""What someone types in the first hour: the starter set, models of packages, and the demo's two
kinds.
"""

from collections.abc import Callable

from tests.cli.conftest import Answer

Embedlab = Callable[..., Answer]


def test_a_command_on_the_starter_set_is_whole_and_marked(embedlab: Embedlab) -> None:
    answer = embedlab("evaluate", "dice", "--data", "starter", "--json")
    assert answer.code == 0
    assert answer.json["title"].endswith("[partial]")
    assert {row["slice"] for row in answer.rows} == {"sts-benchmark"}
    assert "sts-benchmark is partial: 375 of 1379 rows (starter set)" in answer.json["notes"]


def test_unread_pairs_of_a_model_that_states_its_text_are_said_to_be_unknown(
    embedlab: Embedlab,
) -> None:
    answer = embedlab("compare", "minilm", "dice", "--data", "starter", "--unseen", "--json")
    assert answer.code == 0
    assert "items may be in training text that is not at hand: minilm" in answer.err
    assert "nothing is left out" not in answer.err
