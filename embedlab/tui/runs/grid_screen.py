"""The board of a grid, full screen: its places with progress, scores over seeds, and the winner."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import ClassVar

from rich.table import Table
from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from embedlab.commands.grid_plan import cancel_grid
from embedlab.core.printable import count_text, sparkline
from embedlab.core.settings import Settings
from embedlab.experiments.pivot import Pivot
from embedlab.runs.events import Curve
from embedlab.tui.header import Keys, crumbs_of
from embedlab.tui.plain import faint, following
from embedlab.tui.room import ROOM_KEYS, Guarded, Lines, Working
from embedlab.tui.runs.curves import Curves
from embedlab.tui.runs.grid_model import (
    Board,
    BoardRow,
    build_board,
    read_scores,
    score_key,
    spread_text,
    time_left,
)
from embedlab.tui.runs.launching import resume_grid
from embedlab.tui.runs.model import SIGNS, Entry, RunFollower
from embedlab.tui.runs.run_list import AT_WORK, STATE_STYLES, bar

LOOK_EVERY_S = 1.0
_NUMBER, _BAR, _SPARK = 17, 18, 12  # cells of columns
_LOW = 36  # lines, below which curves have no room
Column = tuple[str, int, Callable[[BoardRow], Content]]  # title, cells, what stands in a row


class GridScreen(Guarded, Working, Screen[None]):
    """Follows one grid."""

    DEFAULT_CSS = """
    GridScreen #board-head { height: auto; padding: 0 1; }
    GridScreen #board-side { height: auto; max-height: 65%; }
    GridScreen #board-titles { height: 1; text-wrap: nowrap; }
    GridScreen #places { height: auto; text-wrap: nowrap; }
    GridScreen #cells { height: auto; max-height: 30%; }
    GridScreen #board-curves { height: 1fr; }
    GridScreen.-low #board-curves { display: none; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Back"),
        Binding("m", "compare", "Compare", tooltip="compare the best settings"),
        Binding("s", "sort", "Sort", tooltip="by dev, by the last, as planned"),
        Binding("x", "stop", "Stop", tooltip="stop after a checkpoint"),
        Binding("o", "resume", "Resume", tooltip="run the cells left to do"),
        Binding("question_mark", "app.help", "Help", show=False),
        *ROOM_KEYS,
    ]

    def __init__(self, settings: Settings, name: str, follower: RunFollower) -> None:
        super().__init__()
        self._settings, self._grid, self._follower = settings, name, follower
        self._scores: tuple[object, Pivot | None] = (None, None)
        self._board: Board | None = None
        self._rows: Sequence[BoardRow] = ()
        self._sort = ""
        self._left = ""
        self._looks = 0
        self._curves: dict[str, Curve] = {}

    def compose(self) -> ComposeResult:
        """Yield the head, the settings, and the cells of one setting with their curves."""
        yield Static("reading …", id="board-head", markup=False)
        with Vertical(id="board-side", classes="panel"):
            yield Static(id="board-titles", markup=False)
            yield Lines(id="places")
        yield Static(id="cells", classes="panel", markup=False)
        yield Curves(id="board-curves")
        yield Keys()

    def on_mount(self) -> None:
        """Follow the grid."""
        self.look()
        self.set_interval(LOOK_EVERY_S, self.look)

    @work(thread=True, exclusive=True, group="grid-look", exit_on_error=False)
    def look(self) -> None:
        """Read what changed; the scores only where a cell has a new one."""
        runs = self._follower.look()
        if runs.error:  # the room says so; the grid may be there
            return
        entry = next(
            (shown for shown in runs.entries() if shown.plan and shown.name == self._grid), None
        )
        if entry is None or entry.plan is None:
            self.hand_over(self._leave)
            return
        key = score_key(entry)
        if self._looks % 5 == 0 and entry.is_active:
            self._left = time_left(entry.plan)
        for training in entry.trainings:
            curve = self._curves.setdefault(training.run.id, Curve())
            curve.read_on(training.run.events_file)
        self._looks += 1
        if key != self._scores[0]:
            self.hand_over(self._take, entry)  # the cells do not wait for the scores
            self._scores = key, read_scores(entry.plan, self._settings)
        self.hand_over(self._take, entry)

    def _leave(self) -> None:
        """Go back to the runs: the grid was deleted."""
        if self.is_current:
            self.dashboard.notify(f"{self._grid} is not there any more", markup=False)
            self.dismiss()

    def _take(self, entry: Entry) -> None:
        new_board = build_board(entry, self._scores[1], self._left if entry.is_active else "")
        if new_board == self._board:
            return
        self._board = new_board
        self._draw()
        self.refresh_bindings()

    def on_resize(self) -> None:
        """Draw for the room there is."""
        self.set_class(self.size.height < _LOW, "-low")
        self.call_after_refresh(self._draw)

    # drawing

    def _draw(self) -> None:
        shown_board = self._board
        if shown_board is None:
            return
        entry, plan = shown_board.entry, shown_board.plan
        counts = "  ".join(f"{SIGNS[state]} {n} {state}" for state, n in entry.states.items())
        head = [
            Content.assemble(crumbs_of("runs", [plan.name]), (f"   {plan.summary}", "$faint")),
            Content.assemble(
                bar(entry.share, 36),
                f"  {shown_board.done} of {len(plan)} cells done   ",
                (counts, "$faint"),
                f"   {shown_board.left}",
            ),
        ]
        if shown_board.verdict:
            head.append(Content.styled(shown_board.verdict, "bold"))
        failed = [
            f"✗ seed {seed} of {', '.join(row.labels.values())}: {training.note}"
            for row in shown_board.rows
            for seed, training in row.seeds.items()
            if training is not None and training.status.state in {"failed", "crashed"}
        ]
        head += [Content.styled(line, "$text-error") for line in failed[:3]]
        self.say("#board-head", Content("\n").join(head))
        self._rows = sorted(
            shown_board.rows,
            key=lambda row: -row.numbers[self._sort].mean if self._sort in row.numbers else 1e9,
        )
        place_list = self.query_one("#places", Lines)
        width = max(place_list.scrollable_content_region.width, 40)
        columns = self._columns(shown_board, width)
        titles = "".join(
            f"{title[: column_width - 1]:<{column_width}}" for title, column_width, _ in columns
        )
        self.say("#board-titles", Content.styled(titles, "bold $faint"))
        place_list.fill(
            [
                Content.assemble(
                    *(
                        cell(row).truncate(column_width, pad=True)
                        for _, column_width, cell in columns
                    )
                )
                for row in self._rows
            ]
        )
        panel = self.query_one("#board-side")
        panel.border_title = Content(f"settings · by {self._sort}" if self._sort else "settings")
        hidden_count = len(set(shown_board.columns) - {title for title, _, _ in columns})
        hidden_note = f"  ‹ {count_text(hidden_count, 'more columns')}" if hidden_count else ""
        panel.border_subtitle = f"* the best  = not distinguished  ✗ learnt nothing{hidden_note}"
        self._show_place()

    def _columns(self, shown_board: Board, width: int) -> list[Column]:
        """The columns that WIDTH cells hold: of the scores dev and the averages, which are last."""
        columns: list[Column] = []
        for axis in shown_board.plan.axes:
            title = axis.rpartition(".")[2]
            labels = {row.run: row.labels.get(axis, "–") for row in shown_board.rows}
            column_width = max(map(len, (title, *labels.values()))) + 2
            columns.append((title, column_width, partial(_label, labels)))
        columns.append(("seeds", max(7, *(len(row.seeds) + 2 for row in shown_board.rows)), _seeds))
        room = width - sum(column_width for _, column_width, _ in columns)
        if shown_board.entry.share < 1 and room >= _BAR + _NUMBER:
            columns.append(("progress", _BAR, _progress))
            room -= _BAR
        if room >= _SPARK + 2 * _NUMBER:
            columns.append(("loss", _SPARK, _losses))
            room -= _SPARK
        scores = list(shown_board.columns)
        if len(scores) > (count := max(1, room // _NUMBER)):
            scores = [scores[0], *scores[len(scores) - count + 1 :]][:count]
        return [*columns, *((score, _NUMBER, partial(_number, score)) for score in scores)]

    @property
    def place(self) -> BoardRow | None:
        """The place under the cursor."""
        return self.query_one("#places", Lines).under_cursor(self._rows)

    def _show_place(self) -> None:
        """Show the cells of the place under the cursor, as they are now."""
        row = self.place
        if row is None:
            return
        table = Table.grid(padding=(0, 3, 0, 0))
        for seed, training in row.seeds.items():
            if training is None:
                table.add_row(SIGNS["waiting"], f"seed {seed}", "waits")
                continue
            status, score = training.status, training.score
            step = status.step
            state = status.shown_state
            if step is not None and step.step < step.steps:
                state += f"   step {step.step} of {step.steps}"
            table.add_row(
                SIGNS[status.shown_state],
                f"seed {seed}",
                state,
                f"loss {step.loss:.4g}" if step else "",
                f"dev {status.dev.score:z.2f}" if status.dev else "",
                f"{score.slice} {score.scale * score.value:z.2f}" if score else training.note,
            )
        seeds = [training.run.id for training in row.seeds.values() if training is not None]
        curves = [("", self._curves[seed]) for seed in seeds if seed in self._curves]
        self.query_one(Curves).show(curves)
        pane = self.query_one("#cells", Static)
        pane.border_title = Content(row.run)
        pane.update(table)

    on_option_list_option_highlighted = _show_place

    # keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer what the grid allows."""
        shown_board = self._board
        if action == "stop":
            return shown_board is not None and shown_board.entry.is_active
        if action == "resume":
            return (
                shown_board is not None
                and not shown_board.entry.is_active
                and shown_board.done < len(shown_board.plan)
            )
        return True

    def on_option_list_option_selected(self) -> None:
        """Go to the runs of the place."""
        row = self.place
        if row is not None:
            self.dismiss()
            self.dashboard.go_to_run(row.run, self._grid)

    def action_room(self, name: str) -> None:
        """Leave the grid for the room called NAME."""
        self.dismiss()
        self.dashboard.action_room(name)

    def action_sort(self) -> None:
        """Sort by the dev score, then by the last column, then as in the file."""
        if self._board is not None and self._board.columns:
            orders = dict.fromkeys(["", self._board.columns[0], self._board.columns[-1]])
            self._sort = following([*orders], self._sort)
            self._draw()

    def action_compare(self) -> None:
        """Compare the best places, the first of them is the reference."""
        if self._board is None or not self._board.columns:
            return
        column = self._board.columns[0]
        scored_rows = [row for row in self._board.rows if column in row.numbers]
        best_rows = sorted(scored_rows, key=lambda row: -row.numbers[column].mean)[:5]
        if best_rows:
            self.dismiss()
            self.dashboard.compare_models([row.run for row in best_rows])

    @work(group="grid-act", exit_on_error=False)
    async def action_stop(self) -> None:
        """Stop the grid."""
        message = f"stopping {self._grid}: its cells save a checkpoint"
        await self.do(lambda: cancel_grid(self._grid, self._settings), message)

    @work(group="grid-act", exit_on_error=False)
    async def action_resume(self) -> None:
        """Run the cells that are not done."""
        await self.do(lambda: resume_grid(self._grid, self._settings), f"resumed {self._grid}")


def _label(labels: Mapping[str, str], row: BoardRow) -> Content:
    return Content.styled(labels[row.run], "bold")


def _seeds(row: BoardRow) -> Content:
    states = [
        training.status.shown_state if training else "waiting" for training in row.seeds.values()
    ]
    return Content.assemble(*((SIGNS[state], STATE_STYLES.get(state, AT_WORK)) for state in states))


def _progress(row: BoardRow) -> Content:
    return bar(row.share, _BAR - 2) if row.share < 1 else Content()


def _losses(row: BoardRow) -> Content:
    return faint(sparkline(row.losses, _SPARK - 2))


def _number(column: str, row: BoardRow) -> Content:
    spread = row.numbers.get(column)
    if spread is None:
        return faint("·")
    sign, style = "", "$faint"
    if spread.is_best or spread.is_tied:
        sign, style = ("*", "bold") if spread.is_best else ("=", "")
    elif spread.is_flawed:
        sign, style = "✗", "$text-warning"
    return Content.styled(f"{spread_text(spread)} {sign}", style)
