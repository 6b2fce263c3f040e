"""A selection that is named once is used by every command with a filter."""

from tests.cli.conftest import Embedlab

TINY = ("--data", "tiny", "--json", "--where")
PAIRS = ("pairs", "dice", "--dataset", "sts12", "--limit", "9999", *TINY)


def test_a_named_selection_picks_the_same_items_in_every_command(embedlab: Embedlab) -> None:
    named = embedlab(*PAIRS, "dice>0.6 gold<4", "--name", "close")
    assert named.code == 0, named.err
    assert "stored @close, 'dice>0.6 gold<4'" in named.err
    assert embedlab("data", "ls", "--selections", "--json").rows == [
        {"name": "@close", "expression": "dice>0.6 gold<4"}
    ]
    assert embedlab(*PAIRS, "@close").rows == named.rows
    words = ("compare", "dice", "--task", "sts12", *TINY)
    by_name, by_terms = embedlab(*words, "@close"), embedlab(*words, "dice>0.6 gold<4")
    assert by_name.rows == by_terms.rows
    assert by_name.rows[0]["items"] == len(named.rows)
    signature = by_name.json["signatures"]["dice"]
    embedlab(*PAIRS, "dice>0.7", "--name", "close")
    assert embedlab(*words, "@close").json["signatures"]["dice"] != signature

    assert embedlab("data", "ls", "--selections", "--remove", "close").code == 0
    assert "no selection is called 'close'" in embedlab(*words, "@close").err
