"""Generated pairs and classified items for every test of comparisons."""

import pytest

from embedlab.outcomes.frame import Outcomes, join_outcomes
from tests.comparison.planted import classified as as_classes
from tests.comparison.planted import made_pairs
from tests.pair_tables import add_model, make_part, table

__all__ = ["add_model", "make_part", "table"]


@pytest.fixture
def classified() -> Outcomes:
    """Three classified items with three seeds of one model, and a model that is always wrong."""
    predictions = {
        "one": [1, 0, None],
        "two": [1, 1, 1],
        "three": [1, 1, 1],
        "all-wrong": [0, 1, 0],
    }
    return as_classes(made_pairs(3, 2), [1, 0, 1], predictions)


@pytest.fixture
def pairs_and_classes(classified: Outcomes) -> Outcomes:
    """Pairs and classified items in one frame."""
    return join_outcomes([made_pairs(50, 1), classified])
