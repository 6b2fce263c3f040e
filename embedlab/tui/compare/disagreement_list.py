"""A short list of the pairs on which models disagree most."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
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
from embedlab.tui.widgets.text import fitted_lines

_LINES = 3  # of most pairs
_INDENT = 2  # cells
_CURSOR = "▸ "


class DisagreementList(VerticalScroll, inherit_bindings=False):
    """A few pairs with a cursor: scores and both sentences of each."""

    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "table", without={"mark", "sort", "reverse", "right", "left"}
    )

    @dataclass
    class Opened(Message):
        """The user wants to see a pair among those of its slice."""

        row: int  # of the pair table

    def compose(self) -> ComposeResult:
        """Yield the text of all pairs."""
        yield Static()

    def on_mount(self) -> None:
        """Begin without pairs."""
        self.pairs: Sequence[Mapping[str, Any]] = ()
        self._models: Sequence[str] = ()
        self.cursor = 0
        self._edges = [1]  # the first line of each pair, and where the last one ends

    def show(self, pairs: Sequence[Mapping[str, Any]], models: Sequence[str]) -> None:
        """Show these pairs with the score that each model gives them."""
        if [pair["row"] for pair in pairs] != [pair["row"] for pair in self.pairs]:
            self.cursor = 0
        self.pairs, self._models = pairs, models
        self._draw()

    def watch_has_focus(self, has_focus: bool) -> None:
        """Show or hide the cursor."""
        super().watch_has_focus(has_focus)
        self._draw()

    def on_resize(self) -> None:
        """Fit the scores to the width."""
        self._draw()

    def _draw(self) -> None:
        what = "rank gap" if len(self._models) > 1 else "rank error"
        title = Content.styled(
            f"largest disagreements ({what})" if self.pairs else "no pairs to disagree on", "bold"
        )
        drawn = [self._pair(index, pair) for index, pair in enumerate(self.pairs)]
        width, rules = max(1, self.scrollable_content_region.width), self.styles.get_rules()
        self._edges = [
            1,
            *(1 + height for height in accumulate(pair.get_height(rules, width) for pair in drawn)),
        ]
        self.query_one(Static).update(Content("\n").join([title, *drawn]))

    def _pair(self, index: int, pair: Mapping[str, Any]) -> Content:
        """A pair: how far models are apart on it, its gold score and theirs, each beside its name,
        then the sentences.
        """
        sign = _CURSOR if self.has_focus and index == self.cursor else ""
        gold = pair.get(GOLD_TEXT) or ("" if pair["gold"] is None else f"{pair['gold']:z.1f}")
        size = (f"{sign}{pair['size']:z.0f}", "$text-warning bold")
        facts = [Content.assemble(size, (f" gold {plain(gold)}" if gold else "", "$text-faint"))]
        facts += [
            Content.styled(f"{short_name(plain(name), 12)} {_answer(pair, name)}", "$text-faint")
            for name in self._models
            if pair.get(name) is not None
        ]
        head, *more = fitted_lines(facts, self.scrollable_content_region.width - _INDENT)
        sentences = [Content(plain(pair[name])) for name in ("sentence1", "sentence2")]
        return Content("\n").join(
            [head, *(Content(" " * _INDENT) + line for line in (*more, *sentences))]
        )

    # keys

    def action_move_rows(self, by: int) -> None:
        """Move the cursor by so many pairs, and what is shown with it."""
        self.cursor = max(0, min(self.cursor + by, len(self.pairs) - 1))
        self._draw()
        if not self.pairs:
            return
        first, end = self._edges[self.cursor : self.cursor + 2]
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if not top < first or end > top + height:
            self.scroll_to(y=max(0, first - 1), animate=False)

    def action_move_pages(self, by: int) -> None:
        """Move the cursor by as many pairs as the pane shows."""
        self.action_move_rows(by * max(1, self.scrollable_content_region.height // _LINES))

    def action_move_to_end(self, end: int) -> None:
        """Go to the last pair, or with a negative END to the first."""
        self.action_move_rows(end * len(self.pairs))

    def action_open(self) -> None:
        """Open the pair under the cursor."""
        if self.pairs:
            self.post_message(self.Opened(self.pairs[self.cursor]["row"]))


def _answer(pair: Mapping[str, Any], name: str) -> str:
    """What the model NAME says of a pair or item."""
    return plain(pair.get(f"{ANSWER}{name}") or f"{pair[name]:z.2f}")
