"""The effect of having read test items is found where it was planted, and not where it was not."""

import numpy as np
import pytest

from embedlab.analysis.reading_effect import ReadingEffect, rank_errors_among, reading_effect

ITEMS, TOPICS = 600, 120


def drawn(seed: int, planted: float, *, by_topic: bool = False) -> tuple[ReadingEffect, float]:
    """The effect of one drawn dataset, and the points that reading really gave an item: its error
    is smaller by the share PLANTED.
    """
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, TOPICS, ITEMS)
    of_topic = rng.normal(size=(4, TOPICS))[:, topics]
    gold = np.round(rng.normal(2.5, 1.3, ITEMS) + 0.3 * of_topic[0], 1)
    overlap = 0.1 * gold + 0.3 * rng.random(ITEMS)
    lengths = np.log(rng.integers(5, 25, ITEMS))
    common = gold + 0.5 * of_topic[1]
    before = common + 0.5 * of_topic[2] + 0.8 * rng.normal(size=ITEMS)
    reference = common + 0.6 * of_topic[3] + rng.normal(size=ITEMS) + overlap
    is_read = (rng.random(TOPICS) < 0.5)[topics] if by_topic else rng.random(ITEMS) < 0.5
    scores = np.where(is_read, before + planted * (gold - before), before)
    effect = reading_effect(
        gold,
        scores,
        reference,
        is_read,
        topics=topics,
        sources=topics % 3,
        covariates=np.stack([overlap, lengths], axis=1),
    )
    errors = rank_errors_among(gold, before, ~is_read) - rank_errors_among(gold, scores, ~is_read)
    return effect, 50 * float(errors[is_read].mean())


@pytest.mark.parametrize(("planted", "by_topic"), [(0.0, True), (0.4, False), (0.4, True)])
def test_intervals_hold_the_planted_effect(planted: float, by_topic: bool) -> None:
    effects, gains = zip(
        *(drawn(seed, planted, by_topic=by_topic) for seed in range(120)), strict=True
    )
    truth = float(np.mean(gains))
    assert np.mean([effect.low <= truth <= effect.high for effect in effects]) > 0.9
    assert np.mean([effect.effect for effect in effects]) == pytest.approx(truth, abs=1.2)
    found = np.mean([effect.p < 0.05 for effect in effects])
    assert found > 0.75 if planted else found < 0.1


def of_noise(
    is_read: np.ndarray, topics: np.ndarray, sources: np.ndarray, *, is_planted: bool = False
) -> ReadingEffect:
    """The effect on scores that are noise, or are right where items were read."""
    rng = np.random.default_rng(0)
    gold, model, reference = rng.normal(size=(3, 120))
    return reading_effect(
        gold,
        np.where(is_read, gold, model) if is_planted else model,
        reference,
        is_read,
        topics=topics,
        sources=sources,
        covariates=rng.normal(size=(120, 1)),
    )


def test_a_source_that_was_read_as_a_whole_is_left_out() -> None:
    rows, sources = np.arange(120), np.repeat([0, 1], 60)
    is_read = (sources == 0) | (np.random.default_rng(0).random(120) < 0.5)
    effect = of_noise(is_read, rows, sources)
    assert effect.read_items + effect.unread_items == 60
    alone = of_noise(np.ones(120, np.bool_), rows, sources)
    assert (alone.read_items, alone.unread_items) == (0, 0)
    assert np.isnan(alone.effect)


def test_read_items_of_one_topic_have_no_interval_and_no_mark() -> None:
    rows = np.arange(120)
    effect = of_noise(rows < 30, np.maximum(rows, 29), np.zeros(120, np.intp), is_planted=True)
    assert np.isinf([effect.low, effect.high]).all()
    assert np.isnan(effect.p)
