"""Every key of the dashboard in one table: the bindings, the footer, the palette and the help are all made from it."""

from collections.abc import Collection, Mapping
from types import MappingProxyType

from textual.binding import Binding, BindingType

from embedlab.tui.command import Command, KeyScope, command
from embedlab.tui.screens import SCREENS

COMMANDS: Mapping[KeyScope, tuple[Command, ...]] = MappingProxyType(
    {
        "everywhere": (
            *(command(one.entry.key, f"mode('{name}')", one.entry.label, one.entry.tooltip) for name, one in SCREENS.items()),
            command("question_mark,f1", "screen.help", "Help", "The keys of this screen.", show=True, shown="?  F1"),
            command("t", "change_theme", "Theme", "Choose another theme."),
            command("z", "screen.zoom", "Zoom", "Give the focused pane the whole screen; again gives it back."),
            command("r", "screen.reload", "Reload", "Read everything from disk again."),
            command("backslash", "screen.select_all", "All pairs", "Select all pairs again, on every screen.", shown="\\"),
            command("I", "screen.tasks", "Tasks", "Show the items of another task, or the pairs of all STS datasets.", shown="I"),
            command("at", "screen.selections", "Selections", "Name what is selected, or select by a name.", shown="@"),
            command("escape", "screen.back", "Back", "Close, clear the filter, or leave a pane.", shown="esc"),
            command("q,ctrl+q", "quit", "Quit", "Leave; running processes continue.", show=True, shown="q  ctrl+q"),
        ),
        "table": (
            command("j,down", "move_rows(1)", "Down", "One row down.", shown="j  ↓"),
            command("k,up", "move_rows(-1)", "Up", "One row up.", shown="k  ↑"),
            command("l,right", "move_columns(1)", "Right", "One column to the right.", shown="l  →"),
            command("h,left", "move_columns(-1)", "Left", "One column to the left.", shown="h  ←"),
            command("pagedown,ctrl+d", "move_pages(1)", "Page down", "One page down.", shown="pgdn  ctrl+d"),
            command("pageup,ctrl+u", "move_pages(-1)", "Page up", "One page up.", shown="pgup  ctrl+u"),
            command("g,home", "move_to_end(-1)", "Top", "To the first row.", shown="g  home"),
            command("G,end", "move_to_end(1)", "Bottom", "To the last row.", shown="G  end"),
            command("s", "sort", "Sort", "Sort by the column under the cursor (or click its title); again reverses it.", show=True),
            command("S", "sort_reversed", "Reverse", "Reverse the order.", shown="S"),
            command("space", "mark", "Mark", "Mark the row, or remove its mark.", show=True),
            command("enter", "open", "Open", "Open what is under the cursor."),
        ),
        "plot": (
            command("l,right", "move(1, 0)", "Right", "One cell to the right.", shown="l  →"),
            command("h,left", "move(-1, 0)", "Left", "One cell to the left.", shown="h  ←"),
            command("k,up", "move(0, 1)", "Up", "One cell up.", shown="k  ↑"),
            command("j,down", "move(0, -1)", "Down", "One cell down.", shown="j  ↓"),
            command("L,shift+right", "move(10, 0)", "Far right", "Ten cells to the right.", shown="L  shift+→"),
            command("H,shift+left", "move(-10, 0)", "Far left", "Ten cells to the left.", shown="H  shift+←"),
            command("K,shift+up", "move(0, 5)", "Far up", "Five cells up.", shown="K  shift+↑"),
            command("J,shift+down", "move(0, -5)", "Far down", "Five cells down.", shown="J  shift+↓"),
            command("n", "next_pair(1)", "Next pair", "To the cell with the next most extreme pair.", show=True),
            command("N", "next_pair(-1)", "Pair before", "To the cell with the more extreme pair before it.", shown="N"),
            command("space", "corner", "Box", "Start a box at the cursor, or remove it; move to its other corner.", show=True),
            command("enter", "open", "Show pairs", "Filter Pairs by the box, or by the cell under the cursor.", show=True),
        ),
        "curves": (
            command("l,right", "move(1)", "Later", "The values one column to the right, at first those in the middle.", shown="l  →"),
            command("h,left", "move(-1)", "Earlier", "The values one column to the left.", shown="h  ←"),
            command("L,shift+right", "move(10)", "Far later", "The values ten columns to the right.", shown="L  shift+→"),
            command("H,shift+left", "move(-10)", "Far earlier", "The values ten columns to the left.", shown="H  shift+←"),
            command("backspace", "leave", "Last values", "Remove the cursor: the last values are shown again."),
        ),
        **{name: one.entry.commands for name, one in SCREENS.items()},
    }
)


def bindings(*scopes: KeyScope, without: Collection[str] = frozenset()) -> list[BindingType]:
    """The Textual bindings of the commands of SCOPES except the keys WITHOUT, each with an id that a key map can name."""
    return [
        Binding(
            key=",".join(key for key in one.keys.split(",") if key not in without),
            action=one.action,
            description=one.label,
            tooltip=one.tooltip,
            show=one.show,
            key_display=one.shown_keys.split()[0] if one.shown_keys else None,
            id=f"{scope}.{one.label.lower().replace(' ', '-')}",
        )
        for scope in scopes
        for one in COMMANDS[scope]
        if one.keys not in without
    ]
