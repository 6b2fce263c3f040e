"""Colours with one meaning each: a model, gold, a warning, the focus; on light themes too. Every
model has a sign beside its colour, so that nothing needs colour.
"""

from collections.abc import Mapping

MODEL_SIGNS = "●■▲◆★✚"
HOLLOW = str.maketrans(MODEL_SIGNS, "○□△◇☆✛")
# Neither the blue of the focus, nor the yellow of gold, nor the orange of warnings.
_DARK = ("#5fd7d7", "#d787ff", "#87d787", "#ff87d7", "#afafff", "#d7af87")
_LIGHT = ("#007777", "#8700af", "#007700", "#af005f", "#4f4fbf", "#4d4d00")


def model_colour(position: int) -> str:
    """The colour of the model that was chosen at POSITION, from 0, as a variable of the theme."""
    return f"$model-{position % len(MODEL_SIGNS)}"


def model_sign(position: int) -> str:
    """The sign of the model that was chosen at POSITION."""
    return MODEL_SIGNS[position % len(MODEL_SIGNS)]


def colour_variables(*, is_dark: bool) -> Mapping[str, str]:
    """The variables that style sheets and texts use beside those of the theme."""
    models = _DARK if is_dark else _LIGHT
    return {
        **{f"model-{position}": colour for position, colour in enumerate(models)},
        "gold": "#ffd75f" if is_dark else "#876000",
        "text-warning": "#ff9f5f" if is_dark else "#b34700",  # that of many themes is the gold
        "faint": "#9e9e9e" if is_dark else "#606060",
        "rule": "#444444" if is_dark else "#b0b0b0",
    }
