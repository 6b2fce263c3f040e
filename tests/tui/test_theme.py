"""The colours of the dashboard, in every theme that can be chosen."""

from itertools import combinations
from pathlib import Path

import pytest
from textual.color import Color, rgb_to_lab
from textual.theme import BUILTIN_THEMES

from embedlab.core.settings import Settings
from embedlab.tui.app import Dashboard

MEANINGS = (*(f"model-{place}" for place in range(6)), "gold", "faint", "text-warning")
THEMES = [name for name in BUILTIN_THEMES if "ansi" not in name]  # the terminal's own
LEAST_APART = 20  # in CIELAB
LEAST_CONTRAST = 4


def luminance(colour: Color) -> float:
    parts = (part / 255 for part in colour.rgb)
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def distance(first: Color, second: Color) -> float:
    one, other = rgb_to_lab(first), rgb_to_lab(second)
    return float(((one.L - other.L) ** 2 + (one.a - other.a) ** 2 + (one.b - other.b) ** 2) ** 0.5)


@pytest.mark.parametrize("theme", THEMES)
def test_no_two_meanings_share_a_colour_and_all_can_be_read(theme: str, tmp_path: Path) -> None:
    app = Dashboard(Settings(runs=tmp_path))
    app.theme = theme
    variables = app.get_css_variables()
    paper = Color.parse(variables["background"])
    colours = {name: paper + Color.parse(variables[name]) for name in MEANINGS}
    for (first, one), (second, other) in combinations(colours.items(), 2):
        assert distance(one, other) > LEAST_APART, (first, second)
    for name, colour in colours.items():
        lighter, darker = sorted((luminance(colour), luminance(paper)), reverse=True)
        assert (lighter + 0.05) / (darker + 0.05) > LEAST_CONTRAST, name
