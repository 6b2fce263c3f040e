"""Differences from a reference model: a forest plot over all slices on one axis, and a map of datasets and Dice fifths."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from embedlab.analysis.seed_notes import REACH_SIGN, TOPIC_SIGN
from embedlab.analysis.slices import FIFTHS
from embedlab.tui.commands import bindings
from embedlab.tui.compare.differences import FifthsMap, Forest, ForestRow
from embedlab.tui.key_table import shown_key
from embedlab.tui.model_colours import model_colour
from embedlab.tui.model_titles import short_name
from embedlab.tui.widgets.axis import tick_line
from embedlab.tui.widgets.plain import plain

_NAME = 24  # cells of a model's name
_SHORTEST_PLOT, _LONGEST_TITLE = 16, 34
_NUMBERS, _DELTA = 46, 10  # cells of all numbers of a row, and of the difference with its marks alone
_CELL, _INTERVAL = 11, 18  # of the map, and behind it where there is room
_SHADES = "░▒▓█"
CURSOR = "▸"


class DifferencePane(VerticalScroll, inherit_bindings=False):
    """A forest plot, a map of fifths, or why there is none; a cursor goes over its rows and cells."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("table", without={"mark", "sort", "reverse"})

    @dataclass
    class Opened(Message):
        """The user wants to see the pairs behind a difference."""

        row: ForestRow
        by: str  # what the slices were cut by
        model: str

    def compose(self) -> ComposeResult:
        yield Static(markup=False)

    def on_mount(self) -> None:
        self.shown: Forest | FifthsMap | str = ""
        self.cursor = (0, 0)  # row, and fifth of the map

    def show(self, shown: Forest | FifthsMap | str) -> None:
        """Draw the differences, or a text in their place."""
        self.shown = shown
        self._move_to(*self.cursor)

    def _move_to(self, row: int, column: int) -> None:
        """Move the cursor as far as there are cells, and draw."""
        rows = 0 if isinstance(self.shown, str) else len(self.shown.rows)
        self.cursor = (max(0, min(row, rows - 1)), max(0, min(column, FIFTHS - 1)))
        width = self.scrollable_content_region.width
        match self.shown:
            case Forest():
                content = draw_forest(self.shown, width, cursor=self.cursor[0])
            case FifthsMap():
                content = draw_map(self.shown, width, cursor=self.cursor)
            case text:
                content = Content.styled(text, "$text-faint")
        self.query_one(Static).update(content)

    @property
    def under_cursor(self) -> ForestRow | None:
        """The difference under the cursor."""
        row, column = self.cursor
        match self.shown:
            case Forest():
                return self.shown.rows[row] if self.shown.rows else None
            case FifthsMap():
                return self.shown.rows[row][1][column] if self.shown.rows else None
            case _:
                return None

    def on_resize(self) -> None:
        """Fit the axis to the width."""
        self.show(self.shown)

    # keys

    def action_move_rows(self, by: int) -> None:
        self._move_to(self.cursor[0] + by, self.cursor[1])
        head = 2 if isinstance(self.shown, FifthsMap) else 1
        line, top, height = self.cursor[0] + head, self.scroll_offset.y, self.scrollable_content_region.height
        if not top <= line < top + height:
            self.scroll_to(y=line - height + 1 if line >= top + height else line - head, animate=False)

    def action_move_columns(self, by: int) -> None:
        self._move_to(self.cursor[0], self.cursor[1] + by)

    def action_move_pages(self, by: int) -> None:
        self.action_move_rows(by * max(1, self.scrollable_content_region.height - 1))

    def action_move_to_end(self, end: int) -> None:
        self.action_move_rows(0 if isinstance(self.shown, str) else end * len(self.shown.rows))

    def action_open(self) -> None:
        """Open the pairs behind the difference under the cursor."""
        if (row := self.under_cursor) is not None and not isinstance(self.shown, str):
            self.post_message(self.Opened(row, "dice" if isinstance(self.shown, FifthsMap) else "", self.shown.model))


