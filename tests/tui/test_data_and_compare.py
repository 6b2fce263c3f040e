"""The Data and Compare rooms: order, filter, brushes, verdict, why; and how both look."""

from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len
from textual.widgets import Input, OptionList, Static

from embedlab.tui.compare.model import WhyLine
from embedlab.tui.compare.room import CompareRoom, Scatter
from embedlab.tui.data.histogram import Histogram
from embedlab.tui.data.model import GAP
from embedlab.tui.data.table import ItemTable
from embedlab.tui.data.what_if import WhatIf
from tests.tui.world import Open, at_once, screen_text, shows, until


async def test_items_are_ordered_and_filtered_by_keys(opened: Open) -> None:
    async with opened() as (app, pilot):
        table = app.query_one(ItemTable)
        line, error = app.query_one("#data-filter", Input), app.query_one("#filter-error", Static)

        async def picks(expression: str, items: int) -> None:
            await until(pilot, lambda: app.view and app.view.expression == expression)
            await until(pilot, lambda: app.view and len(app.view.rows) == items)

        await pilot.press("j", "j", "j", "s")  # another order begins at its first item
        await until(pilot, lambda: app.view and app.view.sort == GAP and table.cursor == 0)
        assert table.row == int(np.nanargmax(app.view.facts.numbers(GAP)))
        gold = app.view.facts.gold
        for text, fitting in (("gold>4", gold > 4), ("gold<1", gold < 1)):
            at_once(pilot, f"/{text}\r")
            await picks(text, fitting.sum())
            assert fitting[app.view.rows].all()
            await until(pilot, lambda: app.focused is table)
            await pilot.press("escape")
            await picks("", 120)
        await pilot.press("slash", "up", "up")  # to what was typed before
        assert line.value == "gold>4"
        await pilot.press("down")
        assert line.value == "gold<1"
        await pilot.press("escape")
        await picks("", 120)
        at_once(pilot, "/golt>4\r")
        await until(pilot, lambda: error.display)
        await picks("", 120)
        await until(pilot, lambda: app.focused is table)
        await pilot.press("escape")
        forest = app.query_one("#forest", OptionList)
        await pilot.press("2")
        await until(pilot, lambda: forest.option_count)
        await pilot.press("1")
        at_once(pilot, "/dataset:sick\r")
        await until(pilot, lambda: "`dataset:sick*` finds sick-r" in str(error.render()))
        await until(pilot, lambda: app.focused is table)
        await pilot.press("2")
        verdict = app.query_one("#verdict", Static)
        await until(pilot, lambda: "No item matches" in str(verdict.render()))
        assert not forest.option_count  # of no earlier items


@pytest.mark.parametrize("width", range(1, 12))
def test_a_sentence_fills_its_cells_and_says_where_it_is_cut(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ItemTable, "_style", lambda *words, **options: None)
    text = "".join(part.text for part in ItemTable(id="x")._words("a 猫 runs", "a dog", width))
    assert cell_len(text) == width
    assert text.endswith("…") == (width < cell_len("a 猫 runs"))


async def test_a_head_without_room_for_the_number_of_items_is_drawn(opened: Open) -> None:
    async with opened() as (app, _):
        table = app.query_one(ItemTable)
        table._text_width = 4  # as with many items and models in a narrow window
        assert "".join(part.text for part in table._header()).endswith("1 of 120")


async def test_one_model_alone_has_scores_and_no_differences(opened: Open) -> None:
    async with opened(models=("near",)) as (app, pilot):
        await until(pilot, lambda: app.comparison)
        await pilot.press("2")
        await shows(pilot, "c chooses another model to compare with")
        shown = screen_text(app)
        assert "╭─ scores" in shown.replace("┏━", "╭─")
        assert "diff" not in shown
        assert "w explains" not in shown


async def test_a_pane_alone_has_its_whole_panel_until_the_focus_leaves_it(opened: Open) -> None:
    async with opened((100, 24)) as (app, pilot):
        await until(pilot, lambda: app.comparison)
        await pilot.press("2")
        await shows(pilot, "difference from near")
        await pilot.press("z")
        await until(pilot, lambda: "1 Data" not in screen_text(app))
        top, head, *_, bottom, keys = screen_text(app).splitlines()
        assert (top[0], top[-1], bottom[0], bottom[-1]) == tuple("┏┓┗┛")
        assert head.split()[1:3] == ["dataset", "items"]
        assert " 0 " in head  # of the scale
        assert keys.startswith("⏎ Open")
        await pilot.press("1", "z", "enter")  # the details take the place of the table
        await until(pilot, lambda: app.focused is app.query_one("#item-card"))
        await shows(pilot, "1 Data")
        assert "item 0" in screen_text(app)


async def test_a_range_of_a_histogram_filters_and_is_taken_away(opened: Open) -> None:
    async with opened() as (app, pilot):
        await pilot.press("tab", "tab")
        assert app.focused is app.query_one("#gold-bins", Histogram)
        await pilot.press("right", "enter", "right", "right", "enter")
        await until(pilot, lambda: app.view and "gold" in app.view.expression)
        bins = app.query_one("#gold-bins", Histogram).bins
        gold = app.view.facts.gold
        fitting = (gold >= bins.edge(1) - 1e-3) & (gold <= bins.edge(4) + 1e-3)
        assert app.view.rows.tolist() == np.flatnonzero(fitting).tolist() != []
        await pilot.press("backspace")
        await until(pilot, lambda: app.view and app.view.expression == "")


