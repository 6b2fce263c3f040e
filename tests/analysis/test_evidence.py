"""Classified and scored items as evidence, and what a comparison makes of them."""

from dataclasses import replace

import numpy as np
import pytest

from embedlab.analysis.comparison import compare_evidence
from embedlab.analysis.evidence import (
    Evidence,
    ItemGroups,
    ModelColumns,
    SliceRows,
    average_evidence,
    contrast_evidence,
    evidence_of,
    joined,
    together,
)
from embedlab.analysis.measures import MEASURES
from embedlab.analysis.near_duplicates import Links, NearDuplicates


def predictions(items: int = 200, rows: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = (rng.random(items) < 0.6).astype(np.int64)
    flipped = rng.random((rows, items)) < np.linspace(0.1, 0.4, rows)[:, None]
    return gold, np.where(flipped, 1 - gold, gold)


def single(names: str) -> list[ModelColumns]:
    return [ModelColumns(name=name, members=(name,)) for name in names]


def test_a_member_without_predictions_has_no_score_and_takes_nothing_from_the_others() -> None:
    gold, predicted = predictions(50, 2)
    evidence = evidence_of(
        "glue", "cola", gold, {0: predicted[0], 2: predicted[1]}, 3, measure=MEASURES["matthews"]
    )
    (found,) = compare_evidence([evidence], single("abc"))
    assert np.isnan(found.scores["b"].value)
    assert np.isnan(found.differences["b"].p_holm)
    assert found.scores["b"].letters == ""
    assert not np.isnan(found.differences["c"].p_holm)
    alone = evidence_of(
        "glue", "cola", gold, dict(enumerate(predicted)), 2, measure=MEASURES["matthews"]
    )
    assert compare_evidence([alone], single("ac"))[0].differences["c"].p == pytest.approx(
        found.differences["c"].p
    )


def test_a_number_without_items_is_shown_and_not_tested() -> None:

    found = compare_evidence(
        [Evidence(key="x", title="x", items=9, points=np.array([0.5, 0.7]))], single("ab")
    )[0]
    assert found.differences["b"].delta == pytest.approx(0.2)
    assert np.isnan([found.differences["b"].p, found.scores["a"].low]).all()
    assert {score.letters for score in found.scores.values()} == {""}


def plain_rows(items: int = 30, members: int = 2, seed: int = 0) -> SliceRows:
    gold, predicted = predictions(items, members, seed)
    rows = evidence_of(
        "glue", str(seed), gold, dict(enumerate(predicted)), members, measure=MEASURES["accuracy"]
    ).rows
    assert rows is not None
    return rows


def test_what_is_left_without_some_rows_is_known_of_a_sum_where_it_is_known_of_all_its_parts() -> (
    None
):
    first, second = plain_rows(seed=1), plain_rows(seed=2)
    lacking = replace(second, leaving=None)
    assert joined([(first, 0.5), (second, 0.5)]).leaving is not None
    assert joined([(first, 0.5), (lacking, 0.5)]).leaving is None
    assert together([first, replace(first)]).leaving is not None
    assert together([first, replace(first, leaving=None)]).leaving is None


def test_rows_of_several_parts_have_their_own_groups_and_shares_and_the_links_of_all() -> None:
    first, second, third = plain_rows(20, seed=1), plain_rows(30, seed=2), plain_rows(10, seed=3)
    first = replace(first, groups=np.repeat([0, 1, 2], [5, 5, 10]))
    near = [
        NearDuplicates(
            ids=np.array(ids, np.uint64),
            links=Links(
                first=np.array([0], np.int32), second=np.array([1], np.int32), cosine=cosine
            ),
        )
        for ids, cosine in (
            ([7, 8], np.array([0.5], np.float32)),
            ([9, 10], np.array([0.9], np.float32)),
        )
    ]
    found = joined(
        [(replace(first, near=near[0]), 1.0), (second, 1.0), (replace(third, near=near[1]), 2.0)]
    )
    assert found.groups.tolist() == [
        *np.repeat([0, 1, 2], [5, 5, 10]).tolist(),
        *[3] * 30,
        *[4] * 10,
    ]
    assert found.row_shares.tolist() == pytest.approx(
        [*[1 / 4 / 20] * 20, *[1 / 4 / 30] * 30, *[1 / 2 / 10] * 10]
    )
    assert found.contributions == pytest.approx(
        np.concatenate([first.contributions, second.contributions, 2 * third.contributions], axis=1)
    )
    assert found.near is not None
    assert found.near.ids.tolist() == [7, 8, 9, 10]
    assert found.near.ids[found.near.links.first].tolist() == [9, 7]  # the most similar first
    assert (
        joined([(replace(first, near=near[0]), 1.0), (replace(third, near=near[0]), 1.0)]).near
        is near[0]
    )
    assert joined([(first, 1.0), (second, 1.0)]).near is None


def test_an_average_with_a_number_without_items_is_shown_and_not_tested() -> None:
    gold, predicted = predictions(60, 2)
    one = evidence_of(
        "glue", "rte", gold, dict(enumerate(predicted)), 2, measure=MEASURES["accuracy"]
    )
    found = average_evidence("both", [one, replace(one, key="mnli", rows=None)])
    assert found.rows is None
    assert found.points.tolist() == one.points.tolist()
    assert (found.task, found.metric, found.scale) == ("glue", "accuracy", "plain")
    other = replace(one, metric="f1")
    assert average_evidence("both", [one, other]).metric == "mean"
    assert average_evidence("both", [one, other], "points").metric == "points"
    correlated = replace(one, scale="correlation", metric="spearman")
    assert average_evidence("both", [correlated, correlated]).scale == "correlation"
    assert (
        average_evidence("both", [correlated, replace(correlated, metric="pearson")]).scale
        == "plain"
    )


def test_a_contrast_of_two_slices_is_the_difference_of_their_scores_over_all_their_rows() -> None:
    parts = []
    for name, items in (("fits", 60), ("rest", 90)):
        gold, predicted = predictions(items, 2, items)
        parts.append(
            evidence_of(
                "glue", name, gold, dict(enumerate(predicted)), 2, measure=MEASURES["accuracy"]
            )
        )
    fits, rest = (replace(part, setting="exact") for part in parts)
    found = contrast_evidence("apart", fits, rest)
    assert (found.key, found.title, found.items, found.task, found.metric, found.setting) == (
        *("apart", "apart", 150, "glue", "accuracy", "exact"),
    )
    assert found.points.tolist() == pytest.approx((fits.points - rest.points).tolist())
    (compared,) = compare_evidence([found], single("ab"))
    variances = [part.points * (1 - part.points) / part.items for part in (fits, rest)]
    assert compared.scores["a"].uncertainty.variance_of_rows == pytest.approx(
        sum(one[0] for one in variances), rel=0.03
    )
    assert contrast_evidence("apart", replace(fits, rows=None), rest).rows is None
    assert contrast_evidence("apart", fits, replace(rest, rows=None)).rows is None


def test_nothing_is_tested_without_items_a_test_or_a_member_and_a_group_without_items_has_no_rows() -> (
    None
):
    gold, predicted = predictions(20, 2)
    members = dict(enumerate(predicted))
    measure = MEASURES["accuracy"]
    assert (
        evidence_of("glue", "rte", gold, members, 2, measure=measure, is_tested=False).rows is None
    )
    nothing = evidence_of("glue", "rte", gold, {}, 2, measure=measure)
    assert nothing.rows is None
    assert np.isnan(nothing.points).all()
    grouped = evidence_of(
        "glue", "rte", gold, members, 2, measure=measure, groups=ItemGroups(rows=[])
    )
    assert grouped.rows is None
    assert np.isnan(grouped.points).all()


def test_a_comparison_reaches_as_far_as_the_weakest_of_the_models_that_have_a_score() -> None:
    gold, predicted = predictions(60, 2)
    evidence = evidence_of(
        "glue", "rte", gold, {0: predicted[0], 2: predicted[1]}, 3, measure=MEASURES["accuracy"]
    )
    known = [ModelColumns(name=name, members=(name,), is_published=name != "b") for name in "abc"]
    (found,) = compare_evidence([evidence], known, has_letters=True)
    assert found.reach == "models"
    assert {name: one.reach for name, one in found.differences.items()} == {
        "b": "checkpoints",
        "c": "models",
    }
    assert (
        found.scores["a"].letters != "",
        found.scores["b"].letters,
        found.scores["c"].letters != "",
    ) == (True, "", True)
    assert found.tests == 1
