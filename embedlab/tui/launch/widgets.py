"""The list of recipes and grids, and the notes below a form."""

import shlex
from collections.abc import Mapping
from pathlib import PurePath
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from embedlab.tui.commands import bindings
from embedlab.tui.launch.form import STARTED, Choice, Launch
from embedlab.tui.widgets.plain import plain


class LaunchList(OptionList):
    """Recipes and grids, walked with the keys of a table."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("list")

    def show(self, choices: Mapping[str, Choice], under: str | None, searched: str = "") -> None:
        """List those of CHOICES that have all words of SEARCHED by their kinds, with the cursor on
        UNDER, or else on the first.
        """
        matching = {key: choice for key, choice in choices.items() if _has(choice, searched)}
        self.clear_options()
        for kind in ("recipe", "grid", STARTED):
            mine = {key: choice for key, choice in matching.items() if choice.kind == kind}
            if mine:
                self.add_option(Option(f"{kind}s", disabled=True))
            self.add_options(
                [Option(f"  {plain(_title(choice))}", id=key) for key, choice in mine.items()]
            )
        if not matching:
            self.add_option(Option("nothing has these words", disabled=True))
        self.highlighted = (
            self.get_option_index(under)
            if under is not None and under in matching
            else 1
            if matching
            else None
        )  # 0 is a title

    @property
    def under_cursor(self) -> str | None:
        """The key of the choice under the cursor."""
        return self.highlighted_option.id if self.highlighted_option is not None else None


def _has(choice: Choice, searched: str) -> bool:
    """Whether the kind, the name or the summary of a choice has each word of SEARCHED."""
    text = f"{choice.kind} {choice.name} {choice.summary}".casefold()
    return all(word in text for word in searched.casefold().split())


def _title(choice: Choice) -> str:
    """The name in the list: of a file its last part."""
    return PurePath(choice.name).name if choice.name.endswith(".toml") else choice.name


def start_notes(launch: Launch) -> Content:
    """What is missing for a start, what is known of it, and the command."""
    lacks = [Content.styled(f"! {line}", "$text-warning") for line in launch.missing]
    known = [*launch.notes, f"$ embedlab {shlex.join(launch.arguments)}", "ctrl+s starts it"]
    return Content("\n").join([*lacks, *map(Content, known)])
