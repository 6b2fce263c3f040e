"""The contract of properties, by which items are grouped and filtered, and their lookup by name.

Each file of the folder `properties` is one and has a `PROPERTY`; a plug-in is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal

import polars as pl

from embedlab.core import plugins
from embedlab.core.errors import UnknownFieldError, UsageError
from embedlab.core.nearest import unknown_name_error

if TYPE_CHECKING:
    from embedlab.outcomes.frame import Outcomes

COUNTED = ("none", "one", "both")  # of the sentences of a pair; a single sentence has it or not


def count_sentences(items: pl.DataFrame, condition: Callable[[pl.Series], pl.Series]) -> pl.Series:
    """Return how many of each item's sentences CONDITION is true of."""
    first, second = (
        condition(items[name]).fill_null(value=False).cast(pl.Int8)
        for name in ("sentence1", "sentence2")
    )
    return (first + second).replace_strict(dict(enumerate(COUNTED)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Property:
    """A column of items that is computed when it is first used."""

    name: str
    summary: str  # what it is, in one line
    kind: Literal["name", "number"]  # numbers are grouped by fifths, names by their values
    needs: tuple[
        str, ...
    ]  # columns without which an item has none: gold, source, label, trained, sentence1, sentence2, contradicted
    also: tuple[str, ...] = ()  # columns that may be null; a single sentence has no sentence2
    of: Callable[
        [pl.DataFrame], pl.Series
    ]  # of items that have all that it needs, with the columns above and `block`
    # orders its values, where that of first appearance does not fit
    place: Callable[[str], float] | None = None
    title: str = ""  # in figures; absent: its name, which heads the column of tables
    # said of the items of a dataset that have none, which are then one slice; without it they are
    # in no slice
    absent: str = ""
    # whether its values say by themselves what they are, as the names of sources do
    is_bare: bool = False
    fifth: str = ""  # what a fifth is called in the keys of slices; absent: NAME-fifth
    decimals: int = 0  # of its numbers where they are shown
    # whether a cut between fifths runs through equal numbers, so that fifths have equal sizes
    splits_ties: bool = False

    def values(self, outcomes: Outcomes) -> pl.Series:
        """Return its value of each row; null where an item lacks what it needs."""
        if self.name not in outcomes.computed:
            outcomes.computed[self.name] = self._values(outcomes)
        return outcomes.computed[self.name]

    def _values(self, outcomes: Outcomes) -> pl.Series:
        columns = [
            outcomes.column(name).alias(name)
            for name in dict.fromkeys(("block", *self.needs, *self.also))
        ]
        facts = pl.DataFrame(columns)
        is_complete = facts.select(pl.all_horizontal(pl.col(self.needs).is_not_null())).to_series()
        column = self.of(facts.filter(is_complete))
        if is_complete.all():
            return column.alias(self.name)
        empty = pl.Series(self.name, [None], dtype=column.dtype).new_from_index(0, facts.height)
        return empty.scatter(is_complete.arg_true(), column)


def property_named(name: str) -> Property:
    """Return the property called NAME; that there is none is an UnknownFieldError."""
    if (plugin := plugins.find("properties", name)) is None:
        error = unknown_name_error("property", name, [*plugins.names("properties"), "dataset"])
        raise UnknownFieldError(error.message, hint=error.hint, field=name)
    return plugin.check_instance(plugin.load(), Property, named=True)


def all_properties() -> dict[str, Property]:
    """Return every property by its name; what a plug-in cannot offer is noted and left out."""
    return plugins.load_all(
        "properties", lambda plugin: plugin.check_instance(plugin.load(), Property, named=True)
    )


@cache
def property_names() -> tuple[str, ...]:
    """Return the names of all properties, those of plug-ins last."""
    return tuple(plugins.names("properties"))


def refuse_lacking(name: str, outcomes: Outcomes, values: pl.Series) -> Sequence[str]:
    """Return the datasets of which no item has the property NAME; that none has it is a
    UsageError.
    """
    has_values = (
        pl.DataFrame({"block": outcomes.rows["block"], "has": values.is_not_null()})
        .group_by("block")
        .agg(pl.col("has").any())
    )
    blocks_without = sorted(has_values.filter(~pl.col("has"))["block"].to_list())
    names = list(dict.fromkeys(outcomes.blocks[index].dataset for index in blocks_without))
    if blocks_without and len(blocks_without) == len(outcomes.blocks):
        raise UsageError(
            f"no item of {', '.join(names)} has the property {name!r}",
            hint=f"properties: {', '.join(property_names())}",
        )
    return names
