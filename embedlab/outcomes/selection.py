"""The items that an expression picks out, and whether results took part in picking them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.expressions import compile_expression
from embedlab.core.errors import UsageError
from embedlab.outcomes.frame import SENTENCES, Outcomes
from embedlab.outcomes.property import all_properties, refuse_lacking

_ALWAYS = ("dataset", "trained")  # a null of theirs says something
_RAW = ("gold", "trained")  # of which an expression reads the column itself, where a property groups its values


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemSelection:
    """Items that EXPRESSION is true of."""

    expression: str
    holds: NDArray[np.bool_]  # (rows,)
    is_by_results: bool  # whether it reads predictions: numbers of such a selection have no interval
    lacking: tuple[str, ...]  # datasets that have not what the expression reads


def select_items(outcomes: Outcomes, expression: str, models: Mapping[str, Sequence[str]]) -> ItemSelection:
    """Return the items that EXPRESSION picks out; MODELS gives the members behind each name whose score it may read, as their mean.

    What no item has is a UsageError, as is a selection of no item.
    """
    properties = {name: one for name, one in all_properties().items() if name not in _RAW}
    names = ["dataset", "trained", *(name for name, one in properties.items() if one.kind == "name")]
    facts = ("dataset", *SENTENCES, *_RAW)
    known = dict.fromkeys([*facts, *properties, *models])  # a model called like one of these is not read
    condition = compile_expression(expression, list(known), names=names)
    columns: list[pl.Series] = []
    lacking: list[str] = []
    is_by_results = False
    read = list(dict.fromkeys(condition.meta.root_names()))
    for name in read:
        if name in properties:
            column = properties[name].values(outcomes)
        elif name in facts:
            column = outcomes.column(name)
        else:
            column, is_by_results = outcomes.without_classes(_mean(outcomes.predictions, models[name])), True
        if name not in _ALWAYS:
            lacking += refuse_lacking(name, outcomes, column)
        columns.append(column.alias(name))
    holds = pl.DataFrame(columns).select(condition).to_series()
    if not holds.any():
        raise UsageError(f"no item fits {expression!r}", hint="`embedlab pairs --where EXPRESSION` shows what does")
    return ItemSelection(expression=expression, holds=holds.to_numpy(), is_by_results=is_by_results, lacking=tuple(dict.fromkeys(lacking)))


def _mean(predictions: pl.DataFrame, members: Sequence[str]) -> pl.Series:
    """Return the mean prediction of some members; null where one has none."""
    return predictions.select(members).fill_nan(None).select(pl.sum_horizontal(members, ignore_nulls=False) / len(members)).to_series()
