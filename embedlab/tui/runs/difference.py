"""The differences between two runs: recipe and environment, key by key."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from embedlab.core.errors import EmbedlabError
from embedlab.core.recipe import recipe_differences
from embedlab.runs.environment import Environment
from embedlab.runs.store import RunFolder
from embedlab.tui.command import command
from embedlab.tui.commands import binding, bindings

_FACTS = ("device", "precision", "threads", "host", "commit", "embedlab", "python")


class DifferenceScreen(ModalScreen[None]):
    """Show the keys with different values."""

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("dialog"),
        binding(command("recipes", "Close.", action="dismiss"), "recipes"),
    ]

    def __init__(self, first: RunFolder, second: RunFolder) -> None:
        super().__init__()
        self._first, self._second = first, second

    def compose(self) -> ComposeResult:
        """Yield both names, what differs, and the keys."""
        with VerticalScroll(classes="dialog"):
            yield Static(
                f"{self._first.id} and {self._second.id}", classes="dialog-title", markup=False
            )
            yield Static(difference_text(self._first, self._second))
            yield Static("esc  close", classes="dialog-hint")


def difference_text(first: RunFolder, second: RunFolder) -> Content:
    """Every differing key with both values, or the error of a file that cannot be read."""
    try:
        changed = [
            (key, old, new)
            for key, old, new in recipe_differences(first.recipe(), second.recipe())
            if key != "summary"
        ]
        changed += _circumstances(first.environment(), second.environment())
    except EmbedlabError as error:
        return Content.styled(f"{error.message}\n{error.hint}", "$text-error")
    if first.seed != second.seed:
        changed.insert(0, ("seed", first.seed, second.seed))
    if not changed:
        return Content("nothing differs")
    width = max(len(key) for key, _, _ in changed)
    return Content("\n").join(
        Content.assemble(
            (f"{key:<{width}}  ", "$text-accent"),
            f"{_value(old)}",
            ("  →  ", "$text-faint"),
            f"{_value(new)}",
        )
        for key, old, new in changed
    )


def _circumstances(first: Environment, second: Environment) -> list[tuple[str, object, object]]:
    facts = [(key, getattr(first, key), getattr(second, key)) for key in _FACTS]
    old, new = first.packages or {}, second.packages or {}
    facts += [(name, old.get(name), new.get(name)) for name in {**old, **new}]
    return [(key, before, after) for key, before, after in facts if before != after]


def _value(value: object) -> str:
    return "absent" if value is None else str(value)
