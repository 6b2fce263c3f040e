"""Outcomes of two made tasks: scored pairs and classified sentences."""

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


@pytest.fixture
def pairs() -> Outcomes:
    rows = {
        "block": [0] * len(PAIRS),
        "item": range(len(PAIRS)),
        "gold": [row[2] for row in PAIRS],
        "first_text": range(0, 2 * len(PAIRS), 2),
        "second_text": range(1, 2 * len(PAIRS), 2),
        "source": [row[3] for row in PAIRS],
    }
    texts = pl.DataFrame(
        {"sentence1": [row[0] for row in PAIRS], "sentence2": [row[1] for row in PAIRS]}
    )
    return Outcomes(
        rows=pl.DataFrame(rows, schema=ROWS),
        predictions=pl.DataFrame(
            {"near": [0.1, 0.4, 0.9, 0.8, 0.2, 0.6], "far": [0.9, 0.8, 0.5, 0.1, None, 0.3]}
        ),
        blocks=(Block(task="sts", suite="sts", dataset="made", measures=("spearman",)),),
        sentences=texts,
        trained=lambda _: pl.Series([None, "†near", None, None, "‡near", None], dtype=pl.String),
        averages={"sts": {"mean of all": ("made",)}},
    )


@pytest.fixture
def items() -> Outcomes:
    rows = {
        "block": [0] * len(SENTENCES),
        "item": range(len(SENTENCES)),
        "gold": [row[1] for row in SENTENCES],
        "first_text": range(100, 100 + len(SENTENCES)),
        "second_text": range(100, 100 + len(SENTENCES)),
        "source": [None] * len(SENTENCES),
    }
    texts = pl.DataFrame(
        {"sentence1": [row[0] for row in SENTENCES], "sentence2": [None] * len(SENTENCES)},
        schema_overrides={"sentence2": pl.String},
    )
    return Outcomes(
        rows=pl.DataFrame(rows, schema=ROWS),
        predictions=pl.DataFrame({"near": [1.0, 0.0, 1.0, 1.0]}),
        blocks=(
            Block(
                task="transfer",
                suite="transfer",
                dataset="mood",
                measures=("accuracy", "f1"),
                classes=("bad", "good"),
            ),
        ),
        sentences=texts,
    )


@pytest.fixture
def both(pairs: Outcomes, items: Outcomes) -> Outcomes:
    return join_outcomes([pairs, items])
