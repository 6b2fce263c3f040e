"""Claims: sentences about the order of two scores as data, and whether measured differences bear
them out.

The verdict on "above" and "below" is that of the two-sided test of "no difference", the one on
"equal" that of two one-sided tests of the stated size. The p of all claims that were measured
together are corrected by Holm: they are the family.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Literal

from embedlab.analysis.comparison import SIGNIFICANT, Difference, measured_difference
from embedlab.analysis.evidence import Reach
from embedlab.analysis.power import smallest_difference, smallest_margin
from embedlab.analysis.seed_notes import REACHES
from embedlab.analysis.seed_tests import holm
from embedlab.analysis.weighing import Weighed
from embedlab.core.errors import UsageError
from embedlab.core.recipe import Positive
from embedlab.core.schema import table

Direction = Literal["above", "below", "equal"]
Verdict = Literal["holds", "reversed", "open", "not measured"]


@table
class Claim:
    """A sentence about the order of two rows of a table, in a paper or on a page of results."""

    table: str  # whose rows and columns it is about
    first: str
    second: str
    direction: Direction  # of the first's score, compared with the second's; equal: within the size
    columns: tuple[
        str, ...
    ] = ()  # columns or slices, whose mean is compared; empty: those that put the table's rows in order
    # in the table's units: stated beside above and below, the margin of equal
    size: Positive | None = None
    text: str = ""  # in our words; empty: made of the rows and the direction
    quotation: str = ""  # in the source's own words; empty where these are not at hand
    # the section, table or figure that states it; empty: the page that holds the claim
    source: str = ""

    @property
    def statement(self) -> str:
        """What is claimed, in a few words."""
        if self.direction == "equal":
            return f"{self.first} within {self.size:g} of {self.second}"
        return f"{self.first} {self.direction} {self.second}"


@dataclass(frozen=True, kw_only=True)
class ClaimedDifference(Difference):
    """The measured difference that a claim is about: its first row minus its second."""

    scale: float = 1.0  # the table's units divided by those of the scores
    last_digit: float = 0.0  # that is shown, in the table's units


@dataclass(frozen=True, kw_only=True)
class SettledClaim:
    """A claim, the difference that was measured, in the table's units, and the verdict."""

    name: str
    claim: Claim
    verdict: Verdict
    difference: float = nan
    low: float = nan  # 95% interval
    high: float = nan
    p: float = nan  # corrected over the family
    # that the first exceeds the second: one minus the one-sided p, without the correction
    probability: float = nan
    is_equal: bool = False  # to the last digit that is shown, where an order is claimed
    reach: Reach = "models"
    # of an open claim: the smallest difference, or margin, that would have been found with 80%
    # power
    visible: float = nan

    @property
    def sign(self) -> str:
        """The sign of how far the verdict reaches; empty where there is none."""
        return REACHES[self.reach] if self.verdict in {"holds", "reversed"} else ""


def check_claim(claim: Claim, location: str) -> None:
    """Refuse a claim that no difference could decide; LOCATION is its file and key."""
    if claim.direction == "equal" and claim.size is None:
        raise UsageError(
            f"{location}: 'equal' needs a size",
            hint="size = 0.5, in the table's units: within it two scores count as equal",
        )
    if claim.first == claim.second:
        raise UsageError(
            f"{location}: {claim.first!r} is compared with itself", hint="name two rows"
        )


def claimed_difference(
    weighed: Weighed, first: str, second: str, *, scale: float, last_digit: float = 0.0
) -> ClaimedDifference:
    """Return the difference of two models of a weighed slice, by the procedure of every
    comparison.
    """
    difference = measured_difference(weighed, first, second)
    return ClaimedDifference(**vars(difference), scale=scale, last_digit=last_digit)


def settle_claims(
    claims: Mapping[str, Claim],
    measured: Mapping[str, ClaimedDifference],
    inconclusive: Collection[str] = (),
) -> list[SettledClaim]:
    """Return the verdict on each of CLAIMS, corrected over those that are MEASURED and not
    INCONCLUSIVE, by the names of all three.

    Of a claim of equality either "farther apart than the size" or "not farther apart" is true, so
    that it enters the family once, with the smaller p of the two tests. What is open would have
    been found at the level at which Holm's procedure stopped.
    """
    tests = {
        name: claim_p(claim, measured[name]) for name, claim in claims.items() if name in measured
    }
    corrected = holm([nan if name in inconclusive else p for name, (p, _) in tests.items()])
    level = open_level(corrected)
    settled = {
        name: settle_claim(name, claims[name], measured[name], outcome, p, level)
        for (name, (_, outcome)), p in zip(tests.items(), corrected, strict=True)
    }
    for name in inconclusive:
        settled[name] = replace(settled[name], verdict="not measured")
    return [
        settled.get(name) or SettledClaim(name=name, claim=claim, verdict="not measured")
        for name, claim in claims.items()
    ]


def settle_claim(
    name: str,
    claim: Claim,
    difference: ClaimedDifference,
    outcome: Verdict,
    p: float,
    level: float,
) -> SettledClaim:
    """Return the verdict on a claim: its OUTCOME if the corrected P is small enough; what is open
    would have been found at LEVEL.
    """
    value = difference.scale * difference.delta
    is_equal = abs(value) < difference.last_digit / 2 and claim.direction != "equal"
    is_open = isnan(p) or p >= SIGNIFICANT or is_equal
    smallest = smallest_margin if claim.direction == "equal" else smallest_difference
    return SettledClaim(
        name=name,
        claim=claim,
        verdict="open" if is_open else outcome,
        difference=value,
        low=difference.scale * difference.low,
        high=difference.scale * difference.high,
        p=p,
        probability=1 - difference.p / 2 if difference.delta >= 0 else difference.p / 2,
        is_equal=is_equal,
        reach=difference.reach,
        visible=difference.scale * smallest(difference.uncertainty, level) if is_open else nan,
    )


def open_level(corrected: Collection[float]) -> float:
    """Return the level at which Holm's procedure tested the first of the tests that stayed open."""
    return SIGNIFICANT / max(sum(p >= SIGNIFICANT for p in corrected), 1)


def claim_p(claim: Claim, difference: ClaimedDifference) -> tuple[float, Verdict]:
    """Return the p of a claim, and the verdict if it is small enough."""
    uncertainty = difference.uncertainty
    delta = difference.delta
    if claim.direction != "equal":
        is_as_claimed = (delta > 0) == (claim.direction == "above")
        return difference.p, "holds" if is_as_claimed else "reversed"
    assert claim.size is not None, "refused when it is read"
    margin = claim.size / difference.scale
    p_within = uncertainty.equivalence(delta, margin)
    upwards = uncertainty if delta >= 0 else uncertainty.reversed
    p_beyond = min(2 * upwards.tail(abs(delta) - margin), 1.0)
    return (p_within, "holds") if not p_beyond < p_within else (p_beyond, "reversed")
