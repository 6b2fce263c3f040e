"""Claims: sentences about the order of two scores as data, and whether measured differences bear
them out.

The verdict on "above" and "below" is that of the two-sided test of "no difference", the one on
"equal" that of two one-sided tests of the stated size. The p of all claims that were measured
together are corrected by Holm: they are the family. A claim that was found in a table of
comparisons, in place of being stated before, has the correction over all comparisons of that table.
"""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from math import isnan, nan
from typing import Literal, Self

from embedlab.analysis.comparison import SIGNIFICANT
from embedlab.analysis.evidence import Reach, weakest_reach
from embedlab.analysis.power import smallest_difference, smallest_margin
from embedlab.analysis.seed_notes import REACHES
from embedlab.analysis.seed_tests import holm
from embedlab.analysis.uncertainty import UNKNOWN, Uncertainty, difference_interval
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
class ComparedTable:
    """The table in which a claim was found: how many comparisons it holds, and what its correction
    makes of one of them.
    """

    tests: int
    p: float  # of the claim's "no difference", corrected over all of them
    level: float  # at which the first comparison that stayed open was tested

    @classmethod
    def of(cls, tests: Mapping[Hashable, float], test: Hashable) -> Self:
        """Return the table of all TESTS, p by what is compared, for one TEST of them."""
        corrected = dict(zip(tests, holm([*tests.values()]), strict=True))
        return cls(
            tests=sum(not isnan(p) for p in tests.values()),
            p=corrected[test],
            level=_level(corrected.values()),
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class ClaimedDifference:
    """The measured difference that a claim is about: its first row minus its second."""

    value: float  # in units of the scores
    uncertainty: Uncertainty = UNKNOWN
    p: float = nan  # of "no difference"; nan where no items are known
    low: float = nan  # 95% interval
    high: float = nan
    reach: Reach = "models"
    scale: float = 1.0  # the table's units divided by those of the scores
    found_in: ComparedTable | None = None  # None: stated before it was measured
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
    p: float = nan  # corrected over the family, or over the table that it was found in
    found_in: ComparedTable | None = None
    reach: Reach = "models"
    # of an open claim: the smallest difference, or margin, that would have been found with 80%
    # power
    visible: float = nan

    @property
    def sign(self) -> str:
        """The sign of how far the verdict reaches; empty where there is none."""
        return REACHES[self.reach] if self.verdict in {"holds", "reversed"} else ""

    @property
    def differs(self) -> bool:
        """Whether the two rows differ in either direction, whatever is claimed."""
        is_equality = self.claim.direction == "equal"
        return self.verdict == "reversed" or (self.verdict == "holds" and not is_equality)


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
    pair = (first, second) if (first, second) in weighed.pair_uncertainties else (second, first)
    pair_uncertainty = weighed.pair_uncertainties[pair]
    uncertainty = pair_uncertainty if pair[0] == first else pair_uncertainty.reversed
    value = weighed.means[first] - weighed.means[second]
    low, high = difference_interval(value, uncertainty, weighed.evidence.scale)
    return ClaimedDifference(
        value=value,
        uncertainty=uncertainty,
        p=weighed.p[pair],
        low=low,
        high=high,
        reach=weakest_reach([weighed.models[name] for name in pair]),
        scale=scale,
        last_digit=last_digit,
    )


def settle_claims(
    claims: Mapping[str, Claim], measured: Mapping[str, ClaimedDifference]
) -> list[SettledClaim]:
    """Return the verdict on each of CLAIMS, corrected over those that are MEASURED, by the names of
    both.

    Of a claim of equality either "farther apart than the size" or "not farther apart" is true, so
    that it enters the family once, with the smaller p of the two tests. What is open would have
    been found at the level at which Holm's procedure stopped.
    """
    tests = {name: _tested(claims[name], measured[name]) for name in claims if name in measured}
    p_outside_tables = {
        name: p for name, (p, _) in tests.items() if measured[name].found_in is None
    }
    corrected = dict(zip(p_outside_tables, holm([*p_outside_tables.values()]), strict=True))
    level = _level(corrected.values())
    settled = []
    for name, claim in claims.items():
        if name not in measured:
            settled.append(SettledClaim(name=name, claim=claim, verdict="not measured"))
            continue
        difference, (p, outcome) = measured[name], tests[name]
        p = (
            corrected[name]
            if difference.found_in is None
            else _in_table(claim, p, difference.found_in)
        )
        is_equal = abs(difference.scale * difference.value) < difference.last_digit / 2
        is_open = p >= SIGNIFICANT or (is_equal and claim.direction != "equal")
        verdict = "open" if is_open or isnan(p) else outcome
        settled.append(
            SettledClaim(
                name=name,
                claim=claim,
                verdict=verdict,
                difference=difference.scale * difference.value,
                low=difference.scale * difference.low,
                high=difference.scale * difference.high,
                p=p,
                found_in=difference.found_in,
                reach=difference.reach,
                visible=difference.scale
                * _visible(
                    claim, difference, difference.found_in.level if difference.found_in else level
                )
                if verdict == "open"
                else nan,
            )
        )
    return settled


def _level(corrected: Iterable[float]) -> float:
    """Return the level at which Holm's procedure tested the first of the tests that stayed open."""
    return SIGNIFICANT / max(sum(p >= SIGNIFICANT for p in corrected), 1)


def _in_table(claim: Claim, p: float, table: ComparedTable) -> float:
    """Return the p of a claim that was found in a TABLE; of equality, which that does not test, it
    is multiplied by their number.
    """
    return min(p * table.tests, 1.0) if claim.direction == "equal" else table.p


def _tested(claim: Claim, difference: ClaimedDifference) -> tuple[float, Verdict]:
    """Return the p of a claim, and the verdict if it is small enough."""
    if claim.direction == "equal":
        assert claim.size is not None, "refused when it is read"
        margin = claim.size / difference.scale
        p_within = difference.uncertainty.equivalence(difference.value, margin)
        p_tail = (
            difference.uncertainty.tail(difference.value - margin)
            if difference.value >= 0
            else difference.uncertainty.reversed.tail(-difference.value - margin)
        )
        p_beyond = min(2 * p_tail, 1.0)
        return (p_within, "holds") if not p_beyond < p_within else (p_beyond, "reversed")
    return difference.p, "holds" if (difference.value > 0) == (
        claim.direction == "above"
    ) else "reversed"


def _visible(claim: Claim, difference: ClaimedDifference, level: float) -> float:
    smallest = smallest_margin if claim.direction == "equal" else smallest_difference
    return smallest(difference.uncertainty, level)
