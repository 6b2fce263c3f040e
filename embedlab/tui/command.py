"""What a user can do with a key, and what a screen adds to the dashboard."""

from dataclasses import dataclass

KeyScope = str  # where keys act: "everywhere", "table", "plot", "curves", or the name of a screen


@dataclass(frozen=True, kw_only=True)
class Command:
    """One thing a user can do: its keys, the action they run, and its texts in the footer and the help."""

    keys: str  # comma-separated, as Textual names them
    action: str
    label: str  # footer: one or two words
    tooltip: str  # help: one sentence
    show: bool = False  # in the footer, which holds at most eight
    shown_keys: str | None = None  # how the keys are written where Textual's names are unfamiliar


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
    is_restored: bool = True  # the dashboard starts with it if it was the last one

    @property
    def parts(self) -> tuple[KeyScope, ...]:
        """The kinds of its panes that have keys of their own."""
        having = {"table": self.has_table, "plot": self.has_plot, "curves": self.has_curves}
        return tuple(part for part, has_it in having.items() if has_it)


def command(keys: str, action: str, label: str, tooltip: str, *, show: bool = False, shown: str | None = None) -> Command:
    """A command in one line of a table."""
    return Command(keys=keys, action=action, label=label, tooltip=tooltip, show=show, shown_keys=shown)
