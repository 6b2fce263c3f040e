"""Verdicts on claims: their direction, their correction, what equality needs, and what could have
been seen.
"""

from dataclasses import replace
from math import isnan
from statistics import NormalDist

import pytest

from embedlab.analysis.claims import (
    Claim,
    ClaimedDifference,
    Direction,
    check_claim,
    claimed_difference,
    settle_claims,
)
from embedlab.analysis.comparison import compare_evidence
from embedlab.analysis.weighing import Weighed
from embedlab.core.errors import UsageError
from tests.analysis.made import nearly_normal, scored, single

NORMAL = NormalDist()


def claim(direction: Direction = "above", size: float | None = None) -> Claim:
    return Claim(table="t", first="a", second="b", direction=direction, size=size)


def measured(value: float, error: float = 0.01, **other: object) -> ClaimedDifference:
    """A difference with a normal error, in shares; the table's units are 100 times as small."""
    own = nearly_normal(error**2)
    low, high = own.interval(value)
    return ClaimedDifference(
        delta=value, uncertainty=own, p=own.p(value), low=low, high=high, scale=100.0, **other
    )  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("direction", "value", "verdict"),
    [
        ("above", 0.05, "holds"),
        ("above", -0.05, "reversed"),
        ("above", 0.01, "open"),
        ("below", -0.05, "holds"),
        ("below", 0.05, "reversed"),
    ],
)
def test_an_order_holds_is_reversed_or_stays_open(
    direction: Direction, value: float, verdict: str
) -> None:
    (found,) = settle_claims({"c": claim(direction)}, {"c": measured(value)})
    assert found.verdict == verdict
    assert found.difference == pytest.approx(100 * value)
    assert found.high - found.low == pytest.approx(2 * 1.959964 * 1.0, rel=1e-3)


def test_what_has_no_numbers_is_not_measured_and_what_has_no_items_is_open() -> None:
    there = ClaimedDifference(delta=0.3, scale=100.0)
    without, unknown = settle_claims({"a": claim(), "b": claim()}, {"b": there})
    assert (without.verdict, isnan(without.difference)) == ("not measured", True)
    assert (unknown.verdict, unknown.difference, isnan(unknown.visible)) == ("open", 30.0, True)


def test_claims_are_corrected_over_those_that_are_measured() -> None:
    """By Holm's steps written out: the smallest p times four, the next times three, never
    falling.
    """
    values = {"a": 0.03, "b": 0.0245, "c": 0.0225, "d": 0.005}
    found = settle_claims(
        {name: claim() for name in [*values, "absent"]},
        {name: measured(value) for name, value in values.items()},
    )
    largest = 0.0
    for place, name in enumerate(values):  # from the smallest p to the largest
        largest = max(largest, (4 - place) * 2 * NORMAL.cdf(-values[name] / 0.01))
        own = next(one for one in found if one.name == name)
        assert own.p == pytest.approx(min(largest, 1), rel=1e-3)
        assert own.verdict == ("holds" if largest < 0.05 else "open")
    assert {one.verdict for one in found} == {"holds", "open", "not measured"}


def test_an_open_claim_says_what_would_have_been_found_at_the_level_it_was_tested_at() -> None:
    found = settle_claims(
        {name: claim() for name in "abc"},
        {"a": measured(0.09), "b": measured(0.01), "c": measured(0.005)},
    )
    assert isnan(found[0].visible)
    expected = (
        100 * 0.01 * (NORMAL.inv_cdf(1 - 0.05 / 2 / 2) + NORMAL.inv_cdf(0.8))
    )  # two are left open
    assert found[1].visible == found[2].visible == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("value", "verdict"),
    [(0.005, "holds"), (-0.005, "holds"), (0.018, "open"), (0.06, "reversed"), (-0.06, "reversed")],
)
def test_equal_means_within_the_stated_size(value: float, verdict: str) -> None:
    (found,) = settle_claims({"c": claim("equal", 3.0)}, {"c": measured(value)})
    assert found.verdict == verdict
    larger = max(
        NORMAL.cdf((value - 0.03) / 0.01), NORMAL.cdf((-value - 0.03) / 0.01)
    )  # both one-sided tests
    beyond = 2 * NORMAL.cdf((0.03 - abs(value)) / 0.01)
    assert found.p == pytest.approx(min(larger, beyond), rel=1e-3)


def test_an_open_equality_says_which_size_would_have_been_shown() -> None:
    (found,) = settle_claims({"c": claim("equal", 1.0)}, {"c": measured(0.0)})
    assert found.verdict == "open"
    assert found.visible == pytest.approx(
        100 * 0.01 * (NORMAL.inv_cdf(0.95) + NORMAL.inv_cdf(0.9)), rel=1e-3
    )


def test_a_claim_is_measured_by_the_procedure_of_every_comparison() -> None:
    evidence, models = scored(60, [1.5, 0.6]), single("ba")
    shown = compare_evidence([evidence], models)[0].differences["a"]
    same, turned = (
        claimed_difference(Weighed(evidence, models), *names, scale=2.0) for names in ("ab", "ba")
    )
    assert (same.delta, same.p, same.low, same.high) == pytest.approx(
        (shown.delta, shown.p, shown.low, shown.high)
    )
    assert (turned.delta, turned.p, turned.low, turned.high) == pytest.approx(
        (-shown.delta, shown.p, -shown.high, -shown.low)
    )
    assert (same.reach, same.scale) == ("checkpoints", 2.0)
    assert turned.uncertainty == shown.uncertainty.reversed


def test_a_model_that_is_compared_with_itself_is_refused_with_its_file_and_key() -> None:
    with pytest.raises(UsageError, match="compared with itself") as caught:
        check_claim(replace(claim(), first="b"), "page.toml: claims.x")
    assert "page.toml: claims.x" in caught.value.message
    assert caught.value.hint


def test_an_order_of_numbers_that_are_equal_as_they_are_shown_is_open() -> None:
    tiny = measured(0.00004, error=0.000001, last_digit=0.01)
    (found,) = settle_claims({"c": claim()}, {"c": tiny})
    assert found.p < 0.05
    assert found.verdict == "open"
    (equal,) = settle_claims({"c": claim("equal", 3.0)}, {"c": tiny})
    assert equal.verdict == "holds"
