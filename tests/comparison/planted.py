"""Pairs of made sentences, and models that follow the gold scores; one can be damaged on the items
that hold something.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from scipy.stats import spearmanr

from benchmarks.pair_frames import pair_outcomes
from embedlab.analysis.evidence import ModelColumns
from embedlab.outcomes.frame import Outcomes

FIRST = ModelColumns(name="first", members=("first",))
SECOND = ModelColumns(name="second", members=("second",))
MODELS = (FIRST, SECOND)
QUESTIONS = pl.col("sentence1").str.ends_with("?")
NEGATED = pl.col("sentence2").str.starts_with("not ")  # the pairs with a negation


def made_pairs(
    rows: int,
    seed: int,
    *,
    noise: float = 0.6,
    damage: pl.Expr | None = None,
    dataset: str = "made",
) -> Outcomes:
    """Return ROWS pairs of which no two share a sentence, with the predictions of two equally noisy
    models.

    The second model says nothing of the gold score where DAMAGE, a condition, holds. A third of the
    pairs are questions and a quarter have a negation in one sentence, neither of which the gold
    score depends on.
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
            "dataset": [dataset] * rows,
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
        table = table.with_columns(second=pl.when(damage).then(lost).otherwise("second"))
    return pair_outcomes(table, ["first", "second"], task="sts", averages={})


def with_facts(outcomes: Outcomes, **facts: pl.Expr | pl.Series) -> Outcomes:
    """Return the same items with other FACTS: gold scores, sources, texts."""
    return replace(outcomes, rows=outcomes.rows.with_columns(**facts))


def with_predictions(outcomes: Outcomes, **columns: pl.Expr | pl.Series) -> Outcomes:
    """Return the same items with the predictions of other members."""
    return replace(outcomes, predictions=outcomes.predictions.with_columns(**columns))


def holds(outcomes: Outcomes, condition: pl.Expr) -> np.ndarray:
    """Return whether the sentences of each item meet CONDITION; (items,)."""
    return outcomes.sentences.select(condition).to_series().to_numpy()


def correlation(outcomes: Outcomes, member: str, rows: np.ndarray | slice = slice(None)) -> float:
    """Return Spearman's of a member with gold on ROWS, by scipy."""
    gold, scores = outcomes.rows["gold"].to_numpy(), outcomes.predictions[member].to_numpy()
    return float(spearmanr(gold[rows], scores[rows]).statistic)


def lead(outcomes: Outcomes, rows: np.ndarray | slice = slice(None)) -> float:
    """Return by how much the second model correlates more than the first."""
    return correlation(outcomes, "second", rows) - correlation(outcomes, "first", rows)


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
