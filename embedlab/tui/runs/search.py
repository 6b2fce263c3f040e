"""Which runs the table shows: those that a search leaves, their seeds folded or not."""

from embedlab.tui.base_screen import DashboardScreen
from embedlab.tui.runs.board import Board
from embedlab.tui.widgets.filter_bar import FilterBar
from embedlab.tui.widgets.frame_table import FrameTable


class RunSearch(DashboardScreen):
    """The search line and the folding of a screen with a table of runs."""

    def __init__(self) -> None:
        super().__init__()
        self.board = Board()
        self.searched = ""
        self.is_folding = True
        self.opened: set[str] = set()  # names whose seeds have a row each although the others are folded

    def show_table(self, board: Board) -> None:
        """Show the runs of BOARD."""
        raise NotImplementedError

    def on_filter_bar_refined(self, event: FilterBar.Refined) -> None:
        """Search after each key."""
        self.searched = event.query
        self.show_table(self.board)

    def on_filter_bar_left(self) -> None:
        """Go from the search to the table; an empty search disappears."""
        self.query_one(FilterBar).display = bool(self.searched)
        self.set_focus(self.query_one(FrameTable))

    def action_search(self) -> None:
        """Search the runs."""
        bar = self.query_one(FilterBar)
        bar.display = True
        self.set_focus(bar)

    def action_fold(self) -> None:
        """Fold the seeds of each run into one row, or show each."""
        self.is_folding = bool(self.opened) or not self.is_folding
        self.opened.clear()
        self.show_table(self.board)

    def end_search(self) -> None:
        """Show all runs again."""
        bar = self.query_one(FilterBar)
        bar.value = ""
        bar.display = False
        self.set_focus(self.query_one(FrameTable))
