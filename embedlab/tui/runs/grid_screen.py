"""The board of a grid, full screen: its places with progress, scores over seeds, and the winner."""

from collections.abc import Sequence
from typing import ClassVar, cast

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, OptionList, Static

from embedlab.commands.grid_plan import cancel_grid
from embedlab.core.settings import Settings
from embedlab.experiments.pivot import Pivot
from embedlab.tui.header import room_titles
from embedlab.tui.room import ROOM_KEYS, Guarded, Host, Lines, Working
from embedlab.tui.runs.grid_model import (
    Board,
    BoardRow,
    board,
    read_scores,
    score_key,
    time_left,
)
from embedlab.tui.runs.launching import resume_grid
from embedlab.tui.runs.model import SIGNS, Entry, RunFollower, sparkline
from embedlab.tui.runs.run_list import AT_WORK, STATE_STYLES, bar

LOOK_EVERY_S = 1.0
_NUMBER, _BAR, _SPARK = 17, 16, 10


class GridScreen(Guarded, Working, Screen[None]):
    """Follows one grid."""

    DEFAULT_CSS = """
    GridScreen #board-head { height: auto; padding: 0 2; }
    GridScreen #board-side { height: auto; max-height: 55%; }
    GridScreen #board-titles { height: 1; text-wrap: nowrap; }
    GridScreen #places { height: auto; text-wrap: nowrap; }
    GridScreen #matrix { height: auto; max-height: 30%; padding: 1 2; display: none; }
    GridScreen #cells { height: auto; max-height: 12; padding: 0 2; border-top: solid $rule; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Back"),
        Binding("enter", "open", "Runs", tooltip="Go to the runs of this place."),
        Binding("m", "compare", "Compare", tooltip="Compare the best places in the Compare room."),
        Binding("s", "sort", "Sort", tooltip="By dev score, by the last column, as in the file."),
        Binding("x", "stop", "Stop", tooltip="Stop the grid after its cells saved a checkpoint."),
        Binding("o", "resume", "Resume", tooltip="Run the cells that are not done."),
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

    @property
    def dashboard(self) -> Host:
        """The app."""
        return cast("Host", self.app)

    def compose(self) -> ComposeResult:
        """Yield the head, the places, the matrix of two axes, and the cells of one place."""
        yield Static("reading …", id="board-head", markup=False)
        with Vertical(id="board-side", classes="panel"):
            yield Static(id="board-titles", markup=False)
            yield Lines(id="places")
        yield Static(id="matrix", markup=False)
        yield Static(id="cells", markup=False)
        yield Footer(compact=True, show_command_palette=False)

    def on_mount(self) -> None:
        """Follow the grid."""
        self.look()
        self.set_interval(LOOK_EVERY_S, self.look)

    @work(thread=True, exclusive=True, group="grid-look", exit_on_error=False)
    def look(self) -> None:
        """Read what changed; the scores only where a cell has a new one."""
        entries = self._follower.look().entries()
        entry = next((one for one in entries if one.plan and one.plan.name == self._grid), None)
        if entry is None or entry.plan is None:
            return
        key = score_key(entry)
        if self._looks % 5 == 0 and entry.is_active:
            self._left = time_left(entry.plan, self._settings)
        self._looks += 1
        if key != self._scores[0]:
            self.hand_over(self._take, entry)  # the cells do not wait for the scores
            self._scores = key, read_scores(entry.plan, self._settings)
        self.hand_over(self._take, entry)

    def _take(self, entry: Entry) -> None:
        new = board(entry, self._scores[1], self._left if entry.is_active else "")
        if new == self._board:
            return
        self._board = new
        self._draw()
        self.refresh_bindings()

    def on_resize(self) -> None:
        """Draw for the room there is."""
        self.call_after_refresh(self._draw)

    # drawing

    def _draw(self) -> None:
        found = self._board
        if found is None:
            return
        counts = "  ".join(f"{SIGNS[state]} {n} {state}" for state, n in found.counts.items())
        head = [
            Content.assemble(
                room_titles("Runs"), (f" › {found.name}", "bold"), (f"   {found.summary}", "$faint")
            ),
            Content.assemble(
                bar(found.share, 36),
                f"  {found.done} of {found.cells} cells done   ",
                (counts, "$faint"),
                f"   {found.left}",
            ),
        ]
        if found.verdict:
            head.append(Content.styled(found.verdict, "bold"))
        failed = [
            f"✗ seed {seed} of {', '.join(row.labels.values())}: {one.note}"
            for row in found.rows
            for seed, one in row.seeds.items()
            if one is not None and one.status.state in {"failed", "crashed"}
        ]
        head += [Content.styled(line, "$text-error") for line in failed[:3]]
        self.query_one("#board-head", Static).update(Content("\n").join(head))
        self._rows = self._sorted(found)
        places = self.query_one("#places", Lines)
        width = max(places.scrollable_content_region.width, 40)
        titles, lines = self._lines(found, width)
        self.query_one("#board-titles", Static).update(Content.styled(titles, "bold $faint"))
        places.fill(lines)
        matrix = self.query_one("#matrix", Static)
        matrix.display = len(found.axes) == 2 and bool(found.columns) and self.size.height >= 30
        if matrix.display:
            matrix.update(matrix_text(found))

    def _sorted(self, found: Board) -> Sequence[BoardRow]:
        if self._sort not in found.columns:
            return found.rows
        return sorted(
            found.rows,
            key=lambda row: -row.numbers[self._sort].mean if self._sort in row.numbers else 1e9,
        )

    def _lines(self, found: Board, width: int) -> tuple[str, list[Content]]:
        axes = [axis.rpartition(".")[2] for axis in found.axes]
        widths = [
            max([len(title), *(len(row.labels.get(axis, "–")) for row in found.rows)]) + 2
            for axis, title in zip(found.axes, axes, strict=True)
        ]
        seeds = max((len(row.seeds) for row in found.rows), default=1) + 2
        seeds = max(seeds, 7)
        room = width - 2 - sum(widths) - seeds
        has_bar = found.share < 1 and room >= _BAR + _NUMBER + 2
        room -= (_BAR + 2) * has_bar
        has_spark = room >= _SPARK + 2 * _NUMBER
        room -= (_SPARK + 2) * has_spark
        count = max(1, room // _NUMBER)
        columns = list(found.columns)
        if len(columns) > count:  # dev and the averages, which are last
            columns = [columns[0], *columns[len(columns) - count + 1 :]][:count]
        titles = "".join(f"{title:<{cells}}" for title, cells in zip(axes, widths, strict=True))
        titles += f"{'seeds':<{seeds}}" + f"{'progress':<{_BAR + 2}}" * has_bar
        titles += f"{'loss':<{_SPARK + 2}}" * has_spark
        titles += "".join(f"{column[: _NUMBER - 1]:<{_NUMBER}}" for column in columns)
        lines = []
        for row in self._rows:
            parts: list[Content | str | tuple[str, str]] = []
            for axis, cells in zip(found.axes, widths, strict=True):
                parts.append((f"{row.labels.get(axis, '–'):<{cells}}", "bold"))
            for one in row.seeds.values():
                state = one.status.shown_state if one is not None else "waiting"
                parts.append((SIGNS[state], STATE_STYLES.get(state, AT_WORK)))
            parts.append(" " * (seeds - len(row.seeds)))
            if has_bar:
                parts += [bar(row.share, _BAR) if row.share < 1 else " " * _BAR, "  "]
            if has_spark:
                parts.append((f"{sparkline(row.losses, _SPARK):<{_SPARK + 2}}", "$faint"))
            for column in columns:
                number = row.numbers.get(column)
                text = f"{number.text} {number.mark}" if number else "·"
                style = "bold $text-success" if number and number.mark == "*" else ""
                style = "$faint" if number and not number.mark else style
                parts.append((f"{text:<{_NUMBER}}", style))
            lines.append(Content.assemble(*parts))
        return titles, lines

    @property
    def place(self) -> BoardRow | None:
        """The place under the cursor."""
        here = self.query_one("#places", OptionList).highlighted
        return self._rows[here] if here is not None and here < len(self._rows) else None

    def on_option_list_option_highlighted(self) -> None:
        """Show the cells of the place under the cursor."""
        row = self.place
        if row is None:
            return
        lines = [Content.styled(row.run, "$faint")]
        for seed, one in row.seeds.items():
            if one is None:
                lines.append(Content.styled(f"· seed {seed}  waits", "$faint"))
                continue
            status = one.status
            step = f"step {status.step.step} of {status.step.steps}" if status.step else ""
            loss = f"loss {status.step.loss:.4g}" if status.step else ""
            dev = f"dev {status.dev.score:z.2f}" if status.dev else ""
            score = ""
            if one.score is not None:
                score = f"{one.score.slice} {one.score.scale * one.score.value:z.2f}"
            facts = "   ".join(filter(None, (status.shown_state, step, loss, dev, score, one.note)))
            style = STATE_STYLES.get(status.shown_state, AT_WORK)
            lines.append(
                Content.assemble((f"{SIGNS[status.shown_state]} ", style), f"seed {seed}  {facts}")
            )
        self.query_one("#cells", Static).update(Content("\n").join(lines))

    # keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer what the grid allows."""
        found = self._board
        if action == "stop":
            return found is not None and found.is_active
        if action == "resume":
            return found is not None and not found.is_active and found.done < found.cells
        return True

    def on_option_list_option_selected(self) -> None:
        """Go to the runs of the place."""
        self.action_open()

    def action_open(self) -> None:
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
            orders = ["", self._board.columns[0], self._board.columns[-1]]
            orders = list(dict.fromkeys(orders))
            at = orders.index(self._sort) if self._sort in orders else 0
            self._sort = orders[(at + 1) % len(orders)]
            self._draw()

    def action_compare(self) -> None:
        """Compare the best places, the first of them is the reference."""
        if self._board is None or not self._board.columns:
            return
        column = self._board.columns[0]
        scored = [row for row in self._board.rows if column in row.numbers]
        best = sorted(scored, key=lambda row: -row.numbers[column].mean)[:5]
        if best:
            self.dismiss()
            self.dashboard.compare_models([row.run for row in best])

    @work(group="grid-act", exit_on_error=False)
    async def action_stop(self) -> None:
        """Stop the grid."""
        done = f"stopping {self._grid}: its cells save a checkpoint"
        await self.do(lambda: cancel_grid(self._grid, self._settings), done)

    @work(group="grid-act", exit_on_error=False)
    async def action_resume(self) -> None:
        """Run the cells that are not done."""
        await self.do(lambda: resume_grid(self._grid, self._settings), f"resumed {self._grid}")


