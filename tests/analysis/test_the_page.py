"""All numbers of the package against a slow program that was written from docs/referees.md."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

from embedlab.analysis.comparison import ComparedSlice, compare_evidence
from embedlab.analysis.evidence import Evidence, ModelColumns, average_evidence, evidence_of
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.near_duplicates import near_duplicates
from tests.analysis.the_page import Compared, Part, Result, holm, links

RECIPES = {
    "single": {"a": [0], "b": [1], "c": [2]},
    "two seeds each": {"a": [0, 1], "b": [2, 3]},
    "three seeds and four": {"a": [0, 1, 2], "b": [3, 4, 5, 6]},
    "three seeds beside a published model": {"a": [0, 1, 2], "b": [3]},
}
NUMBERS: dict[str, int] = {}  # of sentences, over all datasets


@cache
def made(rows: int, pools: int, seed: int, measure: str = "spearman") -> Part:
    """Made rows, each of two texts of few words from one of so many POOLS."""
    rng = np.random.default_rng(seed)
    pool = rng.integers(pools, size=rows) * rng.integers(1, 3, size=rows) // 2
    places = 3 * pool + rng.integers(3, size=(2, rows))
    texts = [
        " ".join(f"w{n}" for n in rng.geometric(0.03, 8)) + f" p{place // 3}"
        for place in range(3 * pools)
    ]
    first, second = ([texts[place] for place in own] for own in places)
    effects = rng.normal(0, 0.5, (7, 3 * pools))
    errors = effects[:, places[0]] + rng.normal(0, 1, (7, rows))
    spread = np.array([0.8, 0.85, 0.9, 1.1, 1.2, 1.3, 1.4])[:, None]
    gold = rng.integers(0, 6, rows).astype(float)
    if measure == "accuracy":
        gold = (gold > 2).astype(float)
        members = (gold + 0.45 * spread * errors > 0.5).astype(float)
    else:
        members = np.round(gold + spread * errors, 1)
    return Part(first, second, gold, members, links(first, second))


def evidence(part: Part, measure: str, key: str = "x") -> Evidence:
    sentences = [*part.first, *part.second]
    ids = np.array([NUMBERS.setdefault(text, len(NUMBERS)) for text in sentences], dtype=np.uint64)
    as_classes = measure == "accuracy"
    gold, *members = (
        values.astype(np.int64) if as_classes else values for values in (part.gold, *part.members)
    )
    return evidence_of(
        "task",
        key,
        gold,
        dict(enumerate(members)),
        len(members),
        measure=MEASURES[measure],
        texts=ids.reshape(2, -1).T,
        near=near_duplicates(ids, pl.Series(sentences)),
    )


def columns(models: dict[str, list[int]]) -> list[ModelColumns]:
    return [
        ModelColumns(
            name=name,
            members=tuple(f"{number}" for number in own),
            seeds=tuple(own) if len(own) > 1 else (),
            is_published=len(own) == 1,
        )
        for name, own in models.items()
    ]


def check(found: ComparedSlice, page: Compared, names: Sequence[str]) -> None:
    assert found.topics == pytest.approx(page.effective_topics)
    for name in names:
        score = found.scores[name]
        same(page.score(name), (score.value, score.low, score.high))
        assert score.uncertainty.design_effect == pytest.approx(page.score(name).design_effect)
    for name in names[1:]:
        difference, own = found.differences[name], page.difference(name, names[0])
        same(own, (difference.delta, difference.low, difference.high))
        assert difference.p == pytest.approx(own.p, rel=1e-5, abs=1e-12)
        assert difference.uncertainty.design_effect == pytest.approx(own.design_effect)


def same(page: Result, found: tuple[float, float, float]) -> None:
    assert found == pytest.approx((page.value, page.low, page.high), abs=1e-6)


@pytest.mark.parametrize(
    ("rows", "pools", "recipes"),
    [
        (40, 30, ["single", "three seeds beside a published model"]),
        (40, 9, RECIPES),
        (75, 12, ["single", "two seeds each"]),
        (150, 70, RECIPES),
        (200, 300, ["single", "three seeds and four"]),
    ],
    ids=["few rows", "few topics", "joined topics", "more topics", "more than 64 topics"],
)
def test_one_dataset_is_compared_as_the_page_says(
    rows: int, pools: int, recipes: Sequence[str]
) -> None:
    for recipe in recipes:
        models, part = RECIPES[recipe], made(rows, pools, seed=rows)
        used = sorted(number for own in models.values() for number in own)
        part = replace(part, members=part.members[used])
        (found,) = compare_evidence([evidence(part, "spearman")], columns(models))
        check(found, Compared([part], models), list(models))
        corrected = holm([difference.p for difference in found.differences.values()])
        assert [difference.p_holm for difference in found.differences.values()] == corrected


@pytest.mark.parametrize("measure", ["pearson", "accuracy"])
@pytest.mark.parametrize(("rows", "pools"), [(40, 10), (180, 100)])
def test_other_measures_too(measure: str, rows: int, pools: int) -> None:
    part = made(rows, pools, 5, measure)
    part = replace(part, members=part.members[:3])
    (found,) = compare_evidence([evidence(part, measure)], columns(RECIPES["single"]))
    check(found, Compared([part], RECIPES["single"], measure), "abc")


@pytest.mark.parametrize("measure", ["spearman", "accuracy"])
def test_an_average_too(measure: str) -> None:
    whole = [made(rows, pools, 11, measure) for rows, pools in ((60, 30), (120, 70), (30, 20))]
    parts = [replace(part, members=part.members[:3], weight=1 / 3) for part in whole]
    own = [evidence(part, measure, f"set{n}") for n, part in enumerate(parts)]
    found = compare_evidence([average_evidence("all", own)], columns(RECIPES["single"]))[0]
    check(found, Compared(parts, RECIPES["single"], measure), "abc")
