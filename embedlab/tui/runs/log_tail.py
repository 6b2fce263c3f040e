"""The end of a log, following it as it grows."""

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from embedlab.tui.widgets.plain import plain
from embedlab.tui.widgets.text import SteadyText


class LogTail(VerticalScroll):
    """The last lines; follows the end unless it is scrolled up."""

    def compose(self) -> ComposeResult:
        """Yield the text of the log."""
        yield SteadyText(markup=False)

    def show(self, title: str, lines: Sequence[str]) -> None:
        """Show these lines under a title."""
        is_at_end = self.scroll_offset.y >= self.max_scroll_y - 1
        text = "\n".join(plain(line) for line in lines) or "nothing printed yet"
        self.query_one(SteadyText).update(f"{title}\n{text}")
        if is_at_end:
            self.call_after_refresh(self.scroll_end, animate=False)
