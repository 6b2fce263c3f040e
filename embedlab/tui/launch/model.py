"""What Launch can start and what was typed for it, the form at hand, and the processes that it
started.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from embedlab.core.errors import EmbedlabError, ExitCode
from embedlab.core.settings import Settings
from embedlab.runs import launch
from embedlab.tui.launch.form import (
    STARTED,
    Choice,
    Field,
    Launch,
    choices,
    choices_of_files,
    launch_or_error,
)
from embedlab.tui.launch.grid_board import started_grids


@dataclass(frozen=True, eq=False)
class LoadedForm:
    """The lines of a form."""

    choice: Choice  # the very object that was wanted: an equal one is another request
    fields: tuple[Field, ...]


class LaunchModel:
    """The choices, the form of one of them, and what was typed into the others."""

    def __init__(self) -> None:
        self.choices: dict[str, Choice] = {}
        self.files: dict[str, Choice] = {}  # the user's own, by their paths
        self.form: LoadedForm | None = None  # whose lines are shown
        self.launch: Launch | None = (
            # what the notes show; None while the form is wrong or not checked. A start plans anew
            None
        )
        # whose form is to be shown: that of the entry under the cursor
        self.wanted: Choice | None = None
        self.next_entry: str | None = None  # goes under the cursor when the list is shown again
        self._typed: dict[
            str, dict[str, str]
        ] = {}  # the changed lines of the forms of other entries
        self._processes: list[tuple[str, launch.Detached]] = []  # by their titles, those that run

    # the list

    def read(self, own_files: Sequence[str], settings: Settings) -> tuple[list[Choice], list[str]]:
        """Every recipe and grid, those of OWN_FILES too, and the names of the started grids."""
        remembered = {
            str(Path(choice.name).absolute()): choice for choice in choices_of_files(own_files)
        }
        opened = {str(Path(choice.name).absolute()): choice for choice in self.files.values()}
        return [*choices(), *{**remembered, **opened}.values()], started_grids(settings)

    def take_choices(
        self, listed: Sequence[Choice], started: Sequence[str], *, is_in_use: bool
    ) -> None:
        """List these; the entry of a form that IS_IN_USE stays, though its file is gone."""
        everything = [
            *listed,
            *(Choice(kind=STARTED, name=name, summary="") for name in reversed(started)),
        ]
        self.choices = {choice.key: choice for choice in everything}
        if self.form is not None and is_in_use:
            self.choices.setdefault(self.form.choice.key, self.form.choice)

    def entry_to_go_to(self, under_cursor: str | None) -> str | None:
        """The key of a file that was opened now, once it is listed, or else of what is
        UNDER_CURSOR.
        """
        if self.next_entry not in self.choices:
            return under_cursor
        key, self.next_entry = self.next_entry, None
        return key

    def open_file(self, choice: Choice) -> None:
        """List a file of the user's own, and go to it."""
        self.files[choice.name] = choice
        self.next_entry = choice.key

    def is_new(self, grid: str) -> bool:
        """Whether a started GRID is not listed yet."""
        return Choice(kind=STARTED, name=grid, summary="").key not in self.choices

    # the form

    def leave_form(self, typed: Mapping[str, str]) -> None:
        """Remember what was TYPED into the form, which is replaced."""
        if self.form is not None:
            self._typed[self.form.choice.key] = dict(typed)
        self.form = self.launch = None

    def typed_for(self, choice: Choice) -> dict[str, str]:
        """What was typed into the form of CHOICE before; from now on its lines say it."""
        return self._typed.pop(choice.key, {})

    def forget_typed(self) -> None:
        """Forget what was typed for the wanted entry."""
        if self.wanted is not None:
            self._typed.pop(self.wanted.key, None)

    # processes

    def start(self, choice: Choice, values: Mapping[str, str], settings: Settings) -> Launch:
        """Start CHOICE with VALUES in a process of its own, planned at this moment: its files and
        its runs may have changed.
        """
        planned = launch_or_error(choice, values, settings)
        if isinstance(planned, EmbedlabError):
            raise planned
        process = (
            launch.start_run(planned.arguments, planned.run)
            if planned.run
            else launch.start_detached(planned.arguments, planned.log)
        )
        self._processes.append((planned.title, process))
        return planned

    def failures(self) -> list[EmbedlabError]:
        """The errors of the processes that ended since the last time; what was stopped is not an
        error.
        """
        codes = [(title, process, process.exit_code()) for title, process in self._processes]
        self._processes = [(title, process) for title, process, code in codes if code is None]
        return [
            process.error(code, title)
            for title, process, code in codes
            if code not in {None, ExitCode.OK, ExitCode.INTERRUPTED}
        ]
