"""A short list of the pairs on which models disagree most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from embedlab.tui.commands import bindings
from embedlab.tui.model_titles import short_name
from embedlab.tui.pair_table.data import ANSWER, GOLD_TEXT
from embedlab.tui.widgets.plain import plain

_LINES = 3  # of a pair
_CURSOR = "▸ "


class DisagreementList(VerticalScroll, inherit_bindings=False):
    """A few pairs, each on three lines, with a cursor."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("table", without={"mark", "sort", "reverse", "right", "left"})

    @dataclass
    class Opened(Message):
        """The user wants to see a pair among those of its slice."""

        row: int  # of the pair table

    def compose(self) -> ComposeResult:
        yield Static()

    def on_mount(self) -> None:
        self.pairs: Sequence[Mapping[str, Any]] = ()
        self._models: Sequence[str] = ()
        self.cursor = 0

    def show(self, pairs: Sequence[Mapping[str, Any]], models: Sequence[str]) -> None:
        """Show these pairs with the score that each model gives them."""
        if [pair["row"] for pair in pairs] != [pair["row"] for pair in self.pairs]:
            self.cursor = 0
        self.pairs, self._models = pairs, models
        self._draw()

    def on_focus(self) -> None:
        """Show the cursor."""
        self._draw()

    def on_blur(self) -> None:
        """Hide the cursor."""
        self._draw()

    def _draw(self) -> None:
        what = "rank gap" if len(self._models) > 1 else "rank error"
        parts = [Content.styled(f"largest disagreements ({what})" if self.pairs else "no pairs to disagree on", "bold")]
        for index, pair in enumerate(self.pairs):
            scores = "  ".join(
                f"{short_name(plain(name), 12)} {_answer(pair, name)}" for name in self._models if pair.get(name) is not None
            )
            sign = _CURSOR if self.has_focus and index == self.cursor else ""
            size = (f"{sign}{pair['size']:z.0f} ", "$text-warning bold")
            gold = pair.get(GOLD_TEXT) or ("" if pair["gold"] is None else f"{pair['gold']:z.1f}")
            head = Content.assemble(size, (f"gold {plain(gold)}  {scores}" if gold else scores, "$text-faint"))
            parts += [head, *(Content(f"  {plain(pair[name])}") for name in ("sentence1", "sentence2"))]
        self.query_one(Static).update(Content("\n").join(parts))

    # keys

    def action_move_rows(self, by: int) -> None:
        self.cursor = max(0, min(self.cursor + by, len(self.pairs) - 1))
        self._draw()
        line, top, height = 1 + _LINES * self.cursor, self.scroll_offset.y, self.scrollable_content_region.height
        if not top < line or line + _LINES > top + height:
            self.scroll_to(y=max(0, line - 1), animate=False)

    def action_move_pages(self, by: int) -> None:
        self.action_move_rows(by * max(1, self.scrollable_content_region.height // _LINES))

    def action_move_to_end(self, end: int) -> None:
        self.action_move_rows(end * len(self.pairs))

    def action_open(self) -> None:
        """Open the pair under the cursor."""
        if self.pairs:
            self.post_message(self.Opened(self.pairs[self.cursor]["row"]))


def _answer(pair: Mapping[str, Any], name: str) -> str:
    """What the model NAME says of a pair or item."""
    return plain(pair.get(f"{ANSWER}{name}") or f"{pair[name]:z.2f}")
