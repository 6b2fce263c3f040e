"""What a table says about few seeds: about how many each model has, and whose spread is assumed to
be another's.
"""

from embedlab.analysis.evidence import ModelColumns
from embedlab.analysis.seed_notes import ASSUMED, seed_notes
from embedlab.core.note import Note


def recipe(name: str, seeds: int) -> ModelColumns:
    numbers = tuple(range(1, seeds + 1))
    return ModelColumns(
        name=name, members=tuple(f"{name}@{seed}" for seed in numbers), seeds=numbers
    )


def noted(*models: ModelColumns) -> list[Note]:
    return [note for note in seed_notes(models) if isinstance(note, Note)]


def test_a_single_seed_beside_several_takes_their_spread() -> None:
    for several in (2, 3):
        (first, *_) = noted(recipe("one", 1), recipe("many", several), recipe("lone", 1))
        assert first.startswith("one seed:")
        assert first.endswith(": one, lone")
        assert ASSUMED in first
        assert first.models == ("one", "lone")


def test_two_recipes_of_two_seeds_are_pooled_and_one_is_not() -> None:
    (alone,) = noted(recipe("two", 2), recipe("many", 3))
    assert alone.startswith("two seeds:")
    assert alone.endswith(": two")
    assert ASSUMED not in alone
    (both,) = noted(recipe("two", 2), recipe("pair", 2))
    assert both.models == ("two", "pair")
    assert ASSUMED in both
