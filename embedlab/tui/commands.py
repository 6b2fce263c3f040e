"""Every key of the dashboard in one table: the bindings, the footer, the palette and the help are all made from it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from textual.binding import Binding, BindingType

Place = Literal["everywhere", "table", "pairs", "compare", "runs", "launch"]


@dataclass(frozen=True, kw_only=True)
class Command:
    """One thing a user can do: its keys, the action they run, and how it is told in footer and help."""

    keys: str  # comma-separated, as Textual names them
    action: str
    label: str  # footer: one or two words
    tooltip: str  # help: one sentence
    show: bool = False  # in the footer, which holds at most eight
    shown_keys: str | None = None  # how the keys are written, where Textual's names are not what people say


def _move(keys: str, action: str, label: str, tooltip: str, shown: str | None = None) -> Command:
    return Command(keys=keys, action=action, label=label, tooltip=tooltip, shown_keys=shown)


def _key(keys: str, action: str, label: str, tooltip: str, *, show: bool = False, shown: str | None = None) -> Command:
    return Command(keys=keys, action=action, label=label, tooltip=tooltip, show=show, shown_keys=shown)


COMMANDS: Mapping[Place, tuple[Command, ...]] = MappingProxyType(
    {
        "everywhere": (
            _key("1", "mode('pairs')", "Pairs", "Browse pairs, filter and sort them."),
            _key("2", "mode('compare')", "Compare", "Models beside each other, slice by slice."),
            _key("3", "mode('runs')", "Runs", "What was trained and what is training."),
            _key("4", "mode('launch')", "Launch", "Start a training."),
            _key("question_mark,f1", "screen.help", "Help", "The keys of this screen.", show=True, shown="?  F1"),
            _key("t", "change_theme", "Theme", "Choose another theme."),
            _key("z", "screen.zoom", "Zoom", "Give the focused pane the whole screen; again gives it back."),
            _key("r", "screen.reload", "Reload", "Read everything from disk again."),
            _key("escape", "screen.back", "Back", "Close, clear the filter, or leave a pane.", shown="esc"),
            _key("q,ctrl+q", "quit", "Quit", "Leave; what runs goes on.", show=True, shown="q  ctrl+q"),
        ),
        "table": (
            _move("j,down", "move_rows(1)", "Down", "One row down.", "j  ↓"),
            _move("k,up", "move_rows(-1)", "Up", "One row up.", "k  ↑"),
            _move("l,right", "move_columns(1)", "Right", "One column to the right.", "l  →"),
            _move("h,left", "move_columns(-1)", "Left", "One column to the left.", "h  ←"),
            _move("pagedown,ctrl+d", "move_pages(1)", "Page down", "One page down.", "pgdn  ctrl+d"),
            _move("pageup,ctrl+u", "move_pages(-1)", "Page up", "One page up.", "pgup  ctrl+u"),
            _move("g,home", "move_to_end(-1)", "Top", "To the first row.", "g  home"),
            _move("G,end", "move_to_end(1)", "Bottom", "To the last row.", "G  end"),
            _key("s", "sort", "Sort", "Sort by the column under the cursor (or click its title); again reverses it.", show=True),
            _key("S", "sort_reversed", "Reverse", "Reverse the order.", shown="S"),
            _key("space", "mark", "Mark", "Mark the row, or take its mark away.", show=True),
            _key("enter", "open", "Open", "Open what is under the cursor."),
        ),
        "pairs": (
            _key(
                "slash",
                "filter",
                "Filter",
                "Filter as you type; enter goes to the table, esc takes the filter away.",
                show=True,
                shown="/",
            ),
            _key("left_square_bracket", "dataset(-1)", "Dataset −", "The dataset before.", shown="["),
            _key("right_square_bracket", "dataset(1)", "Dataset", "The next dataset, and all of them.", show=True, shown="]"),
            _key("c", "columns", "Columns", "Choose models and columns.", show=True),
            _key("i", "score_pair", "Type", "Type two sentences and see every model's score.", show=True),
            _key("m", "only_marked", "Marked", "Show only marked pairs; again shows all."),
            _key("n", "next_mark(1)", "Next mark", "To the next marked pair."),
            _key("N", "next_mark(-1)", "Mark before", "To the marked pair before.", shown="N"),
            _key("M", "clear_marks", "Clear marks", "Take all marks away.", shown="M"),
            _key("y", "copy_pair", "Copy", "Copy the pair under the cursor."),
            _key("Y", "copy_view", "Copy view", "Copy the table as it stands as tab-separated text.", shown="Y"),
            _key("e", "export", "Export", "Write the view as csv, parquet, markdown or svg."),
            _key("a", "add_model", "Add a model", "Score the pairs with a model that has no stored scores."),
        ),
        "compare": (
            _key("b", "cut", "Cut by", "Datasets, sources, Dice fifths.", show=True),
            _key("v", "aggregate", "Aggregation", "All pairs at once, mean over sources, mean weighted by pairs.", show=True),
            _key("p", "pin", "Reference", "Make the model under the cursor the reference of the differences.", show=True),
            _key("d", "plot", "Plot", "Gold against model, or reference against model."),
            _key("c", "columns", "Models", "Choose the models.", show=True),
            _key("e", "export", "Export", "Write the table as csv, json or markdown.", show=True),
        ),
        "runs": (
            _key("l", "log", "Log", "The run's log, or its curves again.", show=True),
            _key("f", "freeze", "Freeze", "Stop or continue live updates."),
            _key("d", "difference", "Difference", "What differs between two marked runs, or the marked one and this.", show=True),
            _key("x", "cancel", "Cancel", "Ask the run to save a checkpoint and stop.", show=True),
            _key("o", "resume", "Resume", "Go on with an unfinished run.", show=True),
            _key("m", "rename", "Rename", "Give the run another name."),
            _key("D,delete", "delete", "Delete", "Delete the run with everything in its folder.", shown="D  delete"),
            _key("e", "evaluate", "Evaluate", "Score the pairs at hand with the run's model."),
        ),
        "launch": (
            _key("ctrl+s", "start", "Start", "Start it in a process of its own.", show=True, shown="ctrl+s"),
            _key("u", "undo", "Recipe values", "Take the recipe's own values again."),
        ),
    }
)


def bindings(*places: Place, without: Collection[str] = frozenset()) -> list[BindingType]:
    """The Textual bindings of the commands of PLACES but the keys WITHOUT, each with an id that a key map can name."""
    return [
        Binding(
            key=",".join(key for key in command.keys.split(",") if key not in without),
            action=command.action,
            description=command.label,
            tooltip=command.tooltip,
            show=command.show,
            key_display=command.shown_keys.split()[0] if command.shown_keys else None,
            id=f"{place}.{command.label.lower().replace(' ', '-')}",
        )
        for place in places
        for command in COMMANDS[place]
        if command.keys not in without
    ]
