"""Premises and their positive and negative sets."""

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
) -> AnchorSets:
    premise, hypothesis, label = np.array(rows).T
    return anchor_sets(
        premise,
        hypothesis,
        label,
        positives=positives,
        negatives=negatives,
        rng=np.random.default_rng(seed),
    )


def _members(mask: np.ndarray) -> list[set[int]]:
    return [set(row.nonzero()[0].tolist()) for row in mask]


def test_a_repeated_premise_is_one_anchor_with_all_its_hypotheses() -> None:
    sets = _sets(
        [
            (0, 2, ENTAILMENT),
            (0, 3, NEUTRAL),
            (1, 4, ENTAILMENT),
            (0, 5, ENTAILMENT),
            (1, 6, CONTRADICTION),
        ]
    )
    assert sets.anchors.tolist() == [0, 1]
    assert _members(sets.positives) == [{2, 5}, {4}]
    assert _members(sets.negatives) == [{3, 4, 6}, {2, 3, 5, 6}]


def test_an_entailed_sentence_is_never_its_own_negative_whatever_another_row_says() -> None:
    sets = _sets([(0, 2, ENTAILMENT), (0, 2, CONTRADICTION), (1, 2, ENTAILMENT), (1, 3, NEUTRAL)])
    assert _members(sets.positives) == [{2}, {2}]
    assert _members(sets.negatives) == [{3}, {3}]


def test_a_premise_is_not_its_own_negative() -> None:
    sets = _sets([(0, 2, ENTAILMENT), (1, 0, NEUTRAL)])
    assert _members(sets.negatives) == [set(), {0, 2}]


def test_another_premise_is_not_a_negative() -> None:
    sets = _sets([(0, 2, ENTAILMENT), (1, 3, ENTAILMENT)])
    assert 1 not in _members(sets.negatives)[0]


def test_pairs_keep_their_class_and_in_batch_pairs_are_contradictions() -> None:
    sets = _sets([(0, 2, ENTAILMENT), (0, 3, NEUTRAL), (1, 4, CONTRADICTION)])
    assert sets.classes[0, [2, 3, 4]].tolist() == [ENTAILMENT, NEUTRAL, CONTRADICTION]
    assert sets.classes[1, [2, 3, 4]].tolist() == [CONTRADICTION] * 3


def test_anchors_without_a_positive_can_be_left_out() -> None:
    sets = _sets([(0, 2, NEUTRAL), (1, 3, ENTAILMENT)])
    assert sets.with_positives().anchors.tolist() == [1]
    assert _sets([(0, 2, NEUTRAL)]).with_positives().positives.shape == (0, 3)


@pytest.mark.parametrize("limit", [1, 3, 50])
def test_a_draw_holds_at_most_its_limit_and_never_less_than_there_is(limit: int) -> None:
    rng = np.random.default_rng(0)
    mask = rng.random((40, 30)) < rng.random((40, 1))
    drawn = sample_subset(mask, limit, rng)
    assert not (drawn & ~mask).any()
    assert (drawn.sum(axis=1) == np.minimum(mask.sum(axis=1), limit)).all()


def test_draws_are_uniform_and_follow_their_seed() -> None:
    mask = np.array([[True, True, False, True, True, True]])
    rng = np.random.default_rng(7)
    counts = sum(sample_subset(mask, 2, rng)[0].astype(int) for _ in range(5000))
    assert counts[2] == 0
    assert np.allclose(counts[mask[0]] / 5000, 2 / 5, atol=0.03)
    rows = [
        (0, hypothesis, NEUTRAL if hypothesis % 2 else ENTAILMENT) for hypothesis in range(1, 20)
    ]
    first, again, other = (_sets(rows, 2, 3, seed).negatives for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_a_premise_may_come_after_all_hypotheses() -> None:
    sets = _sets([(4, 2, ENTAILMENT), (0, 3, NEUTRAL)])
    assert sets.anchors.tolist() == [0, 4]
    assert sets.positives.shape == sets.negatives.shape == (2, 5)
    assert _members(sets.positives) == [set(), {2}]
    assert _members(sets.negatives) == [{2, 3}, {3}]


def _by_row(
    rows: list[tuple[int, int, int]], positives: Limit = "all", seed: int = 0
) -> AnchorSets:
    premise, hypothesis, label = np.array(rows).T
    return entailment_sets(
        premise,
        hypothesis,
        label,
        positives=positives,
        negatives="all",
        rng=np.random.default_rng(seed),
    )


ROWS = [
    (0, 2, ENTAILMENT),
    (0, 3, NEUTRAL),
    (1, 4, ENTAILMENT),
    (0, 5, ENTAILMENT),
    (1, 6, CONTRADICTION),
    (0, 7, ENTAILMENT),
]


def test_each_entailment_is_an_anchor_of_its_own_in_the_authors_code() -> None:
    sets = _by_row(ROWS)
    assert sets.anchors.tolist() == [0, 1, 0, 0]
    assert _members(sets.positives) == [{2, 5, 7}, {4}, {2, 5, 7}, {2, 5, 7}]
    assert _members(sets.negatives) == [{3, 4, 6}, {2, 3, 5, 6, 7}, {3, 4, 6}, {3, 4, 6}]


@pytest.mark.parametrize("limit", [1, 2])
def test_a_row_draws_its_other_positives_beside_its_own_hypothesis(limit: int) -> None:
    drawn = [_members(_by_row(ROWS, limit, seed).positives) for seed in range(20)]
    assert all(
        own in found for members in drawn for own, found in zip((2, 4, 5, 7), members, strict=True)
    )
    assert {
        len(found) for members in drawn for place, found in enumerate(members) if place != 1
    } == {limit}
    assert {frozenset(members[0]) for members in drawn} == (
        {frozenset({2})} if limit == 1 else {frozenset({2, 5}), frozenset({2, 7})}
    )
