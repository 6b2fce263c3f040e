"""The Runs room: the list of runs and grids at the left, what is known of the one under the cursor
beside it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import count, groupby
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, OptionList, Static

from embedlab.core.printable import first_few, one_line
from embedlab.runs import launch as processes
from embedlab.runs.events import Curve
from embedlab.runs.store import RunFolder, remove_runs, rename_runs
from embedlab.tui.plain import faint, following
from embedlab.tui.questions import Ask, Confirm
from embedlab.tui.room import PANE_KEYS, Panel, Room
from embedlab.tui.runs import detail
from embedlab.tui.runs.curves import Curves
from embedlab.tui.runs.model import (
    SIGNS,
    SORTS,
    Entry,
    RunFollower,
    RunsLook,
    Training,
    counted_states,
    newest_of,
)
from embedlab.tui.runs.run_list import RunList, header
from embedlab.tui.theme import model_colour

LOOK_EVERY_S = 1.0
_NO_RUNS = "no runs yet: n launches a recipe or a grid; those of the command line come here too"
_TEXTS = ("results", "console", "config")
_NARROW, _WIDE = 122, 170  # cells


class Pane(VerticalScroll, can_focus=True):
    """A titled panel of text that scrolls."""

    def __init__(self, title: str, *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self.border_title = title
        self._text: Content | None = None

    def compose(self) -> ComposeResult:
        """Yield the text."""
        yield Static(markup=False)

    def show(self, text: Content, *, follows_end: bool = False) -> None:
        """Show TEXT; with FOLLOWS_END stay at its end where it was."""
        if text == self._text:
            return
        is_at_end = self._text is None or self.scroll_offset.y >= self.max_scroll_y - 1
        self._text = text
        self.query_one(Static).update(text)
        if follows_end and is_at_end:
            self.call_after_refresh(self.scroll_end, animate=False)


class RunsRoom(Room):
    """All runs, what one of them did, and the keys that stop, resume, rename and delete them."""

    TITLE = "Runs"
    DEFAULT_CSS = """
    RunsRoom { layout: horizontal; }
    RunsRoom #run-side { width: 2fr; min-width: 82; }
    RunsRoom #run-panes { width: 3fr; }
    RunsRoom RunList { height: 1fr; text-wrap: nowrap; text-overflow: ellipsis; scrollbar-gutter: stable; }
    RunsRoom #run-header { height: 1; color: $faint; text-wrap: nowrap; }
    RunsRoom #run-filter { height: 1; border: none; padding: 0; display: none; }
    RunsRoom #run-facts { height: auto; max-height: 9; padding: 0 2; }
    RunsRoom #run-curves { height: 3fr; }
    RunsRoom #run-texts { height: 2fr; }
    RunsRoom #run-texts Pane { width: 1fr; display: none; }
    RunsRoom.-show-results #run-results, RunsRoom.-show-console #run-console,
    RunsRoom.-show-config #run-config { display: block; }
    RunsRoom.-wide #run-texts Pane { display: block; }
    RunsRoom.-wide #run-results { min-width: 50; }
    RunsRoom.-narrow { layout: vertical; }
    RunsRoom.-narrow #run-side { width: 100%; min-width: 0; height: 1fr; min-height: 11; }
    RunsRoom.-narrow #run-panes { width: 100%; height: 1fr; }
    RunsRoom.-narrow #run-curves { height: 1fr; display: none; }
    RunsRoom.-narrow #run-texts { height: 1fr; }
    RunsRoom.-narrow.-show-curves #run-curves { display: block; }
    RunsRoom.-narrow.-show-curves #run-texts { display: none; }
    RunsRoom.-narrow #cpu-curve, RunsRoom.-narrow #memory-curve { display: none; }
    RunsRoom.-empty #run-panes { display: none; }
    RunsRoom.-empty #run-header { height: auto; text-wrap: wrap; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        *PANE_KEYS,
        Binding("n", "launch", "New", tooltip="launch a recipe or a grid"),
        Binding("space", "mark", "Mark", tooltip="mark: curves of several"),
        Binding("s", "sort", "Sort", tooltip="newest, name, dev, score"),
        Binding("x", "stop", "Stop", tooltip="stop after a checkpoint"),
        Binding("o", "resume", "Resume", tooltip="continue from the checkpoint"),
        Binding("f2,E", "rename", "Rename", show=False, tooltip="rename with all seeds"),
        Binding("delete,X", "delete", "Delete", tooltip="delete with all files"),
    ]

    def __init__(self) -> None:
        super().__init__(id="runs")
        self._follower = RunFollower(self.dashboard.settings.runs)
        self._curves: dict[str, Curve] = {}
        self.runs_look = RunsLook()
        self.words = ""
        self.sort = "newest"
        self.unfolded: set[str] = set()
        self.marked: dict[str, int] = {}  # names, with the place of their colour
        self.wanted: str | None = None  # the entry that the cursor goes to once it is there

    def compose(self) -> ComposeResult:
        """Yield the list and the panes."""
        with Panel(id="run-side", classes="panel"):
            yield Input(
                id="run-filter", placeholder="words in name, objective or state", compact=True
            )
            yield Static(id="run-header")
            yield RunList(id="run-list")
        with Vertical(id="run-panes"):
            yield Static(id="run-facts")
            yield Curves(id="run-curves")
            with Horizontal(id="run-texts"):
                yield Pane("results", id="run-results")
                yield Pane("console", id="run-console")
                yield Pane("config", id="run-config")

    def on_mount(self) -> None:
        """Follow the runs while the room is shown."""
        for name in ("results", "curves"):
            self.show_pane(name)
        self.look()
        self.set_interval(LOOK_EVERY_S, self._look_while_shown)

    def on_resize(self) -> None:
        """Lay the panes out for the room there is."""
        self.set_class(self.size.width < _NARROW, "-narrow")
        self.set_class(self.size.width >= _WIDE, "-wide")
        self._show_facts()

    @property
    def crumbs(self) -> Sequence[str]:
        """The run under the cursor."""
        entry = self.runs.entry
        return (entry.name,) if entry is not None else ()

    @property
    def names(self) -> list[str]:
        """Every run and grid."""
        return [entry.name for entry in self.runs_look.entries()]

    @property
    def cells(self) -> set[str]:
        """The runs that are cells of a grid."""
        return {variant.run for plan in self.runs_look.plans for variant in plan.variants}

    @property
    def at_work(self) -> list[tuple[str, str]]:
        """What is trained or scored now, with its progress."""
        entries = self.runs_look.entries()
        return [(entry.name, f"{entry.share:.0%}") for entry in entries if entry.is_active]

    def enter(self) -> None:
        """Go to the list."""
        self.screen.set_focus(self.runs)
        self.look()

    @property
    def runs(self) -> RunList:
        """The list."""
        return self.query_one(RunList)

    @property
    def chosen(self) -> list[Entry]:
        """The marked entries, or the one under the cursor."""
        entries = [entry for entry in self.runs.entries if entry.name in self.marked]
        return entries or [*filter(None, [self.runs.entry])]

    # following

    def _look_while_shown(self) -> None:
        if self.screen.is_current and (self.is_on_screen or self.at_work):
            self.look()

    @work(thread=True, exclusive=True, group="runs-look", exit_on_error=False)
    def look(self) -> None:
        """Read what changed in the runs folder, then what the panes show."""
        new_look = self._follower.look()
        self.hand_over(self._take, new_look)

    def _take(self, look: RunsLook) -> None:
        previous = replace(self.runs_look, time_s=look.time_s, error=look.error)
        if look.error is not None and str(look.error) != str(self.runs_look.error):
            self.dashboard.report(look.error)
        is_first = not self.runs_look.time_s
        self.runs_look = look
        if look != previous or is_first or any(entry.is_active for entry in self.runs.entries):
            self._show_list()
            self.read_detail()
        if (training := self._follower.without_intervals(look)) is not None:
            self._compute_interval(training)

    @work(thread=True, group="runs-interval", exit_on_error=False)
    def _compute_interval(self, training: Training) -> None:
        """One at a time, the newest first: the data of each is read."""
        self._follower.keep_intervals(training.run, {})  # it is not asked for again
        intervals = detail.score_intervals(training.run, self.dashboard.settings)
        if intervals:
            self._follower.keep_intervals(training.run, intervals)

    def _show_list(self) -> None:
        entries = self.runs_look.entries(self.words, self.unfolded, self.sort)
        highlighted = self.runs.entry
        stay_on = highlighted.name if highlighted is not None else None
        if self.wanted in {entry.name for entry in entries}:
            stay_on, self.wanted = self.wanted, None
        self.runs.show(entries, self.marked, self.runs_look.time_s, stay_on)
        width = max(self.runs.scrollable_content_region.width, 20)
        self.say("#run-header", header(width))
        panel = self.query_one("#run-side")
        counts = counted_states([entry.state for entry in self.runs_look.entries()])
        panel.border_title = Content(f"runs · {self.sort}{' · /' * bool(self.words)}{self.words}")
        panel.border_subtitle = "  ".join(f"{SIGNS[s]} {n} {s}" for s, n in counts.items())
        self.set_class(not entries, "-empty")
        if not entries:
            empty = "no run has these words" if self.words else _NO_RUNS
            self.say("#run-header", empty if self.runs_look.time_s else "reading …")
        self._show_facts()
        self.refresh_bindings()

    on_lines_resized = _show_list

    # the panes

    def on_option_list_option_highlighted(self) -> None:
        """Show what is known of the run that was reached."""
        self._show_facts()
        self.read_detail()
        self.refresh_bindings()
        if self.is_on_screen:
            self.dashboard.refresh_header()

    def _show_facts(self) -> None:
        entry = self.runs.entry
        if entry is None:
            return
        fact_texts = [
            # a line ends between two facts, not inside one
            Content.assemble((f"{name}\xa0", "$faint"), text.replace(" ", "\xa0"))
            for name, text in detail.facts(entry)
        ]
        lines = [
            Content.styled(entry.title or entry.name, "bold"),
            *(Content("   ").join(line) for line in (fact_texts[:-3], fact_texts[-3:])),
        ]
        if self.has_class("-narrow"):  # the list says the rest
            lines = []
        if entry.note:
            lines.append(Content.styled(entry.note, "$text-warning"))
        hint = next(
            (training.status.hint for training in entry.trainings if training.status.hint), ""
        )
        if hint:
            lines.append(faint(f"hint: {hint}"))
        self.say("#run-facts", Content("\n").join(lines))

    @work(thread=True, exclusive=True, group="runs-detail", exit_on_error=False)
    def read_detail(self) -> None:
        """Read the curves, scores, console and configuration of the entry under the cursor."""
        highlighted, entries = self.runs.entry, self.chosen
        if highlighted is None:
            return
        curves: dict[str, Curve] = {}
        for entry in entries:
            for training in entry.trainings[:12]:
                curve = self._curves.setdefault(training.run.id, Curve())
                curve.read_on(training.run.events_file)
                curves[training.run.id] = curve
        results = detail.result_rows(highlighted)
        newest = newest_of(highlighted.trainings)
        log = detail.log_tail(newest.run) if newest is not None else ()
        config = Content(detail.config_text(newest.run) if newest is not None else "")
        if len(entries) == 2:
            config = self._differences(entries)
        self.hand_over(self._show_detail, highlighted, curves, results, log, config)

    def _differences(self, entries: Sequence[Entry]) -> Content:
        first_run, second_run = (entry.trainings[0].run for entry in entries)
        changed = detail.differences(first_run, second_run)
        title = (f"{first_run.id} → {second_run.id}\n", "bold")
        lines = [
            Content.assemble((f"{key}  ", "bold"), old, (" → ", "$faint"), new)
            for key, old, new in changed
        ] or [Content("nothing differs")]
        return Content("\n").join([Content.assemble(title), *lines])

    def _show_detail(
        self,
        entry: Entry,
        curves: Mapping[str, Curve],
        results: Sequence[detail.ResultRow],
        log: Sequence[str],
        config: Content,
    ) -> None:
        highlighted = self.runs.entry
        if highlighted is None or highlighted.name != entry.name:
            return
        styled_curves = []
        for chosen_entry in self.chosen:
            position = self.marked.get(chosen_entry.name)
            best_ids = {training.run.id for training in chosen_entry.seeds}
            for training in chosen_entry.trainings:
                if (curve := curves.get(training.run.id)) is not None:
                    dim = "" if training.run.id in best_ids else "$faint"
                    styled_curves.append(
                        (dim if position is None else model_colour(position), curve)
                    )
        self.query_one(Curves).show(
            sorted(styled_curves, key=lambda styled_curve: not styled_curve[0])
        )
        self.query_one("#run-results", Pane).show(results_text(results, highlighted))
        text = "\n".join(map(one_line, log)) or "nothing printed yet"
        self.query_one("#run-console", Pane).show(Content(text), follows_end=True)
        self.query_one("#run-config", Pane).show(config)

    def show_pane(self, name: str) -> None:
        """Show the pane called NAME where not all have room."""
        self.set_class(name == "curves", "-show-curves")
        if name != "curves":
            for text in _TEXTS:
                self.set_class(text == name, f"-show-{text}")

    def action_pane(self, step: int) -> None:
        """Go from the list to the panes, one after another, and back."""
        names = ("list", "curves", *_TEXTS)
        panes = [self.query_one(f"#run-{name}") for name in names]
        focused = next((n for n, pane in enumerate(panes) if pane.has_focus), 0)
        target = (focused + step) % len(panes)
        if target:
            self.show_pane(names[target])
        self.screen.set_focus(panes[target])

    # keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer what the run under the cursor allows."""
        if not self.is_mounted:
            return True
        entry = self.runs.entry
        trainings = entry.trainings if entry is not None else ()
        match action:
            case "stop":
                return entry is not None and entry.is_active
            case "resume":
                return any(training.status.is_unfinished for training in trainings)
            case "rename" | "mark":
                return bool(trainings)
            case "delete":
                return bool(self.marked or (entry and trainings and not entry.is_active))
        return True

    def action_filter(self) -> None:
        """Search the runs."""
        line = self.query_one("#run-filter", Input)
        line.display = True
        self.screen.set_focus(line)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Search after each key."""
        if event.input.id == "run-filter":
            self.words = event.value
            self._show_list()

    def on_input_submitted(self) -> None:
        """Go from the search to the list."""
        self.screen.set_focus(self.runs)

    def action_back(self) -> None:
        """End the search, leave a pane, remove the marks."""
        if self.query_one("#run-filter", Input).display:
            self._end_search()
        elif self.screen.focused is self.runs and self.marked:
            self.marked.clear()
            self._show_list()
            self.read_detail()
        self.screen.set_focus(self.runs)

    def action_mark(self) -> None:
        """Mark the entry under the cursor, or remove its mark."""
        entry = self.runs.entry
        if entry is None:
            return
        if entry.name in self.marked:
            del self.marked[entry.name]
        else:
            models = self.dashboard.shown.models  # their colours are taken
            free_positions = (n for n in count(len(models)) if n not in self.marked.values())
            self.marked[entry.name] = (
                models.index(entry.name) if entry.name in models else next(free_positions)
            )
        self._show_list()
        self.read_detail()

    def action_sort(self) -> None:
        """Sort in the next order."""
        self.sort = following([*SORTS], self.sort)
        self._show_list()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Open the board of a grid, show or hide the seeds of a run, or go to its panes."""
        event.stop()
        entry = self.runs.entry
        if entry is None:
            return
        if entry.plan is not None:
            self.open_grid(entry.plan.name)
        elif len(entry.trainings) > 1:
            self.unfolded ^= {entry.name}
            self._show_list()
        else:
            self.action_pane(1)

    def open_grid(self, name: str) -> None:
        """Show the board of the grid called NAME."""
        from embedlab.tui.runs.grid_screen import GridScreen

        self.app.push_screen(GridScreen(self.dashboard.settings, name, self._follower))

    def action_launch(self, typed: str = "") -> None:
        """Open the sheet that launches a recipe or a grid, on that which was TYPED."""
        from embedlab.tui.runs.launch_sheet import LaunchSheet

        self.app.push_screen(
            LaunchSheet(self.dashboard.settings, self.dashboard.memory, typed), self.go_to
        )

    def go_to(self, name: str | None) -> None:
        """Put the cursor on the run or grid called NAME as soon as the list shows it."""
        if name is not None:
            self._end_search()
            self.wanted = name
            self._show_list()
            self.look()

    def _end_search(self) -> None:
        line = self.query_one("#run-filter", Input)
        line.value, line.display = "", False
        self.words = ""

    # what changes runs

    @work(group="runs-act", exit_on_error=False)
    async def action_stop(self) -> None:
        """Stop what is at work after it has saved a checkpoint."""
        entry = self.runs.entry
        if entry is None or not entry.is_active:
            return
        if entry.plan is not None:
            from embedlab.commands.grid_plan import cancel_grid

            grid = entry.plan.name
            await self.do(lambda: cancel_grid(grid, self.dashboard.settings), f"stopping {grid}")
            return
        for training in entry.trainings:
            if training.status.is_alive:
                stop = partial(processes.cancel_run, training.run)
                await self.do(stop, f"stopping {training.run.id}")

    @work(group="runs-act", exit_on_error=False)
    async def action_resume(self) -> None:
        """Go on from the last checkpoint, in a process of its own."""
        entry = self.runs.entry
        if entry is None:
            return
        settings = self.dashboard.settings
        if entry.plan is not None:
            from embedlab.tui.runs.launching import resume_grid

            grid = entry.plan.name
            await self.do(lambda: resume_grid(grid, settings), f"resumed {grid}")
            return
        for training in entry.trainings:
            if training.status.is_unfinished:
                arguments = ["runs", "resume", training.run.id, *processes.shared_flags(settings)]
                resume = partial(processes.start_run, arguments, training.run)
                await self.do(resume, f"resumed {training.run.id}")

    @work(group="runs-act", exit_on_error=False)
    async def action_rename(self) -> None:
        """Give the run with all its seeds another name."""
        entry = self.runs.entry
        if entry is None or entry.plan is not None or not entry.trainings:
            return
        old_name = entry.trainings[0].run.name
        new_name = await self.app.push_screen_wait(
            Ask(f"New name of {old_name} with all its seeds", old_name)
        )
        if (
            new_name
            and new_name != old_name
            and await self.do(
                lambda: rename_runs(self.dashboard.settings.runs, old_name, new_name),
                f"{old_name} is now {new_name}",
            )
        ):
            self.go_to(new_name)

    @work(group="runs-act", exit_on_error=False)
    async def action_delete(self) -> None:
        """Delete the chosen runs with all their files, after a question."""
        runs: list[RunFolder] = [
            training.run for entry in self.chosen for training in entry.trainings
        ]
        if not runs:
            return
        names = first_few((run.id for run in runs), 6)
        question = f"Delete {names} with models, checkpoints and scores?"
        if await self.app.push_screen_wait(Confirm(question)) and await self.do(
            lambda: remove_runs(runs), f"deleted {names}"
        ):
            self.marked.clear()

    async def do(self, work: Callable[[], object], done: str) -> bool:
        """Do WORK, then look what it did."""
        try:
            return await super().do(work, done)
        finally:
            self.look()


