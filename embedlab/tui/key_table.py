"""What each key means: one table for all screens, panes and dialogs, so that a letter means one
thing everywhere.

A screen names what it can do ("export"); this table alone says by which keys. A key may have
another meaning only in a question, whose answers are y and n. What the screen of a plug-in adds has
keys that are free in it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

ANSWERS = frozenset({"yes", "no"})  # the only meanings whose letters mean something else elsewhere


@dataclass(frozen=True, kw_only=True)
class Key:
    """The keys of one meaning."""

    keys: tuple[str, ...]  # as Textual names them, the first is shown in the footer
    label: str  # one or two words

    @property
    def shown(self) -> tuple[str, ...]:
        """The keys as people write them."""
        return tuple(_SHOWN.get(key, key) for key in self.keys)


def _key(keys: str, label: str) -> Key:
    return Key(keys=tuple(keys.split()), label=label)


KEYS: Mapping[str, Key] = MappingProxyType(
    {
        # the dashboard
        "help": _key("question_mark f1", "Help"),
        "theme": _key("t", "Theme"),
        "zoom": _key("z", "Zoom"),
        "reload": _key("r", "Reload"),
        "freeze": _key("f", "Freeze"),
        "back": _key("escape", "Back"),
        "leave": _key("q ctrl+q", "Quit"),
        # walking
        "down": _key("j down", "Down"),
        "up": _key("k up", "Up"),
        "right": _key("l right", "Right"),
        "left": _key("h left", "Left"),
        "far_right": _key("L shift+right", "Far right"),
        "far_left": _key("H shift+left", "Far left"),
        "far_up": _key("K shift+up", "Far up"),
        "far_down": _key("J shift+down", "Far down"),
        "page_down": _key("pagedown ctrl+d", "Page down"),
        "page_up": _key("pageup ctrl+u", "Page up"),
        "top": _key("g home", "Top"),
        "bottom": _key("G end", "Bottom"),
        "next": _key("n", "Next"),
        "previous": _key("N", "Previous"),
        "next_line": _key("tab", "Next line"),
        "line_before": _key("shift+tab", "Line before"),
        "leave_cursor": _key("backspace", "Last values"),
        "open": _key("enter", "Open"),
        # what is shown
        "filter": _key("slash", "Filter"),
        "clear_selection": _key("backslash", "Clear"),
        "name_selection": _key("plus", "Save selection"),
        "saved_selections": _key("asterisk", "Saved"),
        "tasks": _key("I", "Tasks"),
        "dataset_before": _key("left_square_bracket", "Dataset −"),
        "dataset": _key("right_square_bracket", "Dataset"),
        "models": _key("c", "Models"),
        "model_before": _key("less_than_sign", "Model −"),
        "next_model": _key("greater_than_sign", "Next model"),
        "reference": _key("p", "Reference"),
        "swap": _key("P", "Swap"),
        "face": _key("F", "A/B"),
        "view": _key("d", "View"),
        "view_before": _key("D", "View before"),
        "group": _key("b", "Rows by"),
        "aggregate": _key("A", "Aggregation"),
        "common": _key("C", "Common pairs"),
        "once": _key("U", "Once"),
        "equivalence": _key("equals_sign", "Equivalence"),
        "verdict": _key("V", "Right/wrong"),
        "why": _key("w", "Why"),
        "words": _key("W", "Word effects"),
        "two_lines": _key("T", "Two lines"),
        "sort": _key("s", "Sort"),
        "reverse": _key("S", "Reverse"),
        "mark": _key("space", "Mark"),
        "only_marked": _key("m", "Marked"),
        "clear_marks": _key("M", "Clear marks"),
        "log": _key("v", "Log"),
        "log_axis": _key("vertical_line", "Log axis"),
        "smooth": _key("tilde", "Smooth"),
        "seed_dots": _key("full_stop", "Seed dots"),
        "recipes": _key("R", "Recipes"),
        # what is done
        "add_model": _key("a", "Score"),
        "what_if": _key("i", "What if"),
        "negate": _key("ctrl+n", "Negate"),
        "another_number": _key("ctrl+r", "Number"),
        "restore": _key("ctrl+o", "Pair itself"),
        "note": _key("number_sign", "Note"),
        "rename": _key("E f2", "Rename"),
        "copy": _key("y", "Copy"),
        "copy_view": _key("Y", "Copy view"),
        "export": _key("e", "Export"),
        "start": _key("ctrl+s", "Start"),
        "stop": _key("x", "Stop"),
        "resume": _key("o", "Resume"),
        "delete": _key("X delete", "Delete"),
        "open_file": _key("O", "Open file"),
        "undo": _key("u", "Undo"),
        # the answers to a question
        "yes": _key("y", "Yes"),
        "no": _key("n", "No"),
    }
)

_SHOWN = {
    "question_mark": "?",
    "f1": "F1",
    "f2": "F2",
    "slash": "/",
    "backslash": "\\",
    "plus": "+",
    "asterisk": "*",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "less_than_sign": "<",
    "greater_than_sign": ">",
    "equals_sign": "=",
    "vertical_line": "|",
    "tilde": "~",
    "full_stop": ".",
    "number_sign": "#",
    "escape": "esc",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "shift+up": "shift+↑",
    "shift+down": "shift+↓",
    "shift+left": "shift+←",
    "shift+right": "shift+→",
    "pagedown": "pgdn",
    "pageup": "pgup",
}


def shown_key(meaning: str) -> str:
    """The key of a MEANING as a hint names it."""
    return KEYS[meaning].shown[0]
