"""A selection that is named once is used by every command with a filter."""

from tests.cli.conftest import Embedlab

PAIRS = (
    "pairs",
    "dice",
    "--data",
    "tiny",
    "--dataset",
    "sts12",
    "--json",
    "--limit",
    "9999",
    "--where",
)


def test_a_named_selection_picks_the_same_items_in_every_command(embedlab: Embedlab) -> None:
    named = embedlab(*PAIRS, "dice>0.6 gold<4", "--name", "close")
    assert named.code == 0, named.err
    assert "stored @close, 'dice>0.6 gold<4'" in named.err
    assert embedlab("data", "ls", "--selections", "--json").rows == [
        {"name": "@close", "expression": "dice>0.6 gold<4"}
    ]
    assert embedlab(*PAIRS, "@close").rows == named.rows
    words = ("compare", "dice", "--data", "tiny", "--task", "sts12", "--json", "--where")
    by_name, by_terms = embedlab(*words, "@close"), embedlab(*words, "dice>0.6 gold<4")
    assert by_name.rows == by_terms.rows
    assert by_name.rows[0]["items"] == len(named.rows)
    assert "items that match '@close'; @close is 'dice>0.6 gold<4'" in by_name.json["notes"]
    signature = by_name.json["signatures"]["dice"]
    embedlab(*PAIRS, "dice>0.7", "--name", "close")
    assert embedlab(*words, "@close").json["signatures"]["dice"] != signature

    assert embedlab("data", "ls", "--selections", "--remove", "close").code == 0
    assert "no selection is called 'close'" in embedlab(*words, "@close").err


def test_a_name_without_an_expression_is_refused(embedlab: Embedlab) -> None:
    answer = embedlab("pairs", "dice", "--data", "tiny", "--name", "all")
    assert answer.code == 2
    assert "--name 'all' needs items to store" in answer.err
