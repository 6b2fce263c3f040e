"""The details of one pair in sections, in as many columns as the pane has room for."""

from textual.app import ComposeResult
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content

from embedlab.tui.pairs.sections import SECTIONS, DetailSection, ShownPair
from embedlab.tui.widgets.text import QuickText

COLUMNS_FROM, _THREE = 110, 160  # cells of the pane from which it has two and three columns
_GAP = 2  # cells between columns


class PairDetail(VerticalScroll):
    """The pair under the cursor."""

    pair: ShownPair | None = None

    def compose(self) -> ComposeResult:
        with Container(id="detail-columns"):
            with Vertical(classes="detail-column"):
                yield from _texts(0)
            with Container(id="detail-more"):
                for column in (1, 2):
                    with Vertical(classes="detail-column"):
                        yield from _texts(column)

    def show(self, pair: ShownPair | None) -> None:
        """Show a pair, or that there is none; sections that stay the same are not drawn again."""
        self.pair = pair
        for number, section in enumerate(SECTIONS):
            nothing = Content("no pair") if number == 0 else None
            content = section.draw(pair, self._width(section)) if pair is not None else nothing
            text = self.query_one(f"#pair-{section.name}", QuickText)
            text.display = content is not None
            shown = content if content is not None else Content("")
            if not (isinstance(text.content, Content) and text.content.is_same(shown)):
                text.change(shown)

    def on_resize(self) -> None:
        """Fit the columns and the bars to the width."""
        self.set_class(self._columns >= 2, "-two")
        self.set_class(self._columns == 3, "-three")
        if self.pair is not None:
            self.show(self.pair)

    @property
    def _columns(self) -> int:
        width = self.outer_size.width
        return 3 if width >= _THREE else 2 if width >= COLUMNS_FROM else 1

    def _width(self, section: DetailSection) -> int:
        """The cells of a line of SECTION."""
        return (self.scrollable_content_region.width - _GAP * (self._columns - 1)) // self._columns


def _texts(column: int) -> ComposeResult:
    for section in SECTIONS:
        if section.column == column:
            yield QuickText(id=f"pair-{section.name}", classes="detail-section")
