"""The selection and order of the shown pairs: row numbers of the pair table, computed fast enough for every key."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.expressions import NAME_FIELDS, OF_PAIR, compile_terms, rows_that_hold
from embedlab.core.names import DEFAULT_TASK
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.pairs import pair_outcomes
from embedlab.outcomes.property import Property, refuse_lacking
from embedlab.outcomes.selection import readable_properties
from embedlab.tui.pair_table.data import PairData

RowNumbers = NDArray[np.intp]


@dataclass(frozen=True, kw_only=True)
class ShownSlice:
    """Pairs with a title."""

    title: str
    rows: RowNumbers


@dataclass(frozen=True, kw_only=True)
class ShownPairs:
    """The pairs that the Pairs screen shows at present."""

    data: PairData
    rows: RowNumbers
    title: str  # empty for all pairs


@dataclass
class PairView:
    """A sorted selection of the pairs of DATA; a new selection does not sort again, a new order does not filter again."""

    data: PairData
    dataset: str | None = None  # absent = all; may be missing from DATA, and is shown again once it is back
    sort: str | None = None  # absent = the table's own order
    is_descending: bool = False
    only_marked: bool = False
    once: bool = False  # a pair that several datasets share is shown in the first of them
    within: "ShownSlice | None" = None  # the pairs of a slice of the comparison
    marks: frozenset[int] = frozenset()  # rows
    absent_marks: tuple[int, ...] = ()  # pair keys that DATA lacks at present
    _matching: NDArray[np.bool_] | None = None  # by the filter
    _outcomes: Outcomes | None = None  # the pairs, once a property of them is read
    _orders: dict[tuple[str, bool], RowNumbers] = field(default_factory=dict)

    def refine(self, query: str) -> None:
        """Select the pairs for which the filter QUERY holds; a field that it cannot read is a UsageError."""
        properties = readable_properties()
        fields = dict.fromkeys([*self.data.table.columns, *OF_PAIR, *properties])
        names = [*NAME_FIELDS, *(name for name, one in properties.items() if one.kind == "name")]
        terms = compile_terms(query, list(fields), names=names)
        absent = [pl.lit(None, pl.String).alias(name) for name in OF_PAIR if name not in self.data.table.columns]
        read = {name for term in terms for name in term.meta.root_names()} - {*self.data.table.columns, *OF_PAIR}
        table = self.data.table.with_columns(*absent, *(self._property(properties[name]) for name in sorted(read)))
        self._matching = rows_that_hold(terms, table) if terms else None

    def _property(self, one: Property) -> pl.Series:
        """Return a property of all pairs, computed when it is first read; that none has it is a UsageError."""
        if self._outcomes is None:
            self._outcomes = pair_outcomes(self.data.table, (), task=DEFAULT_TASK, averages={})
        values = one.values(self._outcomes)
        refuse_lacking(one.name, self._outcomes, values)
        return values.alias(one.name)

    def replace_columns(self, table: pl.DataFrame) -> None:
        """Take the same pairs with other notes or marks."""
        self.data = replace(self.data, table=table)
        self._orders = {key: order for key, order in self._orders.items() if key[0] not in OF_PAIR}

    def rows(self) -> RowNumbers:
        """The row numbers of the view."""
        chosen = self._chosen()
        order = self._order()
        if chosen is None:
            return order
        return order[chosen[order]]

    @property
    def shown_dataset(self) -> str | None:
        """The chosen dataset if the data has it."""
        return self.dataset if self.dataset in self.data.datasets else None

    @property
    def marked_keys(self) -> list[int]:
        """The pair keys of the marked rows, then those that are absent."""
        keys = self.data.table["pair_key"]
        return [*(keys[row] for row in sorted(self.marks)), *self.absent_marks]

    def mark_keys(self, keys: Iterable[int]) -> None:
        """Mark the rows with these pair keys."""
        wanted = pl.Series(list(keys), dtype=pl.UInt64)
        known = self.data.table["pair_key"]
        self.marks = frozenset(self.data.table.select(pl.arg_where(pl.col("pair_key").is_in(wanted.implode()))).to_series().to_list())
        self.absent_marks = tuple(wanted.filter(~wanted.is_in(known.implode())).to_list())

    def clear_marks(self) -> None:
        """Remove all marks."""
        self.marks, self.absent_marks, self.only_marked = frozenset(), (), False

    def toggle_mark(self, row: int) -> None:
        """Mark a row, or remove its mark."""
        self.marks = self.marks ^ {row}

    def _chosen(self) -> NDArray[np.bool_] | None:
        parts = []
        if self.shown_dataset is not None:
            parts.append((self.data.table["dataset"] == self.shown_dataset).to_numpy())
        if self._matching is not None:
            parts.append(self._matching)
        if self.once:
            parts.append(self.data.table["pair_key"].is_first_distinct().to_numpy())
        if self.within is not None:
            parts.append(self._only(self.within.rows))
        if self.only_marked:
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
