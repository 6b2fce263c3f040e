"""Colours of a theme, changed as far as text needs to be readable: a contrast of 4.5:1, as WCAG 2
(1.4.3, level AA) defines it.
"""

from collections.abc import Iterable, Mapping
from itertools import count

from textual.color import Color

from embedlab.tui.model_colours import COLOURS

READABLE = 4.5
_STEP = 0.02  # of the way to black or white
_BACKGROUNDS = ("background", "surface", "panel", "primary-muted")
_OF_PANES = (
    "background",
    "surface",
    "panel",
)  # not the row under a cursor, on which light themes leave nothing but black
_VIRIDIS = (
    "#440154",
    "#3b528b",
    "#21918c",
    "#5ec962",
    "#fde725",
)  # equal steps for most kinds of colour blindness, too
_GOLD_HUE, _GOLD_ROOM = 47 / 360, 15 / 360  # no model has a hue so near
_DENSEST = 13.0  # contrast, of the most points
_TEXTS = (
    "text-primary",
    "text-secondary",
    "text-accent",
    "text-warning",
    "text-error",
    "text-success",
    "footer-key-foreground",
)


def contrast(first: Color, second: Color) -> float:
    """The contrast of two opaque colours, from 1 to 21."""
    darker, lighter = sorted((_luminance(first), _luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def readable_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """The VARIABLES of a theme with readable texts on every background, and a readable cursor;
    colours that are readable remain.
    """
    if Color.parse(variables["background"]).ansi is not None:
        return _of_terminal(variables)
    changed = dict(variables)
    backgrounds = [Color.parse(variables[name]) for name in _BACKGROUNDS]
    for name in _TEXTS:
        changed[name] = _readable(Color.parse(variables[name]), backgrounds).hex
    faint = Color.parse(variables["foreground"]).blend(Color.parse(variables["background"]), 0.4)
    changed["text-faint"] = _readable(
        faint, backgrounds
    ).hex  # as $text-muted, but without the colour under it being known
    changed["text-disabled"] = variables["text-muted"]  # placeholders and titles are to be read too
    changed["block-cursor-background"] = _under_text(
        Color.parse(variables["block-cursor-background"])
    ).hex
    background, panel = Color.parse(variables["background"]), Color.parse(variables["panel"])
    return (
        changed
        | _densities(background, panel)
        | _models([Color.parse(variables[name]) for name in _OF_PANES])
    )


def _of_terminal(variables: Mapping[str, str]) -> dict[str, str]:
    """The VARIABLES of a theme in the terminal's own colours, which only the terminal knows: they
    remain, and texts are not dimmed.

    What needs more colours than a terminal names is readable on the black or white that the theme
    is made for.
    """
    ground = Color.parse(variables["ansi-background"].removeprefix("ansi_"))
    texts = dict.fromkeys(("text-faint", "text-muted", "text-disabled"), variables["foreground"])
    return dict(variables) | texts | _densities(ground, ground) | _models([ground])


def _densities(background: Color, selected: Color) -> dict[str, str]:
    """The colours of point densities: more points have more contrast; all can be read in a SELECTED
    part, too.
    """
    opaque = [background, selected]
    colours = _VIRIDIS if background.brightness < 0.5 else _VIRIDIS[::-1]
    densities: dict[str, str] = {}
    aim = READABLE
    for level, colour in enumerate(colours, start=1):
        shown = _readable(_readable(Color.parse(colour), opaque), [background], aim)
        densities[f"density-{level}"] = shown.hex
        aim = max(
            READABLE * (_DENSEST / READABLE) ** (level / (len(colours) - 1)),
            1.05 * contrast(shown, background),
        )
    return densities


def _models(backgrounds: Iterable[Color]) -> dict[str, str]:
    """The colours of gold and of models: the other hues at equal distances, every other one paler,
    so that neighbours differ twice.
    """
    opaque = list(backgrounds)
    hues = [
        _GOLD_HUE + _GOLD_ROOM + (1 - 2 * _GOLD_ROOM) * number / (COLOURS - 1)
        for number in range(COLOURS)
    ]
    colours = [
        Color.from_hsl(hue % 1, 0.85 if number % 2 else 0.5, 0.5 if number % 2 else 0.65)
        for number, hue in enumerate(hues)
    ]
    shades = {
        f"model-{number}": _readable(colour, opaque).hex for number, colour in enumerate(colours)
    }
    return shades | {"gold": _readable(Color.from_hsl(_GOLD_HUE, 1.0, 0.5), opaque).hex}


def _readable(text: Color, backgrounds: Iterable[Color], aim: float = READABLE) -> Color:
    """TEXT, moved towards black or white until it has the contrast AIM to each of BACKGROUNDS."""
    opaque = list(backgrounds)
    end = Color.parse(
        "white"
        if sum(background.brightness for background in opaque) < len(opaque) / 2
        else "black"
    )
    tried = (text.blend(end, min(1.0, _STEP * step)) for step in count())
    return next(
        shade
        for shade in tried
        if shade.rgb == end.rgb or all(contrast(shade, other) >= aim for other in opaque)
    )


def _under_text(background: Color) -> Color:
    """BACKGROUND, moved away from the colour of the text that Textual writes on it."""
    end = Color.parse("black" if background.get_contrast_text(1.0).brightness > 0.5 else "white")
    tried = (background.blend(end, min(1.0, _STEP * step)) for step in count())
    return next(
        shade
        for shade in tried
        if shade.rgb == end.rgb
        or contrast(shade, shade.blend(shade.get_contrast_text(1.0), 0.87)) >= READABLE
    )


def _luminance(colour: Color) -> float:
    red, green, blue = (
        channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
        for channel in colour.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
