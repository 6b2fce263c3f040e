"""The header of all rooms: where one is, items, a chip a model, what limits the numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.content import Content
from textual.widget import Widget

from embedlab.tui.theme import model_colour, model_sign

ROOMS = ("data", "compare", "runs")  # their keys are 1, 2 and 3


@dataclass(frozen=True, kw_only=True)
class Chip:
    """A chosen model: its score on what is shown, and how it stands to the reference."""

    name: str
    score: str = ""  # empty while it is computed
    sign: str = ""  # ▲ above the reference, ▼ below, = not told from it; empty for the reference


class Header(Widget):
    """Two lines at the top."""

    DEFAULT_CSS = """
    Header { height: 2; padding: 0 1; background: $surface; }
    """

    def __init__(self) -> None:
        super().__init__(id="header")
        self._shown: tuple[Sequence[str], str, Sequence[Chip], int, str] = ((), "", (), 0, "")

    def show(
        self,
        *,
        crumbs: Sequence[str],
        items: str,
        chips: Sequence[Chip],
        limits: int,
        activity: str,
    ) -> None:
        """Show these; nothing is drawn where they are as before."""
        new = (tuple(crumbs), items, tuple(chips), limits, activity)
        if new != self._shown:
            self._shown = new
            self.refresh()

    def render(self) -> Content:
        """The two lines."""
        crumbs, items, shown, remarks, activity = self._shown
        width = self.content_size.width
        limits = f"i {remarks} note{'s' * (remarks > 1)}" if remarks else ""
        rooms = room_titles(*crumbs[:1])
        room = width - rooms.cell_length - len(limits) - len(items) - 4
        path = "".join(f" › {crumb}" for crumb in crumbs[1:] if crumb)
        path = path if len(path) <= room else path[: room - 1] + "…"
        blank = " " * max(room - len(path) + 2, 1)
        top = Content.assemble(
            rooms,
            (path, "bold"),
            blank,
            (items, "$faint"),
            "  " if limits else "",
            (limits, "bold $text-warning"),
        )
        chips: list[Content] = []
        for place, chip in enumerate(shown):
            colour = model_colour(place)
            name = chip.name if len(chip.name) <= 22 else f"{chip.name[:10]}…{chip.name[-11:]}"
            parts = [(f"{model_sign(place)} {name}", colour), (f" {chip.score or '…'}", "bold")]
            parts += (
                [(f" {chip.sign}", "$faint" if chip.sign == "=" else "bold")] if chip.sign else []
            )
            chips.append(Content.assemble(*parts))
        line = Content("   ").join(chips)
        if activity:
            line = Content.assemble(line, "   " if chips else "", (activity, "italic $faint"))
        return Content("\n").join([top, line])

    async def on_click(self, event: events.Click) -> None:
        """Open what limits the numbers."""
        if event.y == 0 and event.x > self.size.width - 12:
            await self.app.run_action("limits")


def room_titles(here: str = "") -> Content:
    """The rooms with their keys; the one called HERE stands out."""
    titles = [f"{key} {name.title()}" for key, name in enumerate(ROOMS, 1)]
    return Content("  ").join(
        Content.styled(title, "bold $text-primary" if here and title.endswith(here) else "$faint")
        for title in titles
    )
