"""Which items are shown, in which order, against plain loops."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy.stats import percentileofscore, rankdata

from embedlab.core.errors import UsageError
from embedlab.tui.data.cards import item_cards
from embedlab.tui.data.model import (
    FILE,
    GAP,
    GOLD,
    Facts,
    View,
    bins_of,
    item_of,
    no_match_hint,
    sort_orders,
    view_of,
    with_range,
    words_only_here,
)
from embedlab.tui.data.room import write_items
from tests.tui.world import shown_of


def facts() -> Facts:
    return Facts(shown_of(["near", "far"]))


def view(known: Facts, expression: str = "", dataset: str | None = None) -> View:
    """The items that EXPRESSION picks, in the order of the file."""
    return view_of(known, expression, dataset, FILE, is_descending=True)


def test_the_largest_disagreements_come_first() -> None:
    known = facts()
    gaps = known.numbers(GAP)[view_of(known, "", None, GAP, is_descending=True).rows]
    assert (np.diff(gaps) <= 0).all()
    by_hand = []
    for block in (0, 1):
        is_own = known.blocks == block
        near, far = (rankdata(values[is_own]) for values in known.predictions.values())
        by_hand.append(100 * np.abs(near - far).max() / is_own.sum())
    assert gaps[0] == pytest.approx(max(by_hand), abs=1e-6)


def test_an_item_without_a_number_is_last_in_either_direction() -> None:
    known = Facts(shown_of(["near", "far"], lacking=["far"]))
    for is_descending in (True, False):
        rows = view_of(known, "", None, "far", is_descending=is_descending).rows
        assert np.isnan(known.predictions["far"][rows[-60:]]).all()


def test_a_filter_that_reads_results_says_so_and_an_unknown_word_is_refused() -> None:
    known = facts()
    for expression, is_by_results in (("near>0.5", True), ("", False), ("gold>2", False)):
        shown = view(known, expression, "sts12")
        assert shown.selection.is_by_results == is_by_results
    assert shown.rows.tolist() == np.flatnonzero(known.gold[:60] > 2).tolist()
    with pytest.raises(UsageError, match="golt"):
        view(known, "golt>2")


def test_bins_count_shown_and_all_items_and_a_brush_replaces_its_own(tmp_path: Path) -> None:
    known = facts()
    bins = bins_of(view(known, "gold>3"), GOLD, 5)
    assert (sum(bins.whole), sum(bins.shown)) == (120, (known.gold > 3).sum())
    assert bins.shown[0] == 0
    again = with_range(with_range("horse or far>0", GOLD, (bins.edge(3), 9)), GOLD, (0, 1))
    assert again == "horse 0<=gold<=1 or far>0 0<=gold<=1"
    assert with_range(again, GOLD, None) == "horse or far>0"
    alone = view_of(Facts(shown_of(["near"])), "", None, GAP, is_descending=True)
    assert bins_of(alone, GAP) is None
    assert bins_of(alone, "near") is not None
    assert np.abs(alone.facts.ranks["near"]).argmax() == alone.rows[0]
    outcomes = known.outcomes
    blocks = tuple(replace(block, classes=tuple("abcdef")) for block in outcomes.blocks)
    rows = outcomes.rows.with_columns(pl.col("gold").floor())
    classified = Facts(replace(known.shown, outcomes=replace(outcomes, blocks=blocks, rows=rows)))
    assert bins_of(view(classified, ""), GOLD) is None  # a filter reads no index of a class
    write_items(tmp_path / "classes.csv", classified, [3])
    read = pl.read_csv(tmp_path / "classes.csv")
    gold, dice = rows["gold"][3], known.dice[3]
    assert (read["gold"][0], read["dice"][0]) == ("abcdef"[int(gold)], pytest.approx(dice))


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("dataset:sick", "`dataset:sick*` finds sick-r"),
        ("dataset:mr", "values of dataset: sts12, sick-r"),
        ("number:the", "`number:the*` finds the same numbers"),
        ('number:"no numbers"', "values of number: the same numbers"),
        ("gold>9", "esc clears the filter"),
    ],
)
def test_where_no_item_matches_the_hint_has_the_names_that_there_are(
    expression: str, hint: str
) -> None:
    empty = view(facts(), expression)
    assert not len(empty.rows)
    assert no_match_hint(empty) == hint


def test_the_orders_come_round_where_dice_is_a_model_too() -> None:
    assert sort_orders(Facts(shown_of(["near", "dice"]))) == ["gap", "gold", "dice", "near", FILE]


def test_words_that_the_other_lacks_are_marked() -> None:
    parts = words_only_here("A cat's bowl, here.", "here is A bowl")
    assert [text for text, is_only in parts if is_only] == ["cat's"]
    assert "".join(text for text, _ in parts) == "A cat's bowl, here."


def test_an_item_has_its_errors() -> None:
    known = facts()
    item = item_of(known, 5)
    assert item.title == "sts12 · item 5"
    gold, near, _, dice = item.bars
    assert [gold.name, near.name, dice.name] == ["  gold", "● near", "  Dice"]
    assert near.error == pytest.approx(known.ranks["near"][5])
    assert near.rank - gold.rank == pytest.approx(near.error)
    rank = percentileofscore(known.gold[:60], known.gold[5], kind="mean")
    assert gold.rank == pytest.approx(rank)


def test_the_nearest_sentences_are_those_with_the_highest_cosine() -> None:
    shown = shown_of(["near", "far"])
    assert Facts(shown).nearest("a cat") == ("", [])
    rng = np.random.default_rng(1)

    def vectors(sentences: Sequence[str]) -> tuple[str, np.ndarray]:
        drawn = rng.normal(size=(len(sentences), 8))
        return "near", drawn / np.linalg.norm(drawn, axis=1, keepdims=True)

    known = Facts(replace(shown, vectors=vectors))
    item = item_of(known, 5)
    table = dict(zip(known.sentences, known.vectors[1], strict=True))
    own = table[item.sentences[0]]
    slow = sorted(((float(own @ other), text) for text, other in table.items()), reverse=True)
    model, nearest = known.nearest(item.sentences[0])
    assert model == "near"
    for (cosine, text), expected in zip(nearest, slow[1:5], strict=True):  # without itself
        assert (cosine, text) == (pytest.approx(expected[0]), expected[1])
    *_, said = item_cards(item, "", 80, (model, nearest))
    assert "nearest to the first, by near" in said.plain


@pytest.mark.parametrize("width", [60, 66, 120])
def test_the_numbers_of_a_card_fit_their_line(width: int) -> None:
    _, bars, _ = item_cards(item_of(facts(), 5), "", width)
    lines = bars.plain.split("\n")
    (head,) = [line for line in lines if line.endswith("percentile  error")]
    assert len(head) <= width
    assert sum(len(line) == len(head) for line in lines) == 3  # the head and both models
