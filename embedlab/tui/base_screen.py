"""The parts that all screens share: mode bar, activity line, footer, help, zoom and the step
back.
"""

from asyncio import to_thread
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual import work
from textual.app import ComposeResult
from textual.widget import Widget

from embedlab.analysis.pairing import Pairing
from embedlab.core.errors import EmbedlabError, UsageError
from embedlab.tui.command import KeyScope
from embedlab.tui.dialogs import DIALOG
from embedlab.tui.key_table import shown_key
from embedlab.tui.pair_table.view import PairSelection
from embedlab.tui.terminal.pacing import PacedScreen
from embedlab.tui.widgets.activity import ActivityLine
from embedlab.tui.widgets.frame_lines import FrameColumn
from embedlab.tui.widgets.key_line import KeyLine
from embedlab.tui.widgets.mode_bar import ModeBar
from embedlab.tui.widgets.selection_line import SelectionLine

if TYPE_CHECKING:
    from embedlab.tui.app import Dashboard
    from embedlab.tui.pair_table.data import PairData
    from embedlab.tui.pair_table.numbers import SelectionNumbers


class DashboardScreen(PacedScreen[None]):
    """A screen of the dashboard; subclasses define `compose_body`."""

    SCOPE: ClassVar[KeyScope] = "everywhere"
    ALLOW_IN_MAXIMIZED_VIEW = "KeyLine"
    # whether its numbers are of the pairs that are selected
    IS_OF_SELECTION: ClassVar[bool] = False
    # a screen with an empty table would focus a text input, which swallows the keys
    AUTO_FOCUS = ""

    _height: Any = None  # of the maximised pane, as it was set

    @property
    def dashboard(self) -> "Dashboard":
        """The app with its own type."""
        return cast("Dashboard", self.app)

    def compose(self) -> ComposeResult:
        """Yield the lines that all screens have, and the body of this one between them."""
        yield ModeBar(self.SCOPE)
        yield SelectionLine(is_of_screen=self.IS_OF_SELECTION)
        yield from self.compose_body()
        yield ActivityLine()
        yield KeyLine()

    def compose_body(self) -> ComposeResult:
        """The widgets between the mode bar and the footer."""
        yield from ()

    def on_mount(self) -> None:
        """Subscribe to the data; show it if it is loaded already."""
        self.dashboard.data_ready.subscribe(self, self.show_data)
        self.dashboard.activity.subscribe(self, self.query_one(ActivityLine).update)
        self.dashboard.selected.counted.subscribe(self, self.show_numbers)
        if self.dashboard.data is not None:
            self.show_data(self.dashboard.data)
        if self.dashboard.selected.numbers is not None:
            self.show_numbers(self.dashboard.selected.numbers)

    def show_data(self, data: "PairData") -> None:
        """Show new pairs or models."""

    def show_numbers(self, numbers: "SelectionNumbers") -> None:
        """Show how many pairs are selected, and what the models score on them."""
        self.query_one(SelectionLine).show(numbers, self.dashboard.selected.steps)

    def settle_focus(self, table: Widget) -> None:
        """Remove the focus from a hidden widget; focus TABLE if it is shown and nothing else has
        the focus.
        """
        if self.focused is not None and not _is_shown(self.focused):
            self.set_focus(None)
        if self.focused is None and _is_shown(table):
            self.set_focus(table)

    @property
    def is_opening(self) -> bool:
        """Whether a key opens a dialog or a field that is not there yet: what is typed meanwhile is
        for that.
        """
        return self.is_working(DIALOG)

    def is_working(self, group: str) -> bool:
        """Whether a worker of GROUP that this screen started has not ended."""
        return any(
            worker.group == group and worker.node is self and not worker.is_finished
            for worker in self.workers
        )

    def is_sortable(self, key: str | None, columns: Sequence[FrameColumn]) -> bool:
        """Whether rows can be sorted by the column KEY; reports an order that no longer shows its
        column, which the caller ends.
        """
        if key is None or any(key in column.keys for column in columns):
            return True
        name = key.removeprefix("text:")
        self.notify(
            f"{name!r} is no longer shown: the rows are not sorted by it any more",
            severity="warning",
            markup=False,
        )
        return False

    def offers(self, meaning: str) -> bool:
        """Whether what a key means would do something now: the footer lists it then.
        `refresh_bindings` looks again.
        """
        return meaning != "face" or len(self.dashboard.chosen) > 1

    def action_help(self) -> None:
        """Show the keys of this screen."""
        from embedlab.tui.help_screen import HelpScreen

        data = self.dashboard.data
        self.app.push_screen(HelpScreen(self.SCOPE, data.marks if data is not None else ()))

    @property
    def model_under_cursor(self) -> str | None:
        """The model that a key refers to; None where there is no choice of one."""
        return None

    def action_face(self) -> None:
        """Show the reference and the model under the cursor face to face, or all models again."""
        data = self.dashboard.data
        if data is None or data.pairing is not None:
            self.dashboard.face(None)
            return
        names = [model.name for model in data.models]
        reference = self.dashboard.reference(names)
        others = [name for name in names if name != reference]
        if reference is None or not others:
            self.dashboard.report(
                UsageError(
                    "two models are needed", hint=f"press {shown_key('models')} to choose another"
                ),
                severity="warning",
            )
            return
        under = self.model_under_cursor
        self.dashboard.face(
            Pairing(reference=reference, other=under if under in others else others[0])
        )

    def action_swap(self) -> None:
        """Make the other of two models the reference."""
        data = self.dashboard.data
        if data is not None and data.pairing is not None:
            self.dashboard.set_reference(data.pairing.other)

    def action_reload(self) -> None:
        """Read everything from disk again."""
        self.dashboard.load()

    def action_zoom(self) -> None:
        """Maximise the focused pane, or restore it."""
        if self.maximized is not None:
            self.minimize()
        elif (pane := self.focused) is not None:
            inline = pane.styles.inline
            self._height = inline.height if inline.has_rule("height") else None
            pane.styles.height = "1fr"
            self.maximized = pane  # Textual's own way leaves out panes that scroll

    def minimize(self) -> None:
        """Give the maximised pane the height that it had."""
        if (pane := self.maximized) is not None:
            pane.styles.height = self._height
        super().minimize()

    def action_back(self) -> None:
        """Go one step back."""
        if self.maximized is not None:
            self.minimize()

    def action_select_all(self) -> None:
        """Select all pairs again, on every screen."""
        self.dashboard.selected.clear()

    def action_why(self) -> None:
        """Say why two models differ on what is selected."""
        if self.SCOPE != "why":
            self.dashboard.selected.why_from, self.dashboard.selected.begins_why = (
                self.dashboard.current_mode,
                True,
            )
            self.dashboard.action_mode("why")

    @work(group=DIALOG)
    async def action_tasks(self) -> None:
        """Choose the task whose items are shown."""
        from embedlab.tui.pair_table.items import item_models
        from embedlab.tui.task_chooser import ChooseTask

        known = await to_thread(item_models, self.dashboard.settings)
        dialog = ChooseTask(
            [(name, len(models)) for name, models in known.items()],
            self.dashboard.memory.state.task,
        )
        if (task := await self.app.push_screen_wait(dialog)) is not None:
            self.dashboard.choose_task(task)

    @work(group=DIALOG)
    async def action_selections(self, is_naming: bool = False) -> None:
        """Select by a name, or give what is selected one."""
        from embedlab.analysis.named_selections import store_selection
        from embedlab.tui.named_selections import NamedSelections, list_selections

        selected = self.dashboard.selected
        if (view := selected.view) is None:
            return
        try:
            known = await to_thread(list_selections, view)
        except EmbedlabError as error:
            self.dashboard.report(error)
            return
        before = view.expression
        dialog = NamedSelections(
            known, view.title, before or None, change=store_selection, is_naming=is_naming
        )
        name = await self.app.push_screen_wait(dialog)
        if name is None:
            selected.changed_view()  # a name may be gone
        else:
            selected.select(PairSelection(expression=f"@{name}"))


def _is_shown(widget: Widget) -> bool:
    return all(node.display for node in widget.ancestors_with_self if isinstance(node, Widget))
