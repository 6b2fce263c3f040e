"""Scores without some rows are those of the other rows."""

import numpy as np
import pytest

from embedlab.analysis.evidence import (
    ItemGroups,
    average_evidence,
    contrast_evidence,
    evidence_of,
    together,
)
from embedlab.analysis.leaving_out import spearman_without
from embedlab.analysis.measures import MEASURES, Measure


def items(measure: Measure, rows: int, seed: int = 0) -> tuple[np.ndarray, list[np.ndarray]]:
    rng = np.random.default_rng(seed)
    if measure.is_of_queries:  # each with one relevant text, whose rank is predicted
        return np.arange(rows), [rng.integers(1, worst, rows) for worst in (4, 12, 30)]
    if measure.is_of_classes:
        gold = rng.integers(0, 2, rows)
        return gold, [
            np.where(rng.random(rows) < 0.8, gold, rng.integers(0, 2, rows)) for _ in range(3)
        ]
    values = 2 if measure.name in {"average precision", "roc auc"} else 11
    gold = rng.integers(0, values, rows) / (values - 1) * (1 if values == 2 else 5)
    return gold, [(gold + rng.normal(0, noise, rows)).round(1) for noise in (1.0, 2.0, 3.0)]


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_each_measure_scores_the_rows_that_stay(name: str) -> None:
    measure = MEASURES[name]
    gold, predicted = items(measure, 200)
    without = measure.without(gold, predicted)
    for seed in range(5):
        left = np.random.default_rng(seed).random(200) < 0.3
        expected = [measure.value(gold[~left], one[~left]) for one in predicted]
        assert without(left) == pytest.approx(expected, abs=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", sorted(MEASURES))
def test_no_rows_have_no_score_and_that_is_no_warning(name: str) -> None:
    gold, predicted = items(MEASURES[name], 20)
    assert np.isnan(MEASURES[name].without(gold, predicted)(np.ones(20, bool))).all()


def test_many_members_are_counted_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    gold, predicted = items(MEASURES["spearman"], 200)
    left = np.random.default_rng(3).random(200) < 0.3
    together = spearman_without(gold, predicted)(left)
    monkeypatch.setattr("embedlab.analysis.leaving_out._VALUES_AT_ONCE", 450)  # two members
    assert spearman_without(gold, predicted)(left).tolist() == together.tolist()
    assert len({*together.tolist()}) == 3


def test_a_correlation_of_too_few_or_equal_rows_is_undefined() -> None:
    without = spearman_without([1.0, 1.0, 2.0, 3.0], [[1.0, 2.0, 2.0, 2.0], [4.0, 3.0, 2.0, 1.0]])
    assert np.isnan(without(np.array([True, True, True, False]))).all()
    found = without(np.array([True, False, False, False]))
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(-1)


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_a_large_topic_contributes_what_the_score_moves_by_without_it(name: str) -> None:
    measure = MEASURES[name]
    gold, predicted = items(measure, 200)
    texts = np.repeat(np.arange(200, dtype=np.uint64)[:, None], 2, axis=1)
    texts[:30] = 7  # one topic
    one = evidence_of(
        "mine", "mine", gold, dict(enumerate(predicted)), 4, measure=measure, texts=texts
    )
    assert one.rows is not None
    found, large = one.rows.topics, one.rows.row_topics[0]
    left = np.arange(200) < 30
    expected = [
        0.85 * (measure.value(gold, own) - measure.value(gold[~left], own[~left]))
        for own in predicted
    ]
    assert found.sums[:3, large] == pytest.approx(expected, abs=1e-12)
    assert found.sums[3].tolist() == [0.0] * found.count  # a member without a score
    assert found.sums.sum(axis=1) == pytest.approx(np.zeros(4), abs=1e-12)
    assert found.shares.sum() == pytest.approx(1)
    small = np.bincount(one.rows.row_topics, weights=one.rows.contributions[0])
    assert found.sums[0] == pytest.approx(small, abs=0.02)
    picked = one.rows.of_members([2, 0])
    assert picked.topics.sums.tolist() == found.sums[[2, 0]].tolist()
    assert picked.leaving is not None
    assert picked.leaving(left)[0] == pytest.approx(
        [measure.value(gold[~left], predicted[place][~left]) for place in (2, 0)]
    )


def test_groups_and_averages_are_scored_again_within_each() -> None:
    measure = MEASURES["spearman"]
    gold, predicted = items(measure, 240)
    texts = np.repeat(np.arange(240, dtype=np.uint64)[:, None], 2, axis=1)
    texts[90:110] = 1000  # in both groups
    groups = ItemGroups(rows=[np.arange(100), np.arange(100, 240)], aggregate="wmean")
    grouped = evidence_of(
        "sts", "a", gold, dict(enumerate(predicted)), 3, measure=measure, texts=texts, groups=groups
    )
    single = evidence_of(
        "sts", "b", gold, dict(enumerate(predicted)), 3, measure=measure, texts=texts
    )
    average = average_evidence("both", [grouped, single])
    assert grouped.rows is not None
    assert average.rows is not None

    def alone(start: int, end: int, left: np.ndarray, one: np.ndarray) -> float:
        stay = [row for row in range(start, end) if not left[row]]
        return measure.value(gold[stay], one[stay])

    left = (np.arange(240) >= 90) & (np.arange(240) < 110)
    expected = [
        100 / 240 * alone(0, 100, left, one) + 140 / 240 * alone(100, 240, left, one)
        for one in predicted
    ]
    assert grouped.rows.leaving is not None
    assert grouped.rows.leaving(left)[0] == pytest.approx(expected)
    shifts = [
        100 / 240 * 0.9 * (measure.value(gold[:100], one[:100]) - alone(0, 100, left, one))
        + 140
        / 240
        * (130 / 140)
        * (measure.value(gold[100:], one[100:]) - alone(100, 240, left, one))
        for one in predicted
    ]
    # What is forced to sum to zero within each group counts more: by what each leaves of a variance
    # over topics of these shares.
    whole, first, second = (
        1 - (size / rows) ** 2 - (rows - size) / rows**2
        for size, rows in ((20, 240), (10, 100), (10, 140))
    )
    factor = (
        np.sqrt(whole / first) + np.sqrt(whole / second)
    ) / 2  # half of the topic's rows are in either
    assert grouped.rows.topics.sums[:, grouped.rows.row_topics[95]] == pytest.approx(
        factor * np.array(shifts)
    )
    assert average.rows.leaving is not None
    both = average.rows.leaving(np.concatenate([left, left]))[0]
    assert both == pytest.approx(
        [(one + alone(0, 240, left, own)) / 2 for one, own in zip(expected, predicted, strict=True)]
    )
    assert average.rows.row_shares.sum() == pytest.approx(1)


def test_members_of_several_parts_are_those_of_one() -> None:
    measure = MEASURES["spearman"]
    gold, predicted = items(measure, 150)
    texts = np.repeat(np.arange(150, dtype=np.uint64)[:, None], 2, axis=1)
    texts[:20] = 3
    whole = evidence_of(
        "sts", "a", gold, dict(enumerate(predicted)), 3, measure=measure, texts=texts
    ).rows
    parts = [
        evidence_of("sts", "a", gold, {0: one}, 1, measure=measure, texts=texts).rows
        for one in predicted
    ]
    assert whole is not None
    joined = together([part for part in parts if part is not None])
    assert joined.topics.sums == pytest.approx(whole.topics.sums)
    assert joined.contributions.tolist() == whole.contributions.tolist()


def test_what_rows_contribute_to_a_contrast_of_two_slices_is_that_of_the_one_less_that_of_the_other() -> (
    None
):
    measure = MEASURES["spearman"]
    slices = []
    for name, rows in (("fits", 80), ("rest", 120)):
        gold, predicted = items(measure, rows, seed=rows)
        slices.append(
            evidence_of("sts", name, gold, dict(enumerate(predicted)), 3, measure=measure)
        )
    found = contrast_evidence("contrast", *slices).rows
    parts = [one.rows.leaving for one in slices if one.rows is not None]
    left = np.random.default_rng(0).random(200) < 0.2
    assert found is not None
    assert found.leaving is not None
    own, other = (
        part(rows)[1]
        for part, rows in zip(parts, (left[:80], left[80:]), strict=True)
        if part is not None
    )
    assert found.leaving(left)[1] == pytest.approx(own - other)
    assert found.leaving(np.zeros(200, bool))[0] == pytest.approx(
        slices[0].points - slices[1].points
    )
    assert found.contributions[:, left].sum(axis=1) == pytest.approx(own - other, abs=0.02)
