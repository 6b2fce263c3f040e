"""The pair that the details show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from embedlab.tui.pairs.pair_facts import PairFacts
from embedlab.tui.pairs.word_effects import PairWords


@dataclass(frozen=True, kw_only=True, eq=False)
class ShownPair:
    """A row of the pair table with its models and gold scale, and what was found about it so
    far.
    """

    row: Mapping[str, Any]
    models: Sequence[str]
    gold_range: tuple[float, float]
    note: str = ""
    has_answers: bool = False  # whether models answer with classes or ranks, not with similarities
    is_whole: bool = False  # long sentences too
    table: pl.DataFrame | None = None  # that the facts name rows of
    facts: PairFacts = field(default_factory=PairFacts)
    words: PairWords | None = None  # what each word does, where that is shown
