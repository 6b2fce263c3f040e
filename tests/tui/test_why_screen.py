"""Why two models differ on what is selected: the panes, and that each line selects what it says."""

import numpy as np
import pytest
from textual.widgets import Static

from embedlab.core.errors import UsageError
from embedlab.core.settings import Settings
from embedlab.tui.pair_table.data import load_pairs, with_models
from embedlab.tui.pair_table.view import PairSelection, PairView
from embedlab.tui.pairs.screen import PairsScreen
from embedlab.tui.stored_models import stored_models
from embedlab.tui.why.model import Reasons, find_reasons
from embedlab.tui.why.screen import ReasonTable, WhyScreen
from embedlab.tui.widgets.frame_table import FrameTable
from tests.tui.conftest import fix_catalog
from tests.tui.driving import NARROW, Open, on_top, until


@pytest.fixture(scope="module")
def view(world: Settings) -> PairView:
    with pytest.MonkeyPatch.context() as patch:
        fix_catalog(patch)
        return PairView(data=with_models(load_pairs(world), stored_models(world)[0][:2]))


@pytest.fixture(scope="module")
def reasons(view: PairView, world: Settings) -> Reasons:
    return find_reasons(view, "far", "near", world)


def test_each_line_of_where_selects_as_many_pairs_as_it_counts(
    reasons: Reasons, view: PairView
) -> None:
    lines = reasons.panes["where"].rows
    assert lines[0].cells[0] == "all"
    opened = [line for line in lines if line.rows is not None]
    assert len(opened) > 5
    for line in opened:
        assert line.cells[1] == f"{len(line.rows):,}"
        assert not line.is_by_results
        if line.expression:
            alone = PairView(data=view.data)
            alone.select(PairSelection(expression=line.expression))
            assert np.array_equal(np.flatnonzero(alone.holds), line.rows)
    assert any(line.expression.startswith("negation:") for line in opened)


def test_the_lines_of_a_side_are_pairs_that_one_model_alone_gets_right(
    reasons: Reasons, view: PairView
) -> None:
    errors = {
        letter: view.data.table[f"error({name})"].to_numpy()
        for letter, name in (("A", "far"), ("B", "near"))
    }
    shown = [
        line
        for line in (*reasons.panes["common"].rows, *reasons.panes["typical"].rows)
        if line.rows is not None
    ]
    assert {line.cells[0].strip()[0] for line in shown} == {"A", "B"}
    for line in shown:
        right = line.cells[0].strip()[0]
        wrong = "B" if right == "A" else "A"
        assert (np.abs(errors[right][line.rows]) <= 10).all()
        assert (np.abs(errors[wrong][line.rows]) >= 30).all()
        assert line.is_by_results
    counted = [line for line in reasons.panes["common"].rows if line.rows is not None]
    assert all(line.cells[1] == f"{len(line.rows):,}" for line in counted)


def test_what_results_chose_is_not_explained(view: PairView, world: Settings) -> None:
    chosen = PairView(data=view.data)
    chosen.select(PairSelection(expression="gap>30"))
    with pytest.raises(UsageError, match="chosen by results"):
        find_reasons(chosen, "far", "near", world)


async def test_w_explains_what_is_selected_and_enter_opens_what_a_line_says(opened: Open) -> None:
    async with opened(size=NARROW) as pilot:
        app = pilot.app
        app.selected.type("dice>0.2")
        await pilot.press("2", "w")
        why = await on_top(pilot, WhyScreen)
        await until(pilot, lambda: why.model.reasons is not None)
        assert why.model.reasons.items == int(app.selected.view.holds.sum())
        table = why.query_one("#reasons-where", ReasonTable)
        assert app.screen.focused is table
        line = why.model.reasons.panes["where"].rows[1]
        await pilot.press("j", "enter")
        pairs = await on_top(pilot, PairsScreen)
        await until(
            pilot, lambda: set(pairs.query_one(FrameTable).rows.tolist()) == set(line.rows.tolist())
        )
        assert (app.data.pairing.reference, app.data.pairing.other) == ("far", "near")
        await pilot.press("escape")
        assert await on_top(pilot, WhyScreen) is why
        await until(
            pilot, lambda: app.selected.view.selection == PairSelection(expression="dice>0.2")
        )
        await pilot.press("d")
        assert app.screen.focused is why.query_one("#reasons-common", ReasonTable)
        await pilot.press("escape")
        await until(pilot, lambda: app.current_mode == "compare")
        await pilot.press("w")  # its keys lead to the same panes again
        assert await on_top(pilot, WhyScreen) is why
        await until(
            pilot, lambda: app.screen.focused is why.query_one("#reasons-where", ReasonTable)
        )
        await pilot.press("escape")
        await until(pilot, lambda: app.current_mode == "compare")
        app.selected.type("gap>30")
        await pilot.press("w")
        await until(
            pilot, lambda: "chosen by results" in str(why.query_one("#why-status", Static).content)
        )


async def test_reasons_are_forgotten_with_the_models_that_they_are_about(opened: Open) -> None:
    async with opened(size=NARROW) as pilot:
        app = pilot.app
        await pilot.press("6")
        why = await on_top(pilot, WhyScreen)
        await until(pilot, lambda: why.model.reasons is not None)
        await pilot.press("1")
        await on_top(pilot, PairsScreen)
        before = app.data
        app.load()
        await until(pilot, lambda: app.data is not before)
        await pilot.press("6")  # the same pairs, in other tables
        await until(pilot, lambda: why.is_current and why.model.reasons is not None)
        app.choose_models(["near"])
        await until(
            pilot,
            lambda: (
                why.model.reasons is None
                and "two models are needed" in str(why.query_one("#why-status", Static).content)
            ),
        )
        await pilot.press("enter")
        assert app.current_mode == "why"
