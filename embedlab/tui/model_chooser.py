"""The dialog that chooses models: a list with search, and a line for any other model's name.

The cells of a grid and the seeds of a run are folded.
"""

import re
from asyncio import to_thread
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input, Static

from embedlab.core.errors import EmbedlabError
from embedlab.tui.completion import NamesAndFolders
from embedlab.tui.dialogs import FOLDED, ChoiceList, Choose
from embedlab.tui.stored_models import StoredModel

_CELL = re.compile(r"^(?P<grid>[^.]+(?:\.[^.]+)*?)\.[^.].*\.[0-9a-f]{8}$")  # GRID.axis-value.hash


@dataclass(frozen=True, kw_only=True)
class ChooserLine:
    """One line that can be chosen."""

    label: str
    value: str
    model: str | None = None  # the model's name; absent for a column
    seed_of: str | None = None  # the run whose single seed it is


def lines_of(
    models: Sequence[StoredModel], kind: str = "", *, has_seeds: bool = True
) -> Iterator[ChooserLine]:
    """Yield a line for each of MODELS, and for each seed of a run of several; KIND is said behind
    the names.
    """
    for model in models:
        seeds = (
            [f"{model.name}@{seed}" for seed in model.seeds]
            if has_seeds and len(model.seeds) > 1
            else []
        )
        for name in (model.name, *seeds):
            yield ChooserLine(
                label=f"{name}{kind}",
                value=f"model:{name}",
                model=name,
                seed_of=model.name if name in seeds else None,
            )


