"""The Why screen: where two models differ on what is selected, and what the items have in common on
which one alone is right.
"""

from functools import partial
from typing import ClassVar

import numpy as np
import polars as pl
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container, Vertical
from textual.widgets import Static
from textual.worker import Worker, get_current_worker

from embedlab.analysis.pairing import Pairing
from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.core.progress import ProgressCallback
from embedlab.tui.base_screen import DashboardScreen
from embedlab.tui.command import KeyScope
from embedlab.tui.commands import bindings
from embedlab.tui.compare.model import identity_of
from embedlab.tui.key_table import shown_key
from embedlab.tui.pair_table.data import PairData
from embedlab.tui.pair_table.view import PairView
from embedlab.tui.pairs.selection import open_slice
from embedlab.tui.terminal.process_memory import give_memory_back
from embedlab.tui.why.model import PANES, Reasons, WhyModel, WhyPane, find_reasons, two_models
from embedlab.tui.widgets.frame_lines import FrameColumn
from embedlab.tui.widgets.frame_table import FrameTable

TITLES = {
    "where": "where they differ more than elsewhere",
    "common": "in common, where one alone is right",
    "typical": "typical items",
    "seeds": "steadiness over seeds",
}
ALL_FROM = 180, 40  # cells and lines of a terminal that shows all panes at once
_NARROWEST, _WIDEST = 20, 44  # cells of a column


class _Stale(Exception):  # noqa: N818 - not an error: another selection replaced it
    """The running explanation is no longer needed."""


