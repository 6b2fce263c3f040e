"""The table of a paper's claims."""

import json
from math import nan

from embedlab.analysis.claims import SettledClaim, Verdict
from embedlab.experiments.paper_file import select_tables
from embedlab.reports.claims_table import claims_table
from embedlab.reports.layout import plain_text


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
