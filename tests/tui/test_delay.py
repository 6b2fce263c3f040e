"""What is to happen once, later, happens on a machine that is busy elsewhere."""

from pathlib import Path

import pytest
from textual.app import App

import embedlab.tui
from embedlab.tui.delay import after
from tests.tui.driving import hold_timers_up, until


async def test_a_call_comes_after_its_delay_although_the_machine_is_held_up(monkeypatch: pytest.MonkeyPatch) -> None:
    app, calls = App[None](), list[str]()
    async with app.run_test() as pilot:
        hold_timers_up(monkeypatch)
        after(0.02, app, lambda: calls.append("late"))
        after(0.01, app, lambda: calls.append("early"))
        assert calls == []
        await until(pilot, lambda: calls == ["early", "late"])


async def test_a_call_that_is_taken_back_does_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    app, calls = App[None](), list[str]()
    async with app.run_test() as pilot:
        taken = after(0.01, app, lambda: calls.append("taken back"))
        taken.cancel()
        after(0.05, app, lambda: calls.append("other"))
        await until(pilot, lambda: calls)
        assert calls == ["other"]
        taken.cancel()


def test_no_screen_uses_a_timer_that_may_be_lost() -> None:
    folder = Path(embedlab.tui.__file__).parent
    assert [path.name for path in folder.rglob("*.py") if "set_timer(" in path.read_text(encoding="utf-8")] == []
