"""The last line of every screen: the keys that do something now, on the focused widget and on what
the screen shows.
"""

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.widget import Widget

from embedlab.tui.commands import meaning_of


class KeyLine(Widget):
    """The keys as one line of text; a click on one presses it.

    Textual's Footer creates a widget for each key, and creates all of them again when the focus
    changes.
    """

    _drawn: tuple[list[Binding], Binding | None] | None = None

    def on_mount(self) -> None:
        """Update the line when the focus changes."""
        self.screen.bindings_updated_signal.subscribe(self, self._changed)

    def _changed(self, screen: Screen[object]) -> None:
        if (
            screen is self.screen and self._drawn != self._shown_keys()
        ):  # the same line would be sent to the terminal again
            self.refresh()

    def render(self) -> Content:
        """The keys from the left and, where there is room, the command palette at the right
        edge.
        """
        keys, palette = self._drawn = self._shown_keys()
        left = Content(" ").join(self._content(binding) for binding in keys)
        right = Content("") if palette is None else Content("▏").append(self._content(palette))
        return left.pad_right(
            max(0, self.size.width - left.cell_length - right.cell_length)
        ).append(right)

    async def on_click(self, event: events.Click) -> None:
        """Press the key at this place."""
        end = 0
        keys, palette = self._shown_keys()
        for binding in keys:
            end += self._content(binding).cell_length + 1
            if event.x < end:
                await self.app.action_simulate_key(binding.key)
                return
        if palette is not None and event.x >= self.size.width - self._content(palette).cell_length:
            await self.app.action_simulate_key(palette.key)

    def _shown_keys(self) -> tuple[list[Binding], Binding | None]:
        """One binding of each shown action, and that of the palette unless the others need its
        room; none that would be typed as text.
        """
        active, offers = self.screen.active_bindings, getattr(self.screen, "offers", None)
        palette = active.get(self.app.COMMAND_PALETTE_BINDING)
        shown: dict[str, Binding] = {}
        for bound in active.values():
            if not bound.binding.show or bound is palette or self._is_typed(bound.binding):
                continue
            if offers is None or offers(meaning_of(bound.binding)):
                shown.setdefault(bound.binding.action, bound.binding)
        keys = list(shown.values())
        needed = sum(
            self._content(binding).cell_length + 1
            for binding in (*keys, *([palette.binding] if palette else []))
        )
        return keys, palette.binding if palette is not None and needed <= self.size.width else None

    def _is_typed(self, binding: Binding) -> bool:
        """Whether the focused field takes the key as text."""
        focused, shown = self.screen.focused, self.app.get_key_display(binding)
        return (
            focused is not None
            and len(shown) == 1
            and shown.isascii()
            and focused.check_consume_key(binding.key, shown)
        )

    def _content(self, binding: Binding) -> Content:
        key = Content.styled(self.app.get_key_display(binding), "$footer-key-foreground bold")
        return key.append(
            Content.styled(f" {binding.description}", "$footer-description-foreground")
        )
