"""Enter in a question loses nothing."""

import pytest
from textual.app import App

from embedlab.tui.dialogs import Confirm


@pytest.mark.parametrize("is_safe", [True, False])
async def test_enter_is_the_answer_by_which_nothing_is_lost(is_safe: bool) -> None:
    app, answers = App[None](), list[bool | None]()
    async with app.run_test() as pilot:
        for key in ("enter", "y", "n"):
            await app.push_screen(Confirm("Go on?", is_safe=is_safe), answers.append)
            await pilot.press(key)
    assert answers == [is_safe, True, False]