class ReasonTable(FrameTable, inherit_bindings=False):
    """The lines of one pane."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("table", without={"mark", "sort", "reverse"})


class WhyScreen(DashboardScreen):
    """Say why two models differ on what is selected; each line selects what it is about."""

    SCOPE: ClassVar[KeyScope] = "why"
    BINDINGS: ClassVar[list[BindingType]] = bindings("why")
    IS_OF_SELECTION = True

    def __init__(self) -> None:
        super().__init__()
        self.model = WhyModel()

    def compose_body(self) -> ComposeResult:
        """Yield the status, and a table with its title and notes for each pane."""
        yield Static("", id="why-status", classes="status", markup=False)
        with Container(id="why-panes"):
            for name in PANES:
                with Vertical(id=f"why-{name}", classes="why-pane"):
                    yield Static(TITLES[name], classes="why-title", markup=False)
                    yield ReasonTable(id=f"reasons-{name}")
                    yield Static("", classes="why-note", markup=False)
        yield Static("", id="no-reasons", classes="empty", markup=False)

    def on_mount(self) -> None:
        """Follow the selection from now on."""
        self.query_one("#no-reasons").display = False
        self.dashboard.selected.changed.subscribe(self, self._selection_changed)
        self._show_panes()

    # what is explained

    @property
    def models(self) -> tuple[str, str] | None:
        """The two models: those face to face, or the reference and the first other one."""
        data = self.dashboard.data
        if data is None:
            return None
        names = [model.name for model in data.models]
        return two_models(names, self.dashboard.reference(names))

    def show_data(self, data: PairData) -> None:
        """Explain new data."""
        self._request()

    def _selection_changed(self, _: object) -> None:
        self._request()

    def on_screen_resume(self) -> None:
        """Explain what was selected on another screen, from the first pane unless a line of another
        one was opened.
        """
        selected = self.dashboard.selected
        if selected.begins_why:
            selected.begins_why, self.model.active = False, PANES[0]
            self._show_panes()
        self._request()

    def _request(self) -> None:
        view, models = self.dashboard.selected.view, self.models
        if not self.is_current or view is None:
            return
        if self._show_emptiness(view.data):
            self.model.begin(None)
            self._say("")
            return
        if models is None:
            self.model.begin(None)  # what is shown is about other rows
            self._show()
            self._refuse(
                UsageError(
                    "two models are needed",
                    hint=f"press {shown_key('models')} on Pairs to choose another",
                )
            )
            return
        request = (self.dashboard.data, identity_of(view), models)
        if not self.model.begin(request):
            return
        self._show()
        self._say(
            f"explaining why {models[1]} differs from {models[0]} on {view.title or 'all of them'}"
        )
        work = partial(self._find, request, view, models)
        self.run_worker(work, thread=True, exclusive=True, group="why", exit_on_error=False)

    def _show_emptiness(self, data: PairData) -> bool:
        """Show why there are no rows, and return whether there are none."""
        empty = self.query_one("#no-reasons", Static)
        empty.display = bool(data.why_empty)
        empty.update(data.why_empty)
        self.query_one("#why-panes").display = not data.why_empty
        self.settle_focus(self.query_one(f"#reasons-{self.model.active}"))
        return bool(data.why_empty)

    def _find(self, request: tuple[object, ...], view: PairView, models: tuple[str, str]) -> None:
        worker: Worker[None] = get_current_worker()

        def progress(label: str) -> ProgressCallback:
            def tick(done: int, total: int) -> None:
                if worker.is_cancelled:
                    raise _Stale
                self.app.call_from_thread(self._say, f"{label}: {done} of {total}")

            return tick

        try:
            reasons = find_reasons(view, *models, self.dashboard.settings, progress)
            self.app.call_from_thread(self._take, request, reasons)
        except _Stale:
            return
        except EmbedlabError as error:
            self.app.call_from_thread(self._refuse, error)
        finally:
            give_memory_back()

    def _take(self, request: tuple[object, ...], reasons: Reasons) -> None:
        if self.model.take(request, reasons):
            self._say(
                f"A {reasons.first} · B {reasons.second} · {reasons.items:,} items · enter "
                f"shows the items behind a line"
            )
            self._show()

    def _refuse(self, error: EmbedlabError) -> None:
        self._say(f"{error.reason} · {error.hint}" if error.hint else error.reason)

    def _say(self, text: str) -> None:
        self.query_one("#why-status", Static).update(text)

    # its panes

    def _show(self) -> None:
        for name in PANES:
            pane = self.model.pane(name)
            table = self.query_one(f"#reasons-{name}", ReasonTable)
            frame = pl.DataFrame(
                {
                    f"c{index}": [row.cells[index] for row in pane.rows]
                    for index in range(len(pane.titles))
                }
            )
            frame = frame.cast(pl.String) if frame.height else frame
            table.show(frame, np.arange(frame.height), _columns(pane), stay_on=table.current_row)
            self.query_one(f"#why-{name} .why-note", Static).update("\n".join(pane.notes))

    def _show_panes(self) -> None:
        is_all = self.size.width >= ALL_FROM[0] and self.size.height >= ALL_FROM[1]
        panes = self.query_one("#why-panes")
        panes.styles.grid_size_columns = 2 if is_all else 1
        for index, name in enumerate(PANES, start=1):
            pane = self.query_one(f"#why-{name}")
            pane.set_class(is_all or name == self.model.active, "-shown")
            pane.set_class(name == self.model.active, "-active")
            where = (
                "" if is_all else f"   {index} of {len(PANES)}: {shown_key('view')} shows the next"
            )
            pane.query_one(".why-title", Static).update(f"{TITLES[name]}{where}")
        self.set_focus(self.query_one(f"#reasons-{self.model.active}"))

    def on_resize(self) -> None:
        """Show one pane or all."""
        self._show_panes()

    def on_frame_table_row_opened(self, event: FrameTable.RowOpened) -> None:
        """Show the pairs or items behind a line, with both models face to face."""
        reasons, data = self.model.reasons, self.dashboard.data
        name = next(
            (name for name in PANES if self.focused is self.query_one(f"#reasons-{name}")),
            self.model.active,
        )
        row = self.query_one(f"#reasons-{name}", ReasonTable).current_row
        if reasons is None or data is None or row is None:
            return
        line = reasons.panes[name].rows[row]
        opened = line.opened()
        if opened is None:
            self.notify(f"{line.cells[0].strip()}: no items are behind this line", markup=False)
            return
        pairing = (
            Pairing(reference=reasons.first, other=reasons.second) if data.pairing is None else None
        )
        open_slice(self.dashboard, opened, title=f"Why: {opened.title.strip()}", pairing=pairing)

    # keys

    def action_pane(self, by: int) -> None:
        """Go to the next pane."""
        self.model.next_pane(by)
        self._show_panes()

    def action_back(self) -> None:
        """Restore the size of a pane, or go where Why was opened."""
        if self.maximized is not None:
            self.minimize()
        else:
            self.dashboard.action_mode(self.dashboard.selected.why_from)


def _columns(pane: WhyPane) -> list[FrameColumn]:
    """Columns as wide as their texts, of which the first gives way; sentences share what is
    left.
    """
    columns = []
    for index, title in enumerate(pane.titles):
        longest = max((len(row.cells[index]) for row in pane.rows), default=0)
        is_text = title.startswith("sentence")
        width = (
            len(title)
            if is_text
            else max(len(title), min(longest, _NARROWEST if index == 0 else _WIDEST))
        )
        needs = 0 if is_text else min(longest, _WIDEST)
        columns.append(
            FrameColumn(
                key=f"c{index}",
                title=title,
                width=width,
                needs=needs,
                grows=is_text,
                align_right=index > 0 and not is_text,
            )
        )
    return columns