def matrix_text(found: Board) -> Content:
    """The dev scores, or those of the last column, over two axes; the best is bold."""
    down, across = found.axes
    column = found.columns[0] if found.columns else ""
    rows = list(dict.fromkeys(row.labels.get(down, "–") for row in found.rows))
    columns = list(dict.fromkeys(row.labels.get(across, "–") for row in found.rows))
    numbers = {
        (row.labels.get(down, "–"), row.labels.get(across, "–")): row.numbers.get(column)
        for row in found.rows
    }
    known = [number.mean for number in numbers.values() if number is not None]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    width = max([10, *(len(label) + 2 for label in columns)])
    head = max([len(label) for label in rows] + [len(down.rpartition(".")[2])]) + 2
    title = f"{column}: {across.rpartition('.')[2]} across, {down.rpartition('.')[2]} down"
    lines = [
        Content.styled(title, "bold $faint"),
        Content.styled(
            f"{'':{head}}" + "".join(f"{label:>{width - 2}}  " for label in columns), "$faint"
        ),
    ]
    for label in rows:
        parts: list[tuple[str, str]] = [(f"{label:<{head}}", "$faint")]
        for other in columns:
            number = numbers.get((label, other))
            if number is None:
                parts.append((f"{'·':>{width}}", "$faint"))
                continue
            share = (number.mean - low) / (high - low) if high > low else 1.0
            shade = "░▒▓█"[min(int(share * 4), 3)]
            text = f"{shade}{number.mean:z.2f} {number.mark or ' '}"
            parts.append((f"{text:>{width}}", "bold" if number.mark == "*" else ""))
        lines.append(Content.assemble(*parts))
    return Content("\n").join(lines)
