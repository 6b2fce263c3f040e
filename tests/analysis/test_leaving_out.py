"""Scores without some rows are those of the other rows."""

import numpy as np
import pytest

from embedlab.analysis.evidence import Evidence, average_evidence, evidence_of
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


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", sorted(MEASURES))
def test_no_rows_have_no_score_and_that_is_no_warning(name: str) -> None:
    gold, predicted = items(MEASURES[name], 20)
    assert np.isnan(MEASURES[name].without(gold, predicted)(np.ones(20, bool))).all()


def test_a_correlation_of_too_few_or_equal_rows_is_undefined() -> None:
    without = spearman_without([1.0, 1.0, 2.0, 3.0], [[1.0, 2.0, 2.0, 2.0], [4.0, 3.0, 2.0, 1.0]])
    assert np.isnan(without(np.array([True, True, True, False]))).all()
    found = without(np.array([True, False, False, False]))
    assert np.isnan(found[0])
    assert found[1] == pytest.approx(-1)


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_each_measure_scores_the_rows_that_stay(name: str) -> None:
    measure = MEASURES[name]
    gold, predicted = items(measure, 200)
    left = np.random.default_rng(1).random(200) < 0.3
    expected = [measure.value(gold[~left], one[~left]) for one in predicted]
    assert measure.without(gold, predicted)(left) == pytest.approx(expected, abs=1e-12)


def evidence(rows: int, places: tuple[int, ...] = (0, 1, 2), size: int = 20) -> Evidence:
    """Evidence on ROWS of which SIZE are one topic; the last of four members has no score."""
    gold, predicted = items(MEASURES["spearman"], rows)
    texts = np.repeat(np.arange(rows, dtype=np.uint64)[:, None], 2, axis=1)
    texts[:size] = 1000
    own = {place: predicted[place] for place in places}
    return evidence_of("sts", "s", gold, own, 4, measure=MEASURES["spearman"], texts=texts)


def leaving(one: Evidence, left: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return one.rows.leave_out(left)


def test_rows_are_left_out_of_an_average_and_of_some_members_by_what_each_part_leaves() -> None:
    parts = [evidence(60), evidence(90)]
    average, left = average_evidence("both", parts), np.arange(150) % 4 == 0
    found = leaving(average, left)
    expected = zip(leaving(parts[0], left[:60]), leaving(parts[1], left[60:]), strict=True)
    for own, of_parts in zip(found, expected, strict=True):
        assert own == pytest.approx(np.mean(of_parts, axis=0), nan_ok=True)
    some = average.select_members([2, 3, 0])
    for own, whole in zip(leaving(some, left), found, strict=True):
        assert own == pytest.approx(whole[[2, 3, 0]], nan_ok=True)
