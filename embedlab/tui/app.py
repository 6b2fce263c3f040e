"""The dashboard: three rooms over one data folder and one runs folder, with one header and one
sidebar.
"""

import asyncio
import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

from textual import work
from textual.app import ComposeResult, SystemCommand
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.containers import Horizontal
from textual.content import Content
from textual.events import DescendantFocus, Resize
from textual.geometry import Size
from textual.screen import Screen
from textual.widgets import ContentSwitcher, Input, TextArea

from embedlab.comparison.comparison import Comparison
from embedlab.core.errors import EmbedlabError
from embedlab.core.names import task_names
from embedlab.core.paths import INSIDE, STARTER, STARTER_FOLDER, data_folder, data_name, typed_path
from embedlab.core.printable import count_text
from embedlab.core.python_processes import python_command, start_piped
from embedlab.core.settings import Settings
from embedlab.data.file_name import is_row_file
from embedlab.data.source import Source, dataset_names, open_scored
from embedlab.runs.launch import shared_flags
from embedlab.tui.compare.model import compare_shown, model_scores
from embedlab.tui.compare.room import CompareRoom
from embedlab.tui.data.model import View, sort_orders
from embedlab.tui.data.room import DataRoom
from embedlab.tui.header import ROOMS, Header, Keys, chip
from embedlab.tui.help import TextScreen, help_screen
from embedlab.tui.plain import PlainDriver, following, is_plain
from embedlab.tui.questions import Ask
from embedlab.tui.room import ROOM_KEYS, Guarded, Host, Room, Working
from embedlab.tui.runs.room import RunsRoom
from embedlab.tui.sidebar import Line, Sidebar
from embedlab.tui.state import Memory
from embedlab.tui.theme import colour_variables
from embedlab.tui.workbench import (
    DICE,
    FIRST_MODELS,
    QUICK,
    ShownItems,
    default_task,
    open_shown_items,
    selectable_models,
)

MOST_MODELS = 6
LEAST_WIDTH, LEAST_HEIGHT = 60, 16
FOLD_BELOW = 100  # cells, below which the sidebar shows when it is called
WRITE_EVERY_S = 2.0
REST_S = 0.2  # what was chosen rests so long before it is read


class TooSmall(Screen[None]):
    """Instead of rooms that could not be read."""

    def render(self) -> Content:
        """What is needed."""
        return Content(f"The window is too small: {LEAST_WIDTH}×{LEAST_HEIGHT} are needed.")

    def on_resize(self) -> None:
        """Go away as soon as there is room and nothing lies over it."""
        if not _is_small(self.size) and self.app.screen is self:
            self.dismiss()

    on_screen_resume = on_resize


class MainScreen(Guarded, Screen[None]):
    """The screen of the rooms."""

    ALLOW_IN_MAXIMIZED_VIEW = "Keys"
    ESCAPE_TO_MINIMIZE = False  # the app does, after a field is left

    def on_resize(self, event: Resize) -> None:
        """Fold the sidebar, or say that the window is too small."""
        if _is_small(event.size):
            self.app.push_screen(TooSmall())
        self.set_class(event.size.width < FOLD_BELOW, "-folded")
        cast("Dashboard", self.app).place_sidebar()

    def on_descendant_focus(self, event: DescendantFocus) -> None:
        """Show all panes again where the focus leaves the one that is shown alone."""
        if self.maximized is not None and self.maximized not in event.widget.ancestors_with_self:
            self.minimize()


def _is_small(size: Size) -> bool:
    return size.width < LEAST_WIDTH or size.height < LEAST_HEIGHT


