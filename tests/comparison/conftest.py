"""Generated pairs for every test of comparisons."""

import polars as pl
import pytest

from embedlab.outcomes.frame import ROWS, Block, Outcomes, joined_outcomes
from tests.comparison.planted import made_pairs
from tests.pair_tables import add_model, make_part, table

__all__ = ["add_model", "make_part", "table"]


@pytest.fixture
def classified() -> Outcomes:
    """Three classified sentences with three seeds of one model, and a model that is always
    wrong.
    """
    rows = {
        "block": [0] * 3,
        "item": range(3),
        "gold": [1.0, 0.0, 1.0],
        "first_text": range(3),
        "second_text": range(3),
        "source": [None] * 3,
    }
    predictions = {
        "one": [1, 0, None],
        "two": [1, 1, 1],
        "three": [1, 1, 1],
        "all-wrong": [0, 1, 0],
    }
    sentences = pl.DataFrame(
        {"sentence1": ["a", "b", "c"], "sentence2": pl.Series([None] * 3, dtype=pl.String)}
    )
    return Outcomes(
        rows=pl.DataFrame(rows, schema=ROWS),
        predictions=pl.DataFrame(predictions, schema=dict.fromkeys(predictions, pl.Float64)),
        blocks=(
            Block(
                task="transfer",
                suite="transfer",
                dataset="mr",
                measures=("accuracy",),
                classes=("no", "yes"),
            ),
        ),
        sentences=sentences,
    )


@pytest.fixture
def pairs_and_classes(classified: Outcomes) -> Outcomes:
    """Pairs and classified sentences in one frame."""
    return joined_outcomes([made_pairs(50, 1), classified])
