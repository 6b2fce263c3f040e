"""The list of runs: a line each with state, losses, progress and scores."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from textual.content import Content

from embedlab.core.printable import count_text, duration, sparkline
from embedlab.tui.plain import faint, half_bar, shorten_middle
from embedlab.tui.room import Lines
from embedlab.tui.runs.model import SIGNS, Entry
from embedlab.tui.theme import model_colour, model_sign

STATE_STYLES = {
    "failed": "$text-error",
    "crashed": "$text-error",
    "unreadable": "$text-error",
    "cancelled": "$text-warning",
    "interrupted": "$text-warning",
    "finished": "$faint",
    "waiting": "$faint",
}  # others have that of what is at work
AT_WORK = "bold"

_LEAST_NAME = 25  # before the time of the last event
_CELLS = {"score": 29, "loss": 10, "dev": 8, "last": 6}  # by importance
_ORDER = ("loss", "score", "dev", "last")


def columns_in(width: int) -> Mapping[str, int]:
    """The columns that have room in WIDTH cells, in their order, with their cells."""
    shown_titles = []
    room = width - _LEAST_NAME
    for title, cells in _CELLS.items():
        if room >= cells:
            shown_titles.append(title)
            room -= cells
    columns = {title: _CELLS[title] for title in _ORDER if title in shown_titles}
    return {"  run": _LEAST_NAME + room, **columns}


def header(width: int) -> Content:
    """The titles of the columns."""
    titles = (f"{title:<{cells}}" for title, cells in columns_in(width).items())
    return Content.styled("".join(titles), "bold $faint")


def line_of(entry: Entry, width: int, now: float, mark: int | None) -> Content:
    """ENTRY in one line of WIDTH cells; one that is marked has the sign of its curve, by MARK."""
    (_, name_cells), *other_columns = columns_in(width).items()
    styled_sign = f"{SIGNS[entry.state]} ", STATE_STYLES.get(entry.state, AT_WORK)
    if mark is not None:
        styled_sign = f"{model_sign(mark)} ", model_colour(mark)
    name = shorten_middle("  " * entry.level + (entry.title or entry.name), name_cells - 3)
    return Content.assemble(
        styled_sign,
        (f"{name:<{name_cells - 2}}", "bold" * (entry.level == 0)),
        *(_cell(entry, title, now).truncate(cells, pad=True) for title, cells in other_columns),
    )


def _cell(entry: Entry, title: str, now: float) -> Content:
    match title:
        case "loss":
            cell_text = count_text(len(entry.plan), "cells") if entry.plan else ""
            text = sparkline(entry.losses, _CELLS[title] - 2) or cell_text
            return Content.styled(text, AT_WORK if entry.is_active else "$faint")
        case "dev":
            return Content(f"{entry.dev.mean:z.2f}" if entry.dev else "")
        case "last":
            return faint(_last(entry, now))
    if entry.is_active:
        return bar(entry.share, _CELLS[title] - 2)
    if entry.score is not None:
        metric = next(training.score.metric for training in entry.seeds if training.score)
        return Content.styled(f"{entry.score.text} {metric}", "bold")
    if entry.state == "finished":
        return faint("not scored")
    finished = entry.states.get("finished", 0)
    cell_text = f" {finished} of {len(entry.plan)} cells" if entry.plan else ""
    return Content.styled(entry.state + cell_text, STATE_STYLES.get(entry.state, ""))


def bar(share: float, width: int) -> Content:
    """A bar of a SHARE from 0 to 1, with its number behind it."""
    cells = width - 5
    filled = half_bar(share, cells)
    return Content.assemble(
        (filled, AT_WORK), (f"{'─' * (cells - len(filled))}", "$faint"), f" {share:4.0%}"
    )


def _last(entry: Entry, now: float) -> str:
    """The age of the last event or, of what has ended, its time or day."""
    if not entry.last_s:
        return ""
    if entry.is_active:
        return duration(now - entry.last_s)
    last_time = datetime.fromtimestamp(entry.last_s).astimezone()
    is_today = last_time.date() == datetime.fromtimestamp(now).astimezone().date()
    return last_time.strftime("%H:%M" if is_today else "%d %b")


class RunList(Lines):
    """The entries, walked with the keys of a list; its lines change while runs go on."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.entries: Sequence[Entry] = ()

    @property
    def entry(self) -> Entry | None:
        """The entry under the cursor."""
        return self.under_cursor(self.entries)

    def show(
        self, entries: Sequence[Entry], marked: Mapping[str, int], now: float, stay_on: str | None
    ) -> None:
        """Show ENTRIES, with the cursor on that called STAY_ON, else where it was."""
        width = max(self.scrollable_content_region.width, 20)
        self.entries = entries
        self.fill(
            [
                line_of(entry_shown, width, now, marked.get(entry_shown.name))
                for entry_shown in entries
            ]
        )
        names = [entry.name for entry in entries]
        if stay_on in names:
            self.highlighted = names.index(stay_on)
