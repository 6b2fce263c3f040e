"""The table of a paper's claims, that of a page of results, and the sentences that are made of
verdicts.
"""

import json
from math import nan

import pytest

from embedlab.analysis.claims import Claim, Direction, SettledClaim, Verdict
from embedlab.experiments.paper_file import select_tables
from embedlab.reports.claims_table import claim_sentences, claims_table, page_claims_table
from embedlab.reports.layout import plain_text

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


def test_the_table_of_a_paper_has_its_keys_and_fits_eighty_cells() -> None:
    tables = {table.name: table for table in select_tables("tsukagoshi", None) if table.claims}
    claims = {name: claim for table in tables.values() for name, claim in table.claims.items()}
    verdicts: list[Verdict] = ["holds", "reversed", "open", "not measured"]
    found = [
        SettledClaim(
            name=name,
            claim=claim,
            verdict=verdicts[place % 4],
            difference=nan if place % 4 == 3 else 11.234,
            low=nan if place % 4 == 3 else 10.0,
            high=nan if place % 4 == 3 else 12.0,
            p=nan if place % 4 == 3 else 0.01,
        )
        for place, (name, claim) in enumerate(claims.items())
    ]
    table = claims_table("tsukagoshi", tables, found)
    assert max(map(len, plain_text(table, 80).splitlines())) <= 80
    lines = plain_text(table, 80).splitlines()
    assert any(line.split() == ["table", "claim", "printed", "ours", "verdict"] for line in lines)
    assert all(
        any(line.endswith(f"  {verdict}") for line in lines)
        for verdict in ("holds", "reversed", "not measured")
    )
    row = json.loads(table.to_json())["rows"][2]
    assert (row["claim"], row["columns"], row["quotation"]) == (
        "defsent-over-sbert-sts13-fnwn",
        "sts13/FNWN",
        "DefSent achieves noticeably higher scores than SBERT on OnWN and FNWN of STS13 and OnWN "
        "of STS14.",
    )
    assert {one["verdict"] for one in json.loads(table.to_json())["rows"]} == {*verdicts}
    short = claims_table("tsukagoshi", tables, found, is_short=True)
    assert len(short.rows) == sum(one.verdict in {"holds", "reversed"} for one in found)
    assert f"{sum(one.verdict == 'not measured' for one in found)} not measured" in short.notes[0]


def test_the_table_of_a_page_says_the_families_that_its_claims_are_of() -> None:
    notes = page_claims_table(
        [settled("a", "holds", 3, source="table 3"), settled("b", "open", 0.5)], NAMES
    ).notes
    assert "over the 2 claims that papers state" in notes[0]
    assert any("80% power from" in note for note in notes)
