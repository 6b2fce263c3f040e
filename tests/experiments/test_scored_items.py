"""The items behind the numbers of a paper, of all members that predicted the same items."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

from embedlab.analysis.evidence import SliceRows
from embedlab.choices import Correlation
from embedlab.experiments.item_ties import ScoredItems
from embedlab.experiments.paper_table import PaperMeasure
from embedlab.runs.outcomes import StoredOutcomes, items_frame
from tests.stored_scores import outcomes

RTE = PaperMeasure(
    task="glue", slice="glue-rte", metric="accuracy", setting="validation", split=None
)


def classified(
    wrong: float, *, split: str = "dev", items: int = 200, seed: int = 0
) -> StoredOutcomes:
    """Items of two classes, of which the share WRONG is said to be of the other."""
    rng = np.random.default_rng(seed)
    gold = np.arange(items) % 2
    predicted = np.where(rng.random(items) < wrong, 1 - gold, gold)
    frame = items_frame(np.arange(items), gold, predicted)
    return outcomes("glue-rte", frame, split=split, classes=("no", "yes"))


def rows(
    stored: dict[tuple[str, str], list[StoredOutcomes]], measure: PaperMeasure, member: str
) -> SliceRows | None:
    evidence = ScoredItems.of(stored).evidence(measure, [member])
    return evidence.rows if evidence is not None else None


def test_a_members_contributions_are_its_share_of_right_items() -> None:
    stored = {("good", "glue"): [classified(0.1)], ("poor", "glue"): [classified(0.3, seed=1)]}
    right = {
        name: (own[0].items["gold"] == own[0].items["predicted"]).to_numpy()
        for (name, _), own in stored.items()
    }
    for name, correct in right.items():
        found = rows(stored, RTE, name)
        assert found is not None
        np.testing.assert_allclose(found.contributions, [(correct - correct.mean()) / 200])


@pytest.mark.parametrize("metric", ["spearman", "pearson"])
def test_scored_items_contribute_to_a_correlation(metric: Correlation) -> None:
    rng = np.random.default_rng(0)
    gold = rng.integers(0, 6, 120).astype(np.float64)
    measure = replace(RTE, slice="sts-benchmark", metric=metric)
    predicted = {
        name: gold + rng.normal(0, noise, 120) for name, noise in (("near", 1), ("far", 3))
    }
    stored = {
        (name, "glue"): [outcomes("sts-benchmark", items_frame(np.arange(120), gold, own))]
        for name, own in predicted.items()
    }
    slow = pearsonr if metric == "pearson" else spearmanr
    for name, own in predicted.items():
        left_out = [slow(np.delete(gold, row), np.delete(own, row)).statistic for row in range(120)]
        changes = 119 / 120 * (slow(gold, own).statistic - np.array(left_out))
        found = rows(stored, measure, name)
        assert found is not None
        np.testing.assert_allclose(found.contributions[0], changes, atol=1e-3)
    assert rows(stored, replace(measure, metric="accuracy"), "near") is None


def test_members_without_items_or_with_others_are_absent_and_so_are_measures_of_no_items() -> None:
    stored = {
        ("a", "glue"): [classified(0.1)],
        ("b", "glue"): [classified(0.1, items=100)],
        ("c", "glue"): [],
    }
    assert [name for name in "abcd" if rows(stored, RTE, name) is not None] == ["a"]
    assert rows(stored, replace(RTE, metric="pearson"), "a") is None


def test_the_split_that_is_named_is_used() -> None:
    stored = {
        ("a", "glue"): [
            classified(0.5, split="dev-mismatched"),
            classified(0.0, split="dev-matched"),
        ]
    }
    found = rows(stored, replace(RTE, split="dev-matched"), "a")
    assert found is not None
    assert not found.contributions.any()
