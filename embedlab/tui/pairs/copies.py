"""Copies of the pair view: to the clipboard, and to a file."""

from pathlib import Path
from time import monotonic

import polars as pl
from textual import work

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.tui.base_screen import DashboardScreen
from embedlab.tui.dialogs import DIALOG, Confirm, TextDialog
from embedlab.tui.key_table import shown_key
from embedlab.tui.pair_table.view import PairView
from embedlab.tui.pairs.export import check_path, to_tsv, write_view
from embedlab.tui.widgets.frame_lines import FrameColumn
from embedlab.tui.widgets.frame_table import FrameTable

COPIED_ROWS = 10_000  # more is too slow for the clipboard of a terminal


class PairCopies(DashboardScreen):
    """The keys of a screen with a pair table that copy what it shows."""

    view: PairView | None = None

    def exported_columns(self) -> list[FrameColumn]:
        """The columns that are copied and written, also those that are folded away."""
        raise NotImplementedError

    def _shown_frame(self, limit: int | None = None) -> pl.DataFrame:
        """The view as a frame with its columns, rows and order."""
        table = self.query_one(FrameTable)
        frame = table.frame.select(key for column in self.exported_columns() for key in column.keys)
        return frame[table.rows[:limit]]

    def action_copy_pair(self) -> None:
        """Copy both sentences and all numbers of a pair."""
        row = self.query_one(FrameTable).current_row
        if row is None or self.view is None:
            return
        facts = self.view.data.table.row(row, named=True)
        shown = {key: value for key, value in facts.items() if key != "pair_key" and value is not None}
        self.app.copy_to_clipboard("\n".join(f"{key}\t{value}" for key, value in shown.items()))
        self.notify("copied the pair")

    def action_copy_view(self) -> None:
        """Copy the table as shown."""
        rows = len(self.query_one(FrameTable).rows)
        self.app.copy_to_clipboard(to_tsv(self._shown_frame(COPIED_ROWS)))
        rest = f"; press {shown_key('export')} to write all {rows:,} to a file" if rows > COPIED_ROWS else ""
        self.notify(f"copied {min(rows, COPIED_ROWS):,} pairs{rest}")

    @work(group=DIALOG)
    async def action_export(self) -> None:
        """Write the view to a file; its suffix names the format."""
        text = await self.app.push_screen_wait(
            TextDialog("File for the view", value="pairs.csv", hint=".csv .tsv .parquet .md .svg", check=check_path)
        )
        if text is None:
            return
        path = check_path(text)
        if path.exists() and not await self.app.push_screen_wait(Confirm(f"{path} exists. Replace it?")):
            return
        if path.suffix.lower() == ".svg":
            self._write_picture(path)
        else:
            self._write(self._shown_frame(), path)

    def _write_picture(self, path: Path) -> None:
        try:
            self.app.save_screenshot(filename=path.name, path=str(path.parent))
        except OSError as error:
            self.dashboard.report(UsageError(f"cannot write {str(path)!r}: {error.strerror}", hint="choose another folder"))
        else:
            self.notify(f"wrote {path}", markup=False)

    @work(thread=True, group="export", exit_on_error=False)
    def _write(self, frame: pl.DataFrame, path: Path) -> None:
        started = monotonic()
        try:
            write_view(frame, path)
        except EmbedlabError as error:
            self.app.call_from_thread(self.dashboard.report, error)
        else:
            took = f" in {monotonic() - started:z.1f} s" if monotonic() - started > 1 else ""
            self.notify(f"wrote {frame.height:,} pairs to {path}{took}", markup=False)
