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
    assert "@close is 'dice>0.6 gold<4' from now on" in named.err
    assert embedlab("data", "ls", "--selections", "--json").rows == [
        {"name": "@close", "expression": "dice>0.6 gold<4"}
    ]
    assert embedlab(*PAIRS, "@close").rows == named.rows
    words = ("compare", "dice", "--data", "tiny", "--task", "sts12", "--json", "--where")
    by_name, by_terms = embedlab(*words, "@close"), embedlab(*words, "dice>0.6 gold<4")
    assert by_name.rows == by_terms.rows
    assert by_name.rows[0]["items"] == len(named.rows)
    assert "items that fit '@close'; @close is 'dice>0.6 gold<4'" in by_name.json["notes"]
    signature = by_name.json["signatures"]["dice"]
    embedlab(*PAIRS, "dice>0.7", "--name", "close")
    assert embedlab(*words, "@close").json["signatures"]["dice"] != signature

    assert embedlab("data", "ls", "--selections", "--remove", "close").code == 0
    assert "no selection is called 'close'" in embedlab(*words, "@close").err


def test_pairs_are_picked_by_properties_and_results_as_a_comparison_does(
    embedlab: Embedlab,
) -> None:
    compared = ("compare", "dice", "--data", "tiny", "--task", "sts12", "--json", "--where")
    for expression, sign in (
        ("negation:one words>8", ""),
        ("error(dice)>30 -question:both", "chosen by results"),
    ):
        pairs, items = embedlab(*PAIRS, expression), embedlab(*compared, expression)
        assert pairs.code == 0, pairs.err
        assert 0 < len(pairs.rows) == items.rows[0]["items"] < 600
        assert any(sign in note for note in pairs.json["notes"])
        assert bool(sign) == any("chosen by results" in note for note in pairs.json["notes"])
    refused = embedlab(*PAIRS, "phenomenon:negation")
    assert refused.code == 2
    assert "no item of sts12 has the property 'phenomenon'" in refused.err
    assert embedlab(*PAIRS, "dice>2").rows == []


def test_a_name_without_an_expression_is_refused(embedlab: Embedlab) -> None:
    answer = embedlab("pairs", "dice", "--data", "tiny", "--name", "all")
    assert answer.code == 2
    assert "nothing is picked that could be called 'all'" in answer.err


def test_a_name_is_refused_before_a_model_is_opened(embedlab: Embedlab) -> None:
    for name, where, reason in (
        ("1st", "gold>2", "cannot name a selection"),
        ("mine", "@other", "holds @other, another named selection"),
    ):
        answer = embedlab(
            "pairs", "no-such-model", "--data", "tiny", "--where", where, "--name", name
        )
        assert answer.code == 2
        assert reason in answer.err


def test_a_selection_limits_both_sides_of_an_or(embedlab: Embedlab) -> None:
    embedlab(*PAIRS, "gold>2", "--name", "near")
    words = ("compare", "dice", "--data", "tiny", "--task", "sts12", "--json", "--where")
    found = embedlab(*words, "dice<0.3 or dice>0.8", "--selection", "near")
    assert found.code == 0, found.err
    assert (
        found.rows[0]["items"]
        == embedlab(*words, "gold>2 dice<0.3 or gold>2 dice>0.8").rows[0]["items"]
    )
    assert found.rows[0]["items"] < embedlab(*words, "dice<0.3 or dice>0.8").rows[0]["items"]
