"""What Pairs shows of the selected pairs: columns, counts, what leaves none, and the pair under the
cursor with its facts.
"""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from embedlab.analysis.expressions import NOTE, TRAINED
from embedlab.analysis.filter_ranges import with_name
from embedlab.tui.face_to_face import VERDICTS
from embedlab.tui.pair_table.data import PairData
from embedlab.tui.pair_table.identity import have_same_rows, identified_rows, identities
from embedlab.tui.pair_table.view import MARKED, PairView
from embedlab.tui.pairs.columns import (
    LONGEST_NAMES,
    all_fit,
    item_columns,
    longest_origin,
    numbers_fit,
)
from embedlab.tui.pairs.shown_pair import ShownPair
from embedlab.tui.pairs.what_if import WhatIf
from embedlab.tui.pairs.word_effects import PairWords, WordView
from embedlab.tui.widgets.frame_lines import FrameColumn

if TYPE_CHECKING:
    from embedlab.core.settings import Settings
    from embedlab.tui.pairs.facts import FactFinder
    from embedlab.tui.stored_models import StoredModel
    from embedlab.tui.training_texts import TrainingTexts


class PairsModel:
    """What is known of the pairs that are shown."""

    def __init__(self) -> None:
        self.word_view: WordView | None = None  # of the details; None shows the sentences alone
        self._data: PairData | None = None
        self._origin_needs = 0  # cells of the longest dataset, source and pair
        self._finder: FactFinder | None = None  # of facts among the pairs shown at present
        self._finder_before: FactFinder | None = None  # of the pairs shown before

    def take(self, data: PairData, row: int | None) -> int | None:
        """Show DATA from now on; return the row of it that is ROW of the data before, None where it
        is gone.
        """
        before, self._data = self._data, data
        self._finder, self._finder_before = None, self._finder or self._finder_before
        self._origin_needs = longest_origin(data.table)
        if before is None or row is None or row >= before.table.height:
            return None
        if before.task == data.task and have_same_rows(before.table, data.table):
            return row
        rows, _ = identified_rows(
            data.table, data.task, identities(before.table, before.task, [row])
        )
        return next(iter(rows), None)

    def finder(
        self,
        data: PairData,
        stored: "Sequence[StoredModel]",
        settings: "Settings",
        texts: "TrainingTexts",
    ) -> "FactFinder":
        """What finds facts among DATA, the pairs shown at present; imported when it is first used,
        after the first paint.
        """
        from embedlab.tui.pairs.facts import FactFinder

        if self._finder is None:
            self._finder = FactFinder(
                data, stored, settings, before=self._finder_before, texts=texts
            )
        return self._finder

    def is_present(self, finder: "FactFinder") -> bool:
        """Whether FINDER is about the pairs shown at present."""
        return finder is self._finder

    # the table

    def columns(
        self, view: PairView, hidden: Sequence[str], *, stacked: bool | None, room: int
    ) -> list[FrameColumn]:
        """The columns in ROOM cells, of one dataset without the origin; sentences are stacked if
        STACKED says so, or for the numbers.
        """
        is_one = view.shown_dataset is not None or len(view.data.datasets) == 1
        needs = None if is_one else self._origin_needs
        columns = partial(item_columns, view.data, hidden, added=_added(view), origin_needs=needs)
        is_stacked = stacked if stacked is not None else not numbers_fit(columns(), room)
        fitting = (columns(is_stacked=is_stacked, longest_name=cells) for cells in LONGEST_NAMES)
        return next((shown for shown in fitting if all_fit(shown, room)), None) or columns(
            is_stacked=is_stacked
        )


def exported_columns(view: PairView, hidden: Sequence[str]) -> list[FrameColumn]:
    """Every column that is not hidden."""
    return item_columns(view.data, hidden, added=_added(view))


def _added(view: PairView) -> list[str]:
    """The columns that were found or written while the pairs are shown."""
    return [name for name in (TRAINED, NOTE) if name in view.data.table.columns]


def shown_place(view: PairView) -> str:
    """The slice or dataset of the view."""
    return view.selection.within.title if view.selection.within else view.shown_dataset or ""


def counts(view: PairView, shown: int) -> list[str]:
    """What is SHOWN of how many pairs, with marks, in the order of importance."""
    total = view.data.table.height
    count = (
        f"{shown:,} {view.data.noun}"
        if shown == total
        else f"{shown:,} of {total:,} {view.data.noun}"
    )
    marked = f"● {len(view.marks)}" if view.marks else ""
    once = "each once" if view.selection.once else ""
    return [text for text in (shown_place(view), count, once, marked, *view.data.marks) if text]


def emptiness(view: PairView) -> str:
    """What leaves no pairs in the table, where there are none."""
    selection = view.selection
    causes = [f"the filter {selection.expression!r}" if selection.expression else ""]
    causes += [f"dataset {view.shown_dataset}" if view.shown_dataset else ""]
    causes += [
        f"the pairs of {selection.within.title}" if selection.within else "",
        f"{MARKED} alone" if selection.only_marked else "",
    ]
    return f"no pair is left by {' and '.join(cause for cause in causes if cause)} · esc goes back"


def sort_by(view: PairView, key: str | None) -> None:
    """Sort by the column KEY, numbers largest first; the same column again, and no key, reverse the
    order.
    """
    if key is None or key == view.sort:
        view.is_descending = not view.is_descending
    else:
        view.sort, view.is_descending = key, view.data.table[key].dtype.is_numeric()


def next_dataset(view: PairView, by: int) -> str | None:
    """The dataset after the shown one; all together come before the first and after the last."""
    choices: Sequence[str | None] = [None, *view.data.datasets]
    return choices[(choices.index(view.shown_dataset) + by) % len(choices)]


def next_verdict(expression: str) -> str:
    """EXPRESSION with the next verdict: A right and B wrong, the other way round, both wrong, both
    right, and any.
    """
    present = next(
        (name for name in VERDICTS if f"right:{name}".lower() in expression.lower().split()), ""
    )
    choices = [*VERDICTS, ""]
    return with_name(expression, "right", choices[(choices.index(present) + 1) % len(choices)])


# the pair under the cursor


def has_words(data: PairData) -> bool:
    """Whether the items are pairs of sentences with similarities."""
    return data.has_second and not data.is_classified


def compared_pair(
    names: Sequence[str], reference: str | None, under_cursor: str | None
) -> list[str]:
    """The reference, and the model under the cursor or the first other one."""
    others = [name for name in names if name != reference]
    return (
        []
        if reference is None
        else [reference, *([under_cursor] if under_cursor in others else others[:1])]
    )


def pair_words(
    data: PairData, row: int, names: Sequence[str], view: WordView | None
) -> PairWords | None:
    """The words of the pair in ROW, where the details show what they do."""
    if view is None or not names or not has_words(data):
        return None
    return PairWords.of(WhatIf.of(data, row), list(names), view if len(names) > 1 else "A")


def shown_pair(data: PairData, row: int, *, note: str, words: PairWords | None) -> ShownPair:
    """The pair in ROW without the facts that take time."""
    facts = data.table.row(row, named=True)
    return ShownPair(
        row=facts,
        models=[model.name for model in data.models],
        gold_range=data.gold_ranges[facts["dataset"]],
        note=note,
        has_answers=data.is_classified or data.is_ranked,
        table=data.table,
        words=words,
    )
