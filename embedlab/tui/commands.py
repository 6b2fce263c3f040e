"""Every command of the dashboard in one table: the bindings, the footer, the palette and the help
are all made from it.
"""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from textual.binding import Binding, BindingType

from embedlab.tui.command import Command, KeyScope, command
from embedlab.tui.key_table import ANSWERS, KEYS
from embedlab.tui.screens import SCREENS

COMMANDS: Mapping[KeyScope, tuple[Command, ...]] = MappingProxyType(
    {
        "everywhere": (
            *(
                command(
                    f"screen_{screen.entry.key}",
                    screen.entry.tooltip,
                    action=f"mode('{name}')",
                    label=screen.entry.label,
                    keys=screen.entry.key,
                )
                for name, screen in SCREENS.items()
            ),
            command("help", "The keys of this screen.", action="screen.help", show=True),
            command("theme", "Choose another theme.", action="change_theme"),
            command(
                "zoom",
                "Give the focused pane the whole screen; again gives it back.",
                action="screen.zoom",
            ),
            command("reload", "Read everything from disk again.", action="screen.reload"),
            command(
                "clear_selection",
                "Select all pairs again, on every screen.",
                action="screen.select_all",
            ),
            command(
                "saved_selections",
                "Select by a name, or give what is selected one.",
                action="screen.selections",
            ),
            command(
                "name_selection", "Give what is selected a name.", action="screen.selections(True)"
            ),
            command("why", "Why two models differ on what is selected.", action="screen.why"),
            command(
                "tasks",
                "Show the items of another task, or the pairs of all STS datasets.",
                action="screen.tasks",
            ),
            command(
                "back",
                "One step back: close, clear the filter, or leave a pane.",
                action="screen.back",
            ),
            command("leave", "Leave; running processes continue.", action="quit", show=True),
        ),
        "table": (
            command("down", "One row down.", action="move_rows(1)"),
            command("up", "One row up.", action="move_rows(-1)"),
            command("right", "One column to the right.", action="move_columns(1)"),
            command("left", "One column to the left.", action="move_columns(-1)"),
            command("page_down", "One page down.", action="move_pages(1)"),
            command("page_up", "One page up.", action="move_pages(-1)"),
            command("top", "To the first row.", action="move_to_end(-1)"),
            command("bottom", "To the last row.", action="move_to_end(1)"),
            command(
                "sort",
                "Sort by the column under the cursor (or click its title); again reverses it.",
                show=True,
            ),
            command("reverse", "Reverse the order.", action="sort_reversed"),
            command("mark", "Mark the row, or remove its mark.", show=True),
            command("open", "Open what is under the cursor."),
        ),
        "plot": (
            command("right", "One cell to the right.", action="move(1, 0)"),
            command("left", "One cell to the left.", action="move(-1, 0)"),
            command("up", "One cell up.", action="move(0, 1)"),
            command("down", "One cell down.", action="move(0, -1)"),
            command("far_right", "Ten cells to the right.", action="move(10, 0)"),
            command("far_left", "Ten cells to the left.", action="move(-10, 0)"),
            command("far_up", "Five cells up.", action="move(0, 5)"),
            command("far_down", "Five cells down.", action="move(0, -5)"),
            command(
                "next",
                "To the cell with the next most extreme pair.",
                action="next_pair(1)",
                label="Next pair",
                show=True,
            ),
            command(
                "previous",
                "To the cell with the more extreme pair before it.",
                action="next_pair(-1)",
            ),
            command(
                "mark",
                "Start a box at the cursor, or remove it; move to its other corner.",
                action="corner",
                label="Box",
                show=True,
            ),
            command(
                "open",
                "Filter Pairs by the box, or by the cell under the cursor.",
                label="Show pairs",
                show=True,
            ),
        ),
        "curves": (
            command(
                "right",
                "The values one column to the right, at first those in the middle.",
                action="move(1)",
                label="Later",
            ),
            command(
                "left", "The values one column to the left.", action="move(-1)", label="Earlier"
            ),
            command(
                "far_right",
                "The values ten columns to the right.",
                action="move(10)",
                label="Far later",
            ),
            command(
                "far_left",
                "The values ten columns to the left.",
                action="move(-10)",
                label="Far earlier",
            ),
            command(
                "leave_cursor",
                "Remove the cursor: the last values are shown again.",
                action="leave",
            ),
        ),
        "map": (
            command("down", "One cell down.", action="move(1, 0)"),
            command("up", "One cell up.", action="move(-1, 0)"),
            command("right", "One cell to the right.", action="move(0, 1)"),
            command("left", "One cell to the left.", action="move(0, -1)"),
        ),
        "list": (
            command("down", "One entry down.", action="cursor_down"),
            command("up", "One entry up.", action="cursor_up"),
            command("top", "To the first entry.", action="first"),
            command("bottom", "To the last entry.", action="last"),
            command("page_down", "One page down.", action="page_down"),
            command("page_up", "One page up.", action="page_up"),
        ),
        "question": (
            command("yes", "Yes.", action="answer(True)"),
            command("no", "No.", action="answer(False)"),
            command(
                "open",
                "No where something is deleted, replaced or stopped, else yes.",
                action="answer_safely",
                label="Answer",
            ),
            command("back", "No.", action="answer(False)"),
            command("leave", "No.", action="answer(False)", label="No"),
        ),
        "choice": (
            command("down", "One entry down.", action="cursor_down"),
            command("up", "One entry up.", action="cursor_up"),
            command("mark", "Choose the entry, or not.", action="select", label="Choose"),
            command("open", "Take what is chosen.", action="screen.take", label="Take"),
        ),
        "what_if": (
            command("negate", "Negate the sentence under the cursor.", action="edit('negate')"),
            command(
                "another_number",
                "Change the number in the sentence under the cursor.",
                action="edit('number')",
            ),
            command("restore", "Take the pair itself back."),
        ),
        "dialog": (
            command("back", "Close.", action="dismiss"),
            command("leave", "Close.", action="dismiss", label="Close"),
        ),
        **{name: screen.entry.commands for name, screen in SCREENS.items()},
    }
)


