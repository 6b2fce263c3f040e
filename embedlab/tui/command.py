"""What a user can do with a key, and what a screen adds to the dashboard."""

from dataclasses import dataclass

from embedlab.tui.key_table import KEYS, Key

# where keys act: "everywhere", "table", "plot", "curves", "question", or the name of a screen
KeyScope = str


@dataclass(frozen=True, kw_only=True)
class Command:
    """One thing a user can do: what its keys mean, the action they run, and its texts in the footer
    and the help.
    """

    meaning: str  # a name of the key table
    key: Key
    action: str
    label: str  # footer: one or two words
    tooltip: str  # help: one sentence
    show: bool = False  # in the footer, which holds at most eight


@dataclass(frozen=True, kw_only=True)
class ScreenEntry:
    """How a screen appears in the dashboard: its place in the mode bar, and its own commands."""

    key: str  # the digit that goes there; the screens are in the order of their digits
    label: str
    tooltip: str
    commands: tuple[Command, ...]
    has_table: bool = True  # the keys of a table act on it
    has_plot: bool = False  # those of a plot do
    has_curves: bool = False  # those of curves do
    lacks: frozenset[str] = frozenset()  # meanings of its parts that do nothing here
    is_restored: bool = True  # the dashboard starts with it if it was the last one

    @property
    def parts(self) -> tuple[KeyScope, ...]:
        """The kinds of its panes that have keys of their own."""
        having = {"table": self.has_table, "plot": self.has_plot, "curves": self.has_curves}
        return tuple(pane for pane, has_it in having.items() if has_it)


def command(
    meaning: str,
    tooltip: str,
    *,
    action: str | None = None,
    label: str | None = None,
    show: bool = False,
    keys: str | None = None,
) -> Command:
    """A command in one line of a table: MEANING is a name of the key table, which has its keys, and
    names the action.

    What has a meaning of its own states the KEYS, separated by blanks, which must be free.
    """
    if keys is None:
        key = KEYS[meaning]
    elif meaning in KEYS:
        raise ValueError(f"the keys of {meaning!r} are those of the key table")
    else:
        key = Key(keys=tuple(keys.split()), label=label or meaning.replace("_", " ").capitalize())
    return Command(
        meaning=meaning,
        key=key,
        action=action or meaning,
        label=label or key.label,
        tooltip=tooltip,
        show=show,
    )
