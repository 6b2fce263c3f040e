"""Curves of runs from their events."""

from pathlib import Path

import numpy as np

from embedlab.runs.events import EventLog, Started, Step
from embedlab.tui.runs.curves import Curve
from embedlab.tui.widgets.curve_plot import Line, draw_curves


def step(number: int, stage: int, loss: float) -> Step:
    return Step(stage=stage, epoch=0.5, step=number, steps=9, loss=loss, lr=1e-3, rows_per_s=1.0, eta_s=1.0, memory_mib=1.0)


def test_a_step_that_several_stages_take_together_is_one_point(tmp_path: Path) -> None:
    path, curve = tmp_path / "events.jsonl", Curve()
    with EventLog(path) as log:
        for event in (step(1, 0, 3.0), step(1, 1, 1.0), step(1, 2, 2.0), step(2, 0, 1.0)):
            log.append(event)
        curve.read_on(path)
        assert (curve.steps, curve.losses) == ([1, 2], [2.0, 1.0])
        log.append(step(2, 1, 2.0))  # told after the last look
        curve.read_on(path)
        assert (curve.steps, curve.losses) == ([1, 2], [2.0, 1.5])
        log.append(Started(pid=1, host="here", steps=9, step=1))
        log.append(step(2, 0, 4.0))
        curve.read_on(path)
        assert (curve.steps, curve.losses) == ([1, 2], [2.0, 4.0])


def test_another_run_of_the_same_name_has_a_curve_of_its_own(tmp_path: Path) -> None:
    path, other, curve = tmp_path / "events.jsonl", tmp_path / "other.jsonl", Curve()
    for place, losses in ((path, (9.0, 8.0)), (other, (1.0, 2.0, 3.0, 4.0))):
        with EventLog(place) as log:
            log.append(Started(pid=1, host="here", steps=9))
            for number, loss in enumerate(losses, 1):
                log.append(step(number, 0, loss))
    curve.read_on(path)
    other.replace(path)  # the first was deleted or renamed; the new file is the longer one
    curve.read_on(path)
    assert curve.losses == [1.0, 2.0, 3.0, 4.0]


def test_the_axis_of_a_plot_is_straight_whatever_its_numbers() -> None:
    for low in (-0.09481, -1.23456e-5, -123456.0, 1.0):
        line = Line(title="a", x=np.array([1.0, 9.0]), y=np.array([low, 79.0]))
        drawn = str(draw_curves("dev score", [line], 60, 12)).splitlines()
        assert len({text.index("│") for text in drawn if "│" in text}) == 1
