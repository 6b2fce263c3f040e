"""Text that changes with every key: a layout happens only when the text needs another size. And
parts of text that stay whole.
"""

from collections.abc import Sequence

from textual.content import Content
from textual.visual import VisualType
from textual.widgets import Static


class SteadyText(Static):
    """A Static that is updated each second: the same content again draws nothing, so that nothing
    is sent to the terminal.
    """

    def update(self, content: VisualType = "", *, layout: bool = True) -> None:
        """Show CONTENT if it differs from what is shown."""
        shown = self.content
        if isinstance(content, Content) and isinstance(shown, Content):
            is_same = content.is_same(shown)
        else:
            is_same = isinstance(content, str) and isinstance(shown, str) and content == shown
        if not is_same:
            super().update(content, layout=layout)


class QuickText(Static):
    """A Static without markup whose updates are cheap while width and height do not change."""

    def change(self, content: Content | str) -> None:
        """Show CONTENT."""
        shown = content if isinstance(content, Content) else Content(content)
        before = self.visual
        if isinstance(before, Content) and self.content_size.width > 0:
            self.update(shown, layout=self._needs(before) != self._needs(shown))
        else:  # there was no layout yet
            self.update(shown)

    def _needs(self, content: Content) -> tuple[int, int]:
        """The columns, if the width follows the text, and the lines in the present width."""
        columns, width, least = self.content_size.width, self.styles.width, self.styles.min_width
        is_fitted = width is not None and width.is_auto
        fitted = max(
            content.cell_length + self.styles.gutter.width,
            int(least.value) if least is not None and least.is_cells else 0,
        )
        return (fitted if is_fitted else 0, content.get_height(self.styles.get_rules(), columns))


def fitted_lines(parts: Sequence[Content], width: int, *, gap: int = 2) -> list[Content]:
    """Return PARTS, GAP cells apart, in lines of at most WIDTH cells; no part is divided."""
    lines = [parts[0]]
    for content in parts[1:]:
        if lines[-1].cell_length + gap + content.cell_length <= width:
            lines[-1] = Content.assemble(lines[-1], " " * gap, content)
        else:
            lines.append(content)
    return lines
