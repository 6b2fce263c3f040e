"""Nothing is drawn while nothing changes, and no frame while the terminal is behind."""

from types import SimpleNamespace
from typing import Any

import pytest

from embedlab.core.settings import Settings
from embedlab.runs.events import Finished
from embedlab.tui.pacing import QUESTION, FramePace
from embedlab.tui.runs.screen import RunsScreen
from tests.tui.driving import Open, make_run, on_top, until


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def driver() -> Any:
    written: list[str] = []
    queue = SimpleNamespace(qsize=lambda: 0)
    return SimpleNamespace(write=written.append, written=written, _writer_thread=SimpleNamespace(_queue=queue))


def test_frames_wait_for_a_late_answer_and_not_for_one_that_never_comes(driver: Any) -> None:
    clock = Clock()
    pace = FramePace(clock)
    pace.frame_drawn(driver)
    assert driver.written == []  # a single frame asks nothing
    clock.now += 0.05
    pace.frame_drawn(driver)
    assert driver.written == [QUESTION]
    assert not pace.is_behind(driver)
    clock.now += 0.2
    assert pace.is_behind(driver)
    pace.answered()
    assert not pace.is_behind(driver)
    pace.frame_drawn(driver)
    clock.now += 10.0  # this terminal does not answer
    assert not pace.is_behind(driver)
    pace.frame_drawn(driver)
    clock.now += 0.01
    pace.frame_drawn(driver)
    assert driver.written == [QUESTION] * 2


def test_frames_wait_while_one_is_queued(driver: Any) -> None:
    driver._writer_thread._queue = SimpleNamespace(qsize=lambda: 1)
    assert FramePace().is_behind(driver)
    assert not FramePace().is_behind(None)


async def test_runs_draws_nothing_when_every_run_has_ended(opened: Open, own_world: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    make_run(own_world, "ended", 1, Finished(step=20), now=1_700_000_000.0)
    monkeypatch.setattr("embedlab.tui.runs.screen.LOOK_EVERY_S", 0.05)
    async with opened(own_world) as pilot:
        await pilot.press("3")
        screen = await on_top(pilot, RunsScreen)
        await until(pilot, lambda: screen.board.runs)
        await pilot.pause(0.3)
        frames, looks = [], [screen.board]
        monkeypatch.setattr(pilot.app, "_display", lambda _screen, update: frames.append(update) if update is not None else None)
        for _ in range(5):
            await until(pilot, lambda: screen.board is not looks[-1])
            looks.append(screen.board)
        assert frames == []
        make_run(own_world, "another", 1, Finished(step=20), now=1_700_000_000.0)
        await until(pilot, lambda: frames)
