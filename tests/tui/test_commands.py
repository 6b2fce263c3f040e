import pytest
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.widgets import Static

from embedlab.tui.commands import COMMANDS, bindings, commands_of
from embedlab.tui.help_screen import HelpScreen, help_section
from embedlab.tui.screens import SCREENS
from embedlab.tui.widgets.frame_table import FrameTable
from tests.tui.driving import Open, has_compared, until

each_screen = pytest.mark.parametrize("screen", SCREENS)


@each_screen
def test_no_key_has_two_actions_on_a_screen(screen: str) -> None:
    table = ("table",) if SCREENS[screen].entry.has_table else ()
    used = [
        key
        for scope in (*table, screen, "everywhere")
        for one in commands_of(scope, screen)
        for key in one.key.keys
    ]
    assert len(used) == len(set(used))


@each_screen
def test_the_footer_holds_at_most_eight_keys(screen: str) -> None:
    table = ("table",) if SCREENS[screen].entry.has_table else ()
    shown = [
        command.label
        for place in (*table, screen, "everywhere")
        for command in commands_of(place, screen)
        if command.show
    ]
    assert len(shown) <= 8


def test_every_binding_has_an_id_a_description_and_a_tooltip() -> None:
    made = [binding for place in COMMANDS for binding in bindings(place)]
    assert all(
        isinstance(binding, Binding) and binding.id and binding.description and binding.tooltip
        for binding in made
    )
    ids = [binding.id for binding in made if isinstance(binding, Binding)]
    assert len(ids) == len(set(ids))


def test_the_help_leaves_out_the_keys_that_do_nothing_on_a_screen() -> None:
    assert "space" in str(help_section("table", "pairs"))
    assert "space" not in str(help_section("table", "compare"))


async def test_every_command_of_the_palette_does_something(opened: Open) -> None:
    async with opened() as pilot:
        app = pilot.app
        for mode in ("compare", "runs", "launch", "pairs"):
            offered = {
                command.title: command.callback for command in app.get_system_commands(app.screen)
            }
            await offered[f"{mode.capitalize()}  {SCREENS[mode].entry.key}"]()
            await until(pilot, lambda mode=mode: app.current_mode == mode)  # type: ignore[misc]
            await until(
                pilot, lambda: has_compared(app)
            )  # Compare does not compute on when the app closes
        offered = {
            command.title: command.callback for command in app.get_system_commands(app.screen)
        }
        for scope in ("pairs", "table", "everywhere"):
            for command in COMMANDS[scope]:
                assert command.meaning in {"leave", "theme"} or any(
                    title.startswith(f"{command.label}  ") for title in offered
                )
        await offered["Down  j"]()
        assert app.screen.query_one(FrameTable).cursor_row == 1
        await offered["Filter  /"]()
        assert app.screen.focused is app.screen.query_one("#filter")
        await offered["Help  ?"]()
        await until(pilot, lambda: type(app.screen).__name__ == "HelpScreen")


async def test_the_help_is_searched(opened: Open) -> None:
    async with opened() as pilot:
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(pilot.app.screen, HelpScreen))
        text = pilot.app.screen.query_one(VerticalScroll).query_one(Static)
        whole = str(text.content)
        await pilot.press("slash", *"zzz")
        await until(pilot, lambda: str(text.content) == "nothing has 'zzz'")
        await pilot.press("escape")  # the search alone
        assert isinstance(pilot.app.screen, HelpScreen)
        await until(pilot, lambda: str(text.content) == whole)
        await pilot.press("slash", *"page", "space", *"down")
        await until(
            pilot,
            lambda: (
                "One page down." in str(text.content) and "One page up." not in str(text.content)
            ),
        )
        await pilot.press("enter", "escape")
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(pilot.app.screen, HelpScreen))
