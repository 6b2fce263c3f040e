"""The pane below the form that follows one started grid: its counts, its running cells and the map
of its cells.
"""

from textual import work
from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.message import Message

from embedlab.core.errors import EmbedlabError
from embedlab.core.settings import Settings
from embedlab.tui.launch.grid_board import GridBoard, GridLook
from embedlab.tui.launch.heat_map import HeatMap
from embedlab.tui.widgets.plain import plain
from embedlab.tui.widgets.text import SteadyText

LOOK_EVERY_S = 1.0


class GridPane(VerticalScroll, can_focus=False):
    """A grid at this moment; hidden until one is there."""

    class Lost(Message):
        """The grid cannot be read."""

        def __init__(self, error: EmbedlabError) -> None:
            super().__init__()
            self.error = error

    class Shown(Message):
        """A grid is shown for the first time."""

        def __init__(self, grid: str) -> None:
            super().__init__()
            self.grid = grid

    def __init__(self, settings: Settings, *, id: str, classes: str) -> None:
        super().__init__(id=id, classes=classes)
        self._settings = settings
        self.board: GridBoard | None = None
        self._is_looking = False
        self._shown: str | None = None
        self.can_stop = False
        self.can_resume = False
        self.compared: tuple[str, ...] = ()  # runs of a finished grid

    def compose(self) -> ComposeResult:
        """Yield the board and the map of the grid."""
        yield SteadyText("", id="grid-lines", markup=False)
        yield HeatMap(id="grid-heat")

    def on_mount(self) -> None:
        """Follow the grid while its screen is shown."""
        self.display = False
        self.set_interval(LOOK_EVERY_S, self.look)

    @property
    def grid(self) -> str | None:
        """The name of the grid that is followed."""
        return self.board.name if self.board is not None else None

    def follow(self, grid: str) -> None:
        """Show the GRID of this name from now on."""
        if grid != self.grid:
            self.board = GridBoard(self._settings, grid)
            self.query_one(HeatMap).cursor = (0, 0)
        self.look()

    def look(self) -> None:
        """Read the grid in a thread, one look at a time."""
        if self.board is not None and self.screen.is_current and not self._is_looking:
            self._is_looking = True
            self._look(self.board)

    @work(thread=True, group="look", exit_on_error=False)
    def _look(self, board: GridBoard) -> None:
        try:
            look = board.look()
        except (EmbedlabError, OSError) as error:
            self.app.call_from_thread(
                self._lose, error if isinstance(error, EmbedlabError) else EmbedlabError(str(error))
            )
        else:
            self.app.call_from_thread(self._show, board, look)

    def _lose(self, error: EmbedlabError) -> None:
        self._is_looking = False
        self.post_message(self.Lost(error))

    def _show(self, board: GridBoard, look: GridLook | None) -> None:
        self._is_looking = False
        if board is not self.board:  # another was chosen meanwhile
            self.look()
        elif look is not None:
            self.display = True
            self.query_one("#grid-lines", SteadyText).update(
                "\n".join(plain(line) for line in look.lines)
            )
            self.query_one(HeatMap).show(look.heat)
            self.compared = look.compared
            if (self.can_stop, self.can_resume) != (look.is_running, look.is_left):
                self.can_stop, self.can_resume = look.is_running, look.is_left
                self.screen.refresh_bindings()  # the footer lists the keys that do something now
            if self._shown != board.name:
                self._shown = board.name
                self.post_message(self.Shown(board.name))

    @property
    def runs(self) -> tuple[str, ...]:
        """The runs of the cell under the cursor of the map."""
        heat = self.query_one(HeatMap)
        return (
            heat.heat.runs.get(heat.place, ())
            if heat.heat is not None and heat.place is not None
            else ()
        )
