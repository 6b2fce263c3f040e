"""Which runs the Runs screen shows, in which order, and which of them a key means."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.core.errors import EmbedlabError
from embedlab.runs.curves import Curve
from embedlab.runs.store import RunFolder
from embedlab.tui.runs.board import Board, BoardRun, board_order, run_note
from embedlab.tui.runs.entries import RunEntry, entries, rows
from embedlab.tui.widgets.frame_lines import FrameColumn

Log = tuple[str, Sequence[str]]  # a run, and the last lines of its log


class RunsModel:
    """The board of runs as a search, the folding of seeds, marks and an order leave it."""

    def __init__(self) -> None:
        self.board = Board()
        self.entries: list[RunEntry] = []  # the rows of the table
        self.searched = ""
        self.is_folding = True
        self.unfolded: set[str] = (
            set()
        )  # names whose seeds have a row each although the others are folded
        self.marked: set[str] = set()
        self.order: tuple[str, bool] | None = None  # a column, and whether its largest come first
        self.wanted: str | None = None  # the run that the cursor goes to once it is there
        self.taken_away: set[str] = set()  # deleted or renamed from here

    # what is shown

    def take(self, board: Board) -> None:
        """Show BOARD from now on."""
        self.board = board
        if self.wanted is not None and self.wanted in board.by_id():
            self.unfolded.add(self.wanted.partition("@")[0])
        self.entries = entries(board, self.searched, self.unfolded, is_folding=self.is_folding)

    def frame(self) -> pl.DataFrame:
        """The values of each row, then the folders that cannot be read."""
        return self.board.frame(rows(self.entries, self.board.time_s, self.board.odd))

    def sorted_rows(self, frame: pl.DataFrame, columns: Sequence[FrameColumn]) -> NDArray[np.intp]:
        """The rows of FRAME in their order, which ends where none of COLUMNS has it any more."""
        if self.order is not None and not any(self.order[0] in column.keys for column in columns):
            self.order = None
        if self.order is None:
            return np.arange(frame.height)
        return board_order(frame, self.order[0], is_descending=self.order[1])

    @property
    def marked_rows(self) -> frozenset[int]:
        """The rows of which every run is marked."""
        return frozenset(
            row
            for row, entry in enumerate(self.entries)
            if self.marked >= {run.run.id for run in entry.runs}
        )

    def row_to_go_to(self, frame: pl.DataFrame, before: RunEntry | None) -> int | None:
        """The row of the wanted run, or else of the entry BEFORE, which may have been folded or
        unfolded since.
        """
        ids = frame["run"].to_list()
        names = [
            self.wanted,
            *(
                [before.name, before.runs[0].run.id, before.runs[0].run.name]
                if before is not None
                else []
            ),
        ]
        if self.wanted in ids:
            self.wanted = None
        return next((ids.index(name) for name in names if name in ids), None)

    @property
    def searched_count(self) -> str:
        """How many runs a search leaves."""
        return (
            f"{sum(len(entry.runs) for entry in self.entries)} of {len(self.board.runs)} runs"
            if self.searched
            else ""
        )

    # what changes it

    def fold(self) -> None:
        """Fold the seeds of each run into one row, or show each."""
        self.is_folding = bool(self.unfolded) or not self.is_folding
        self.unfolded.clear()

    def toggle_mark(self, row: int) -> bool:
        """Mark the runs of ROW, or remove their marks; a folder that cannot be read is not
        marked.
        """
        if row >= len(self.entries):
            return False
        runs = {run.run.id for run in self.entries[row].runs}
        self.marked = self.marked - runs if runs <= self.marked else self.marked | runs
        return True

    def sort_by(self, key: str | None) -> None:
        """Sort by the column KEY, then in reverse, then not at all; without a key reverse the
        order.
        """
        before = self.order
        if key is None:
            self.order = (before[0], not before[1]) if before else None
        else:
            self.order = (
                (key, False)
                if before is None or before[0] != key
                else None
                if before[1]
                else (key, True)
            )

    def take_away(self, runs: set[str]) -> None:
        """Expect these RUNS to disappear."""
        self.taken_away |= runs

    # the runs that a key means

    def entry(self, row: int | None) -> RunEntry | None:
        """The entry in ROW."""
        return self.entries[row] if row is not None and row < len(self.entries) else None

    def run_of(self, entry: RunEntry | None) -> BoardRun | None:
        """The run of ENTRY as it is now; of folded seeds the first, or the first that has a
        message.
        """
        known = self.board.by_id()
        runs = (
            [known[run.run.id] for run in entry.runs if run.run.id in known]
            if entry is not None
            else []
        )
        return next((run for run in runs if self.note_of(run)), runs[0] if runs else None)

    def chosen(self, entry: RunEntry | None) -> list[BoardRun]:
        """The marked runs, or those of ENTRY."""
        marked = [run for name, run in self.board.by_id().items() if name in self.marked]
        return marked or (list(entry.runs) if entry is not None else [])

    def note_of(self, run: BoardRun) -> str:
        """What the user should know of RUN."""
        return run_note(run, self.board.odd.get(run.run.id, ""))

    def model_name(self, entry: RunEntry) -> str:
        """The model that ENTRY trained: all seeds of a run, or one of several."""
        run = entry.runs[0].run
        return (
            run.name
            if entry.is_folded or sum(other.run.name == run.name for other in self.board.runs) == 1
            else run.id
        )

    def lost(self, entry: RunEntry | None, board: Board) -> list[EmbedlabError]:
        """Errors about chosen runs that BOARD lacks though they were not deleted or renamed from
        here.
        """
        lost = {run.run.id for run in self.chosen(entry)} - set(board.by_id()) - self.taken_away
        hint = "its folder was deleted or renamed outside the dashboard"
        return (
            [EmbedlabError(f"run {run!r} is no longer there", hint=hint) for run in sorted(lost)]
            if board.trouble is None
            else []
        )


def rest_of(board: Board, curves: dict[str, Curve], log: Log) -> object:
    """A value that two looks at the runs folder share which show the same; None while a run is at
    work, as texts change with time.
    """
    if not board.has_ended:
        return None
    lengths = {name: (curve.offset, len(curve.steps)) for name, curve in curves.items()}
    day = datetime.fromtimestamp(board.time_s).astimezone().date()
    return board.runs, board.unreadable, str(board.trouble), lengths, tuple(log[1]), log[0], day


def to_compare(chosen: Sequence[BoardRun], under_cursor: BoardRun | None) -> list[RunFolder]:
    """The runs whose recipes are compared: those chosen, and with one alone the run under the
    cursor too.
    """
    runs = [run.run for run in chosen]
    return (
        [*runs, under_cursor.run]
        if len(runs) == 1 and under_cursor is not None and under_cursor.run not in runs
        else runs
    )
