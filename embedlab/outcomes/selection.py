"""The items that an expression picks out, and whether results took part in picking them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.expressions import NOTE, NUMBER, compile_expression, picks_by_hand
from embedlab.analysis.pair_notes import PairNotes
from embedlab.analysis.rank_errors import rank_errors
from embedlab.core.errors import UsageError
from embedlab.core.printable import first_few
from embedlab.outcomes.property import Property, all_properties, refuse_lacking
from embedlab.runs.outcomes import SENTENCES

if TYPE_CHECKING:
    from embedlab.outcomes.frame import Outcomes

_RAW = (
    "gold",
    "trained",
)  # of which an expression reads the column itself, where a property groups its values
_FACTS = ("dataset", *SENTENCES, *_RAW)
_ALWAYS = ("dataset", "trained", NOTE)  # a null of theirs says something
_GAP = "gap"


@dataclass(frozen=True, kw_only=True, eq=False)
class ItemSelection:
    """Items that an expression is true of."""

    is_selected: NDArray[np.bool_]  # (rows,)
    # whether it reads predictions, errors or notes, or names single items: such a selection has no
    # interval
    is_by_results: bool
    datasets_without: tuple[str, ...]  # datasets that have not what the expression reads


def readable_properties() -> Mapping[str, Property]:
    """Return the properties that an expression reads, by name."""
    return {name: definition for name, definition in all_properties().items() if name not in _RAW}


def item_condition(expression: str, models: Sequence[str]) -> pl.Expr:
    """Return the condition of EXPRESSION over items: facts, properties, notes, and the scores and
    rank errors of MODELS.

    A model called like a fact or a property is not read.
    """
    properties = readable_properties()
    names = [
        "dataset",
        "trained",
        NOTE,
        *(name for name, definition in properties.items() if definition.kind == "name"),
    ]
    errors = [f"error({name})" for name in models]
    columns = dict.fromkeys([*_FACTS, *properties, NUMBER, *models, *errors, _GAP, NOTE])
    return compile_expression(expression, list(columns), names=names)


def items_that_fit(
    outcomes: Outcomes, expression: str, models: Mapping[str, Sequence[str]]
) -> ItemSelection:
    """Return the items that EXPRESSION holds for; MODELS gives the members behind each name, whose
    mean is its score.

    What no item has is a UsageError.
    """
    condition = item_condition(expression, [*models])
    columns: list[pl.Series] = []
    datasets_without: list[str] = []
    is_by_results = picks_by_hand(expression)
    for name in dict.fromkeys(condition.meta.root_names()):
        column, is_result = _column(name, outcomes, models)
        is_by_results = is_by_results or is_result
        if name not in _ALWAYS:
            datasets_without += refuse_lacking(name, outcomes, column)
        columns.append(column.alias(name))
    holds = pl.DataFrame(columns).select(condition).to_series()
    return ItemSelection(
        is_selected=holds.to_numpy(),
        is_by_results=is_by_results,
        datasets_without=tuple(dict.fromkeys(datasets_without)),
    )


def select_items(
    outcomes: Outcomes, expression: str, models: Mapping[str, Sequence[str]]
) -> ItemSelection:
    """Return the items that EXPRESSION picks out; that there is none is a UsageError."""
    selection = items_that_fit(outcomes, expression, models)
    if not selection.is_selected.any():
        read_names = dict.fromkeys(item_condition(expression, [*models]).meta.root_names())
        values_of_name = {
            name: given.values(outcomes).drop_nulls().unique().sort()
            for name, given in readable_properties().items()
            if name in read_names and given.kind == "name"
        }
        hints = [
            f"values of {name}: {first_few(values, 6)}" for name, values in values_of_name.items()
        ]
        hint = "; ".join(hints) or "change the expression"
        raise UsageError(
            f"no item matches {expression!r}", hint=f"{hint}; without it all items are shown"
        )
    return selection


def _column(
    name: str, outcomes: Outcomes, models: Mapping[str, Sequence[str]]
) -> tuple[pl.Series, bool]:
    """Return what an expression reads by NAME, and whether that is a result."""
    properties = readable_properties()
    if name in properties:
        values = properties[name].values(outcomes)
        return values, values.dtype.is_numeric() and _is_score(values, outcomes, models)
    if name in _FACTS:
        return outcomes.column(name), False
    if name == NUMBER:
        return outcomes.rows["item"], False
    if name in models:
        return outcomes.without_classes(_mean(outcomes.predictions, models[name])), True
    if name == NOTE:
        texts = pl.DataFrame([outcomes.column(side).alias(side) for side in SENTENCES])
        return PairNotes.load().of_pairs(texts), True
    return _rank_errors(outcomes, models)[name], True


def _is_score(values: pl.Series, outcomes: Outcomes, models: Mapping[str, Sequence[str]]) -> bool:
    """Return whether VALUES of a property are the scores of one of MODELS, as word overlap is of
    the model dice, on the items of some block.
    """
    for members in models.values():
        if not {*members} <= {*outcomes.predictions.columns}:
            continue
        scores = outcomes.without_classes(_mean(outcomes.predictions, members))
        same_precision = [column.cast(pl.Float32) for column in (values, scores)]
        distance = (same_precision[0] - same_precision[1]).abs().alias("distance")
        distances = pl.DataFrame([outcomes.rows["block"], distance])
        if (distances.group_by("block").max()["distance"] == 0).any():
            return True
    return False


def _mean(predictions: pl.DataFrame, members: Sequence[str]) -> pl.Series:
    """Return the mean prediction of some members; null where one has none."""
    return (
        predictions.select(members)
        .fill_nan(None)
        .select(pl.sum_horizontal(members, ignore_nulls=False) / len(members))
        .to_series()
    )


def _rank_errors(outcomes: Outcomes, models: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    """Return the rank error of each model, and the gap between them, of all items with a score;
    null for other items.
    """
    means = [
        outcomes.only_scores(_mean(outcomes.predictions, members)).alias(name)
        for name, members in models.items()
    ]
    facts = [
        outcomes.rows["block"].alias("dataset"),
        outcomes.column("gold").alias("gold"),
    ]
    # A model called like one of the two is not read.
    columns = {column.name: column for column in [*means, *facts]}
    return rank_errors(
        pl.DataFrame([*columns.values()]),
        [name for name in models if name not in {"dataset", "gold"}],
    )
