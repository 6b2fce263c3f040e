"""Text can be read: a contrast of at least 4.5:1 in the dark and in the light theme."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from textual.color import Color
from textual.pilot import Pilot
from textual.theme import BUILTIN_THEMES

from embedlab.core.settings import Settings
from embedlab.tui.contrast import READABLE, contrast, readable_variables
from embedlab.tui.model_colours import COLOURS
from embedlab.tui.screens import SCREENS
from embedlab.tui.widgets.frame_table import FrameTable
from tests.tui.driving import NARROW, Open, has_compared, until


def test_the_contrast_is_that_of_wcag() -> None:
    assert contrast(Color.parse("white"), Color.parse("black")) == pytest.approx(21)
    assert contrast(Color.parse("#777777"), Color.parse("white")) == pytest.approx(
        4.48, abs=0.005
    )  # the standard's well-known near miss


OF_TERMINALS = sorted(name for name, theme in BUILTIN_THEMES.items() if theme.ansi)


@pytest.mark.parametrize("theme", sorted(BUILTIN_THEMES.keys() - set(OF_TERMINALS)))
def test_the_colours_of_texts_and_of_the_cursor_are_readable_in_every_theme(theme: str) -> None:
    variables = readable_variables(
        BUILTIN_THEMES[theme].to_color_system().generate() | BUILTIN_THEMES[theme].variables
    )
    for name in (
        "text-primary",
        "text-accent",
        "text-warning",
        "text-error",
        "text-success",
        "text-secondary",
    ):
        for background in ("background", "surface", "panel"):
            assert (
                contrast(Color.parse(variables[name]), Color.parse(variables[background]))
                >= READABLE
            ), (name, background)
    models = [Color.parse(variables[f"model-{number}"]) for number in range(COLOURS)]
    assert all(
        contrast(colour, Color.parse(variables[name])) >= READABLE
        for colour in models
        for name in ("background", "surface", "panel")
    )
    assert len({colour.hex for colour in models}) == COLOURS
    gold = Color.parse(variables["gold"])
    assert all(
        min(abs(gold.hsl.h - colour.hsl.h), 1 - abs(gold.hsl.h - colour.hsl.h)) > 0.03
        for colour in models
    )
    densities = [Color.parse(variables[f"density-{level}"]) for level in range(1, 6)]
    for background in ("background", "panel"):
        assert all(
            contrast(colour, Color.parse(variables[background])) >= READABLE for colour in densities
        )
    contrasts = [contrast(colour, Color.parse(variables["background"])) for colour in densities]
    assert contrasts == sorted(contrasts)
    cursor = Color.parse(variables["block-cursor-background"])
    assert contrast(cursor.blend(cursor.get_contrast_text(1.0), 0.87), cursor) >= READABLE


@pytest.mark.parametrize("theme", OF_TERMINALS)
async def test_a_theme_in_the_colours_of_the_terminal_shows_every_screen(
    opened: Open, world: Settings, theme: str
) -> None:
    async with opened(replace(world, theme="nord"), size=NARROW) as pilot:
        pilot.app.theme = theme  # as the palette does
        for found in SCREENS.values():
            await pilot.press(found.entry.key)
            await until(pilot, lambda: has_compared(pilot.app))
            await pilot.press("question_mark", "escape")
            assert pilot.app.export_screenshot()
        assert pilot.app.native_ansi_color
        ground = Color.parse("white" if theme == "ansi-light" else "black")
        models = [
            Color.parse(pilot.app.theme_variables[f"model-{number}"]) for number in range(COLOURS)
        ]
        assert all(contrast(colour, ground) >= READABLE for colour in models)
    async with opened(replace(world, theme=theme), size=NARROW) as pilot:  # and at the next start
        assert pilot.app.theme == theme


def faint_texts(pilot: Pilot[None]) -> Iterator[str]:
    """The letters and digits on the screen with too little contrast; what a dialog dims is not to
    be read.
    """
    region = (
        pilot.app.screen.children[0].region
        if pilot.app.screen.is_modal
        else pilot.app.screen.region
    )
    for y, strip in enumerate(pilot.app.screen._compositor.render_strips()):
        if not region.y <= y < region.bottom:
            continue
        for segment in strip.crop(region.x, region.right):
            style = segment.style
            if (
                style is None
                or style.color is None
                or style.bgcolor is None
                or not any(sign.isalnum() for sign in segment.text)
            ):
                continue
            pair = [Color(*colour.get_truecolor()) for colour in (style.color, style.bgcolor)]
            if contrast(*pair) < READABLE:
                yield f"{segment.text.strip()!r} {contrast(*pair):.2f}"


def check_table(table: FrameTable) -> None:
    """The styles of a table's lines, of which a screen shows only some."""
    for kind in ("row", "odd", "cursor", "cursor-cell", "header", "header-cursor"):
        styles = table._line_styles(kind)
        for style in (styles.base, styles.mark, styles.absent, styles.loud):
            assert style.color is not None
            assert style.bgcolor is not None
            pair = [Color(*colour.get_truecolor()) for colour in (style.color, style.bgcolor)]
            assert contrast(*pair) >= READABLE, (kind, style)


@pytest.mark.parametrize(
    "theme", [pytest.param("textual-dark", marks=pytest.mark.slow), "textual-light"]
)
async def test_every_text_of_every_screen_is_readable(
    opened: Open, world: Settings, theme: str
) -> None:
    async with opened(replace(world, theme=theme), size=NARROW) as pilot:

        async def check(*keys: str) -> None:
            await pilot.press(*keys)
            await pilot.pause()
            assert list(faint_texts(pilot)) == [], keys

        await check("1", "space", "k")
        check_table(pilot.app.screen.query_one(FrameTable))
        await check("slash", "x", "equals_sign")  # a wrong filter
        await check("escape", "c")
        await check("escape", "e", "k", "enter")  # no format
        await check("escape", "question_mark")
        await pilot.press("escape")
        for found in list(SCREENS.values())[1:]:
            await pilot.press(found.entry.key)
            await until(pilot, lambda: has_compared(pilot.app))
            await check()
