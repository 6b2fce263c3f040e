"""What is to happen once, later, happens on a machine that is busy elsewhere."""

import asyncio
from pathlib import Path

import pytest
from textual.app import App
from textual.screen import Screen

import embedlab.tui
from embedlab.tui.terminal.delay import after
from tests.tui.driving import hold_timers_up, until


async def test_a_call_comes_after_its_delay_although_the_machine_is_held_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app, calls = App[None](), list[str]()
    async with app.run_test() as pilot:
        hold_timers_up(monkeypatch)
        after(0.02, app.screen, lambda: calls.append("late"))
        after(0.01, app.screen, lambda: calls.append("early"))
        assert calls == []
        await until(pilot, lambda: calls == ["early", "late"])


async def test_a_call_that_is_taken_back_does_not_come(monkeypatch: pytest.MonkeyPatch) -> None:
    app, calls = App[None](), list[str]()
    async with app.run_test() as pilot:
        taken = after(0.01, app.screen, lambda: calls.append("taken back"))
        taken.cancel()
        after(0.05, app.screen, lambda: calls.append("other"))
        await until(pilot, lambda: calls)
        assert calls == ["other"]
        taken.cancel()


@pytest.mark.parametrize("is_app_ending", [True, False])
async def test_nothing_is_called_once_what_would_call_it_is_removed(is_app_ending: bool) -> None:
    app, calls = App[None](), list[str]()
    async with app.run_test() as pilot:
        await app.push_screen(Screen())
        screen = app.screen
        after(0.0, screen, lambda: calls.append("before"))
        await until(pilot, lambda: calls)
        removed = app.exit() if is_app_ending else app.pop_screen()
        after(0.0, screen, lambda: calls.append("after"))
        for _ in range(20):  # the call is due before the screen is closed
            await asyncio.sleep(0)
        if removed is not None:
            await removed
    assert calls == ["before"]


def test_no_screen_uses_a_timer_that_may_be_lost() -> None:
    folder = Path(embedlab.tui.__file__).parent
    assert [
        path.name
        for path in folder.rglob("*.py")
        if "set_timer(" in path.read_text(encoding="utf-8")
    ] == []
