"""Keys that arrive in one packet, as over a slow line."""

import asyncio
import json
import os
import pty
import signal
import sys
from collections.abc import Awaitable
from pathlib import Path

import pytest
from textual import events
from textual.widgets import Input

from embedlab.core.paths import state_folder
from embedlab.tui.dialogs import Choose
from embedlab.tui.help_screen import HelpScreen
from embedlab.tui.launch.screen import LaunchScreen
from embedlab.tui.pairs.what_if_screen import WhatIfScreen
from embedlab.tui.terminal.app import TerminalApp
from tests.tui.driving import Open, noticed, on_top, send_at_once, until
from tests.tui.test_hangup import ARGUMENTS, is_over


@pytest.mark.slow
def test_one_write_of_many_keys_acts_like_slow_typing(tmp_path: Path) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(tmp_path)
        os.execv(sys.executable, [sys.executable, *ARGUMENTS, "--runs", str(tmp_path / "runs")])
    try:
        shown = b""
        while b" pairs" not in shown.replace(b"reading pairs", b""):
            shown += os.read(terminal, 4096)
        # Filter, export to a file whose name is full of commands (ctrl+u clears the proposed name),
        # mark the first pair, quit.
        os.write(terminal, b"/man\re\x15some.csv\r q")
        try:
            while os.read(terminal, 65_536):
                pass
        except OSError:  # the terminal is closed
            assert is_over(pid)
    except BaseException:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise
    state = json.loads((state_folder() / "dashboard.json").read_text(encoding="utf-8"))["pairs"]
    assert state["filter"] == "man"
    assert len(state["marks"]) == 1
    assert "sentence1" in (tmp_path / "some.csv").read_text(encoding="utf-8")


async def test_text_behind_a_key_goes_to_the_field_that_the_key_opens(opened: Open) -> None:
    async with opened() as pilot:
        send_at_once(pilot, "iall\tmine")
        dialog = await on_top(pilot, WhatIfScreen)
        await until(pilot, lambda: dialog.query_one("#second", Input).value == "mine")
        assert dialog.query_one("#first", Input).value == "all"
        await pilot.press("escape")
        send_at_once(pilot, "4\rx\t2\t")  # the list, the form and its module are not loaded yet
        screen = await on_top(pilot, LaunchScreen)
        await until(pilot, lambda: screen.model.form is not None and screen.values["seeds"] == "12")
        assert (
            screen.values["run name"]
            == f"{screen.model.form.choice.name if screen.model.form else None}x"
        )


async def test_keys_behind_a_dialog_that_never_opens_are_dropped(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("embedlab.tui.terminal.typed_keys.PATIENCE_S", 0.2)
    async with opened() as pilot:
        reading = asyncio.Event()
        monkeypatch.setattr(pilot.app, "look_for_models", reading.wait)
        send_at_once(pilot, "cmm")
        await noticed(pilot, "2 typed keys were dropped")
        await pilot.press("question_mark")  # the next ones wait no longer
        await on_top(pilot, HelpScreen)
        await pilot.press("escape")
        reading.set()
        await on_top(pilot, Choose)


async def test_a_key_waits_for_what_is_handled_and_not_for_a_clock(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[object] = []
    wait_for = asyncio.wait_for

    async def wait(awaited: Awaitable[object], timeout: float) -> object:  # noqa: ASYNC109 - as asyncio has it
        """Wait for long: what was handled comes back by itself."""
        try:
            return await wait_for(awaited, 20 * timeout)
        except TimeoutError:
            lost.append(awaited)
            raise

    monkeypatch.setattr("embedlab.tui.terminal.typed_keys.asyncio.wait_for", wait)
    async with opened() as pilot:
        await pilot.press("question_mark")
        await on_top(pilot, HelpScreen)
        await until(pilot, lambda: pilot.app.typed_keys._delivery is None)  # type: ignore[attr-defined]
        assert lost == []


async def test_a_key_does_not_overtake_one_that_was_held(opened: Open) -> None:
    async with opened() as pilot:
        await pilot.press("slash")
        typed, keys = pilot.app.typed_keys, [events.Key(letter, letter) for letter in "abc"]  # type: ignore[attr-defined]
        typed._released.append(keys[0])  # posted, behind the next ones in the queue of the app
        assert [typed.holds(key) for key in keys[1:]] == [True, True]
        pilot.app.post_message(keys[0])
        await until(pilot, lambda: len(pilot.app.selected.typed) == 3)  # type: ignore[attr-defined]
        assert pilot.app.selected.typed == "abc"  # type: ignore[attr-defined]


async def test_an_error_while_keys_are_delivered_ends_the_dashboard(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails() -> bool:
        raise TypeError("of the delivery")

    async def deliver() -> None:
        async with opened() as pilot:
            dashboard = pilot.app
            assert isinstance(dashboard, TerminalApp)
            monkeypatch.setattr(dashboard.typed_keys, "_is_opening", fails)
            monkeypatch.setattr(dashboard.typed_keys, "_is_awaited", lambda: False)
            send_at_once(pilot, "ss")
            await until(pilot, lambda: dashboard.crash)

    with pytest.raises(TypeError, match="of the delivery"):
        await deliver()
