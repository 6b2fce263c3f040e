from itertools import combinations

import pytest

from embedlab.tui import model_colours
from embedlab.tui.model_colours import COLOURS, model_colour


def test_a_model_has_one_colour_and_another_one_has_another(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(model_colours, "_slots", {})
    names = [f"run-{number}" for number in range(COLOURS)]
    colours = [model_colour(name) for name in names]
    assert len(set(colours)) == COLOURS
    assert [model_colour(name) for name in reversed(names)] == colours[::-1]
    first = model_colour("one more")  # none is free
    assert first == model_colour("one more")
    monkeypatch.setattr(model_colours, "_slots", {})
    assert model_colour(names[0]) == colours[0]  # at the next start, too


def test_the_first_models_of_a_start_have_hues_that_differ_at_a_glance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for start in range(60):
        monkeypatch.setattr(model_colours, "_slots", {})
        numbers = [
            int(model_colour(f"{start}-{name}").removeprefix("$model-"))
            for name in ("near", "far", "third", "fourth")
        ]
        apart = [
            min((one - other) % COLOURS, (other - one) % COLOURS)
            for one, other in combinations(numbers, 2)
        ]
        assert min(apart) >= 4  # of 24: nearly sixty degrees


def test_a_seed_and_its_run_do_not_share_a_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_colours, "_slots", {})
    names = ["near", *(f"near@{seed}" for seed in range(1, 6))]
    assert len({model_colour(name) for name in names}) == len(names)


def test_models_that_are_drawn_together_never_share_a_colour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(model_colours, "_slots", {})
    shown = [f"run-{number}" for number in range(COLOURS - 1)]
    for number in range(100):  # cells of a grid, one after the other
        colours = {model_colour(name) for name in (*shown, f"cell-{number}")}
        assert len(colours) == COLOURS
