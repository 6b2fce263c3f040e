import pytest
from textual.binding import Binding

from embedlab.tui.command import KeyScope
from embedlab.tui.commands import COMMANDS, bindings
from embedlab.tui.help_screen import help_section
from embedlab.tui.screens import SCREENS
from embedlab.tui.widgets.frame_table import FrameTable
from tests.tui.driving import Open, until

each_screen = pytest.mark.parametrize("screen", SCREENS)


def keys(*scopes: KeyScope) -> list[str]:
    return [key for scope in scopes for command in COMMANDS[scope] for key in command.keys.split(",")]


@each_screen
def test_no_key_means_two_things_on_a_screen(screen: str) -> None:
    # On Runs `l` is the log: its table leaves that key out.
    table = ("table",) if SCREENS[screen].entry.has_table else ()
    used = [key for key in keys(*table, screen, "everywhere") if (screen, key) != ("runs", "l")]
    assert len(used) == len(set(used))


@each_screen
def test_the_footer_holds_at_most_eight_keys(screen: str) -> None:
    shown = [command.label for place in ("table", screen, "everywhere") for command in COMMANDS[place] if command.show]
    if screen == "compare":
        shown.remove("Mark")  # there is nothing to mark
    assert len(shown) <= 8


def test_every_binding_has_an_id_a_description_and_a_tooltip() -> None:
    made = [binding for place in COMMANDS for binding in bindings(place)]
    assert all(isinstance(binding, Binding) and binding.id and binding.description and binding.tooltip for binding in made)
    ids = [binding.id for binding in made if isinstance(binding, Binding)]
    assert len(ids) == len(set(ids))


def test_the_help_leaves_out_the_keys_that_a_screen_uses_otherwise() -> None:
    assert "l  →" in str(help_section("table", "pairs"))
    assert "l  →" not in str(help_section("table", "runs"))


async def test_every_command_of_the_palette_does_something(opened: Open) -> None:
    async with opened() as pilot:
        app = pilot.app
        for mode in ("compare", "runs", "launch", "pairs"):
            offered = {command.title: command.callback for command in app.get_system_commands(app.screen)}
            await offered[f"{mode.capitalize()}  {SCREENS[mode].entry.key}"]()
            await until(pilot, lambda mode=mode: app.current_mode == mode)  # type: ignore[misc]
            await until(pilot, lambda: getattr(app.screen, "result", app) is not None)  # Compare does not compute on when the app closes
        offered = {command.title: command.callback for command in app.get_system_commands(app.screen)}
        for scope in ("pairs", "table", "everywhere"):
            for command in COMMANDS[scope]:
                assert command.label in {"Quit", "Theme"} or any(title.startswith(f"{command.label}  ") for title in offered)
        await offered["Down  j"]()
        assert app.screen.query_one(FrameTable).cursor_row == 1
        await offered["Filter  /"]()
        assert app.screen.focused is app.screen.query_one("#filter")
        await offered["Help  ?"]()
        await until(pilot, lambda: type(app.screen).__name__ == "HelpScreen")
