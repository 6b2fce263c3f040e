import math

import numpy as np
import pytest

from embedlab.tui.widgets.axis import log_ticks, placed, round_ticks, tick_line, tick_text


def slow_ticks(low: float, high: float, most: int) -> int:
    """How many round values there are at most, counted over all steps."""
    counts = []
    for power in range(-9, 9):
        for step in (1, 2, 5):
            size = step * 10.0**power
            counts.append(int((high / size + 1e-9) // 1) - math.ceil(low / size - 1e-9) + 1)
    return max(count for count in counts if count <= most)


def test_ticks_are_as_many_round_values_as_have_room() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        low, width, most = rng.normal(scale=100), 10 ** rng.uniform(-3, 3), int(rng.integers(2, 9))
        ticks = round_ticks(low, low + width, most)
        assert all(low - 1e-9 <= tick <= low + width + 1e-9 for tick in ticks)
        assert len(ticks) == max(2, slow_ticks(low, low + width, most))
        step = np.diff(ticks).min()
        assert len(ticks) == 2 or np.allclose(np.diff(ticks), step)
        assert len(tick_text(ticks[0]).replace("-", "").replace(",", "")) < 10


@pytest.mark.parametrize(("ends", "values"), [((-1, 3), [0.1, 10, 1000]), ((0.1, 0.7), [2, 4])])
def test_a_logarithmic_axis_has_powers_of_ten_or_round_values(
    ends: tuple[float, float], values: list[float]
) -> None:
    assert [10**tick for tick in log_ticks(*ends, 3)] == pytest.approx(values)


def test_numbers_are_below_their_places_and_never_touch() -> None:
    assert placed([(0, "0"), (5, "250"), (7, "300"), (11, "500")], 12) == "0   250  500"
    line = tick_line(0, 5, 51, most=6)
    assert [line[place] for place in range(0, 51, 10)] == ["0", "1", "2", "3", "4", "5"]
    assert len(line) == 51
