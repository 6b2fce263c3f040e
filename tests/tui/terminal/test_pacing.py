"""Nothing is drawn while nothing changes, and no frame while the terminal is behind."""

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from embedlab.core.settings import Settings
from embedlab.runs.events import Finished
from embedlab.tui.runs.board import RunFollower
from embedlab.tui.runs.screen import RunsScreen
from embedlab.tui.terminal.pacing import QUESTION, FramePace
from tests.tui.driving import Open, hold_timers_up, make_run, on_top, until


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def driver() -> Any:
    written: list[str] = []
    queue = SimpleNamespace(qsize=lambda: 0)
    return SimpleNamespace(
        write=written.append, written=written, _writer_thread=SimpleNamespace(_queue=queue)
    )


def test_frames_wait_for_a_late_answer_and_not_for_one_that_never_comes(driver: Any) -> None:
    clock = Clock()
    pace = FramePace(clock)
    pace.frame_drawn(driver, 100)
    assert driver.written == []  # a single small frame needs no question
    clock.now += 0.05
    pace.frame_drawn(driver, 100)
    assert driver.written == [QUESTION]
    assert not pace.is_behind(driver)
    clock.now += 0.5
    assert pace.is_behind(driver)
    pace.answered()
    assert not pace.is_behind(driver)
    clock.now += 1.0
    pace.frame_drawn(driver, 5_000)
    assert driver.written == [QUESTION] * 2  # a large one needs it also after a pause
    clock.now += 10.0  # this answer came late or not at all
    assert not pace.is_behind(driver)
    pace.frame_drawn(driver, 5_000)
    assert driver.written == [QUESTION] * 3
    silent = FramePace(clock)
    for _ in range(3):
        silent.frame_drawn(driver, 5_000)
        clock.now += 10.0  # this terminal never answers
        assert not silent.is_behind(driver)
    assert driver.written == [QUESTION] * 4


def test_a_slow_link_has_one_frame_under_way_and_a_fast_one_several(driver: Any) -> None:
    clock = Clock()
    pace = FramePace(clock)

    def draw(took_s: float) -> bool:
        """Draw a frame that is answered after TOOK_S; return whether another was refused
        meanwhile.
        """
        pace.frame_drawn(driver, 2_000)
        is_refused = pace.is_behind(driver)
        clock.now += took_s
        pace.answered()
        return is_refused

    assert [draw(0.01) for _ in range(4)] == [True, False, False, False]
    assert [draw(0.25) for _ in range(3)] == [False, True, True]
    far = FramePace(clock)  # fast, but far away: each answer takes a fifth of a second
    pace = far
    assert [draw(0.2) for _ in range(3)] == [True, False, False]


def test_frames_wait_while_one_is_queued(driver: Any) -> None:
    driver._writer_thread._queue = SimpleNamespace(qsize=lambda: 1)
    assert FramePace().is_behind(driver)
    assert not FramePace().is_behind(None)


async def test_a_frame_that_waits_is_drawn_although_the_machine_is_held_up(
    opened: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.tui.conftest.PAINT_EVERY_S", 0.0)
    async with opened() as pilot:
        screen, frames = pilot.app.screen, []
        hold_timers_up(monkeypatch)
        with pilot.app.batch_update():
            screen._compositor._dirty_regions.add(screen.region)
            screen._compositor_refresh()
        monkeypatch.setattr(
            pilot.app,
            "_display",
            lambda _screen, update: frames.append(update) if update is not None else None,
        )
        await until(pilot, lambda: frames)


async def test_runs_draws_nothing_when_every_run_has_ended(
    opened: Open, own_world: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run(own_world, "ended", 1, Finished(step=20), now=1_700_000_000.0)
    monkeypatch.setattr("embedlab.tui.runs.screen.LOOK_EVERY_S", 0.05)
    monkeypatch.setattr("tests.tui.conftest.PAINT_EVERY_S", 0.0)  # each frame at once
    async with opened(own_world) as pilot:
        await pilot.press("3")
        screen = await on_top(pilot, RunsScreen)
        await until(pilot, lambda: screen.model.board.runs)
        frames, looks = [], []
        look = RunFollower.look
        monkeypatch.setattr(RunFollower, "look", lambda follower: looks.append(1) or look(follower))
        monkeypatch.setattr(
            pilot.app,
            "_display",
            lambda _screen, update: frames.append(update) if update is not None else None,
        )

        def has_looked_without_drawing() -> bool:
            """Whether no frame followed one of the last looks; those of the first paint may still
            come.
            """
            if frames:
                frames.clear()
                looks.clear()
            return len(looks) > 5

        await until(pilot, has_looked_without_drawing)
        make_run(own_world, "another", 1, Finished(step=20), now=1_700_000_000.0)
        await until(pilot, lambda: frames)
        frames.clear()
        with (
            pilot.app.batch_update()
        ):  # a frame that is computed now would be lost: Textual shows none
            screen._compositor._dirty_regions.add(screen.region)
            screen._compositor_refresh()
            assert frames == []
        await until(pilot, lambda: frames)


def test_the_last_event_of_an_ended_run_is_a_time_that_does_not_change(
    own_world: Settings, utc: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = 1_700_000_000.0  # 22:13 of a 14 November
    make_run(own_world, "ended", 1, Finished(step=20, time=ended), now=ended)
    follower, shown = RunFollower(own_world.runs), []
    for later in (1.0, 61.0, 90_000.0):
        monkeypatch.setattr("embedlab.tui.runs.board.time", lambda later=later: ended + later)
        shown += follower.look().frame().filter(pl.col("run") == "ended@1")["last"].to_list()
    assert shown == ["22:13", "22:13", "2023-11-14"]
