"""The sheet that launches a recipe or a grid: the fields that matter, the rest as TOML, and what it
would do beside it.
"""

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.timer import Timer
from textual.widgets import Input, Label, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from embedlab.core.errors import EmbedlabError
from embedlab.core.paths import state_folder
from embedlab.core.settings import Settings
from embedlab.tui.header import Keys
from embedlab.tui.room import Working
from embedlab.tui.runs.launching import (
    AXIS,
    Choice,
    Form,
    arguments,
    choice_of_file,
    choices,
    dry_run,
    new_form,
    start_choice,
)
from embedlab.tui.state import Memory

REST_S = 0.6  # of the keys, before what was typed is tried
_HINTS = {
    "encoder": "the recipe's own",
    "rows": "the recipe's own",
    "steps": "all",
    "name": "letters, digits, - . _",
    "data": "a folder, starter, tiny",
}


class LaunchSheet(Working, ModalScreen[str | None]):
    """Chooses, edits and starts; what was typed is there again when it opens again."""

    DEFAULT_CSS = """
    LaunchSheet { align: center middle; }
    LaunchSheet #sheet { width: 96%; height: 92%; border: round $primary; background: $surface;
        padding: 0 1; border-title-style: bold; border-title-color: $text-primary; }
    LaunchSheet #choose { width: 36; }
    LaunchSheet #choices { height: 1fr; text-wrap: nowrap; text-overflow: ellipsis; border: none;
        background: transparent; padding: 0; }
    LaunchSheet Input { height: 1; border: none; padding: 0; background: $boost; }
    LaunchSheet Input:focus { background: $primary-muted; }
    LaunchSheet #fields { height: auto; max-height: 55%; padding: 0 1; }
    LaunchSheet .field { height: 1; }
    LaunchSheet .field Label { width: 16; color: $faint; text-wrap: nowrap; text-overflow: ellipsis; }
    LaunchSheet .field Input { width: 1fr; }
    LaunchSheet .field.-typed Label { color: $foreground; text-style: bold; }
    LaunchSheet #form { width: 1fr; }
    LaunchSheet #toml { height: 1fr; min-height: 4; border: round $rule; border-title-color: $faint;
        padding: 0 1; background: transparent; }
    LaunchSheet #toml:focus { border: heavy $primary; }
    LaunchSheet #tried { width: 1fr; height: 1fr; border: round $rule; padding: 0 1;
        border-title-color: $faint; }
    LaunchSheet #summary { height: auto; max-height: 2; color: $faint; padding: 0 1; }
    LaunchSheet.-narrow #choose { width: 24; }
    LaunchSheet.-narrow #right { layout: vertical; }
    LaunchSheet.-narrow #tried { height: 38%; min-height: 7; width: 100%; }
    LaunchSheet.-narrow .field Label { width: 12; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "start", "Start", priority=True, tooltip="start what the form says"),
        Binding("ctrl+z", "undo", "Undo all", tooltip="the recipe's own values"),
        Binding("escape", "back", "Back", tooltip="back; your input stays"),
        Binding("ctrl+q", "app.quit", "Quit", show=False),
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]

    def __init__(self, settings: Settings, memory: Memory, typed: str = "") -> None:
        super().__init__()
        self._settings, self._memory, self._typed = settings, memory, typed
        self._choices: dict[str, Choice] = {}
        self._choice: Choice | None = None
        self._own: Form | None = None  # of the choice, before anything was typed
        self._timer: Timer | None = None
        self._is_starting = False
        self._goes_on = False  # into the form, once it is there

    def compose(self) -> ComposeResult:
        """Yield the list, the form and the trial."""
        with Vertical(id="sheet") as sheet:
            sheet.border_title = "launch"
            with Horizontal():
                with Vertical(id="choose"):
                    yield Input(
                        id="words", name="words", placeholder="search, or a file path", compact=True
                    )
                    yield OptionList(id="choices")
                with Vertical(id="form"):
                    yield Static(id="summary", markup=False)
                    with Horizontal(id="right"):
                        with Vertical():
                            yield VerticalScroll(id="fields", can_focus=False)
                            yield TextArea(id="toml", language=None, tab_behavior="focus")
                        with VerticalScroll(id="tried") as dry_run_pane:
                            dry_run_pane.border_title = "dry run"
                            yield Static(markup=False)
            yield Keys()

    def on_mount(self) -> None:
        """List what can be launched."""
        self.screen.set_focus(self.query_one("#words"))
        self._read_choices()

    def on_resize(self) -> None:
        """Put the trial below the form where there is no room beside it."""
        self.set_class(self.size.width < 110, "-narrow")

    # choosing

    @work(thread=True, group="choices", exit_on_error=False)
    def _read_choices(self) -> None:
        own_choices = []
        for path in dict.fromkeys(filter(None, [self._typed, *self._own_files])):
            with suppress(EmbedlabError, OSError):
                own_choices.append(choice_of_file(path))
        self.hand_over(self._list, [*own_choices, *choices()])

    @property
    def _own_files(self) -> Sequence[str]:
        files: list[str] = self._memory.get("own files", [])
        return files

    def _list(self, listed: list[Choice]) -> None:
        self._choices = {choice.key: choice for choice in listed}
        last_key = self._memory.get("launch", "")
        if self._typed and listed:
            last_key = listed[0].key
        self._show_choices()
        if last_key in self._choices:
            options = self.query_one("#choices", OptionList)
            options.highlighted = options.get_option_index(last_key)

    def _show_choices(self) -> None:
        search_words = self.query_one("#words", Input).value.casefold().split()
        options = self.query_one("#choices", OptionList)
        matching = [
            (key, choice)
            for key, choice in self._choices.items()
            if all(word in f"{key} {choice.summary}".casefold() for word in search_words)
        ]
        options.clear_options()
        for kind, group in groupby(matching, key=lambda keyed: keyed[1].kind):
            heading = Content.styled(f"{kind.title()}s", "bold $faint")
            options.add_options(
                [
                    Option(heading, disabled=True),
                    *(Option(Content(choice.title), id=key) for key, choice in group),
                ]
            )
        exact = [key for key, choice in matching if [choice.title.casefold()] == search_words]
        options.action_first()
        if exact:
            options.highlighted = options.get_option_index(exact[0])

    def on_input_changed(self, event: Input.Changed) -> None:
        """Narrow the list, or try what was typed."""
        event.stop()
        if event.input.id == "words":
            self._show_choices()
        else:
            self._typed_something()

    def on_text_area_changed(self) -> None:
        """Try what was typed."""
        self._typed_something()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """From the words into the form, where the first field is; a path is opened."""
        event.stop()
        if event.input.id != "words":
            self.screen.focus_next()
        elif "/" in event.value or event.value.endswith(".toml"):
            self._open(event.value.strip())
        else:
            self._to_form()

    @work(group="open", exit_on_error=False)
    async def _open(self, path: str) -> None:
        try:
            choice = await asyncio.to_thread(choice_of_file, path)
        except EmbedlabError as error:
            self._show_refusal(error)
            return
        self._choices = {choice.key: choice, **self._choices}
        files = [*dict.fromkeys([choice.name, *self._own_files])]
        self._memory.set("own files", files[:20])
        self.query_one("#words", Input).value = ""
        self._show_choices()
        self._to_form()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Show the form of what is under the cursor."""
        choice = self._choices.get(event.option.id or "")
        if choice is not None and choice != self._choice:
            self._keep()
            self._choice, self._own = choice, None
            self._build(choice)

    def on_option_list_option_selected(self) -> None:
        """Go into the form."""
        self._to_form()

    def _to_form(self) -> None:
        """Go to the first field, as soon as the form of what the cursor is on is there."""
        highlighted = self.query_one("#choices", OptionList).highlighted_option
        is_shown = highlighted and self._choice and highlighted.id == self._choice.key
        self._goes_on = self._own is None or not is_shown
        if not self._goes_on:
            self.screen.set_focus(self.query("#fields Input").first())

    @work(exclusive=True, group="form", exit_on_error=False)
    async def _build(self, choice: Choice) -> None:
        """Read the recipe's values and show what was typed before."""
        try:
            stored_form = await asyncio.to_thread(new_form, choice, self._settings)
        except (EmbedlabError, OSError) as error:
            self._show_refusal(error)
            return
        if choice != self._choice:
            return
        stored_draft = self._drafts.get(choice.key)
        form = stored_form
        if isinstance(stored_draft, dict) and set(stored_draft.get("values", {})) == set(
            stored_form.values
        ):
            form = Form(
                values=stored_draft["values"], text=stored_draft.get("text", stored_form.text)
            )
        self._own = None
        fields = self.query_one("#fields", VerticalScroll)
        await fields.remove_children()
        await fields.mount_all(
            Horizontal(
                Label(key.removeprefix(AXIS).rpartition(".")[2]),  # as the board names an axis
                Input(value, name=key, compact=True, placeholder=_HINTS.get(key, "")),
                classes="field",
            )
            for key, value in form.values.items()
        )
        toml = self.query_one("#toml", TextArea)
        toml.load_text(form.text)
        axes_hint = r"; \[axes] adds axes" if choice.kind == "grid" else ""
        toml.border_title = f"all other values (TOML){axes_hint}"
        self.say("#summary", choice.summary)
        self.say("#tried Static", "")  # what is there is of another choice
        self._own = stored_form
        if self._goes_on:
            self._to_form()
        self._typed_something()

    # what was typed

    @property
    def form(self) -> Form:
        """What the form says now."""
        values = {
            field.name or "": field.value for field in self.query("#fields Input").results(Input)
        }
        return Form(values=values, text=self.query_one("#toml", TextArea).text)

    @property
    def _drafts(self) -> Mapping[str, object]:
        return dict(self._memory.get("forms", {}))

    def _typed_something(self) -> None:
        """Keep what was typed, and try it after a rest."""
        if self._own is None:
            return
        for field in self.query("#fields Input").results(Input):
            is_typed = field.value != self._own.values.get(field.name or "")
            if isinstance(field.parent, Horizontal):
                field.parent.set_class(is_typed, "-typed")
        self._keep()
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(REST_S, self._try)

    def _keep(self) -> None:
        """Remember the form; one as in the recipe is forgotten."""
        if self._choice is None or self._own is None:
            return
        form = self.form
        draft = {"values": dict(form.values), "text": form.text} if form != self._own else None
        self._keep_draft(self._choice, draft)
        self._memory.set("launch", self._choice.key)

    def _keep_draft(self, choice: Choice, draft: object = None) -> None:
        """Remember what was typed for CHOICE, or forget it."""
        drafts = {key: stored for key, stored in self._drafts.items() if key != choice.key}
        self._memory.set("forms", {**drafts, choice.key: draft} if draft else drafts)

    @work(exclusive=True, group="try", exit_on_error=False)
    async def _try(self) -> None:
        """What the command line says of the form."""
        choice = self._choice
        if choice is None:
            return
        self.query_one("#tried", VerticalScroll).border_title = "dry run …"
        try:
            words = await self._words(choice, self.form)
            would_do = await dry_run(words)
        except EmbedlabError as error:
            if choice == self._choice:
                self._show_refusal(error)
            return
        if choice == self._choice:
            text = f"{would_do}\n\n$ embedlab {shlex.join(words)}"
            self._show_tried("dry run · ctrl+s starts it", Content(text))

    async def _words(self, choice: Choice, form: Form) -> list[str]:
        """The words behind `embedlab` that start FORM."""
        grids = state_folder() / "grids"
        return await asyncio.to_thread(arguments, choice, form, self._settings, grids)

    def _show_refusal(self, error: EmbedlabError | OSError) -> None:
        hint = getattr(error, "hint", "")
        hint_line = (f"\nhint: {hint}" if hint else "", "$faint")
        refusal = Content.assemble((str(error), "$text-error"), hint_line)
        self._show_tried("dry run: cannot start", refusal)

    def _show_tried(self, title: str, text: Content) -> None:
        self.query_one("#tried", VerticalScroll).border_title = title
        self.say("#tried Static", text)

    # keys

    def action_undo(self) -> None:
        """Take the recipe's own values again."""
        if self._choice is not None:
            self._keep_draft(self._choice)
            self._own, self._goes_on = None, True  # the field that had the focus goes
            self._build(self._choice)

    def action_back(self) -> None:
        """From the form to the list, from there to the room; what was typed is kept."""
        if self.focused is not None and self.focused.id in {"words", "choices"}:
            self._keep()
            self.dismiss(None)
        else:
            self.screen.set_focus(self.query_one("#words"))

    @work(exclusive=True, group="start", exit_on_error=False)
    async def action_start(self) -> None:
        """Start what the form says at this moment."""
        choice, form = self._choice, self.form
        if choice is None or self._is_starting:
            return
        self._is_starting = True
        self.query_one("#tried", VerticalScroll).border_title = "starting …"
        try:
            words = await self._words(choice, form)
            await dry_run(words)  # what is refused is refused here
            await start_choice(choice, words, self._settings)
        except EmbedlabError as error:
            self._show_refusal(error)
            return
        finally:
            self._is_starting = False
        self._keep_draft(choice)
        self.app.notify("started in a process of its own; quitting does not end it")
        self._own = None  # nothing more to keep
        name = form.values.get("name") or choice.title
        self.dismiss(Path(name).name)