async def test_both_sentences_can_be_edited_by_hand_or_by_a_rule_and_left(opened: Open) -> None:
    async with opened() as (app, pilot):
        table, pane = app.query_one(ItemTable), app.query_one(WhatIf)
        await pilot.press("v")
        await until(pilot, lambda: pane.display and isinstance(app.focused, Input))
        assert pane.typed[0] == app.view.facts.outcomes.sentences["sentence1"][table.row]
        line = pane.query(Input).first(Input)
        line.value = "two dogs are running"
        await pilot.press("ctrl+n")
        assert line.value == "two dogs are not running"
        await pilot.press("ctrl+r")
        assert line.value not in {"two dogs are not running", ""}
        line.value = "dogs run"  # where no rule is safe
        await pilot.press("ctrl+n")
        assert line.value == "dogs run"
        await pilot.press("escape")
        await until(pilot, lambda: app.focused is table)
        pane.open(("red \x1b[31m", "b"), {}, {}, app.settings)
        assert pane.typed[0] == "red \\u001b[31m"  # no terminal obeys it


async def test_a_typed_pair_is_scored_under_the_signs_of_the_chosen_models(opened: Open) -> None:
    async with opened(models=("near", "dice")) as (app, pilot):
        pane = app.query_one(WhatIf)
        answer = pane.query_one(Static)
        await pilot.press("v")
        await until(pilot, lambda: pane.display)
        pair, places = ("a dog runs fast", "a dog runs"), {"near": 0, "dice": 1}
        pane.open(pair, {"dice": 0.5}, places, app.settings)  # near has no score of the pair
        await until(pilot, lambda: "0.857" in str(answer.render()))
        line = " ".join(str(answer.render()).split())
        assert line == "■ dice 0.857 +0.357 beside the item"
        await pilot.press("ctrl+t")
        await until(pilot, lambda: "each word" in str(answer.render()))
        head, *words = [line.split() for line in str(answer.render()).splitlines()]
        assert head == ["each", "word", "■", "dice"]
        assert words[0] == ["a", "+0.190"]  # of 6/7, without it 2 · 2/6
        assert words[3] == ["fast", "-0.143"]  # without it both are the same


async def test_items_are_turned_round_copied_noted_and_limited_to_a_dataset(opened: Open) -> None:
    async with opened() as (app, pilot):
        table = app.query_one(ItemTable)
        await pilot.press("s", "S")
        await until(pilot, lambda: app.view and app.view.sort == GAP)
        await until(pilot, lambda: app.view and not app.view.is_descending)
        assert table.row == int(np.nanargmin(app.view.facts.numbers(GAP)))
        sentences = app.view.facts.outcomes.sentences
        pair = [sentences[name][table.row] for name in ("sentence1", "sentence2")]
        await pilot.press("y")
        assert app.clipboard == "\n".join(pair)
        await pilot.press("number_sign")
        at_once(pilot, "odd\r")
        await shows(pilot, "odd")
        first = app.shown.datasets[0]
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: app.items.dataset == first)
        blocks = app.view.facts.outcomes.blocks
        assert {blocks[app.view.facts.blocks[row]].dataset for row in app.view.rows} == {first}
        await pilot.press("left_square_bracket", "i")
        await shows(pilot, "what limits the numbers")
        assert app.items.dataset is None


async def test_rows_of_a_comparison_are_cut_sorted_and_limited_by_keys(opened: Open) -> None:
    async with opened() as (app, pilot):
        room = app.query_one(CompareRoom)
        await pilot.press("2")
        await until(pilot, lambda: room.comparison is not None)
        await pilot.press("b")
        await shows(pilot, "source")
        await until(pilot, lambda: room.comparison and room.comparison.slicing.by == "source")
        await pilot.press("A", "C")
        await until(pilot, lambda: room.comparison and room.comparison.slicing.common)
        assert room.comparison.slicing.aggregate == "mean"
        await pilot.press("s")
        deltas = [abs(line.delta) for line in room._lines]
        assert deltas == sorted(deltas, reverse=True)
        await pilot.press("p")
        await shows(pilot, "against gold →")
        room.rows_by("length")
        await until(pilot, lambda: room.comparison and room.comparison.slicing.by == "length")
        await pilot.press("g", "enter")
        await until(pilot, lambda: len(app._notifications))
        assert app.room is room


async def test_why_and_scatter_are_of_the_items_that_are_shown(opened: Open) -> None:
    async with opened() as (app, pilot):
        await until(pilot, lambda: app.comparison)
        await pilot.press("2", "w")
        await shows(pilot, "near alone is right on")
        await pilot.press("1")
        at_once(pilot, "/gold>3\r")
        await until(pilot, lambda: app.view and app.view.expression == "gold>3")
        await pilot.press("2")
        await shows(pilot, "only 26 rows")
        assert app.view is not None
        assert len(app.query_one(Scatter)._points[0]) == len(app.view.rows)


async def test_the_rooms_look_as_their_pictures(opened: Open) -> None:
    async with opened((140, 40)) as (app, pilot):
        room = app.query_one(CompareRoom)
        await pilot.press("2")
        await until(pilot, lambda: screen_text(app) == picture("compare-140x40"))
        kind = WhyLine(text="length fifth 3", delta=-3.3, low=-5.0, high=-1.0, items=3337)
        text = room._why_text([WhyLine(text="far gains or loses on", style="bold"), kind])
        _, head, line = text.plain.split("\n")  # the numbers stand below their names
        assert head.split() == ["points", "95%", "items"]
        assert line[: head.index("points") + len("points")].endswith(" -3.3")
        assert line[head.index("95%") :].split() == ["[-5.0,", "-1.0]", "3,337"]
        assert len(line) == len(head)
        await pilot.resize_terminal(80, 24)
        await pilot.press("1", "s")
        await until(pilot, lambda: screen_text(app) == picture("data-80x24"))


def picture(name: str) -> str:
    return (Path(__file__).parent / "pictures" / f"{name}.txt").read_text(encoding="utf-8")
