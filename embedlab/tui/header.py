"""The header of all rooms: where one is, items, a chip a model, what limits the numbers; and the
footer: the keys of what has the focus.
"""

from collections.abc import Sequence

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget

from embedlab.tui.plain import shorten_middle
from embedlab.tui.theme import model_colour, model_sign

ROOMS = ("data", "compare", "runs")  # their keys are 1, 2 and 3
_LONGEST_NAME = 22


class Header(Widget):
    """Two lines at the top."""

    DEFAULT_CSS = """
    Header { height: 2; padding: 0 1; background: $surface; }
    """

    def __init__(self) -> None:
        super().__init__(id="header")
        self._room, self._path = "", [""]
        self._right = self._below = Content()

    def show(self, room: str, path: Sequence[str], right: Content, lower_line: Content) -> None:
        """Show the PATH in ROOM, what is at the RIGHT, and below them LOWER_LINE."""
        self._room, self._path = room, list(dict.fromkeys(filter(None, path))) or [""]
        self._right, self._below = right, lower_line
        self.refresh()

    def render(self) -> Content:
        """The two lines; what is at the right is whole, and the end of the path if it can."""
        width = self.content_size.width
        room = max(width - self._right.cell_length - 2, 1)
        paths = [crumbs_of(self._room, self._path[start:]) for start in range(len(self._path))]
        left = next((path for path in paths if path.cell_length <= room), paths[-1])
        left = left.truncate(room, ellipsis=True, pad=True)
        lower_line = self._below.truncate(width, ellipsis=True)
        return Content("\n").join([left + Content("  ") + self._right, lower_line])

    async def on_click(self, event: events.Click) -> None:
        """Open what limits the numbers."""
        if event.y == 0 and event.x > self.size.width - 12:
            await self.app.run_action("limits")


class Keys(Widget):
    """A line at the bottom with the keys of what has the focus; each can be clicked.

    Textual's own has a widget a key, and makes all of them anew in every room.
    """

    DEFAULT_CSS = """
    Keys { height: 1; dock: bottom; background: $surface; text-wrap: nowrap; }
    """

    _places: Sequence[tuple[range, Binding]] = ()

    def on_mount(self) -> None:
        """Draw the keys whenever others act."""
        self.screen.bindings_updated_signal.subscribe(self, lambda _: self.refresh())

    def render(self) -> Content:
        """The keys, in their order."""
        binding_of_action: dict[str, Binding] = {}  # an action's first key
        for active in self.screen.active_bindings.values():
            if active.binding.show:
                binding_of_action.setdefault(active.binding.action, active.binding)
        gap = " " if self.screen.has_class("-folded") else "  "
        line, label_spans = Content(), []
        for binding in binding_of_action.values():
            key = self.app.get_key_display(binding)
            label = Content.assemble((key, "bold"), (f" {binding.description}", "$faint"), gap)
            label_spans.append((range(line.cell_length, (line + label).cell_length), binding))
            line += label
        self._places = label_spans
        return line

    def _at(self, x: int) -> Binding | None:
        return next((binding for span, binding in self._places if x in span), None)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Say what the key under the pointer does."""
        binding = self._at(event.x)
        self.tooltip = (binding and binding.tooltip) or None

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Press the key under the pointer."""
        if binding := self._at(event.x):
            self.app.simulate_key(binding.key)


def crumbs_of(room: str, path: Sequence[str]) -> Content:
    """The rooms with their keys, that called ROOM stands out; then the PATH in it."""
    titles = [
        Content.styled(f" {key} {name.title()} ", "bold reverse" if name == room else "$faint")
        for key, name in enumerate(ROOMS, 1)
    ]
    *parent_crumbs, final_crumb = path
    parents = "".join(f"{crumb} › " for crumb in parent_crumbs)
    return Content.assemble(*titles, (f"   {parents}", "$faint"), (final_crumb, "bold"))


def chip(position: int, name: str, score: str, sign: str) -> Content:
    """The model called NAME, that was chosen at POSITION, its SCORE, and how it stands to the
    reference.
    """
    return Content.assemble(
        (f"{model_sign(position)} {shorten_middle(name, _LONGEST_NAME)}", model_colour(position)),
        (f" {score}" if score else "", "bold"),
        (f" {sign}", "$faint" if sign == "=" else "bold") if sign else "",
    )
