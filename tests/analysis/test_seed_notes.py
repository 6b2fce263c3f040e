"""What a table says about few seeds: about how many each model has, and whose spread is assumed to
be another's.
"""

import pytest

from embedlab.analysis.seed_notes import ASSUMED, seed_notes
from embedlab.core.note import Note
from tests.analysis.made import recipe


@pytest.mark.parametrize(
    ("models", "begins", "named", "is_assumed"),
    [
        ({"one": 1, "many": 2, "lone": 1}, "one seed:", ("one", "lone"), True),
        ({"one": 1, "many": 3, "lone": 1}, "one seed:", ("one", "lone"), True),
        ({"two": 2, "many": 3}, "two seeds:", ("two",), False),
        ({"two": 2, "pair": 2}, "two seeds:", ("two", "pair"), True),
    ],
)
def test_few_seeds_are_noted_and_whose_spread_is_assumed_to_be_anothers(
    models: dict[str, int], begins: str, named: tuple[str, ...], is_assumed: bool
) -> None:
    recipes = [recipe(name, seeds) for name, seeds in models.items()]
    first = next(note for note in seed_notes(recipes) if isinstance(note, Note))
    assert first.startswith(begins)
    assert first.models == named
    assert (ASSUMED in first) == is_assumed
