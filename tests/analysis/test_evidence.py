"""Classified and scored items as evidence, and what a comparison makes of them."""

from dataclasses import replace

import numpy as np
import pytest

from embedlab.analysis.comparison import compare_evidence
from embedlab.analysis.evidence import (
    ItemGroups,
    average_evidence,
    contrast_evidence,
)
from tests.analysis.made import scored, single


def test_a_member_without_predictions_has_no_score_and_takes_nothing_from_the_others() -> None:
    alone, there = (
        scored(50, dict.fromkeys(places, 0.2), measure="matthews") for places in ((0, 1), (0, 2))
    )
    models = [replace(one, is_published=one.name != "b") for one in single("abc")]
    (found,) = compare_evidence([there], models, has_letters=True)
    (expected,) = compare_evidence([alone], single("ac"))
    assert np.isnan([found.scores["b"].value, found.differences["b"].p_holm]).all()
    assert [bool(found.scores[name].letters) for name in "abc"] == [True, False, True]
    assert found.differences["c"].p_holm == pytest.approx(expected.differences["c"].p)
    assert (found.tests, found.reach) == (1, "models")
    reaches = {name: one.reach for name, one in found.differences.items()}
    assert reaches == {"b": "checkpoints", "c": "models"}


def test_an_average_with_a_number_without_items_is_shown_and_not_tested() -> None:
    one = scored(60, [0.1, 0.2], measure="accuracy")
    found = average_evidence("both", [one, replace(one, key="mnli", rows=None)])
    assert found.rows is None
    assert found.points.tolist() == one.points.tolist()
    (compared,) = compare_evidence([found], single("ab"))
    assert compared.differences["b"].delta == pytest.approx(one.points[1] - one.points[0])
    assert np.isnan([compared.differences["b"].p, compared.scores["a"].low]).all()


def test_nothing_is_tested_without_items_a_test_or_a_member_and_a_group_without_items_has_no_rows() -> (
    None
):
    assert scored(20, [0.1], is_tested=False).rows is None
    for nothing in (scored(20, []), scored(20, [0.1], groups=ItemGroups(rows=[]))):
        assert nothing.rows is None
        assert np.isnan(nothing.points).all()


def test_a_contrast_of_two_slices_is_the_difference_of_their_scores_over_all_their_rows() -> None:
    fits, rest = (scored(items, [0.1, 0.2], measure="accuracy", seed=items) for items in (60, 90))
    found = contrast_evidence("apart", fits, rest)
    assert (found.items, found.metric) == (150, "accuracy")
    assert found.points == pytest.approx(fits.points - rest.points)
    (compared,) = compare_evidence([found], single("ab"))
    variance = sum(one.points[0] * (1 - one.points[0]) / one.items for one in (fits, rest))
    assert compared.scores["a"].uncertainty.variance_of_rows == pytest.approx(variance, rel=0.04)
    left = np.arange(150) % 3 == 0
    without, own, others = (
        one.rows.leave_out(rows)[0]
        for one, rows in ((found, left), (fits, left[:60]), (rest, left[60:]))
        if one.rows is not None and one.rows.leave_out is not None
    )
    assert without == pytest.approx(own - others)
