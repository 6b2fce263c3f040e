"""What an edited pair gets from each model, as a percentile rank and its movement against the pair
itself. State without Textual.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from embedlab.analysis.word_effects import percentile_ranks
from embedlab.choices import EditRule
from embedlab.data.edits import edited
from embedlab.tui.pair_table.data import PairData


@dataclass(frozen=True, kw_only=True, eq=False)
class RankedModel:
    """A model, and the similarities that it gives the pairs of a dataset."""

    name: str
    reference: NDArray[np.float64] = field(
        default_factory=lambda: np.empty(0)
    )  # (pairs that it scored,)
    before: float | None = None  # its stored similarity of the pair that is edited

    def rank(self, similarity: float) -> float | None:
        """The percentile rank of a SIMILARITY among the reference, 0–100; None without one."""
        return (
            float(percentile_ranks([similarity], self.reference)[0])
            if len(self.reference)
            else None
        )

    def movement(self, similarity: float, before: float | None) -> float | None:
        """By how many points of percentile rank SIMILARITY lies above the one BEFORE; None where
        either rank is not known.
        """
        ranks = self.rank(similarity), None if before is None else self.rank(before)
        return None if ranks[0] is None or ranks[1] is None else ranks[0] - ranks[1]


@dataclass(frozen=True, kw_only=True, eq=False)
class WhatIf:
    """A pair to edit, and the models that score what becomes of it."""

    sentences: tuple[str, str] = ("", "")
    # whose pairs are the reference: that of the pair, or one that is scored; empty without a pair
    dataset: str = ""
    models: tuple[RankedModel, ...] = ()

    @classmethod
    def of(cls, data: PairData, row: int | None) -> "WhatIf":
        """Return the pair in ROW of DATA, or no pair, with the models that DATA holds."""
        if row is None or row >= data.table.height:
            return cls(models=tuple(RankedModel(name=model.name) for model in data.models))
        facts = data.table.row(row, named=True)
        dataset = _reference_of(data, facts["dataset"])
        same = data.table.filter(data.table["dataset"] == dataset)
        models = (
            RankedModel(name=name, reference=same[name].drop_nulls().to_numpy(), before=facts[name])
            for name in _names(data)
        )
        return cls(
            sentences=(facts["sentence1"], facts["sentence2"]),
            dataset=dataset,
            models=tuple(models),
        )

    def is_edited(self, first: str, second: str) -> bool:
        """Return whether two sentences differ from the pair itself."""
        return (first, second) != self.sentences


EditFault = Literal["unsafe", "equal"]


def edit_by_rule(
    sentences: tuple[str, str], side: int, rule: EditRule
) -> tuple[int, str] | EditFault:
    """Return the sentence of SENTENCES that RULE changes, that of SIDE if it can be, and the
    changed text, or why there is none.

    A rule is "unsafe" in both sentences, or its safe edits make both sentences "equal": a pair that
    differs in a negation alone.
    """
    fault: EditFault = "unsafe"
    for number in (side, 1 - side):
        if (text := edited(sentences[number], rule)) is None:
            continue
        if text.casefold().split() != sentences[1 - number].casefold().split():
            return number, text
        fault = "equal"
    return fault


def _reference_of(data: PairData, dataset: str) -> str:
    """Return DATASET if a model has scores of it, else the dataset with the most scores."""
    counts = data.table.group_by("dataset", maintain_order=True).agg(
        pl.max_horizontal(0, *(pl.col(name).count() for name in _names(data)))
    )
    scored = dict(counts.iter_rows())
    return dataset if scored[dataset] else max(scored, key=scored.__getitem__)


def _names(data: PairData) -> list[str]:
    return [model.name for model in data.models]
