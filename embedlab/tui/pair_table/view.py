"""The selection that all screens show, and the order of its pairs: row numbers of the pair table,
computed fast enough for every key.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.evidence import member_columns
from embedlab.analysis.expressions import (
    NAME_FIELDS,
    OF_PAIR,
    compile_terms,
    picks_by_hand,
    rows_that_hold,
    with_terms,
)
from embedlab.analysis.named_selections import named_selections
from embedlab.core.errors import EmbedlabError
from embedlab.core.names import DEFAULT_TASK
from embedlab.data.sts import STS_AVERAGES
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.property import Property, refuse_lacking
from embedlab.outcomes.selection import ItemSelection, readable_properties
from embedlab.tui.pair_scores import pair_outcomes
from embedlab.tui.pair_table.data import PairData
from embedlab.tui.pair_table.identity import RowIdentity, identified_rows, identities

RowNumbers = NDArray[np.intp]
MARKED = "marked pairs"
_UNWRITABLE = re.compile(r"[\s,*]")
# Fields that a filter reads of what models got, or that a user wrote on seeing it: DESIGN's "chosen
# by results".
_RESULTS = ("gap", "right", "note", "A", "B", "delta_rank", "delta_error")


@dataclass(frozen=True, kw_only=True, eq=False)
class ShownSlice:
    """The pairs behind a cell, a bar or a line, with their title."""

    title: str
    rows: RowNumbers
    # that picks exactly them, as `embedlab pairs --where` takes it; empty where none is known
    expression: str = ""
    is_by_results: bool = False


@dataclass(frozen=True, kw_only=True)
class PairSelection:
    """What is selected of the pairs: one object, whether it was typed, drawn, opened or marked."""

    expression: str = ""  # of the filter line
    # absent = all; may be missing from the data, and is shown again once it is back
    dataset: str | None = None
    within: ShownSlice | None = None
    only_marked: bool = False
    once: bool = False  # a pair that several datasets share is shown in the first of them

    @property
    def is_all(self) -> bool:
        """Whether it picks every pair."""
        return self == PairSelection()


@dataclass
class PairView:
    """The pairs of DATA that a selection picks, sorted; a new selection does not sort again, a new
    order does not filter again.
    """

    data: PairData
    selection: PairSelection = field(default_factory=PairSelection)
    sort: str | None = None  # absent = the table's own order
    is_descending: bool = False
    cache: Path | None = None  # the folder of what is found of sentences
    marks: frozenset[int] = frozenset()  # rows
    absent_marks: tuple[RowIdentity, ...] = ()  # that DATA lacks at present
    _matching: NDArray[np.bool_] | None = None  # by the expression
    read: frozenset[str] = frozenset()  # columns that the expression reads
    _outcomes: Outcomes | None = None  # the pairs, once a property or a number of them is needed
    _orders: dict[tuple[str, bool], RowNumbers] = field(default_factory=dict)

    def select(self, selection: PairSelection) -> None:
        """Select the pairs of SELECTION; a field that its expression cannot read is a UsageError,
        and changes nothing.
        """
        if selection.expression != self.selection.expression:
            self.refine(selection.expression)
        self.selection = selection

    def refine(self, query: str) -> None:
        """Select the pairs for which the filter QUERY holds; a field that it cannot read is a
        UsageError.
        """
        properties = readable_properties()
        fields = dict.fromkeys([*self.data.table.columns, *OF_PAIR, *properties])
        names = [
            *NAME_FIELDS,
            *(name for name, definition in properties.items() if definition.kind == "name"),
        ]
        terms = compile_terms(query, list(fields), names=names)
        absent = [
            pl.lit(None, pl.String).alias(name)
            for name in OF_PAIR
            if name not in self.data.table.columns
        ]
        roots = {name for term in terms for name in term.meta.root_names()}
        read = roots - {*self.data.table.columns, *OF_PAIR}
        table = self.data.table.with_columns(
            *absent, *(self._property(properties[name]) for name in sorted(read))
        )
        self._matching, self.read = (
            rows_that_hold(terms, table) if terms else None,
            frozenset(roots),
        )
        self.selection = replace(self.selection, expression=query)

    def _property(self, definition: Property) -> pl.Series:
        """Return a property of all pairs, computed when it is first read; that none has it is a
        UsageError.
        """
        values = definition.values(self.outcomes)
        refuse_lacking(definition.name, self.outcomes, values)
        return values.alias(definition.name)

    @property
    def outcomes(self) -> Outcomes:
        """The pairs or items with what the members of all models gave them, as comparisons take
        them.
        """
        if self.data.items is not None:
            return self.data.items
        if self._outcomes is None:
            members = member_columns(self.data.models)
            self._outcomes = pair_outcomes(
                self.data.table, members, task=DEFAULT_TASK, averages=STS_AVERAGES, cache=self.cache
            )
        return self._outcomes

    def replace_columns(self, table: pl.DataFrame) -> None:
        """Take the same pairs with other notes or marks."""
        self.data = replace(self.data, table=table)
        self._orders = {key: order for key, order in self._orders.items() if key[0] not in OF_PAIR}

    def rows(self) -> RowNumbers:
        """The row numbers of the selection, in the order of the view."""
        chosen = self._chosen()
        order = self._order()
        if chosen is None:
            return order
        return order[chosen[order]]

    @property
    def holds(self) -> NDArray[np.bool_]:
        """Which pairs are selected; (rows,) of the table."""
        chosen = self._chosen()
        return np.ones(self.data.table.height, dtype=bool) if chosen is None else chosen

    @property
    def is_by_results(self) -> bool:
        """Whether what models got took part in selecting the pairs: numbers of them have no
        interval then.
        """
        within = self.selection.within
        if (
            self.selection.only_marked
            or (within is not None and within.is_by_results)
            or picks_by_hand(self.selection.expression)
        ):
            return True
        models = [model.name for model in self.data.models]
        results = {*_RESULTS, *models, *(f"error({name})" for name in (*models, "A", "B"))} - {
            "dice"
        }
        return not results.isdisjoint(self.read)

    @property
    def is_whole(self) -> bool:
        """Whether every pair is selected."""
        return self._chosen() is None

    def picked(self) -> ItemSelection:
        """The selection as comparisons take it."""
        return ItemSelection(
            expression=self.title, holds=self.holds, is_by_results=self.is_by_results, lacking=()
        )

    @property
    def expression(self) -> str | None:
        """What `embedlab pairs --where` picks these pairs by; None where only the dashboard can.

        Marked pairs are named by their numbers.
        """
        selection = self.selection
        terms = [] if selection.within is None else [selection.within.expression]
        terms += [dataset_term([self.shown_dataset])] if self.shown_dataset is not None else []
        if selection.once or not all(terms):
            return None
        text = with_terms(selection.expression, terms) if terms else selection.expression
        if not selection.only_marked:
            return text
        rows = self.data.table[self.rows()].select("dataset", "pair").iter_rows()
        named = [(dataset_term([dataset]), pair) for dataset, pair in rows]
        return (
            " or ".join(f"{term} pair={pair}" for term, pair in named)
            if all(term for term, _ in named)
            else None
        )

    @property
    def name(self) -> str:
        """The name that the user gave these pairs; empty without one."""
        try:
            known = named_selections()
        except EmbedlabError:  # reported where the file is read for its own sake
            return ""
        text = self.expression
        return next(
            (name for name, meant in known.items() if text and text in {meant, f"@{name}"}), ""
        )

    @property
    def title(self) -> str:
        """The selection in words; empty for all pairs."""
        selection = self.selection
        parts = [
            selection.within.title if selection.within is not None else "",
            self.shown_dataset or "",
            selection.expression,
        ]
        parts += [MARKED if selection.only_marked else "", "each once" if selection.once else ""]
        return " · ".join(part for part in parts if part)

    @property
    def shown_dataset(self) -> str | None:
        """The chosen dataset if the data has it."""
        return self.selection.dataset if self.selection.dataset in self.data.datasets else None

    def marked(self, most: int | None = None) -> list[RowIdentity]:
        """Return what identifies the marked rows, then the absent ones; MOST of them where that is
        given.
        """
        present = identities(self.data.table, self.data.task, sorted(self.marks)[:most])
        return [*present, *self.absent_marks][:most]

    def mark(self, wanted: Collection[RowIdentity]) -> None:
        """Mark the WANTED rows; those that the data lack are marked again once they are there."""
        rows, absent = identified_rows(self.data.table, self.data.task, wanted)
        self.marks, self.absent_marks = frozenset(rows), tuple(absent)

    def clear_marks(self) -> None:
        """Remove all marks."""
        self.marks, self.absent_marks = frozenset(), ()
        self.selection = replace(self.selection, only_marked=False)

    def toggle_mark(self, row: int) -> None:
        """Mark a row, or remove its mark."""
        self.marks = self.marks ^ {row}

    def _chosen(self) -> NDArray[np.bool_] | None:
        parts = []
        if self.shown_dataset is not None:
            parts.append((self.data.table["dataset"] == self.shown_dataset).to_numpy())
        if self._matching is not None:
            parts.append(self._matching)
        if self.selection.once:
            parts.append(self.data.table["pair_key"].is_first_distinct().to_numpy())
        if self.selection.within is not None:
            parts.append(self._only(self.selection.within.rows))
        if self.selection.only_marked:
            parts.append(self._only(np.array(sorted(self.marks), dtype=np.intp)))
        return np.logical_and.reduce(parts) if parts else None

    def _only(self, rows: RowNumbers) -> NDArray[np.bool_]:
        chosen = np.zeros(self.data.table.height, dtype=bool)
        chosen[rows] = True
        return chosen

    def _order(self) -> RowNumbers:
        if self.sort is None or self.sort not in self.data.table.columns:
            rows = np.arange(self.data.table.height)
            return rows[::-1] if self.is_descending else rows
        key = (self.sort, self.is_descending)
        if key not in self._orders:
            column = self.data.table[self.sort]
            order = column.arg_sort(descending=self.is_descending, nulls_last=True)
            self._orders[key] = order.to_numpy().astype(np.intp)
        return self._orders[key]


def dataset_term(names: Sequence[str]) -> str:
    """The term that picks the pairs of some datasets; empty where their names cannot be written in
    it.
    """
    return (
        f"dataset:{','.join(names)}" if not any(_UNWRITABLE.search(name) for name in names) else ""
    )
