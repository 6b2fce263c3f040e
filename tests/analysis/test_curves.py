import numpy as np
import pytest

from embedlab.analysis.curves import over_seeds, smoothed


@pytest.mark.parametrize("weight", [0.0, 0.6, 0.95])
def test_smoothing_is_the_weighted_mean_of_all_values_so_far(weight: float) -> None:
    y = np.random.default_rng(0).normal(size=30)
    slow = []
    for place in range(len(y)):
        weights = np.array(
            [
                weight ** (place - before) if weight else float(before == place)
                for before in range(place + 1)
            ]
        )
        slow.append(float((weights * y[: place + 1]).sum() / weights.sum()))
    assert smoothed(y, weight) == pytest.approx(slow)
    assert smoothed(y[:0], weight).tolist() == []
    assert smoothed(y[:1], weight) == pytest.approx(y[:1])


def test_the_range_over_seeds_is_that_of_a_loop_over_all_steps() -> None:
    rng = np.random.default_rng(1)
    seeds = [
        (np.sort(rng.choice(50, size, replace=False)).astype(float), rng.normal(size=size))
        for size in (12, 7, 1)
    ]
    found = over_seeds(seeds)
    assert found.x.tolist() == sorted({x for steps, _ in seeds for x in steps.tolist()})
    for place, x in enumerate(found.x):
        values = [np.interp(x, steps, y) for steps, y in seeds if steps[0] <= x <= steps[-1]]
        assert (found.mean[place], found.low[place], found.high[place]) == pytest.approx(
            (np.mean(values), min(values), max(values))
        )
    assert not len(over_seeds([]).x)
