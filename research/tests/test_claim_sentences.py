"""The sentences that are made of verdicts, and the table of the claims of a page."""

from math import nan

import pytest
from claim_sentences import claim_sentences, page_claims_table

from embedlab.analysis.claims import Claim, Direction, SettledClaim, Verdict

NAMES = {"s": "SBERT", "d": "DefSent", "sts12": "STS12", "sick-r": "SICK-R"}


def settled(
    name: str,
    verdict: Verdict,
    difference: float,
    *,
    first: str = "s",
    second: str = "d",
    direction: Direction = "above",
    columns: tuple[str, ...] = ("sts12",),
    source: str = "",
    size: float | None = None,
) -> SettledClaim:
    claim = Claim(
        table="t",
        first=first,
        second=second,
        direction=direction,
        columns=columns,
        source=source,
        size=size,
    )
    visible = 2.5 if verdict == "open" else nan
    return SettledClaim(
        name=name,
        claim=claim,
        verdict=verdict,
        difference=difference,
        low=difference - 1,
        high=difference + 1,
        p=0.01,
        visible=visible,
    )


@pytest.mark.parametrize(
    ("one", "sentence"),
    [
        (settled("a", "holds", 3), r"SBERT is above DefSent on STS12 (+3.00 [+2.00, +4.00]\*)"),
        (
            settled("a", "reversed", -3, source="table 3"),
            r"SBERT is below DefSent on STS12 (-3.00 [-4.00, -2.00]\*; reversed: the other "
            r"way round in table 3)",
        ),
        (
            settled("a", "holds", -3, direction="below", source="table 3"),
            r"SBERT is below DefSent on STS12 (-3.00 [-4.00, -2.00]\*; as in table 3)",
        ),
        (
            settled("a", "open", 0.5, direction="below", source="table 3"),
            "SBERT is not distinguished from DefSent on STS12 (+0.50 [-0.50, +1.50]; open: "
            "below in table 3)",
        ),
        (
            settled("a", "holds", 0.5, direction="equal", size=2),
            r"SBERT is within 2 points of DefSent on STS12 (+0.50 [-0.50, +1.50]\*)",
        ),
        (
            settled("a", "open", 0.5, direction="equal", size=2),
            "SBERT is not shown to be within 2 points of DefSent on STS12 (+0.50 [-0.50, +1.50])",
        ),
        (
            settled("a", "reversed", 5, direction="equal", size=2),
            r"SBERT is above DefSent on STS12 (+5.00 [+4.00, +6.00]\*)",
        ),
    ],
)
def test_a_sentence_says_what_was_found_whatever_was_claimed(
    one: SettledClaim, sentence: str
) -> None:
    assert claim_sentences([one], NAMES) == sentence


def test_claims_that_compare_alike_are_one_sentence() -> None:
    on_both = [settled("a", "holds", 3), settled("b", "holds", 4, columns=("sick-r",))]
    assert (
        claim_sentences(on_both, NAMES)
        == r"SBERT is above DefSent on STS12 and on SICK-R (+3.00\*, +4.00\*)"
    )
    both_rows = [
        settled("a", "holds", 3),
        settled("b", "holds", 4, first="m"),
        settled("c", "reversed", -4, first="n"),
    ]
    assert claim_sentences(both_rows, NAMES) == (
        r"SBERT and m are above DefSent on STS12 (+3.00\*, +4.00\*); n is below DefSent on "
        r"STS12 (-4.00 [-5.00, -3.00]\*)"
    )
    both_others = [settled("a", "open", 0.5), settled("b", "open", 0.4, second="e")]
    assert (
        claim_sentences(both_others, NAMES)
        == "SBERT is not distinguished from DefSent and e on STS12 (+0.50, +0.40)"
    )


def test_a_claim_of_a_paper_and_one_of_the_page_are_not_one_sentence() -> None:
    mixed = [settled("a", "holds", 3, source="table 3"), settled("b", "holds", 4, first="m")]
    assert claim_sentences(mixed, NAMES).count(";") == 2


def test_the_table_of_a_page_says_the_families_that_its_claims_are_of() -> None:
    notes = page_claims_table(
        [settled("a", "holds", 3, source="table 3"), settled("b", "open", 0.5)], NAMES
    ).notes
    assert "over the 2 claims that papers state" in notes[0]
    assert any("80% power from" in note for note in notes)