def draw_forest(forest: Forest, width: int, *, cursor: int | None = None) -> Content:
    """The plot in WIDTH cells: a line a slice, the axis below, then what the signs mean."""
    title = _title(forest.model, forest.reference, f", {forest.metric} x 100, with 95% intervals")
    if not forest.rows:
        return Content.assemble(title, (": no slice has a difference", "$text-faint"))
    label = min(max(len(row.title) for row in forest.rows), _LONGEST_TITLE, max(width // 3, 8))
    numbers = _NUMBERS if width - label - 2 - _NUMBERS >= _SHORTEST_PLOT else _DELTA
    cells = max(width - label - 2 - numbers, 8)
    lines = [title]
    for index, row in enumerate(forest.rows):
        name, sign = f"{short_name(plain(row.title), label):<{label}}", (CURSOR, "bold") if index == cursor else (" ", "")
        lines.append(Content.assemble((name, sign[1]), sign, *_whisker(row, forest, cells), " ", *_numbers(row, numbers)))
    lines.append(Content.styled(f"{'':{label + 1}}{_axis(forest, cells)}", "$text-faint"))
    lines += [Content.styled(text, "$text-faint") for text in _explained(forest)]
    return Content("\n").join(lines)


def _place(value: float, forest: Forest, cells: int) -> int:
    low, high = forest.span
    return round((value - low) / ((high - low) or 1.0) * (cells - 1))


def _whisker(row: ForestRow, forest: Forest, cells: int) -> Iterator[tuple[str, str]]:
    """├─●─┤ over the lines of zero and of the margin, ◆ for an average."""
    signs = {_place(0.0, forest, cells): "│"}
    if forest.margin is not None:
        signs |= {_place(end, forest, cells): "┊" for end in (-forest.margin, forest.margin)}
    drawn = {}
    if row.low == row.low:
        low, high = _place(row.low, forest, cells), _place(row.high, forest, cells)
        drawn = dict.fromkeys(range(low, high + 1), "─") | {low: "├", high: "┤"}
    drawn[_place(row.delta, forest, cells)] = "◆" if row.is_average else "●"
    for cell in range(cells):
        yield (drawn[cell], model_colour(forest.model)) if cell in drawn else (signs.get(cell, " "), "$text-faint")


def _style(row: ForestRow) -> str:
    if row.is_significant:
        return "$text-success" if row.delta > 0 else "$text-error"
    return "$text-accent" if row.is_equivalent else ""


def _sign(row: ForestRow) -> str:
    if row.is_significant:
        return "▲" if row.delta > 0 else "▼"
    return " "


def _numbers(row: ForestRow, width: int) -> Iterator[tuple[str, str]]:
    """The difference with its marks; with room its interval, the letters and the design effect."""
    marks = f"{_sign(row)}{row.reach}{'=' if row.is_equivalent else ' '}{row.topic}"
    yield f"{row.delta:+z6.1f}{marks:<4}", _style(row)
    if width >= _NUMBERS:
        interval = f"[{row.low:+z.1f}, {row.high:+z.1f}]" if row.low == row.low else ""
        effect = f"deff {row.design_effect:z.2f}" if row.design_effect == row.design_effect else ""
        yield f" {interval:<16} {row.letters:<7} {effect}", "$text-faint"


def _axis(forest: Forest, cells: int) -> str:
    """The round values of the axis."""
    low, high = forest.span
    return tick_line(low, high, cells, text=lambda tick: f"{tick:+z.12g}" if tick else "0") if high > low else f"{low:z.1f}"


def _explained(forest: Forest) -> Iterator[str]:
    both = f"{_named(forest.model)}/{_named(forest.reference)}"
    yield f"▲ ▼ differs after Holm's correction at 5% · letters: {both}; with a shared one no difference is found"
    if forest.margin is None:
        yield f"deff: variance against independent rows · press {shown_key('equivalence')} for a margin of equivalence"
    else:
        yield f"deff: variance against independent rows · = smaller than ±{forest.margin:g} (┊) by two one-sided tests, 5% after Holm"
    yield from explained_signs(forest.rows)


def explained_signs(rows: Sequence[ForestRow | None]) -> Iterator[str]:
    """Yield what the signs say that are behind differences."""
    there = {REACH_SIGN: any(row and row.reach for row in rows), TOPIC_SIGN: any(row and row.topic for row in rows)}
    if parts := [text for text, is_used in there.items() if is_used]:
        yield " · ".join(parts)


def draw_map(shown: FifthsMap, width: int, *, cursor: tuple[int, int] | None = None) -> Content:
    """The map: a shade and a signed number in each cell; grey where the difference is not significant."""
    label = min(max((len(name) for name, _ in shown.rows), default=4), max(width - 5 * _CELL - 1, 8))
    room = _INTERVAL if width - label >= 5 * (_CELL + _INTERVAL) else 0
    heads = "".join(f"{f'fifth {number}':>{_CELL}}{'':{room}}" for number in range(1, 6))
    lines = [
        _title(shown.model, shown.reference, f", {shown.metric} x 100, by fifth of Dice"),
        Content.styled(f"{'':{label}}{heads}", "$text-faint"),
    ]
    for row, (name, cells) in enumerate(shown.rows):
        texts = [_cell(cell, shown.largest, is_under=(row, column) == cursor) for column, cell in enumerate(cells)]
        drawn = [piece for text, cell in zip(texts, cells, strict=True) for piece in (text, _interval(cell, room))]
        lines.append(Content.assemble(f"{short_name(plain(name), label):<{label}}", *drawn))
    lines.append(Content.styled("fifth 1: least word overlap · ▲ ▼ differs after Holm's correction at 5%", "$text-faint"))
    lines += [Content.styled(text, "$text-faint") for text in explained_signs([cell for _, cells in shown.rows for cell in cells])]
    steps = [f"{shade} to {shown.largest * index / len(_SHADES):z.1f}" for index, shade in enumerate(_SHADES, start=1)]
    lines.append(Content.styled(f"size of the difference: {'  '.join(steps)}", "$text-faint"))
    return Content("\n").join(lines)


def _cell(cell: ForestRow | None, largest: float, *, is_under: bool) -> tuple[str, str]:
    sign, bold = (CURSOR, " bold") if is_under else (" ", "")
    if cell is None:
        return f"{sign}{'·':>{_CELL - 1}}", f"$text-faint{bold}"
    share = abs(cell.delta) / largest if largest else 0.0
    shade = _SHADES[min(int(share * len(_SHADES)), len(_SHADES) - 1)]
    return f"{sign}{shade}{cell.delta:+z6.1f}{_sign(cell)}{f'{cell.reach}{cell.topic}':<2}", f"{_style(cell) or '$text-faint'}{bold}"


def _interval(cell: ForestRow | None, room: int) -> tuple[str, str]:
    known = room and cell is not None and cell.low == cell.low
    return f"{f' [{cell.low:+z.1f}, {cell.high:+z.1f}]' if known and cell is not None else '':<{room}}", "$text-faint"


def _title(model: str, reference: str, what: str) -> Content:
    """MODEL minus REFERENCE, each in its colour, and WHAT is shown of it."""
    names = [(_named(name), f"{model_colour(name)} bold") for name in (model, reference)]
    return Content.assemble(names[0], (" minus ", "bold"), names[1], (what, "bold"))


def _named(model: str) -> str:
    return short_name(plain(model), _NAME)
