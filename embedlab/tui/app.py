"""The dashboard's application: modes, theme, remembered state, and the pair data that its screens
share.
"""

from asyncio import to_thread
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from time import sleep
from typing import Any, ClassVar

from textual import work
from textual.app import App, SystemCommand
from textual.binding import BindingType
from textual.filter import LineFilter
from textual.screen import Screen
from textual.signal import Signal
from textual.widget import Widget
from textual.worker import get_current_worker

from embedlab.analysis.pair_notes import PairNotes
from embedlab.analysis.pairing import Pairing
from embedlab.core.errors import EmbedlabError, MissingError
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.settings import Settings
from embedlab.tui.command import KeyScope
from embedlab.tui.commands import bindings, commands_of
from embedlab.tui.contrast import readable_variables
from embedlab.tui.model_chooser import ChooseModels, ChooserLine, lines_of
from embedlab.tui.model_colours import forget_colours
from embedlab.tui.model_marks import marks_by_model
from embedlab.tui.pair_table.data import (
    PairData,
    face_to_face,
    lost_datasets,
    no_pairs,
    unscored_by,
    warn_unscored,
    with_models,
)
from embedlab.tui.pair_table.identity import have_same_rows
from embedlab.tui.pair_table.saved_tables import cache_file, open_pairs, read_cached, store
from embedlab.tui.pair_table.scorer import ScorerProcess
from embedlab.tui.pair_table.view import PairSelection, PairView
from embedlab.tui.scoring_processes import ScoringProcesses
from embedlab.tui.screens import SCREENS, style_sheets
from embedlab.tui.shared_selection import SharedSelection
from embedlab.tui.state import DashboardState, Memory
from embedlab.tui.stored_models import (
    StoredModel,
    best_covering,
    find_model,
    oldest_run,
    one_seed,
    stored_models,
)
from embedlab.tui.terminal import process_memory
from embedlab.tui.terminal.app import TerminalApp
from embedlab.tui.terminal.versions import is_tuned
from embedlab.tui.training_texts import TrainingTexts
from embedlab.tui.widgets.plain_lines import Plain

FIRST_MODELS = 4  # shown when none were ever chosen
POLL_S = 1.0
AT_ONCE = 100_000  # pairs; of more, the sentences are shown before the scores are joined and ranked
WRITE_AFTER_S = 0.3
MARKS_AFTER_S = 0.2  # the pairs are drawn: what the marks of models import is not to delay them
MARK_LIMIT = 2_000  # marks that are remembered


