"""Colours with one meaning each: a model, gold, a warning, the focus; on light themes too. Every
model has a sign beside its colour, so that nothing needs colour.
"""

from collections.abc import Mapping

MODEL_SIGNS = "●■▲◆★✚"
HOLLOW = str.maketrans(MODEL_SIGNS, "○□△◇☆✛")
_DARK = ("#5fafff", "#ffaf5f", "#87d787", "#d787ff", "#5fd7d7", "#ff87af")
_LIGHT = ("#005fd7", "#af5f00", "#007700", "#8700af", "#007777", "#af005f")
GOLD = "$gold"


def model_colour(place: int) -> str:
    """The colour of the model that was chosen at PLACE, from 0, as a variable of the theme."""
    return f"$model-{place % len(MODEL_SIGNS)}"


def model_sign(place: int) -> str:
    """The sign of the model that was chosen at PLACE."""
    return MODEL_SIGNS[place % len(MODEL_SIGNS)]


def colour_variables(*, is_dark: bool) -> Mapping[str, str]:
    """The variables that style sheets and texts use beside those of the theme."""
    models = _DARK if is_dark else _LIGHT
    return {
        **{f"model-{place}": colour for place, colour in enumerate(models)},
        "gold": "#ffd75f" if is_dark else "#876000",
        "faint": "#9e9e9e" if is_dark else "#606060",
        "rule": "#444444" if is_dark else "#b0b0b0",
    }