class ChooseModels(Choose):
    """Choose any number of models, also such as are not listed."""

    AUTO_FOCUS = "ChoiceList"

    def __init__(
        self,
        question: str,
        entries: Sequence[ChooserLine],
        chosen: Collection[str],
        *,
        named: Callable[[str], ChooserLine],
        suggestions: Sequence[str] = (),
    ) -> None:
        """CHOSEN: values. NAMED gives the entry of a typed name, or raises the error of a wrong
        one.
        """
        super().__init__(question, ())
        self._entries, self._chosen, self._named, self._suggestions = (
            list(entries),
            set(chosen),
            named,
            suggestions,
        )
        self._unfolded: set[str] = set()
        # Held, not searched for: a typed model may be found while the dialog is being closed, when
        # its parts are gone already.
        self._search = Input(
            placeholder="/  search, or a name, folder, scores:FILE, http://HOST/v1#MODEL",
            compact=True,
            suggester=NamesAndFolders(self._suggestions),
        )
        self._choices, self._error = ChoiceList(), Static("", classes="dialog-error", markup=False)

    def compose(self) -> ComposeResult:
        """Yield the line to search in, the list and its keys."""
        with Vertical(classes="dialog"):
            yield Static(self.question, classes="dialog-title", markup=False)
            yield self._search
            yield self._choices
            yield self._error
            yield Static(
                "space  choose   /  search or type   enter  take   esc  close",
                classes="dialog-hint",
            )

    def on_mount(self) -> None:
        """Show the list."""
        self._show()

    def _show(self, under: str | None = None) -> None:
        """Show what the search finds, with the cursor on the value UNDER it."""
        shown = listed(self._entries, self._search.value, self._unfolded, self._chosen)
        self._choices.show(
            [(entry.label, entry.value, entry.value in self._chosen) for entry in shown], under
        )

    def on_choice_list_toggled(self, event: ChoiceList.Toggled) -> None:
        """Choose a line or not, or unfold a grid."""
        if event.value.startswith(FOLDED):
            self._unfolded ^= {event.value}
            self._show(event.value)
        else:
            self._chosen ^= {event.value}

    def on_key(self, event: events.Key) -> None:
        """Go to the search with a slash, and back with the arrow."""
        if event.key == "slash" and self.focused is not self._search:
            self.set_focus(self._search)
        elif event.key == "down" and self.focused is self._search:
            self.set_focus(self._choices)
        else:
            return
        event.stop()
        event.prevent_default()

    def on_input_changed(self) -> None:
        """Search."""
        self._error.update("")
        self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to what was found; a model that is not listed is added and chosen."""
        event.stop()
        text = event.value.strip()
        if text and not self._choices.option_count:
            self._add(text)
        elif self._choices.option_count:
            self.set_focus(self._choices)

    @property
    def is_opening(self) -> bool:
        """Whether a typed model is being looked at: what is typed meanwhile is for the list that it
        will be in.
        """
        return any(
            worker.group == "add" and worker.node is self and not worker.is_finished
            for worker in self.workers
        )

    @work(group="add")
    async def _add(self, text: str) -> None:
        """Add the model that was typed, and choose it; a folder's weights are read, which takes a
        moment.
        """
        self._error.update(f"looking at {text}")
        if (entry := await to_thread(self._entry_of, text)) is None:
            return
        self._entries = [
            entry,
            *(earlier for earlier in self._entries if earlier.value != entry.value),
        ]
        self._chosen |= {entry.value}
        self._search.value = ""
        self._show(entry.value)
        self.set_focus(self._choices)

    def _entry_of(self, text: str) -> ChooserLine | None:
        try:
            return self._named(text)
        except EmbedlabError as error:
            self._refuse(f"{error.message}\n{error.hint}".strip())
        except OSError as error:  # no file can have this name
            self._refuse(f"this path cannot be used: {error.strerror}")
        return None

    def _refuse(self, text: str) -> None:
        self.app.call_from_thread(self._error.update, text)

    async def action_dismiss(self, result: list[str] | None = None) -> None:
        """Leave the search first."""
        if self.focused is self._search or self._search.value:
            self._search.value = ""
            self.set_focus(self._choices)
        else:
            await super().action_dismiss(result)

    def action_take(self) -> None:
        """Close and return the chosen values, in the order of the list."""
        self.dismiss([entry.value for entry in self._entries if entry.value in self._chosen])


def listed(
    entries: Sequence[ChooserLine], text: str, unfolded: Collection[str], chosen: Collection[str]
) -> list[ChooserLine]:
    """The entries that contain every word of TEXT; without a text all.

    The cells of a grid, and the seeds of a run, are folded unless it is among UNFOLDED.
    """
    if words := text.lower().split():
        return [entry for entry in entries if all(word in entry.label.lower() for word in words)]
    shown: list[ChooserLine] = []
    for grid, group in groupby(entries, key=lambda entry: grid_of(entry.seed_of or entry.model)):
        cells = list(group)
        runs = [cell for cell in cells if cell.seed_of is None]
        folded = _with_folded_seeds(cells, unfolded, chosen)
        if grid is None or len(runs) == 1:
            shown += folded
            continue
        shown.append(head := _fold(grid, len(runs), "cells", cells, unfolded, chosen))
        shown += folded if head.value in unfolded else []
    return shown


def _with_folded_seeds(
    entries: Sequence[ChooserLine], unfolded: Collection[str], chosen: Collection[str]
) -> Iterator[ChooserLine]:
    """Yield ENTRIES with a line before the seeds of each run that folds them."""
    for run, group in groupby(entries, key=lambda entry: entry.seed_of):
        chooser_lines = list(group)
        if run is not None:
            yield (
                head := _fold(
                    f"{run}@", len(chooser_lines), "seeds", chooser_lines, unfolded, chosen
                )
            )
            chooser_lines = chooser_lines if head.value in unfolded else []
        yield from chooser_lines


def _fold(
    name: str,
    count: int,
    noun: str,
    entries: Sequence[ChooserLine],
    unfolded: Collection[str],
    chosen: Collection[str],
) -> ChooserLine:
    """The line that folds ENTRIES, and says how many of them are chosen."""
    value, some = f"{FOLDED}{name}", sum(entry.value in chosen for entry in entries)
    named = f"{name}: {count} {noun}{f', {some} chosen' if some else ''}"
    return ChooserLine(label=f"{'▾' if value in unfolded else '▸'} {named}", value=value)


def grid_of(model: str | None) -> str | None:
    """The grid whose cell a model is, by its name; None for others."""
    match = _CELL.match(model) if model is not None else None
    return match["grid"] if match is not None else None