class Dashboard(TerminalApp):
    """All screens over one runs folder and one data folder."""

    CSS_PATH = style_sheets(Path(__file__).with_name("dashboard.tcss"))
    TITLE = "embedlab"
    MODES: ClassVar[Any] = {name: screen.open for name, screen in SCREENS.items()}
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (180, "-wide")]  # noqa: RUF012 - the base class has it so
    VERTICAL_BREAKPOINTS = [(0, "-short"), (36, "-tall")]  # noqa: RUF012
    BINDINGS: ClassVar[list[BindingType]] = bindings("everywhere")

    def __init__(self, settings: Settings, *, pair_file: Path | None = None) -> None:
        self.memory = Memory.load()
        mode = self.memory.state.mode
        # Textual begins in this mode: an empty screen before it would be styled and drawn too.
        self.DEFAULT_MODE = "pairs" if pair_file is not None or mode not in SCREENS else mode  # type: ignore[misc]
        super().__init__(is_tuned=is_tuned(settings))
        self.settings = settings
        self.pair_file = pair_file
        self.data: PairData | None = None  # as the screens show it
        self._read: PairData | None = None  # with all chosen models
        self.stored: tuple[StoredModel, ...] = ()
        self.training_texts = TrainingTexts(settings)
        self.notes = PairNotes.load()
        self.selected = SharedSelection(self, self)
        self.data_ready: Signal[PairData] = Signal(self, "data-ready")
        self.activity: Signal[str] = Signal(self, "activity")
        self.scoring = ScoringProcesses(settings)
        self.scorer_process = ScorerProcess(settings)
        self._reported: set[str] = set()
        self._is_chosen = False  # the models, in this session
        forget_colours()
        self._plain = Plain()

    def on_mount(self) -> None:
        """Restore the remembered theme and screen; read the data while the first paint is under
        way.
        """
        theme = self.settings.theme or self.memory.state.theme
        if theme is not None and theme in self.available_themes:
            self.theme = theme
        self.theme_changed_signal.subscribe(
            self, lambda theme: self.remember(replace(self.memory.state, theme=theme.name))
        )
        if self.memory.trouble is not None:
            self.report(self.memory.trouble)
        self.load()
        self.set_interval(POLL_S, self.poll_evaluations)

    def get_css_variables(self) -> dict[str, str]:
        """The colours of the theme, of which some built-in ones are too faint to read."""
        self.theme_variables = readable_variables(super().get_css_variables())
        return self.theme_variables

    # keys

    def is_opening(self) -> bool:
        """Whether something that a key opens is not there yet."""
        return bool(
            self.screen_stack and getattr(self.screen, "is_opening", False)
        )  # a dialog has no such state

    def report_dropped(self, error: EmbedlabError) -> None:
        """Report that typed keys were dropped."""
        self.report(error, severity="warning")

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Return the filters of every line: those of Textual, and the one that removes control
        characters.
        """
        return [*super().get_line_filters(), self._plain]

    def get_system_commands(self, screen: Screen[Any]) -> Iterable[SystemCommand]:
        """The commands of the palette: Textual's own, and every key of this screen."""
        yield from super().get_system_commands(screen)
        scope = getattr(screen, "SCOPE", None)  # a dialog has none
        if scope is None:
            return
        # The app runs the actions of "everywhere", a screen its own, and its table those of a
        # table.
        targets: list[tuple[Screen[Any] | App[None] | Widget, KeyScope]] = [
            (screen, scope),
            (self, "everywhere"),
        ]
        targets += [
            (widget, of)
            for widget in screen.query(Widget)
            if (of := getattr(widget, "KEYS", None)) in SCREENS[scope].entry.parts
        ]
        for target, of in targets:
            for command in commands_of(of, scope):
                if command.meaning not in {"leave", "theme"}:  # Textual has these two
                    title = f"{command.label}  {command.key.shown[0]}"
                    yield SystemCommand(
                        title, command.tooltip, partial(target.run_action, command.action)
                    )

    def action_mode(self, mode: str) -> None:
        """Go to another screen."""
        self.switch_mode(mode)
        if SCREENS[mode].entry.is_restored:
            self.remember(replace(self.memory.state, mode=mode))

    def remember(self, state: DashboardState) -> None:
        """Remember STATE for the next start; a thread writes it a moment later."""
        if state != self.memory.state:
            self.memory.state = state
            self._write_state()

    @work(thread=True, exclusive=True, group="state", exit_on_error=False)
    def _write_state(self) -> None:
        worker = get_current_worker()
        sleep(WRITE_AFTER_S)
        if worker.is_cancelled:  # a newer state will be written
            return
        try:
            self.memory.write()
        except EmbedlabError as error:
            self.call_from_thread(self.report_once, [error])

    async def on_unmount(self) -> None:
        """Write the last state and end the scorer; detached processes continue."""
        await self.scorer_process.close()
        with suppress(EmbedlabError):
            self.memory.write()

    def report(self, error: EmbedlabError, *, severity: Any = "error") -> None:
        """Show the two lines that the command line would print."""
        text = f"{error.message}\nhint: {error.hint}" if error.hint else error.message
        self.notify(text, severity=severity, markup=False, timeout=8)

    def report_once(self, errors: Sequence[EmbedlabError]) -> None:
        """Show each of ERRORS that was not shown before."""
        for error in errors:
            if error.message not in self._reported:
                self._reported.add(error.message)
                self.report(error)

    # the pairs and their models

    @property
    def place_of_data(self) -> str:
        """Where the pairs are read from."""
        path = self.pair_file or self.settings.data
        return "" if path is None else str(path.absolute())

    @work(thread=True, exclusive=True, group="data", exit_on_error=False)
    def load(self) -> None:
        """Read pairs and scores from disk, outside the event loop; `data_ready` is published with
        them.
        """
        worker = get_current_worker()
        try:
            if self.memory.state.task:
                data, stored = self._items(self.memory.state.task)
                troubles: Sequence[EmbedlabError] = ()
                path: Path | None = None
            else:
                stored, troubles = stored_models(self.settings)
                data, path = self._data(stored)
        except (EmbedlabError, OSError) as error:
            trouble = error if isinstance(error, EmbedlabError) else MissingError(str(error))
            self.call_from_thread(self.report, trouble)
            if self.data is None:
                self.call_from_thread(self._take, no_pairs(trouble), (), ())
            return
        if not worker.is_cancelled:
            self.call_from_thread(self._take, data, stored, (*troubles, *data.troubles))
            if path is not None:
                store(data, path, self.settings)
            sleep(MARKS_AFTER_S)
            if not worker.is_cancelled and (
                marks := marks_by_model([model.name for model in data.models], self.settings)
            ):
                self.call_from_thread(self._take_marks, data, marks)

    def _take_marks(self, data: PairData, marks: tuple[str, ...]) -> None:
        """Show how the models of DATA were trained, which takes longer to find out than their
        scores take to be read.
        """
        if self._read is data:
            self._read = replace(data, model_marks=marks)
            self._publish()

    def _items(self, task: str) -> tuple[PairData, list[StoredModel]]:
        """The items of TASK with the answers of the chosen models, of the first few where none of
        them did it; and all that did.
        """
        from embedlab.tui.pair_table.items import item_models, load_items

        there, wanted = (
            item_models(self.settings).get(task, []),
            self.memory.state.pairs.models or (),
        )
        chosen = [model for model in there if model.name in wanted] or there[:FIRST_MODELS]
        return load_items(task, chosen, self.settings), there

    def choose_task(self, task: str) -> None:
        """Show the items of TASK, or with an empty name the pairs of all STS datasets."""
        if task != self.memory.state.task:
            self.selected.clear()
            self.remember(replace(self.memory.state, task=task, face_to_face=()))
            self.load()

    def _data(self, stored: Sequence[StoredModel]) -> tuple[PairData, Path | None]:
        """The pairs with the scores of the chosen models, and the file to store them in unless they
        are stored already.
        """
        wanted = self.memory.state.pairs.models
        chosen = (
            None
            if wanted is None
            else [model for name in wanted if (model := self._find(name, stored)) is not None]
        )
        path = cache_file(self.settings, chosen) if chosen and self.pair_file is None else None
        is_of_before = (
            bool(wanted) and not self._is_chosen
        )  # in another session, perhaps on other data
        if (
            path is not None
            and (cached := read_cached(path)) is not None
            and not (is_of_before and unscored_by(cached))
        ):
            return cached, None
        bare = open_pairs(self.settings, self.pair_file)
        lost = (
            lost_datasets(self.data, bare) if self.data is not None and not self.data.task else None
        )
        if self.data is not None and lost is not None:
            self.call_from_thread(self.report, lost)
            bare, path = self.data, None
        if self.data is None and bare.table.height > AT_ONCE:
            self.call_from_thread(self._take, with_models(bare, []), (), ())
        if chosen is None:
            chosen = best_covering(stored, bare.table["pair_key"], FIRST_MODELS)
        data = with_models(bare, chosen)
        lacking = (
            unscored_by(data) if data.models else [model.name for model in stored][:FIRST_MODELS]
        )
        troubles = (*data.troubles, *(warn_unscored(lacking) if self.pair_file is not None else ()))
        if is_of_before and (absent := unscored_by(data)):
            scored = [model for model in chosen if model.name not in absent] or best_covering(
                stored, bare.table["pair_key"], FIRST_MODELS
            )
            data, path = (
                with_models(bare, scored),
                cache_file(self.settings, scored) if path is not None and scored else None,
            )
        return replace(data, troubles=troubles), None if troubles else path

    def _find(self, name: str, stored: Sequence[StoredModel]) -> StoredModel | None:
        """A model of the last session, if its scores still exist."""
        known = next((model for model in stored if model.name == name), None)
        if self.memory.state.task:  # scores of pairs do not answer its items
            return known
        with suppress(EmbedlabError, OSError):
            return known or one_seed(stored, name) or find_model(name, self.settings)
        return None

    def _take(
        self, data: PairData, stored: Sequence[StoredModel], troubles: Sequence[EmbedlabError]
    ) -> None:
        self._read, self.stored = data, tuple(stored)
        self.training_texts = TrainingTexts(self.settings)
        self._publish()
        self.call_after_refresh(process_memory.resume_collection)
        self.report_once(troubles)

    async def look_for_models(self) -> None:
        """Update the list of models with scores: runs finish while the dashboard is open."""
        if task := self.memory.state.task:
            from embedlab.tui.pair_table.items import item_models

            self.stored = tuple((await to_thread(item_models, self.settings)).get(task, ()))
            return
        stored, troubles = await to_thread(stored_models, self.settings)
        self.stored = tuple(stored)
        self.report_once(troubles)

    def choose_models(self, names: Sequence[str]) -> None:
        """Show these models from now on."""
        state, self._is_chosen = self.memory.state, True
        self.remember(
            replace(state, face_to_face=(), pairs=replace(state.pairs, models=tuple(names)))
        )
        self.load()

    @property
    def chosen(self) -> list[str]:
        """The names of all chosen models, also while two of them are face to face."""
        return [model.name for model in self._read.models] if self._read is not None else []

    def face(self, pairing: Pairing | None) -> None:
        """Show the two models of PAIRING alone on every screen, or all chosen models again."""
        self.face_names((pairing.reference, pairing.other) if pairing is not None else ())

    def face_names(self, names: tuple[str, ...]) -> None:
        """Show the two models NAMES alone on every screen, the reference first; all chosen models
        where there are none.
        """
        self.remember(replace(self.memory.state, face_to_face=names))
        self._publish()

    def _publish(self) -> None:
        if self._read is None:
            return
        names = self.memory.state.face_to_face
        paired = (
            face_to_face(self._read, Pairing(reference=names[0], other=names[1]))
            if len(names) == 2
            else None
        )
        self.data = self._read if paired is None else paired
        self.selected.show(*self._viewed(self.data))
        self.data_ready.publish(self.data)

    def _viewed(self, data: PairData) -> tuple[PairView, PairSelection]:
        """DATA with the user's notes, the present order and marks, and what is selected of it."""
        if self.notes.trouble is not None:
            self.report_once([self.notes.trouble])
        state, old = self.memory.state.pairs, self.selected.view
        view = PairView(
            data=replace(data, table=self.notes.joined(data.table)),
            sort=old.sort if old else state.sort,
            is_descending=old.is_descending if old else state.is_descending,
            cache=self.settings.cache,
        )
        if (
            old is not None
            and data.task == old.data.task
            and have_same_rows(data.table, old.data.table)
        ):
            view.marks, view.absent_marks = old.marks, old.absent_marks
            return view, old.selection
        view.mark(old.marked() if old else state.marks)
        if old is not None:
            self.selected.path.clear()  # it holds row numbers, as what is within a slice does
            return view, replace(old.selection, within=None)
        if self.place_of_data == state.filter_of and not self.selected.typed:
            self.selected.typed = state.filter
        return view, PairSelection(dataset=state.dataset)

    def remember_view(self) -> None:
        """Remember what is selected and how it is sorted."""
        view, state = self.selected.view, self.memory.state
        if (
            view is None or view.data.table.is_empty() or self.pair_file is not None
        ):  # not the view to restore
            return
        pairs = replace(
            state.pairs,
            filter=self.selected.typed,
            filter_of=self.place_of_data,
            dataset=view.selection.dataset,
            sort=view.sort,
            is_descending=view.is_descending,
            marks=tuple(view.marked(MARK_LIMIT)),
        )
        self.remember(replace(state, pairs=pairs))

    def reference(self, names: Sequence[str]) -> str | None:
        """The model that the others are compared with: the chosen one, or the one of NAMES whose
        run began first.
        """
        if self.data is not None and self.data.pairing is not None:
            return self.data.pairing.reference
        chosen = self.memory.state.compare.reference
        return (
            chosen if chosen in names else oldest_run(self.stored, names) or next(iter(names), None)
        )

    def set_reference(self, name: str) -> None:
        """Compare the other models with this one from now on."""
        pairing = self.data.pairing if self.data is not None else None
        state = self.memory.state
        self.remember(replace(state, compare=replace(state.compare, reference=name)))
        if pairing is not None and name == pairing.other:
            self.face(pairing.swapped)

    def rename_model(self, old: str, new: str) -> None:
        """Continue to show a run that was renamed."""
        state = self.memory.state
        models = (
            tuple(new if name == old else name for name in state.pairs.models)
            if state.pairs.models is not None
            else None
        )
        reference = new if state.compare.reference == old else state.compare.reference
        faced = tuple(new if name == old else name for name in state.face_to_face)
        compare = replace(state.compare, reference=reference)
        self.remember(
            replace(
                state,
                face_to_face=faced,
                pairs=replace(state.pairs, models=models),
                compare=compare,
            )
        )
        self.load()

    async def models_dialog(
        self, question: str, more: Sequence[ChooserLine] = (), chosen: Collection[str] = ()
    ) -> list[str] | None:
        """Choose among the models, and MORE lines of which those with the values CHOSEN are; gives
        values, of models "model:NAME".
        """
        from embedlab.models.catalog import model_names

        await self.look_for_models()
        lines = [
            *lines_of(
                self.stored, "  (model)" if more else "", has_seeds=not self.memory.state.task
            )
        ]
        listed = {line.model for line in lines}
        unlisted = [
            ChooserLine(label=name, value=f"model:{name}", model=name)
            for name in self.chosen
            if name not in listed
        ]
        entries = [*unlisted, *lines, *more]
        suggestions = await to_thread(model_names, self.settings.runs)
        values = {*chosen, *(f"model:{name}" for name in self.chosen)}
        return await self.push_screen_wait(
            ChooseModels(
                question, entries, values, named=self._typed_model, suggestions=suggestions
            )
        )

    def _typed_model(self, name: str) -> ChooserLine:
        """The entry of a model that is not listed; a wrong name is an error."""
        from embedlab.models.catalog import resolve
        from embedlab.models.encoder_kind import is_remote

        members = resolve(name, self.settings.runs).members
        far = any(spec.is_on_hub or (spec.is_prefixed and is_remote(spec.kind)) for spec in members)
        is_scored = not far and find_model(name, self.settings) is not None
        return ChooserLine(
            label=name if is_scored else f"{name}  (will be scored)",
            value=f"model:{name}",
            model=name,
        )

    async def scored(self, names: Sequence[str]) -> list[str]:
        """Those of NAMES that have scores by now."""
        await self.look_for_models()
        return [
            name for name in names if await to_thread(self._find, name, self.stored) is not None
        ]

    async def take_models(self, names: Sequence[str]) -> None:
        """Show the models NAMES, in the order in which they are shown already; score those that
        have no scores.
        """
        names = [
            *(name for name in self.chosen if name in names),
            *(name for name in names if name not in self.chosen),
        ]
        models: list[str] = []
        for name in names:
            if await to_thread(self._find, name, self.stored) is not None:
                models.append(name)
            else:
                self.score_model(name)
        if models != self.chosen:
            self.choose_models(models)

    # models that are scored on demand

    def score_model(self, name: str) -> None:
        """Score the available pairs with a model in a detached process."""
        try:
            self.scoring.start(name, self._tasks())
        except EmbedlabError as error:
            self.report(error)
        else:
            self.notify(f"scoring {name} in a separate process", markup=False)
            self.poll_evaluations()

    def _tasks(self) -> list[str]:
        """The tasks that a model is scored on: the user's own file, or the available datasets
        without their other splits.
        """
        if self.memory.state.task:
            return [self.memory.state.task]
        if self.pair_file is not None:
            return [str(self.pair_file.absolute())]
        return [
            name
            for name in (self.data.datasets if self.data is not None else ())
            if ":" not in name
        ] or [DEFAULT_TASK]

    def poll_evaluations(self) -> None:
        """Show the progress of the scoring processes; add the models of those that ended."""
        ended = self.scoring.poll()
        self.activity.publish(self.scoring.progress)
        for name, error in ended:
            if error is not None:
                self.report(error)
                continue
            self.notify(f"{name} is scored", markup=False)
            shown = self.chosen
            self.choose_models([*shown, name] if name not in shown else shown)
