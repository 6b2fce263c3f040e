"""The table of a paper's claims."""

import json
from collections import Counter
from dataclasses import replace
from itertools import cycle

from embedlab.analysis.claims import SettledClaim, Verdict
from embedlab.experiments.paper_file import select_tables
from embedlab.reports.claims_table import claims_table
from embedlab.reports.layout import plain_text

TABLES = {table.name: table for table in select_tables("tsukagoshi", None) if table.claims}
CLAIMS = {name: claim for table in TABLES.values() for name, claim in table.claims.items()}


def test_the_table_of_a_paper_has_its_keys_and_fits_eighty_cells() -> None:
    verdicts: list[Verdict] = ["holds", "reversed", "open", "not measured"]
    found = [
        SettledClaim(
            name=name, claim=claim, verdict=verdict, difference=11.234, low=10.0, high=12.0, p=0.01
        )
        for (name, claim), verdict in zip(CLAIMS.items(), cycle(verdicts))
    ]
    table = claims_table("tsukagoshi", TABLES, found)
    lines = plain_text(table, 80).splitlines()
    assert max(map(len, lines)) <= 80
    assert ["table", "claim", "printed", "ours", "verdict"] in map(str.split, lines)
    for verdict in ("holds", "reversed", "not measured"):
        assert any(line.endswith(f"  {verdict}") for line in lines)
    rows = json.loads(table.to_json())["rows"]
    assert (rows[2]["claim"], rows[2]["columns"], rows[2]["quotation"]) == (
        "defsent-over-sbert-sts13-fnwn",
        "sts13/FNWN",
        "DefSent achieves noticeably higher scores than SBERT on OnWN and FNWN of STS13 and OnWN "
        "of STS14.",
    )
    assert [row["verdict"] for row in rows] == [one.verdict for one in found]
    counts = Counter(one.verdict for one in found)
    assert f"{counts['not measured']} not measured" in table.notes[0]


def test_the_command_for_what_is_not_measured_names_the_folder_as_it_was_typed() -> None:
    tables = {name: replace(table, folder="./my paper") for name, table in TABLES.items()}
    found = [
        SettledClaim(name=name, claim=one, verdict="not measured") for name, one in CLAIMS.items()
    ]
    note = claims_table("my paper", tables, found).notes[-1]
    assert "`embedlab reproduce './my paper' TABLE`" in note
