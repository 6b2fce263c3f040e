"""What items are grouped by: one property, a number in so many groups, or two properties
crossed.
"""

from itertools import pairwise

import numpy as np
import pytest

from embedlab.core.errors import UsageError
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.grouping import dice_fifths, group_items, groupings_of, lacking_datasets
from embedlab.outcomes.property import property_named
from tests.comparison.planted import made_pairs


@pytest.fixture(scope="module")
def outcomes() -> Outcomes:
    return made_pairs(300, 1)


@pytest.mark.parametrize(
    ("by", "name", "groups"), [("words:3", "third", 3), ("words:2", "half", 2)]
)
def test_a_number_is_cut_into_as_many_groups_as_are_typed(
    by: str, name: str, groups: int, outcomes: Outcomes
) -> None:
    found = list(group_items(outcomes, by))
    assert [part.key for part in found] == [
        f"made/words-{name}-{number}" for number in range(1, groups + 1)
    ]
    values = property_named("words").values(outcomes).to_numpy()
    assert sorted(np.concatenate([part.rows for part in found])) == [*range(300)]
    ends = [(values[part.rows].min(), values[part.rows].max()) for part in found]
    assert all(low[1] < high[0] for low, high in pairwise(ends))
    assert found[0].title == f"made {name} 1 ({ends[0][0]:.0f}–{ends[0][1]:.0f})"


def test_two_properties_are_crossed(outcomes: Outcomes) -> None:
    found = {part.key: part for part in group_items(outcomes, "negation,question")}
    assert {*found} == {
        f"made/negation={no}/question={mark}" for no in ("none", "one") for mark in ("none", "one")
    }
    texts = outcomes.sentences
    both = (
        texts["sentence1"].str.ends_with("?") & texts["sentence2"].str.starts_with("not ")
    ).arg_true()
    assert found["made/negation=one/question=one"].rows.tolist() == both.to_list()
    assert found["made/negation=one/question=one"].title == "made negation: one, question: one"


@pytest.mark.parametrize(
    ("by", "reason"),
    [
        ("negation:3", "groups of its own"),
        ("gold:3", "groups of its own"),
        ("words:1", "not a number of groups"),
        ("words:11", "not a number of groups"),
        ("words,negation,question", "crosses 3 properties"),
        ("words,words:3", "with itself"),
        ("dataset,words", "crosses the dataset"),
        ("words,nothing", "nothing"),
    ],
)
def test_what_cannot_be_grouped_is_refused(by: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        groupings_of(by)


def test_a_dataset_that_lacks_one_of_two_properties_is_named(both: Outcomes) -> None:
    without = both.blocks[1].dataset  # classified sentences have no gold score
    assert lacking_datasets(both, "words,gold") == [without]
    assert {part.block for part in group_items(both, "words,gold")} == {0}


def test_fifths_are_as_large_and_in_the_order_of_a_loop() -> None:
    rng = np.random.default_rng(0)
    for size in range(30):
        values = rng.integers(0, 6, size) / 10
        order = sorted(range(size), key=lambda row: (values[row], row))
        sizes = [size // 5 + (number < size % 5) for number in range(5)]
        expected = [number for number, count in enumerate(sizes, 1) for _ in range(count)]
        assert dice_fifths(values)[order].tolist() == expected
