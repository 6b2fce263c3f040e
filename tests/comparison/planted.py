"""Pairs of made sentences, and models that follow the gold scores; one can be damaged on the items
that hold something.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from benchmarks.pair_frames import pair_outcomes
from embedlab.analysis.evidence import ModelColumns
from embedlab.outcomes.frame import Outcomes

FIRST = ModelColumns(name="first", members=("first",))
SECOND = ModelColumns(name="second", members=("second",))
MODELS = (FIRST, SECOND)


def made_pairs(
    rows: int,
    seed: int,
    *,
    noise: float = 0.6,
    damage: Callable[[pl.DataFrame], pl.Expr] | None = None,
) -> Outcomes:
    """Return ROWS pairs of which no two share a sentence, with the predictions of two equally noisy
    models.

    The second model says nothing of the gold score where DAMAGE, a condition on the table, holds. A
    third of the pairs are questions and a quarter have a negation in one sentence, neither of which
    the gold score depends on.
    """
    rng = np.random.default_rng(seed)
    gold = rng.uniform(0, 5, rows)
    is_question, is_negated = rng.random(rows) < 1 / 3, rng.random(rows) < 1 / 4
    words = [
        [
            " ".join(f"w{word}" for word in rng.integers(0, 60, rng.integers(4, 12)))
            for _ in range(rows)
        ]
        for _ in "ab"
    ]
    table = pl.DataFrame(
        {
            "dataset": ["made"] * rows,
            "source": pl.Series([None] * rows, dtype=pl.String),
            "pair": pl.Series(range(rows), dtype=pl.UInt32),
            "sentence1": [
                f"{text} {n}{'?' if is_one else ''}"
                for n, (text, is_one) in enumerate(zip(words[0], is_question, strict=True))
            ],
            "sentence2": [
                f"{'not ' if no else ''}{text} x{n}"
                for n, (text, no) in enumerate(zip(words[1], is_negated, strict=True))
            ],
            "gold": gold,
            "dice": rng.uniform(0, 1, rows),
            "first": gold + rng.normal(scale=noise, size=rows),
            "second": gold + rng.normal(scale=noise, size=rows),
        }
    )
    if damage is not None:
        lost = pl.Series(rng.uniform(0, 5, rows))
        table = table.with_columns(second=pl.when(damage(table)).then(lost).otherwise("second"))
    return pair_outcomes(table, ["first", "second"], task="sts", averages={})


def questions(table: pl.DataFrame) -> pl.Expr:
    """The pairs that begin with a question."""
    return pl.col("sentence1").str.ends_with("?")


def negated(table: pl.DataFrame) -> pl.Expr:
    """The pairs with a negation."""
    return pl.col("sentence2").str.starts_with("not ")


def classified(
    outcomes: Outcomes,
    gold: Sequence[int],
    predictions: Mapping[str, Sequence[int | None]],
    measures: tuple[str, ...] = ("accuracy",),
) -> Outcomes:
    """Return the same items as ones of two classes."""
    block = replace(
        outcomes.blocks[0],
        task="transfer",
        suite="transfer",
        dataset="mrpc",
        measures=measures,
        classes=("no", "yes"),
        is_aggregated=False,
        near=None,
    )
    return replace(
        outcomes,
        rows=outcomes.rows.with_columns(gold=pl.Series(gold, dtype=pl.Float64)),
        predictions=pl.DataFrame(predictions).cast(pl.Float64),
        blocks=(block,),
        averages={},
    )
