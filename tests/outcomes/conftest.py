"""Outcomes of two made tasks: scored pairs and classified sentences."""

from collections.abc import Sequence

import polars as pl
import pytest

from embedlab.outcomes.frame import ROWS, Block, Outcomes, join_outcomes

PAIRS = (
    ("a dog sleeps", "a dog does not sleep", 1.0, "animals"),
    ("two cats eat", "three cats eat", 2.0, "animals"),
    ("a man sings", "a man sings", 5.0, "people"),
    ("is he tall?", "is he tall or is he short?", 4.0, "people"),
    ("a man eats", "a woman never eats", 0.0, "people"),
    ("she reads", "she reads a very long book", 3.0, "people"),
)
SENTENCES = (("good", 1), ("not good", 0), ("is it good?", 0), ("very very good", 1))


def rows(
    gold: Sequence[float], first: range, second: range, source: Sequence[str | None]
) -> pl.DataFrame:
    columns = {"block": 0, "item": range(len(gold)), "gold": gold}
    columns |= {"first_text": first, "second_text": second, "source": source}
    return pl.DataFrame(columns, schema=ROWS)


@pytest.fixture
def pairs() -> Outcomes:
    first, second, gold, source = zip(*PAIRS, strict=True)
    return Outcomes(
        rows=rows(gold, range(0, 12, 2), range(1, 12, 2), source),
        predictions=pl.DataFrame(
            {"near": [0.1, 0.4, 0.9, 0.8, 0.2, 0.6], "far": [0.9, 0.8, 0.5, 0.1, None, 0.3]}
        ),
        blocks=(Block(task="sts", suite="sts", dataset="made", measures=("spearman",)),),
        sentences=pl.DataFrame({"sentence1": first, "sentence2": second}),
        trained=lambda _: pl.Series([None, "†near", None, None, "‡near", None], dtype=pl.String),
        averages={"sts": {"mean of all": ("made",)}},
    )


@pytest.fixture
def items() -> Outcomes:
    texts, gold = zip(*SENTENCES, strict=True)
    mood = Block(
        task="transfer",
        suite="transfer",
        dataset="mood",
        measures=("accuracy", "f1"),
        classes=("bad", "good"),
    )
    return Outcomes(
        rows=rows(gold, range(100, 104), range(100, 104), [None] * 4),
        predictions=pl.DataFrame({"near": [1.0, 0.0, 1.0, 1.0]}),
        blocks=(mood,),
        sentences=pl.DataFrame(
            {"sentence1": texts, "sentence2": pl.Series([None] * 4, dtype=pl.String)}
        ),
    )


@pytest.fixture
def both(pairs: Outcomes, items: Outcomes) -> Outcomes:
    return join_outcomes([pairs, items])
