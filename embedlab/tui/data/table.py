"""The table of items: numbers at the left, both sentences in all the width that is left. Only
visible lines are drawn.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import ClassVar, cast

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from embedlab.tui.data.model import DICE, GAP, GOLD, View, words_only_here
from embedlab.tui.plain import safe_line
from embedlab.tui.room import Host
from embedlab.tui.theme import model_sign

_NUMBER = 6  # cells of a number, with the blank before it
_NAME = 14  # cells of a model whose name is shown
_LEAST_TEXT = 140  # cells, below which the second sentence has a line of its own
_GUTTER = 2
_WIDE = 90  # cells, from which the columns have their names whole


@cache
def _style_of(colour: str, bold: bool) -> Style:
    return Style(color=colour if colour.startswith("#") else None, bold=bold or None)


class ItemTable(ScrollView, can_focus=True):
    """Items with a cursor; the app moves it, and marks them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", show=False),
        Binding("k,up", "move(-1)", show=False),
        Binding("pagedown,ctrl+d", "page(1)", show=False),
        Binding("pageup,ctrl+u", "page(-1)", show=False),
        Binding("g,home", "go(0)", show=False),
        Binding("G,end", "go(-1)", show=False),
        Binding("enter", "open", "Details", tooltip="all about the item"),
    ]

    cursor = reactive(0, repaint=False)  # the lines that change are drawn

    class Reached(Message):
        """Another item is under the cursor."""

    class Opened(Message):
        """The item under the cursor is to be shown whole."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self.view: View | None = None
        self.marked: set[int] = set()  # rows of the frame
        self._widths: Mapping[str, int] = {}  # cells of each column of numbers
        self._text_width = 10
        self._base = Style()
        self.lines_each = 1  # of an item: two where one has too little room for both sentences

    def show(self, view: View) -> None:
        """Show VIEW, with the cursor on the same item where it is still there."""
        previous, previous_row = self.view, self.row
        self.view = view
        rows = view.facts.outcomes.rows
        if previous is None or not rows.equals(previous.facts.outcomes.rows):
            self.marked.clear()  # they are rows of other items
        if previous is None or (previous.sort, previous.is_descending) != (
            view.sort,
            view.is_descending,
        ):
            previous_row = None  # another order begins at its first item
        matching_lines = np.flatnonzero(view.rows == (-1 if previous_row is None else previous_row))
        self._lay_out()
        self.set_reactive(ItemTable.cursor, int(matching_lines[0]) if len(matching_lines) else 0)
        self._keep_visible()
        self.refresh()
        self._say_reached()

    def _say_reached(self) -> None:
        self.refresh_lines(self.scroll_offset.y, 1)  # the header, that says which item it is
        self.post_message(self.Reached())

    @property
    def row(self) -> int | None:
        """The row of the frame under the cursor."""
        if self.view is None or self.cursor >= len(self.view.rows):
            return None
        return int(self.view.rows[self.cursor])

    @property
    def models(self) -> Sequence[str]:
        """The models with a column."""
        return [model.name for model in self.view.facts.shown.columns] if self.view else ()

    # moving

    def watch_cursor(self, old_line: int, new_line: int) -> None:
        """Follow the cursor."""
        self._keep_visible()
        for line in (old_line, new_line):
            self.refresh_lines(1 + line * self.lines_each, self.lines_each)
        self._say_reached()

    def _keep_visible(self) -> None:
        top = self.cursor * self.lines_each
        height = self.scrollable_content_region.height - 1  # the header
        if top < self.scroll_offset.y:
            self.scroll_to(y=top, animate=False, immediate=True)
        elif top + self.lines_each > self.scroll_offset.y + height:
            first_line = top + self.lines_each - height
            first_line += -first_line % self.lines_each  # no item is cut at the top
            self.scroll_to(y=first_line, animate=False, immediate=True)

    def action_move(self, step: int) -> None:
        """Move the cursor."""
        last_line = len(self.view.rows) - 1 if self.view is not None else 0
        self.cursor = max(0, min(self.cursor + step, last_line))

    def action_page(self, pages: int) -> None:
        """Move the cursor by what is visible."""
        self.action_move(pages * max(1, (self.size.height - 2) // self.lines_each))

    def action_go(self, end: int) -> None:
        """Go to the first item, or to the last."""
        self.action_move(-self.cursor if end == 0 else 10**9)

    def action_open(self) -> None:
        """Ask for the details."""
        self.post_message(self.Opened())

    def on_click(self, event: events.Click) -> None:
        """Go to the item that was clicked."""
        line = event.get_content_offset_capture(self).y - 1 + self.scroll_offset.y
        if self.view is not None and 0 <= line // self.lines_each < len(self.view.rows):
            self.cursor = line // self.lines_each

    def on_resize(self) -> None:
        """Lay the lines out anew."""
        self._lay_out()
        self._keep_visible()

    def _lay_out(self) -> None:
        """Give gold, Dice and each model a column, and the sentences what is left."""
        inner_width = self.scrollable_content_region.width
        models = self.models
        has_room = inner_width >= max(_WIDE, 3 * _NAME * len(models))  # sentences get most of it
        longest = _NAME if has_room else _NUMBER + 1
        columns = [GOLD, *([] if DICE in models else [DICE]), *([GAP] if len(models) > 1 else [])]
        self._widths = {name: _NUMBER + (name == GOLD) for name in columns} | {
            name: max(_NUMBER + 1, min(len(name) + 3, longest)) for name in models
        }
        self._text_width = max(inner_width - _GUTTER - sum(self._widths.values()) - 1, 10)
        self.lines_each = 1 if self._text_width >= _LEAST_TEXT else 2
        count = len(self.view.rows) if self.view is not None else 0
        self.virtual_size = Size(inner_width, count * self.lines_each + 1)

    # drawing

    @property
    def colours(self) -> Mapping[str, str]:
        """The variables of the theme."""
        return cast("Host", self.app).colours

    def _style(self, colour: str, *, bold: bool = False) -> Style:
        return _style_of(self.colours.get(colour, ""), bold)

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines in CROP, on the colours that all of them have."""
        self._base = self.rich_style
        return super().render_lines(crop)

    def render_line(self, y: int) -> Strip:
        """The header, or a line of an item."""
        width = self.scrollable_content_region.width
        base = self._base
        if self.view is None:
            return Strip.blank(width, base)
        if y == 0:
            return Strip(self._header()).adjust_cell_length(width, base).apply_style(base)
        item_line, part = divmod(y - 1 + self.scroll_offset.y, self.lines_each)
        if item_line >= len(self.view.rows):
            return Strip.blank(width, base)
        row = int(self.view.rows[item_line])
        strip = Strip(self._line(row, part, is_here=item_line == self.cursor))
        shade = "surface" if item_line % 2 and self.lines_each == 2 else ""
        if item_line == self.cursor:
            shade = "primary-muted" if self.has_focus else "panel"
        colour = self.colours.get(shade, "")
        if colour.startswith("#"):
            base += Style(bgcolor=colour)
        if item_line == self.cursor:
            base += Style(bold=True)
        return strip.adjust_cell_length(width, base).apply_style(base)

    def _column(self, name: str) -> tuple[str, str]:
        """The title of a column, and its colour as a variable of the theme."""
        if self.view is not None and name in self.models:
            position = self.view.facts.shown.models.index(name)
            return f"{model_sign(position)}{name}", f"model-{position}"
        return name, "gold" if name == GOLD else "faint"

    def _header(self) -> list[Segment]:
        assert self.view is not None
        segments = [Segment(" " * _GUTTER)]
        for name, width in self._widths.items():
            title, colour = self._column(name)
            arrow = ("↓" if self.view.is_descending else "↑") * (name == self.view.sort)
            room = width - 1 - len(arrow)
            if len(title) > room:  # a sign alone says more than few letters
                title = title[:1] if room <= _NUMBER else f"{title[: room - 1]}…"
            title += arrow
            segments.append(Segment(f"{title:>{width - 1}} ", self._style(colour, bold=True)))
        texts = " sentences"
        if self.lines_each == 1:
            texts = f"{' first sentence':<{self._text_width // 2 + 1}}second sentence"
        count = len(self.view.rows)
        position_text = f"{self.cursor + 1:,} of {count:,}" if count else ""
        texts = texts.ljust(self._text_width - len(position_text)) + " "  # may have no room
        faint = self._style("faint", bold=True)
        return [*segments, Segment(texts, faint), Segment(position_text, self._style("faint"))]

    def _line(self, row: int, part: int, *, is_here: bool) -> list[Segment]:
        assert self.view is not None
        facts = self.view.facts
        outcomes = facts.outcomes
        sign = "▌" if is_here else " "
        segments = [
            Segment(sign, self._style("primary")),
            Segment("●" if row in self.marked and part == 0 else " ", Style(bold=True)),
        ]
        if part:
            segments.append(Segment(" " * sum(self._widths.values())))
        else:
            segments += [self._number(name, row) for name in self._widths]
        first, second = (
            safe_line(outcomes.column(name)[row] or "") for name in ("sentence1", "sentence2")
        )
        width = self._text_width
        segments.append(Segment(" "))
        if self.lines_each == 2:
            sentences_in_order = (first, second) if part == 0 else (second, first)
            return [*segments, *self._words(*sentences_in_order, width)]
        half = width // 2
        return [
            *segments,
            *self._words(first, second, half - 1),
            Segment(" "),
            *self._words(second, first, width - half),
        ]

    def _number(self, name: str, row: int) -> Segment:
        assert self.view is not None
        facts = self.view.facts
        value = facts.numbers(name)[row]
        width = self._widths[name] - 1
        if name == GOLD or name in self.models:
            text = facts.text(value, row, is_gold=name == GOLD)
        else:
            text = f"{value:z.{0 if name == GAP else 2}f}" if np.isfinite(value) else "·"
        _, colour = self._column(name)
        return Segment(f"{text[:width]:>{width}} ", self._style(colour))

    def _words(self, sentence: str, other: str, width: int) -> list[Segment]:
        """SENTENCE in WIDTH cells; words that the OTHER lacks stand out."""
        faint_style, loud_style = self._style("faint"), Style()
        is_cut = cell_len(sentence) > width
        room = width - is_cut
        segments: list[Segment] = []
        pieces = words_only_here(sentence, other) if other else [(sentence, True)]
        for text, is_only_here in pieces:
            piece = text if cell_len(text) <= room else set_cell_size(text, room)
            segments.append(Segment(piece, loud_style if is_only_here else faint_style))
            room -= cell_len(piece)
        return [*segments, Segment(" " * room), Segment("…" if is_cut else "", faint_style)]
