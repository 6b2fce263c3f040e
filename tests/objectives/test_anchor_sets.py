"""Premises and their positive and negative sets."""

from collections.abc import Callable

import numpy as np
import pytest

from embedlab.objectives.needs import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    AnchorSets,
    Limit,
    anchor_sets,
    entailment_sets,
    sample_subset,
)


def _sets(
    rows: list[tuple[int, int, int]],
    positives: Limit = "all",
    negatives: Limit = "all",
    seed: int = 0,
    draw: Callable[..., AnchorSets] = anchor_sets,
) -> AnchorSets:
    rng = np.random.default_rng(seed)
    columns = dict(zip(("premise", "hypothesis", "label"), np.array(rows).T, strict=True))
    return draw(columns, positives, negatives, rng)


def _members(mask: np.ndarray) -> list[set[int]]:
    return [set(row.nonzero()[0].tolist()) for row in mask]


@pytest.mark.parametrize(
    ("rows", "anchors", "positives", "negatives"),
    [
        pytest.param(
            [(0, 2, ENTAILMENT), (0, 3, NEUTRAL), (1, 4, ENTAILMENT), (0, 5, ENTAILMENT)],
            [0, 1],
            [{2, 5}, {4}],
            [{3, 4}, {2, 3, 5}],
            id="a repeated premise is one anchor",
        ),
        pytest.param(
            [(0, 2, ENTAILMENT), (0, 2, CONTRADICTION), (1, 2, ENTAILMENT), (1, 3, NEUTRAL)],
            [0, 1],
            [{2}, {2}],
            [{3}, {3}],
            id="an entailed sentence is never a negative, whatever another row says",
        ),
        pytest.param(
            [(0, 2, ENTAILMENT), (1, 0, NEUTRAL)],
            [0, 1],
            [{2}, set()],
            [set(), {0, 2}],
            id="a premise is not its own negative",
        ),
        pytest.param(
            [(4, 2, ENTAILMENT), (0, 3, NEUTRAL)],
            [0, 4],
            [set(), {2}],
            [{2, 3}, {3}],
            id="a premise may come after all hypotheses",
        ),
    ],
)
def test_an_anchor_has_what_it_entails_and_the_other_hypotheses(
    rows: list[tuple[int, int, int]],
    anchors: list[int],
    positives: list[set[int]],
    negatives: list[set[int]],
) -> None:
    sets = _sets(rows)
    assert sets.anchors.tolist() == anchors
    assert _members(sets.positives) == positives
    assert _members(sets.negatives) == negatives


def test_draws_are_uniform_and_follow_their_seed() -> None:
    mask = np.array([[True, True, False, True, True, True]])
    rng = np.random.default_rng(7)
    counts = sum(sample_subset(mask, 2, rng)[0].astype(int) for _ in range(5000))
    assert counts[2] == 0
    assert np.allclose(counts[mask[0]] / 5000, 2 / 5, atol=0.03)
    rows = [(0, hypothesis, NEUTRAL) for hypothesis in range(1, 20)]
    first, again, other = (_sets(rows, 2, 3, seed).negatives for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


ROWS = [
    (0, 2, ENTAILMENT),
    (0, 3, NEUTRAL),
    (1, 4, ENTAILMENT),
    (0, 5, ENTAILMENT),
    (1, 6, CONTRADICTION),
    (0, 7, ENTAILMENT),
]


def test_each_entailment_is_an_anchor_of_its_own_in_the_authors_code() -> None:
    sets = _sets(ROWS, draw=entailment_sets)
    assert sets.anchors.tolist() == [0, 1, 0, 0]
    assert _members(sets.positives) == [{2, 5, 7}, {4}, {2, 5, 7}, {2, 5, 7}]
    assert _members(sets.negatives) == [{3, 4, 6}, {2, 3, 5, 6, 7}, {3, 4, 6}, {3, 4, 6}]


@pytest.mark.parametrize(("limit", "drawn"), [(1, [{2}]), (2, [{2, 5}, {2, 7}])])
def test_a_row_draws_its_other_positives_beside_its_own_hypothesis(
    limit: int, drawn: list[set[int]]
) -> None:
    found = [_sets(ROWS, limit, seed=seed, draw=entailment_sets).positives for seed in range(20)]
    first = [_members(positives)[0] for positives in found]
    assert all(members in first for members in drawn)
    assert all(members in drawn for members in first)
    assert {tuple(positives.sum(axis=1)) for positives in found} == {(limit, 1, limit, limit)}