def results_text(rows: Sequence[detail.ResultRow], entry: Entry) -> Content:
    """The scores as a table; where there is none, why."""
    if not rows:
        return faint(
            "scored when the training ends"
            if entry.is_active
            else "not scored yet: `embedlab evaluate` scores it"
            if any(training.status.state == "finished" for training in entry.trainings)
            else "no model to score: the training did not finish"
        )
    width = max(len(row.score.slice) for row in rows)
    lines = []
    for task, group in groupby(rows, key=lambda row: row.task):
        first_row, *_ = task_rows = list(group)
        heading = faint(f"{task}  {first_row.score.metric} · items")
        marks = "".join(f" · {mark}" for mark in first_row.marks)
        lines.append(heading + Content.styled(marks, "$text-warning"))
        for row in task_rows:
            style = "bold" * (row.score.by == "average")
            text = f"{row.score.slice:<{width}}  {row.spread.text:<20}", style
            lines.append(Content.assemble(text, (f"{row.score.items:>7,}", "$faint")))
    if entry.plan is not None:
        setting = entry.seeds[0].run.name
        chosen = "the best setting by dev"
        if entry.dev is None:
            chosen = "the first setting, as none has a dev score"
        lines.insert(0, faint(f"{chosen}, {setting}"))
    seeds = max(len(row.spread.values) for row in rows)
    if seeds > 1:
        lines.append(faint(f"mean ± sd of {seeds} seeds"))
    elif any(row.spread.interval for row in rows):
        lines.append(faint("[95% interval] over the items"))
    return Content("\n").join(lines)
