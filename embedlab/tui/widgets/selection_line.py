"""The line below the mode bar: what is selected, what the models score on it, and the way that led there."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from embedlab.tui.widgets.text import SteadyText

if TYPE_CHECKING:
    from embedlab.tui.pair_table.numbers import SelectionNumbers


class SelectionLine(SteadyText):
    """The selection on one line; a screen that is not about it says so, and shows nothing where all pairs are selected."""

    def __init__(self, *, is_of_screen: bool) -> None:
        super().__init__(markup=False)
        self._is_of_screen = is_of_screen
        self._numbers: SelectionNumbers | None = None
        self._path: Sequence[str] = ()
        self.display = False

    def show(self, numbers: "SelectionNumbers", path: Sequence[str]) -> None:
        """Show NUMBERS, and the steps of the PATH before them."""
        self._numbers, self._path = numbers, tuple(path)
        self._draw()

    def on_resize(self) -> None:
        """Fit the line to the width."""
        self._draw()

    def _draw(self) -> None:
        from embedlab.tui.pair_table.numbers import other_screen_line, selection_line

        if self._numbers is None:
            return
        draw = selection_line if self._is_of_screen else other_screen_line
        width = self.screen.size.width - self.styles.gutter.width
        content = draw(self._numbers, width, path=self._path)
        self.display = content != Content("")
        self.update(content)
