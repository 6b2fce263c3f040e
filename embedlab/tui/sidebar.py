"""The sidebar: models with their score and coverage, datasets, and runs that are at work."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.widgets.option_list import Option

from embedlab.tui.plain import shorten_middle
from embedlab.tui.room import Lines
from embedlab.tui.theme import model_colour, model_sign

Section = Literal["models", "datasets", "runs"]


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of the sidebar."""

    section: Section
    name: str
    place: int | None = None  # of a chosen model among the chosen, of a shown dataset 0
    score: str = ""
    coverage: float = 1.0
    is_busy: bool = False


class Sidebar(Lines):
    """What can be chosen; nothing is chosen but by the user's hand."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "choose", "Choose", tooltip="choose it, or leave it out"),
        Binding(
            "enter",
            "open",
            "Score/Reference",
            tooltip="score it, or the reference",
        ),
    ]

    class Chosen(Message):
        """The line under the cursor is to be chosen, or left out."""

        def __init__(self, line: Line) -> None:
            super().__init__()
            self.line = line

    class Opened(Chosen):
        """The line under the cursor is to be opened."""

    def __init__(self) -> None:
        super().__init__(id="sidebar", classes="panel")
        self.border_title = "models · data · runs"
        self._shown: dict[str, Line] = {}

    def show(self, lines: Sequence[Line]) -> None:
        """Show LINES; the cursor stays on its line."""
        by_id = {f"{line.section} {line.name}": line for line in lines}
        if by_id == self._shown:
            return
        highlighted_id = self.highlighted_option.id if self.highlighted_option is not None else None
        self._shown = by_id
        self.clear_options()
        section = ""
        for key, line in by_id.items():
            if line.section != section:
                section = line.section
                self.add_option(Option(Content.styled(section, "bold $faint"), disabled=True))
            self.add_option(Option(self._text(line), id=key))
        keys = list(by_id)
        if keys:
            self.highlighted = self.get_option_index(
                highlighted_id if highlighted_id in by_id else keys[0]
            )

    def on_lines_resized(self) -> None:
        """Draw the lines anew."""
        lines, self._shown = self._shown, {}
        self.show(list(lines.values()))

    def _text(self, line: Line) -> Content:
        width = max(self.scrollable_content_region.width, 20) - 1
        score = line.score
        if line.is_busy:
            score = "scoring…"
        elif line.section == "models" and line.coverage < 1:
            share = f"{line.coverage:.0%}" if line.coverage else "score"
            score = f"{share} ⏎" if line.place is not None else ""
        room = width - 3 - len(score)
        name = shorten_middle(line.name, room)
        if line.section == "models":
            sign = model_sign(line.place) if line.place is not None else "○"
            style = model_colour(line.place) if line.place is not None else "$faint"
        else:
            sign, style = ("▸" if line.place is not None else " "), "$faint"
        return Content.assemble((f"{sign} ", style), (f"{name:<{room}} ", ""), (score, "$faint"))

    @property
    def line(self) -> Line | None:
        """The line under the cursor."""
        option = self.highlighted_option
        return self._shown.get(option.id or "") if option is not None else None

    def action_choose(self) -> None:
        """Choose the line, or leave it out."""
        if self.line is not None:
            self.post_message(self.Chosen(self.line))

    def action_open(self) -> None:
        """Open the line."""
        if self.line is not None:
            self.post_message(self.Opened(self.line))
