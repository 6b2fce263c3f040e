"""The colours of the dashboard, in every theme that can be chosen."""

from itertools import combinations
from math import dist
from pathlib import Path

import pytest
from textual.color import Color, Lab, rgb_to_lab
from textual.theme import BUILTIN_THEMES

from embedlab.core.settings import Settings
from embedlab.tui.app import Dashboard

MEANINGS = (*(f"model-{place}" for place in range(6)), "gold", "faint", "text-warning")
THEMES = [name for name in BUILTIN_THEMES if "ansi" not in name]  # the terminal's own
LEAST_APART = 20  # in CIELAB
LEAST_CONTRAST = 4


def luminance(colour: Lab) -> float:
    return float(((colour.L + 16) / 116) ** 3)


@pytest.mark.parametrize("theme", THEMES)
def test_no_two_meanings_share_a_colour_and_all_can_be_read(theme: str, tmp_path: Path) -> None:
    app = Dashboard(Settings(runs=tmp_path))
    app.theme = theme
    variables = app.get_css_variables()
    paper = Color.parse(variables["background"])
    seen = {name: rgb_to_lab(paper + Color.parse(variables[name])) for name in MEANINGS}
    for first, second in combinations(MEANINGS, 2):
        assert dist(seen[first], seen[second]) > LEAST_APART, (first, second)
    for name, colour in seen.items():
        darker, lighter = sorted(luminance(one) for one in (colour, rgb_to_lab(paper)))
        assert (lighter + 0.05) / (darker + 0.05) > LEAST_CONTRAST, name
