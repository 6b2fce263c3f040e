"""The Data and Compare rooms: order, filter, brushes, verdict, why; and how both look."""

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from rich.cells import cell_len
from textual.pilot import Pilot
from textual.widgets import Input, Static

from embedlab.tui.app import Dashboard
from embedlab.tui.compare.model import WhyLine
from embedlab.tui.compare.room import CompareRoom
from embedlab.tui.data.histogram import Histogram
from embedlab.tui.data.model import GAP
from embedlab.tui.data.table import ItemTable
from embedlab.tui.data.what_if import WhatIf
from tests.tui.test_dashboard import at_once, dashboard, opened
from tests.tui.world import screen_text, until

__all__ = ["opened"]
Open = Callable[..., AbstractAsyncContextManager[Pilot[None]]]
PICTURES = Path(__file__).parent / "pictures"


def is_filtered(app: Dashboard, expression: str) -> bool:
    return app.view is not None and app.view.expression == expression


async def test_another_order_begins_at_its_first_item(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        table = app.query_one(ItemTable)
        await pilot.press("j", "j", "j", "s")
        await until(pilot, lambda: app.view and app.view.sort == GAP)
        await until(pilot, lambda: table.cursor == 0)
        assert app.view is not None
        assert table.row == int(np.nanargmax(app.view.facts.gap))


@pytest.mark.parametrize("width", range(1, 12))
def test_a_sentence_fills_its_cells_and_says_where_it_is_cut(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ItemTable, "_style", lambda *words, **options: None)
    text = "".join(part.text for part in ItemTable(id="x")._words("a 猫 runs", "a dog", width))
    assert cell_len(text) == width
    assert text.endswith("…") == (width < cell_len("a 猫 runs"))


async def test_one_model_alone_has_scores_and_no_differences(opened: Open) -> None:
    async with opened(models=("near",)) as pilot:
        app = dashboard(pilot)
        await until(pilot, lambda: app.comparison)
        await pilot.press("2")
        await until(pilot, lambda: "c chooses another model to compare with" in screen_text(app))
        shown = screen_text(app)
        assert "╭─ scores" in shown.replace("┏━", "╭─")
        assert "diff" not in shown
        assert "w explains" not in shown


async def test_a_filter_that_was_typed_before_comes_back_with_up(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        line = app.query_one("#data-filter", Input)
        for text in ("gold>4", "gold<1"):
            at_once(pilot, f"/{text}\r")
            await until(pilot, partial(is_filtered, app, text))
            await until(pilot, lambda: app.focused is app.query_one(ItemTable))
            await pilot.press("escape")
            await until(pilot, lambda: line.value == "")
        await pilot.press("slash", "up", "up")
        assert line.value == "gold>4"
        await pilot.press("down")
        assert line.value == "gold<1"


async def test_the_beginning_of_a_dataset_hints_its_star(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        at_once(pilot, "/dataset:sick\r")
        error = app.query_one("#filter-error", Static)
        await until(pilot, lambda: error.display)
        assert "`dataset:sick*` finds sick-r" in str(error.render())
        await until(pilot, lambda: app.focused is app.query_one(ItemTable))
        await pilot.press("2")
        verdict = app.query_one("#verdict", Static)
        await until(pilot, lambda: "No item matches" in str(verdict.render()))


async def test_a_range_of_a_histogram_filters_and_is_taken_away(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        await pilot.press("tab", "tab")
        assert app.focused is app.query_one("#gold-bins", Histogram)
        await pilot.press("right", "enter", "right", "right", "enter")
        await until(pilot, lambda: app.view and "gold" in app.view.expression)
        assert app.view is not None
        bins = app.query_one("#gold-bins", Histogram).bins
        assert bins is not None
        gold = app.view.facts.gold[app.view.rows]
        assert (
            0 < len(gold) == ((gold >= bins.edge(1) - 1e-3) & (gold <= bins.edge(4) + 1e-3)).sum()
        )
        await pilot.press("backspace")
        await until(pilot, lambda: app.view and app.view.expression == "")


async def test_why_is_two_keys_away(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        await until(pilot, lambda: app.comparison)
        await pilot.press("2")
        await until(pilot, lambda: app.query_one(CompareRoom).line)
        await pilot.press("w")
        text = app.query_one("#why Static", Static)
        await until(pilot, lambda: "far alone is right on" in str(text.render()))
        assert "near alone is right on" in str(text.render())


async def test_the_numbers_of_why_stand_below_their_names(opened: Open) -> None:
    async with opened() as pilot:
        room = dashboard(pilot).query_one(CompareRoom)
        await pilot.press("2")
        kind = WhyLine(text="length fifth 3", delta=-3.3, low=-5.0, high=-1.0, items=3337)
        text = room._why_text([WhyLine(text="far gains or loses on", style="bold"), kind])
        _, head, line = text.plain.split("\n")
        assert head.split() == ["points", "95%", "items"]
        assert line[: head.index("points") + len("points")].endswith(" -3.3")
        assert line[head.index("95%") :].split() == ["[-5.0,", "-1.0]", "3,337"]
        assert len(line) == len(head)


async def test_both_sentences_can_be_edited_and_left(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        await pilot.press("v")
        pane = app.query_one(WhatIf)
        await until(pilot, lambda: pane.display and isinstance(app.focused, Input))
        row = app.query_one(ItemTable).row
        assert app.view is not None
        assert row is not None
        assert pane.typed[0] == app.view.facts.outcomes.sentences["sentence1"][row]
        await pilot.press("escape")
        await until(pilot, lambda: app.focused is app.query_one(ItemTable))


async def test_a_sentence_is_edited_by_a_rule_where_that_is_safe(opened: Open) -> None:
    async with opened() as pilot:
        app = dashboard(pilot)
        await pilot.press("v")
        pane = app.query_one(WhatIf)
        await until(pilot, lambda: pane.display and isinstance(app.focused, Input))
        line = pane.query(Input).first(Input)
        line.value = "two dogs are running"
        await pilot.press("ctrl+n")
        assert line.value == "two dogs are not running"
        await pilot.press("ctrl+r")
        assert line.value not in {"two dogs are not running", ""}
        line.value = "dogs run"
        await pilot.press("ctrl+n")
        assert line.value == "dogs run"


@pytest.mark.parametrize(("room", "size"), [("data", (80, 24)), ("compare", (140, 40))])
async def test_a_room_looks_as_its_picture(opened: Open, room: str, size: tuple[int, int]) -> None:
    async with opened(size) as pilot:
        app = dashboard(pilot)
        await until(pilot, lambda: app.comparison)
        keys: Sequence[str] = ("s",) if room == "data" else ("2",)
        await pilot.press(*keys)
        await until(pilot, lambda: (app.view and app.view.sort == GAP) or room == "compare")
        await until(pilot, lambda: app.query_one(CompareRoom).line or room == "data")
        await pilot.pause(0.3)
        found = screen_text(app)
        picture = PICTURES / f"{room}-{size[0]}x{size[1]}.txt"
        if not picture.exists():  # a new picture is written, to be looked at
            picture.write_text(found, encoding="utf-8")
            pytest.fail(f"wrote {picture.name}")
        assert found == picture.read_text(encoding="utf-8")