class Dashboard(Working, Host):
    """The rooms, what they share, and the keys that mean the same in each."""

    TITLE = "embedlab"
    CSS_PATH = "dashboard.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        # With priority: the keys behind them in one packet then meet what they opened.
        Binding("slash", "filter", "Filter", priority=True, tooltip="filter, or search"),
        *ROOM_KEYS,
        Binding("c", "models", "Models", tooltip="models and datasets"),
        Binding("escape", "back", "Back", show=False, tooltip="leave field, pane, mark"),
        Binding("i", "limits", "Limits", show=False, tooltip="what limits the numbers"),
        Binding("z", "zoom", "Zoom", show=False, tooltip="this pane alone, or all"),
        Binding("r", "reload", "Reload", show=False, tooltip="read all files again"),
        Binding("t", "next_theme", "Theme", show=False, tooltip="the next theme"),
        Binding(
            "ctrl+o",
            "open",
            "Open",
            show=False,
            priority=True,
            tooltip="open CSV, folder, model",
        ),
        Binding("question_mark", "help", "Help", tooltip="this page"),
        Binding("q", "quit", "Quit", show=False, tooltip="quit; runs continue"),
        Binding("ctrl+q", "quit", "Quit", show=False, tooltip="quit; runs continue"),
        Binding(
            "ctrl+p",
            "command_palette",
            "Find",
            priority=True,
            tooltip="find anything by its name",
        ),
    ]

    def __init__(self, settings: Settings, *, pair_file: Path | None = None) -> None:
        super().__init__(driver_class=PlainDriver if is_plain() else None)
        self.settings = replace(settings, data=settings.data or STARTER_FOLDER)
        self._pair_file = pair_file
        self.shown = self._compared = ShownItems()
        self.known: Sequence[str] = ()
        self.comparison: Comparison | None = None  # on all items of all shown datasets
        self.view: View | None = None
        self.busy: dict[str, str] = {}  # models that are scored now, and what of
        self._is_loaded = False
        self._remember_place()

    def _remember_place(self) -> None:
        """Take up what is remembered of this data folder."""
        self.memory = Memory(data_name(self.settings.data or STARTER_FOLDER))
        self.shown_task = str(
            self._pair_file or self.memory.get("task", default_task(self.settings))
        )
        self.models: tuple[str, ...] = tuple(self.memory.get("models", []))
        self._is_first = not self.models

    def begin_with(self, models: Sequence[str], task: str) -> None:
        """Show these MODELS on TASK instead of what is remembered; before the dashboard runs."""
        self.models, self.shown_task, self._is_first = tuple(models), task, False

    def get_css_variables(self) -> dict[str, str]:
        """The colours of the theme, and those with a meaning here."""
        own_colours = colour_variables(is_dark=self.current_theme.dark)
        self.colours = {**super().get_css_variables(), **own_colours}
        return self.colours

    def compose(self) -> ComposeResult:
        """Yield header, sidebar, rooms and keys."""
        yield Header()
        with Horizontal(id="body"):
            yield Sidebar()
            with ContentSwitcher(initial="data", id="rooms"):
                yield DataRoom()
                yield CompareRoom()
                yield RunsRoom()
        yield Keys()

    def on_mount(self) -> None:
        """Begin in the room that was shown last, and read while it is drawn."""
        theme = self.settings.theme or self.memory.get("theme", "", everywhere=True)
        if theme in self.available_themes:
            self.theme = theme
        if not self.settings.theme:
            self.theme_changed_signal.subscribe(
                self, lambda theme: self.remember("theme", theme.name, everywhere=True)
            )
        room = "data" if self._pair_file is not None else self.memory.get("room", "data")
        self.action_room(room if room in ROOMS else "data")
        self.load()
        self.set_interval(WRITE_EVERY_S, self._write_memory)

    def get_default_screen(self) -> Screen[None]:
        """The screen of the rooms."""
        return MainScreen()

    def report(self, error: EmbedlabError) -> None:
        """Show the two lines that the command line would print."""
        text = f"{error.message}\nhint: {error.hint}" if error.hint else error.message
        self.notify(text, severity="error", markup=False, timeout=10)

    # what is remembered

    def remember(self, name: str, value: Any, *, everywhere: bool = False) -> None:
        """Remember VALUE; it is written a moment later."""
        self.memory.set(name, value, everywhere=everywhere)

    @work(thread=True, group="state", exit_on_error=False)
    def _write_memory(self) -> None:
        with suppress(EmbedlabError, OSError):
            self.memory.write()

    def on_unmount(self) -> None:
        """Write what was changed last."""
        with suppress(EmbedlabError, OSError):
            self.memory.write()

    # what is shown

    @property
    def main(self) -> Screen[Any]:
        """The screen of the rooms, whatever lies over it."""
        return self.screen_stack[0]

    @property
    def runs(self) -> RunsRoom:
        """The room of the runs."""
        return self.main.query_one(RunsRoom)

    @property
    def items(self) -> DataRoom:
        """The room of the items."""
        return self.main.query_one(DataRoom)

    @property
    def is_open(self) -> bool:
        """Whether the rooms are there; what ends later than the dashboard finds none."""
        return bool(
            self.screen_stack
            and len(self.main.query(Room)) == len(ROOMS)
            and self.main.query(Sidebar)
        )

    @property
    def room(self) -> Room:
        """The room that is shown."""
        switcher = self.main.query_one(ContentSwitcher)
        return self.main.query_one(f"#{switcher.current}", Room)

    @property
    def why_empty(self) -> str:
        """What to do where no item is shown."""
        if self.busy:
            return f"{self._busy_text} …"
        if not self._is_loaded:
            return "reading …"
        return (
            f"No model was scored on {self.shown_task} yet.\n\n"
            "c chooses models and scores them; ctrl+o opens a CSV, a folder, a model or a task."
        )

    @work(thread=True, exclusive=True, group="load", exit_on_error=False)
    def load(self) -> None:
        """Read what is stored of the chosen models, then compare them."""
        known_names = selectable_models(self.settings)
        first_models = tuple(name for name in FIRST_MODELS if name in known_names)
        models = first_models if self._is_first else self.models
        opened = open_shown_items(models, self.shown_task, self.settings)
        self.hand_over(self._take, opened, known_names)

    def _take(self, shown: ShownItems, known_names: Sequence[str]) -> None:
        if not self.is_open:
            return
        self.known = known_names
        is_first_look = not self._is_loaded
        is_first = self._is_first
        self._is_loaded = True
        if is_first:
            self.models = shown.models
            self._is_first = False
        if shown.models != self.models:  # others were chosen meanwhile
            return
        reported = {str(error) for error in self.shown.errors}
        self.shown = shown
        self.comparison = None
        for error in filter(None, (self.memory.trouble, *shown.errors)):
            if str(error) not in reported:
                self.report(error)
        self.memory.trouble = None
        for room in self.main.query(Room):
            room.show()
        self.refresh_header()
        if is_first or (is_first_look and shown.outcomes is None):
            quick = self.models if self.shown_task == STARTER else QUICK  # a file may be long
            unscored = [DICE] * (shown.outcomes is None)
            unscored += [name for name in self.models if shown.coverage(name) < 1 and name in quick]
            self.score(unscored)

    def compare_all(self) -> None:
        """Compare the models on all that is shown, once the items are drawn."""
        if self.is_open and self.shown.columns and self._compared is not self.shown:
            self._compared = self.shown
            self._compare(self.shown)

    @work(thread=True, exclusive=True, group="compare-all", exit_on_error=False)
    def _compare(self, shown: ShownItems) -> None:
        try:
            comparison = compare_shown(shown)
        except EmbedlabError as error:
            self.hand_over(self.report, error)
        else:
            self.hand_over(self._take_comparison, shown, comparison)

    def _take_comparison(self, shown: ShownItems, comparison: Comparison) -> None:
        if shown is self.shown and self.is_open:
            self.comparison = comparison
            if not gc.get_freeze_count():  # else each full collection stops the keys for 0.1 s
                gc.freeze()
            self.main.query_one(CompareRoom).take_whole()
            self.refresh_header()

    def take_view(self, view: View) -> None:
        """Let the other rooms show the items that the Data room shows."""
        if self.is_open:
            self.view = view
            self.main.query_one(CompareRoom).take_view(view)
            self.refresh_header()

    def refresh_header(self) -> None:
        """Show where one is, and the models' scores."""
        if not self.is_open:
            return
        scores, sign_of_model = model_scores(self.comparison)
        item_count = self.shown.items
        matching_count = len(self.view.rows) if self.view is not None and item_count else 0
        items = (
            f"{matching_count:,} of {item_count:,} items"
            if matching_count < item_count
            else f"{item_count:,} items" * (item_count > 0)
        )
        data = Path(data_name(self.settings.data or STARTER_FOLDER)).absolute()
        no_score = "…" * (self.comparison is None)
        chips = [
            chip(place, name, scores.get(name, no_score), sign_of_model.get(name, ""))
            for place, name in enumerate(self.models)
        ]
        limits = len(self._limits())
        right = Content.assemble(
            (items, "$faint"),
            (f"  i {count_text(limits, 'notes')}" if limits else "", "$text-warning"),
        )
        if self.room.id == "runs":  # it is about others
            chips, right = [], Content()
        if self.busy:
            chips.append(Content.styled(self._busy_text, "italic $faint"))
        header = self.main.query_one(Header)
        path = [data.name, *self.room.crumbs]
        header.show(self.room.id or "", path, right, Content("   ").join(chips))
        self._show_sidebar(scores)

    @property
    def _busy_text(self) -> str:
        return ", ".join(f"scoring {name} on {task}" for name, task in self.busy.items())

    def _limits(self) -> list[str]:
        notes = [*self.shown.notes, *(self.comparison.remarks if self.comparison else ())]
        return list(dict.fromkeys(notes))

    def _show_sidebar(self, scores: Mapping[str, str]) -> None:
        grid_cells = self.runs.cells  # a board compares those
        known_names = (name for name in self.known if name not in grid_cells)
        lines = [
            Line(
                section="models",
                name=name,
                place=position if position < len(self.models) else None,
                score=scores.get(name, ""),
                coverage=self.shown.coverage(name),
                is_busy=name in self.busy,
            )
            for position, name in enumerate(dict.fromkeys((*self.models, *known_names)))
        ]
        single_dataset = self.items.dataset
        lines += [
            Line(
                section="datasets",
                name=name,
                place=0 if single_dataset in {None, name} else None,
                score=f"{len(self.shown.outcomes.rows_of(index)):,}" if self.shown.outcomes else "",
            )
            for index, name in enumerate(self.shown.datasets)
        ]
        lines += [Line(section="runs", name=name, score=score) for name, score in self.runs.at_work]
        self.main.query_one(Sidebar).show(lines)

    # models

    def choose_models(self, models: Sequence[str]) -> bool:
        """Compare MODELS from now on, the first of them is the reference; gives whether it does."""
        if len(models) > MOST_MODELS:
            self.notify(f"at most {MOST_MODELS} models at once", severity="warning")
            return False
        self.models = tuple(models)
        self.remember("models", list(models))
        self.refresh_header()
        self.load()
        return True

    def on_sidebar_chosen(self, event: Sidebar.Chosen) -> None:
        """Choose a model or leave it out; show a dataset alone, or all."""
        line = event.line
        if not self.is_open:
            return
        if line.section == "models":
            other_models = [name for name in self.models if name != line.name]
            self.choose_models(
                other_models if line.place is not None else [*self.models, line.name]
            )
        elif line.section == "datasets":
            self.items.show_dataset(None if line.name == self.items.dataset else line.name)

    def on_sidebar_opened(self, event: Sidebar.Opened) -> None:
        """Score what a model lacks, or make it the reference; go to a run."""
        line = event.line
        if line.section == "runs":
            self.go_to_run(line.name)
        elif line.section == "datasets":
            self.on_sidebar_chosen(event)
        elif line.place is None:
            self.add_model(line.name)
        elif line.coverage < 1:
            self.score([line.name])
        else:
            self.choose_models([line.name, *(name for name in self.models if name != line.name)])

    def add_model(self, name: str) -> None:
        """Choose the model called NAME, and score what it lacks of all shown items."""
        if name in self.models or self.choose_models([*self.models, name]):
            self.score([name])

    @work(group="score", exit_on_error=False)
    async def score(self, models: Sequence[str]) -> None:
        """Score MODELS on all items that are shown, one after another, in processes."""
        for model in dict.fromkeys(models):
            if model in self.busy:
                continue
            self.busy[model] = Path(self.shown_task).name
            self.refresh_header()
            if self.shown.outcomes is None:
                self.items.show()
            arguments = ["evaluate", model, "--task", self.shown_task, "--quiet"]
            command = python_command(*arguments, *shared_flags(self.settings))
            process = await start_piped(command, stderr=asyncio.subprocess.PIPE)
            try:
                _, output = await process.communicate()
            finally:
                self.busy.pop(model, None)
                if process.returncode is None:
                    process.terminate()
            if process.returncode:
                lines = output.decode(errors="replace").strip().splitlines()[-2:]
                self.notify("\n".join(lines), severity="error", markup=False, timeout=10)
            self.load()
            self.refresh_header()

    # keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a text is typed, letters are letters; over a dialog the rooms' keys are not."""
        is_typing = isinstance(self.focused, Input | TextArea)
        if action in {"filter", "room"} and (is_typing or len(self.screen_stack) > 1):
            return False
        return action not in {"open", "models"} or len(self.screen_stack) == 1

    def action_room(self, name: str) -> None:
        """Go to the room called NAME."""
        self._show_sidebar_alone(False)
        self.main.query_one(ContentSwitcher).current = name
        self.room.enter()
        self.remember("room", name)
        self.place_sidebar()
        self.refresh_header()

    def action_filter(self) -> None:
        """Go to the field that filters this room."""
        self._show_sidebar_alone(False)
        self.room.action_filter()

    async def action_back(self) -> None:
        """Leave what has the focus, a field before the pane that it is in."""
        if self.screen.maximized is not None and not isinstance(self.focused, Input):
            self.screen.minimize()
        elif isinstance(self.focused, Sidebar):
            self._show_sidebar_alone(False)
            self.room.enter()
        else:
            self.room.action_back()

    def action_models(self) -> None:
        """Go to the sidebar."""
        self._show_sidebar_alone(True)
        self.screen.set_focus(self.main.query_one(Sidebar))

    def _show_sidebar_alone(self, is_shown: bool) -> None:
        """Show the sidebar where it has no room beside the others, or those again."""
        self.main.query_one("#body").set_class(is_shown, "-sidebar")
        self.place_sidebar()

    def place_sidebar(self) -> None:
        """Show the sidebar when it is called, and beside a room that leaves it width."""
        is_called = self.main.query_one("#body").has_class("-sidebar")
        is_beside = not self.main.has_class("-folded") and not isinstance(self.room, RunsRoom)
        self.main.query_one(Sidebar).display = is_called or is_beside

    def action_limits(self) -> None:
        """Show what limits the numbers."""
        notes = self._limits() or ["Nothing limits these numbers."]
        self.push_screen(TextScreen("what limits the numbers", [("•", note) for note in notes]))

    def action_zoom(self) -> None:
        """Show the focused pane alone, or all again."""
        if self.screen.maximized is not None:
            self.screen.minimize()
        elif self.focused is not None:
            self.screen.maximize(self.focused)

    def action_reload(self) -> None:
        """Read all files again."""
        self.load()
        self.runs.look()

    def action_next_theme(self) -> None:
        """Take the next theme."""
        self.theme = following(sorted(self.available_themes), self.theme)
        self.notify(f"theme {self.theme}")

    def action_help(self) -> None:
        """Show the keys of what has the focus, and a legend."""
        own: list[Binding] = []
        general: list[Binding] = []
        for active in self.screen.active_bindings.values():
            (general if active.node is self else own).append(active.binding)
        self.push_screen(help_screen(self.room.TITLE, own, general, self.get_key_display))

    @work(group="open", exit_on_error=False)
    async def action_open(self) -> None:
        """Open what was typed: a file of pairs, a folder, a model, a run, a task, a recipe."""
        question = (
            "Open a CSV, a data folder, a dataset, a task, a model, a run, a recipe or a grid"
        )
        if typed_name := await self.push_screen_wait(Ask(question)):
            try:
                opened = await asyncio.to_thread(self._what_is, typed_name)
            except EmbedlabError as error:
                self.report(error)
            else:
                opened()

    def _what_is(self, typed: str) -> Callable[[], object]:
        """What opens a file, folder or name as it was TYPED; a file that cannot be read as one of
        scored pairs is refused.
        """
        from embedlab.models.catalog import resolve

        path = typed_path(typed)
        if is_row_file(typed):
            open_scored(Source.from_settings(self.settings), str(path))
            return partial(self.show_task, str(path))
        if typed in task_names() or typed in dataset_names():
            return partial(self.show_task, typed)
        if typed.endswith(".toml"):
            return partial(self.runs.action_launch, typed)
        is_model = any((path / name).exists() for name in ("config.json", "modules.json", "model"))
        if (path.is_dir() and not is_model) or typed in INSIDE:
            return partial(self.open_data, data_folder(Path(typed)))
        resolve(typed, self.settings.runs)  # refuses an unknown name with the nearest
        return partial(self.add_model, typed)

    def show_task(self, task: str) -> None:
        """Show the items of TASK: of a task, a dataset or a file."""
        self.shown_task = task
        self.remember("task", task)
        self.items.dataset = None
        self._is_loaded = False  # what it lacks is scored at once
        self.action_room("data")
        self.load()

    def show_items(self, expression: str) -> None:
        """Show the items that EXPRESSION picks in the Data room; without one, all."""
        self.action_room("data")
        self.main.query_one("#data-filter", Input).value = expression

    def open_data(self, folder: Path) -> None:
        """Show the data of FOLDER from now on."""
        self._write_memory()
        self.settings = replace(self.settings, data=folder)
        self._pair_file = None
        self._remember_place()
        self._is_loaded = False
        self.load()

    def action_command_palette(self) -> None:
        """Find anything by its name; a second palette below another dialog would end the app, and
        so would one of Textual's fixed id before the last one has gone.
        """
        if not any(isinstance(screen, CommandPalette) for screen in self.screen_stack):
            self.push_screen(CommandPalette())

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """Everything that ctrl+p finds: keys, orders, models, datasets, tasks, runs."""
        yield from super().get_system_commands(screen)
        shown_last = sorted(screen.active_bindings.values(), key=lambda key: key.binding.show)
        active_of_name = {key.binding.description: key for key in shown_last if key.binding.tooltip}
        for description, active in active_of_name.items():
            yield SystemCommand(
                f"{description}  {self.get_key_display(active.binding)}",
                active.binding.tooltip,
                partial(self.run_action, active.binding.action, active.node),
            )
        data = self.items
        orders = sort_orders(data.facts) if data.facts is not None else ()
        kinds: list[tuple[str, str, Iterable[str], Callable[[str], object]]] = [
            ("sort by", "The largest first.", orders, data.sort_by),
            ("dataset", "Show it alone.", self.shown.datasets, data.show_dataset),
            ("task", "Show its items.", task_names(), self.show_task),
            ("model", "Choose it, and score it.", self.known, self.add_model),
            ("run", "Go to it.", self.runs.names, self.go_to_run),
        ]
        for kind, description, names, action in kinds:
            for name in names:
                yield SystemCommand(f"{kind} {name}", description, partial(action, name))

    def go_to_run(self, name: str, grid: str = "") -> None:
        """Go to the run called NAME, a cell of GRID, in the Runs room."""
        if grid:
            self.runs.unfolded.add(grid)
        self.action_room("runs")
        self.runs.go_to(name)

    def compare_models(self, names: Sequence[str]) -> None:
        """Compare the models called NAMES, and score what they lack."""
        self.choose_models(names)
        self.action_room("compare")
