"""Claims that a page of results found in its own tables, in place of stating them before: each has
the correction over all comparisons of its table.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from math import isnan
from typing import Self

from embedlab.analysis.claims import (
    Claim,
    ClaimedDifference,
    SettledClaim,
    claim_p,
    open_level,
    settle_claim,
)
from embedlab.analysis.seed_tests import holm


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
            level=open_level(corrected.values()),
        )


@dataclass(frozen=True, kw_only=True)
class FoundClaim(SettledClaim):
    """A claim that was found in a table, and its verdict."""

    found_in: ComparedTable


def settle_found(
    name: str, claim: Claim, difference: ClaimedDifference, table: ComparedTable
) -> FoundClaim:
    """Return the verdict on a claim that was found in a TABLE; the p of equality, which that does
    not test, is multiplied by their number.
    """
    p, outcome = claim_p(claim, difference)
    p = min(p * table.tests, 1.0) if claim.direction == "equal" else table.p
    settled = settle_claim(name, claim, difference, outcome, p, table.level)
    return FoundClaim(**vars(settled), found_in=table)