def refuse_two_meanings(commands: Iterable[Command]) -> None:
    """Raise ValueError for a key that means two things; the answers to a question are an
    exception.
    """
    meanings = {
        key: meaning
        for meaning, key_entry in KEYS.items()
        if meaning not in ANSWERS
        for key in key_entry.keys
    }
    for entry in commands:
        for key in entry.key.keys:
            if (
                entry.meaning not in ANSWERS
                and meanings.setdefault(key, entry.meaning) != entry.meaning
            ):
                raise ValueError(f"the key {key!r} means {meanings[key]!r} and {entry.meaning!r}")


refuse_two_meanings(entry for commands in COMMANDS.values() for entry in commands)


def commands_of(scope: KeyScope, screen: KeyScope) -> list[Command]:
    """The commands of a SCOPE that do something on a SCREEN."""
    lacks = SCREENS[screen].entry.lacks if screen in SCREENS else frozenset()
    return [entry for entry in COMMANDS[scope] if scope == screen or entry.meaning not in lacks]


def bindings(*scopes: KeyScope, without: Collection[str] = frozenset()) -> list[BindingType]:
    """The Textual bindings of the commands of SCOPES except the meanings WITHOUT, each with an id
    that a key map can name.
    """
    return [
        binding(entry, scope)
        for scope in scopes
        for entry in COMMANDS[scope]
        if entry.meaning not in without
    ]


def meaning_of(made: Binding) -> str:
    """The meaning of a binding that `binding` made; empty for others."""
    return (made.id or "").rpartition(".")[2].replace("-", "_")


def binding(entry: Command, scope: KeyScope) -> Binding:
    """The Textual binding of a command; its id is the scope and the meaning."""
    return Binding(
        key=",".join(entry.key.keys),
        action=entry.action,
        description=entry.label,
        tooltip=entry.tooltip,
        show=entry.show,
        key_display=entry.key.shown[0],
        id=f"{scope}.{entry.meaning.replace('_', '-')}",
    )
