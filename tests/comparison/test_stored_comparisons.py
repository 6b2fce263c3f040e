"""A stored comparison is found by what decides its numbers, and other numbers are of another
method.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

import polars as pl
import pytest

from embedlab.analysis.scores import ModelColumns
from embedlab.comparison.comparison import Comparison
from embedlab.comparison.stored_comparisons import COMPARISON_METHOD, comparison_key
from tests.pair_tables import compare_models

NOISE = {"good@1": 1.0, "good@2": 1.2, "bad@1": 6.0, "bad@2": 7.0}
GOOD = ModelColumns(name="good", members=("good@1", "good@2"), seeds=(1, 2))
BAD = ModelColumns(name="bad", members=("bad@1", "bad@2"), seeds=(1, 2))

# What each method found of the same scores, which are drawn with a seed: where these numbers
# change, comparisons that were stored before must not be found, so that COMPARISON_METHOD changes
# too.
_SLICES = [
    ("sts12", "good", 0.81157, -0.13618, 0.98368, "a"),
    ("sts12", "bad", 0.10766, -0.66458, 0.76870, "b"),
    ("mine", "good", 0.78635, -0.92222, 0.99884, "a"),
    ("mine", "bad", 0.08240, -0.92897, 0.94844, "a"),
]
KNOWN: dict[
    str, list[tuple[str, str, float, float, float, str]]
] = {  # the average is of the first seeds
    "comparison-1": [
        *_SLICES,
        ("both", "good", 0.85270, 0.79559, 0.89441, "a"),
        ("both", "bad", 0.19138, -0.02563, 0.39121, "b"),
    ],
    "comparison-2": [
        *_SLICES,
        ("both", "good", 0.85270, 0.79498, 0.89474, "a"),
        ("both", "bad", 0.19138, -0.02762, 0.39290, "b"),
    ],
    "comparison-4": [
        *_SLICES,
        ("both", "good", 0.85270, 0.79498, 0.89474, "a"),
        ("both", "bad", 0.19138, -0.02762, 0.39290, "b"),
    ],
}


@pytest.fixture
def scored(table: pl.DataFrame, add_model: Callable[..., pl.DataFrame]) -> pl.DataFrame:
    for seed, (name, noise) in enumerate(NOISE.items()):
        table = add_model(table, name, noise, seed)
    return table


def numbers(found: Comparison) -> Iterator[tuple[str, str, float, float, float, str]]:
    for one in found.slices:
        for model, score in one.scores.items():
            yield one.key, model, score.value, score.low, score.high, score.letters


def test_the_numbers_are_those_of_the_method(scored: pl.DataFrame) -> None:
    first_seeds = [
        ModelColumns(name=model.name, members=model.members[:1], seeds=(1,))
        for model in (GOOD, BAD)
    ]
    averages = compare_models(scored, first_seeds, averages={"both": ("sts12", "mine")})
    found = [*numbers(compare_models(scored, [GOOD, BAD])), *list(numbers(averages))[-2:]]
    expected = KNOWN[COMPARISON_METHOD]
    assert [(key, model, letters) for key, model, *_, letters in found] == [
        (key, model, letters) for key, model, *_, letters in expected
    ]
    assert [one[2:5] for one in found] == [pytest.approx(one[2:5], abs=2e-4) for one in expected]


def test_a_key_is_of_the_scores_and_what_is_computed_of_them(scored: pl.DataFrame) -> None:
    first = comparison_key(scored, [GOOD, BAD], ("dataset", "all"))
    assert comparison_key(scored.clone(), [replace(GOOD), BAD], ("dataset", "all")) == first
    others = [
        comparison_key(scored, [BAD, GOOD], ("dataset", "all")),
        comparison_key(scored, [GOOD, BAD], ("source", "all")),
        comparison_key(scored, [GOOD, replace(BAD, is_published=True)], ("dataset", "all")),
        comparison_key(
            scored,
            [GOOD, replace(BAD, runs=(frozenset({"a"}), frozenset({"a"})))],
            ("dataset", "all"),
        ),
        comparison_key(
            scored.with_columns(pl.col("bad@2") * 1.0000001), [GOOD, BAD], ("dataset", "all")
        ),
    ]
    assert len({first, *others}) == 6
