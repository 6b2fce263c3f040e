"""Curves of runs from their events."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from embedlab.runs.curves import Curve
from embedlab.runs.events import EventLog, Started, Step
from embedlab.tui.runs.curve_drawing import (
    CurveLine,
    CurveOptions,
    CurveSeries,
    _Places,
    draw_curves,
)


def step(number: int, stage: int, loss: float) -> Step:
    return Step(
        stage=stage,
        epoch=0.5,
        step=number,
        steps=9,
        loss=loss,
        lr=1e-3,
        rows_per_s=1.0,
        eta_s=1.0,
        memory_mib=1.0,
    )


def test_a_step_that_several_stages_take_together_is_one_point(tmp_path: Path) -> None:
    path, curve = tmp_path / "events.jsonl", Curve()
    with EventLog(path) as log:
        for event in (step(1, 0, 3.0), step(1, 1, 1.0), step(1, 2, 2.0), step(2, 0, 1.0)):
            log.append(event)
        curve.read_on(path)
        assert (curve.steps, curve.losses) == ([1, 2], [2.0, 1.0])
        log.append(step(2, 1, 2.0))  # written after the last look
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


def one(
    title: str, *seeds: tuple[list[float], list[float]], axis: str = "", colour: str = "$model-1"
) -> CurveSeries:
    lines = [
        CurveLine(title=title, x=np.array(x, np.float64), y=np.array(y, np.float64))
        for x, y in seeds
    ]
    return CurveSeries(title=title, colour=colour, seeds=lines, axis=axis)


def test_the_axis_of_a_plot_is_straight_whatever_its_numbers() -> None:
    for low in (-0.09481, -1.23456e-5, -123456.0, 1.0):
        drawn = str(
            draw_curves("dev score", [one("a", ([1.0, 9.0], [low, 79.0]))], 60, 12)
        ).splitlines()
        assert len({text.index("│") for text in drawn if "│" in text}) == 1


def test_a_line_is_connected_from_its_first_to_its_last_point() -> None:
    rng = np.random.default_rng(0)
    for count in (2, 5, 40, 5000):
        x, y = np.sort(rng.uniform(0, 100, count)), rng.normal(size=count)
        places = _Places(
            x_range=(float(x[0]), float(x[-1])),
            y_range=(float(y.min()), float(y.max())),
            width=80,
            height=48,
        )
        dots = places.line_dots(x, y)
        rows = [np.flatnonzero(dots[:, column]) for column in range(80)]
        assert all(len(column) and len(column) == column[-1] - column[0] + 1 for column in rows)
        assert all(
            left[0] <= right[-1] + 1 and right[0] <= left[-1] + 1 for left, right in pairwise(rows)
        )
        assert all(
            dots[level, column]
            for level, column in zip(places.levels(y), places.columns(x), strict=True)
        )


def test_seeds_that_end_at_different_steps_all_count_in_the_last_value() -> None:
    shown = [one("near", ([0, 10], [2.0, 1.0]), ([0, 11], [4.0, 3.0]), ([0, 11], [4.0, 8.0]))]
    assert "━ near ×3 4 [1, 8]" in str(draw_curves("loss", shown, 100, 30))
    assert "━ near ×2 5.5 [3, 8]" in str(
        draw_curves("loss", shown, 100, 30, cursor=1.0)
    )  # two have reached the step


def test_a_tall_panel_names_values_between_the_ends_of_its_axis() -> None:
    lines = str(draw_curves("loss", [one("a", ([0, 10], [0.0, 8.0]))], 60, 40)).splitlines()
    assert [
        line.split("│")[0].strip() for line in lines if "│" in line and line.split("│")[0].strip()
    ] == ["8", "6", "4", "2", "0"]


def test_objectives_have_axes_of_their_own_and_the_cursor_names_the_values_of_all_seeds() -> None:
    shown = [
        one("near", ([0, 10], [2.0, 1.0]), ([0, 10], [4.0, 3.0]), axis="cross-entropy"),
        one("far", ([0, 20], [100.0, 300.0]), axis="contrastive", colour="$model-2"),
    ]
    text = str(draw_curves("loss", shown, 100, 30))
    assert "loss · cross-entropy" in text
    assert "loss · contrastive" in text
    assert "━ near ×2 2 [1, 3]" in text
    assert "━ far 300" in text
    at = str(draw_curves("loss", shown, 100, 30, cursor=0.25))
    assert "step 5" in at
    assert "━ far 100" in at or "━ far 300" in at
    assert "━ near ×2 ·" in str(draw_curves("loss", shown, 100, 30, cursor=0.9))
    assert len(text.splitlines()) == len(at.splitlines()) == 30
    together = str(draw_curves("dev", [replace(series, axis="") for series in shown], 100, 30))
    assert together.count("step") == 1
    assert len(str(draw_curves("loss", shown, 60, 9)).splitlines()) == 9  # no room for two


def test_a_logarithmic_axis_leaves_out_what_has_no_logarithm_and_names_true_values() -> None:
    shown = [one("a", ([1, 2, 3, 4], [1000.0, 10.0, 0.0, 0.1]))]
    drawn = str(draw_curves("loss", shown, 60, 12, CurveOptions(is_log=True, smoothing=0.0)))
    assert "loss (log)" in drawn
    assert drawn.splitlines()[1].split()[0] == "1,000"
    assert drawn.splitlines()[-3].split()[0] == "0.1"
    assert "no events yet" in str(
        draw_curves("loss", [one("a", ([1], [0.0]))], 60, 12, CurveOptions(is_log=True))
    )
    dotted = draw_curves(
        "loss",
        [one("a", ([1, 2], [1.0, 2.0]), ([1, 2], [1.0, 5.0]))],
        60,
        12,
        CurveOptions(shows_seeds=True),
    )
    assert str(dotted) != str(
        draw_curves("loss", [one("a", ([1, 2], [1.0, 2.0]), ([1, 2], [1.0, 5.0]))], 60, 12)
    )


def test_a_curve_of_one_value_is_drawn_as_one_point_with_its_step() -> None:
    lines = str(draw_curves("dev score", [one("a", ([60.0], [71.5]))], 60, 12)).splitlines()
    assert sum(line.count("●") for line in lines) == 1
    assert lines[-2].split() == ["step", "60"]
    assert (
        lines[-2].index("60")
        <= next(line.index("●") for line in lines if "●" in line)
        <= lines[-2].index("60") + 1
    )
    assert "●" not in str(
        draw_curves("dev score", [one("a", ([60.0, 70.0], [71.5, 72.0]))], 60, 12)
    )


def test_the_axes_of_curves_have_round_values() -> None:
    lines = str(draw_curves("loss", [one("a", ([3, 117], [0.1234, 0.8765]))], 60, 20)).splitlines()
    assert [
        line.split("│")[0].strip() for line in lines if "│" in line and line.split("│")[0].strip()
    ] == ["0.8", "0.6", "0.4", "0.2"]
    assert lines[-2].split() == ["step", "20", "40", "60", "80", "100"]
