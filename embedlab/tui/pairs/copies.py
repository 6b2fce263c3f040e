"""Copies of the pair view: to the clipboard, and to a file."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import polars as pl

from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.tui.base_screen import DashboardScreen
from embedlab.tui.dialogs import Confirm, TextDialog
from embedlab.tui.key_table import shown_key
from embedlab.tui.pairs.export import check_path, to_tsv, write_view

COPIED_ROWS = 10_000  # more is too slow for the clipboard of a terminal


def copy_pair(screen: DashboardScreen, facts: Mapping[str, Any]) -> None:
    """Copy both sentences and all numbers of a pair."""
    shown = {key: value for key, value in facts.items() if key != "pair_key" and value is not None}
    screen.app.copy_to_clipboard("\n".join(f"{key}\t{value}" for key, value in shown.items()))
    screen.notify("copied the pair")


def copy_view(screen: DashboardScreen, shown: pl.DataFrame) -> None:
    """Copy the table as SHOWN."""
    screen.app.copy_to_clipboard(to_tsv(shown.head(COPIED_ROWS)))
    rest = (
        f"; press {shown_key('export')} to write all {shown.height:,} to a file"
        if shown.height > COPIED_ROWS
        else ""
    )
    screen.notify(f"copied {min(shown.height, COPIED_ROWS):,} pairs{rest}")


async def export_view(screen: DashboardScreen, shown: pl.DataFrame) -> None:
    """Write the table as SHOWN to a file; its suffix names the format."""
    text = await screen.app.push_screen_wait(
        TextDialog(
            "File for the view",
            value="pairs.csv",
            hint=".csv .tsv .parquet .md .svg",
            check=check_path,
        )
    )
    if text is None:
        return
    path = check_path(text)
    if path.exists() and not await screen.app.push_screen_wait(
        Confirm(f"{path} exists. Replace it?")
    ):
        return
    if path.suffix.lower() == ".svg":
        _write_picture(screen, path)
    else:
        screen.run_worker(
            partial(_write, screen, shown, path), thread=True, group="export", exit_on_error=False
        )


def _write_picture(screen: DashboardScreen, path: Path) -> None:
    try:
        screen.app.save_screenshot(filename=path.name, path=str(path.parent))
    except OSError as error:
        screen.dashboard.report(
            UsageError(
                f"cannot write {str(path)!r}: {error.strerror}", hint="choose another folder"
            )
        )
    else:
        screen.notify(f"wrote {path}", markup=False)


def _write(screen: DashboardScreen, frame: pl.DataFrame, path: Path) -> None:
    started = monotonic()
    try:
        write_view(frame, path)
    except EmbedlabError as error:
        screen.app.call_from_thread(screen.dashboard.report, error)
    else:
        took = f" in {monotonic() - started:z.1f} s" if monotonic() - started > 1 else ""
        screen.notify(f"wrote {frame.height:,} pairs to {path}{took}", markup=False)
