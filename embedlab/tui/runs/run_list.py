"""The list of runs: a line each with state, losses, progress and scores."""

from collections.abc import Collection, Sequence
from datetime import datetime

from textual.content import Content
from textual.message import Message

from embedlab.core.durations import duration
from embedlab.tui.room import Lines
from embedlab.tui.runs.model import SIGNS, Entry, sparkline

STATE_STYLES = {
    "failed": "$text-error",
    "crashed": "$text-error",
    "unreadable": "$text-error",
    "cancelled": "$text-warning",
    "interrupted": "$text-warning",
    "finished": "$faint",
    "waiting": "$faint",
}  # others have that of what is at work
AT_WORK = "$text-primary"

_LEAST_NAME = 16
_WIDTHS = {"score": 27, "losses": 8, "dev": 6, "last": 6}  # by importance
_ORDER = ("losses", "score", "dev", "last")


def columns_in(width: int) -> list[str]:
    """The columns behind the name that have room in WIDTH cells, in their order."""
    room = width - 3 - _LEAST_NAME
    fitting = []
    for column, cells in _WIDTHS.items():
        if room >= cells + 2:
            fitting.append(column)
            room -= cells + 2
    return [column for column in _ORDER if column in fitting]


def header(width: int) -> Content:
    """The titles of the columns."""
    columns = columns_in(width)
    titles = {"losses": "loss", "score": "progress or score"}
    cells = [f"{titles.get(column, column):<{_WIDTHS[column]}}" for column in columns]
    return Content.styled("  ".join(["  " + _padded("run", _name_width(width)), *cells]), "bold")


def line_of(entry: Entry, width: int, now: float, *, is_marked: bool) -> Content:
    """ENTRY in one line of WIDTH cells."""
    style = STATE_STYLES.get(entry.state, AT_WORK)
    name = "  " * entry.level + (entry.title or entry.name)
    name_style = "bold" if entry.level == 0 else ""
    parts: list[Content | str | tuple[str, str]] = [
        (f"{'●' if is_marked else SIGNS[entry.state]} ", style),
        (_padded(name, _name_width(width)), name_style),
    ]
    for column in columns_in(width):
        parts += ["  ", _cell(entry, column, now)]
    return Content.assemble(*parts)


def _name_width(width: int) -> int:
    return width - 3 - sum(_WIDTHS[column] + 2 for column in columns_in(width))


def _padded(text: str, width: int) -> str:
    """TEXT in WIDTH cells; of a long name the middle is left out: the cells of a grid differ at the
    end.
    """
    if len(text) > width:
        head = (width - 1) // 2
        text = f"{text[:head]}…{text[len(text) - (width - 1 - head) :]}"
    return f"{text:<{width}}"


def _cell(entry: Entry, column: str, now: float) -> Content:
    width = _WIDTHS[column]
    match column:
        case "losses":
            cells = f"{len(entry.plan)} cells" if entry.plan else ""
            text = sparkline(entry.losses, width) or cells
            style = AT_WORK if entry.is_active else "$faint"
        case "dev":
            text, style = (f"{entry.dev.mean:z.2f}" if entry.dev else ""), ""
        case "score":
            if entry.is_active or (entry.score is None and entry.state != "finished"):
                return progress(entry, width)
            metric = next((f" {one.score.metric}" for one in entry.seeds if one.score), "")
            text, style = "not scored", "$faint"
            if entry.score:
                text, style = entry.score.text + metric, "bold"
        case _:
            text, style = _last(entry, now), "$faint"
    return Content.styled(f"{text:<{width}}", style)


def progress(entry: Entry, width: int) -> Content:
    """What is done as a bar with its share; of what has ended the state in a word."""
    if not entry.is_active:
        cells = (
            f" {entry.states.get('finished', 0)} of {len(entry.plan)} cells" if entry.plan else ""
        )
        word = entry.state + cells
        return Content.styled(f"{word[:width]:<{width}}", STATE_STYLES.get(entry.state, ""))
    return bar(entry.share, width)


def bar(share: float, width: int) -> Content:
    """A bar of a SHARE from 0 to 1, with its number behind it."""
    cells = width - 5
    halves = round(share * cells * 2)
    filled = "━" * (halves // 2) + "╸" * (halves % 2)
    return Content.assemble(
        (filled, AT_WORK), (f"{'─' * (cells - len(filled))}", "$faint"), f" {share:4.0%}"
    )


def _last(entry: Entry, now: float) -> str:
    """The age of the last event or, of what has ended, its time or day."""
    if not entry.last_s:
        return ""
    if entry.is_active:
        return duration(now - entry.last_s)
    then = datetime.fromtimestamp(entry.last_s).astimezone()
    is_today = then.date() == datetime.fromtimestamp(now).astimezone().date()
    return then.strftime("%H:%M" if is_today else "%d %b")


class RunList(Lines):
    """The entries, walked with the keys of a list; its lines change while runs go on."""

    class Reached(Message):
        """Another entry is under the cursor."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.entries: Sequence[Entry] = ()
        self._drawn: list[Content] = []

    @property
    def entry(self) -> Entry | None:
        """The entry under the cursor."""
        index = self.highlighted
        return self.entries[index] if index is not None and index < len(self.entries) else None

    def show(
        self, entries: Sequence[Entry], marked: Collection[str], now: float, stay_on: str | None
    ) -> None:
        """Show ENTRIES, with the cursor on that called STAY_ON, else where it was."""
        width = max(self.scrollable_content_region.width, 20)
        lines = [line_of(one, width, now, is_marked=one.name in marked) for one in entries]
        names = [entry.name for entry in entries]
        is_same = names == [entry.name for entry in self.entries]
        self.entries = entries
        if is_same:
            for index, (old, new) in enumerate(zip(self._drawn, lines, strict=True)):
                if old != new:
                    self.replace_option_prompt_at_index(index, new)
        else:
            self.fill(lines)
            if stay_on in names:
                self.highlighted = names.index(stay_on)
        self._drawn = lines

    def on_option_list_option_highlighted(self) -> None:
        """Say that another entry is reached."""
        self.post_message(self.Reached())
