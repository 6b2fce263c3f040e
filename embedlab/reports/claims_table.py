"""The table of a paper's claims: who is above whom, what is printed, what was measured, and the
verdict.
"""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import isnan

from embedlab.analysis.claims import SettledClaim
from embedlab.analysis.seed_notes import REACH_SIGN, REACHES
from embedlab.experiments.paper_table import PaperTable
from embedlab.reports.notes import data_sentences, with_marks
from embedlab.reports.papers import interval_cell, reach_mark, verdict_note
from embedlab.reports.tables import Table, TableCell, Value, attributes, columns_of, number

KEYS = (
    *("claim", "table", "first", "direction", "second", "columns", "size", "text", "quotation"),
    *("source", "printed", "ours", "low", "high", "p", "verdict", "reach", "visible"),
)
# a claim breaks, so that its verdict is next to it
_COLUMNS = columns_of(
    "table [group]",
    "what = claim [key]",
    "printed >",
    "ours >",
    "verdict <",
    "quotation = the paper's words [minor] <",
    "source [minor] <",
)


def claims_table(
    paper: str,
    tables: Mapping[str, PaperTable],
    settled: Sequence[SettledClaim],
    *,
    marks: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Table:
    """Return the verdicts on the claims about TABLES of a PAPER."""
    title = f"{paper}: do its claims hold?"
    address = shlex.quote(next(iter(tables.values())).address)
    caption = " ".join([f"{title} Brackets: 95% intervals.", *data_sentences(marks)])
    return Table(
        with_marks(title, marks),
        _COLUMNS,
        [_row(claim, tables[claim.claim.table]) for claim in settled],
        [
            *notes,
            *_explanations(paper, settled),
            *sign_notes(settled),
            *_unmeasured_note(address, settled),
        ],
        keys=KEYS,
        caption=lambda: caption,
    )


def _row(settled: SettledClaim, table: PaperTable) -> dict[str, Value | TableCell]:
    claim, digits = settled.claim, 2 if table.scale > 1 else 3
    return {
        **attributes(claim, "first direction second size source"),
        **attributes(settled, "low high p reach visible"),
        "claim": settled.name,
        "what": table.statement(claim),
        "table": TableCell(claim.table, table.name.split("_")[0]),
        "columns": ", ".join(table.columns_of(claim)),
        "text": claim.text or None,
        "quotation": claim.quotation or None,
        "printed": number(table.printed_difference(claim), digits=digits, is_signed=True),
        "ours": interval_cell(settled, digits),
        "verdict": TableCell(settled.verdict, verdict_text(settled, digits)),
    }


def verdict_text(settled: SettledClaim, digits: int) -> str:
    """Return the verdict with its sign and the smallest difference that has 80% power, in DIGITS
    decimals.
    """
    power_note = ""
    if not isnan(settled.visible):
        power_note = f" (80% power from {settled.visible:z.{digits}f})"
    return f"{settled.verdict}{reach_mark(settled.sign)}{power_note}"


def _explanations(paper: str, settled: Sequence[SettledClaim]) -> Iterator[str]:
    counts = Counter[str](claim.verdict for claim in settled)
    verdicts = ("holds", "reversed", "open", "not measured")
    yield ", ".join(f"{counts[verdict]} {verdict}" for verdict in verdicts if counts[verdict])
    if measured_count := sum(not isnan(claim.p) for claim in settled):
        yield verdict_note(measured_count, "claim", f"of {paper} that are measured here")


def _unmeasured_note(address: str, settled: Sequence[SettledClaim]) -> Iterator[str]:
    unmeasured_tables = [claim.claim.table for claim in settled if claim.verdict == "not measured"]
    if unmeasured_tables:
        names = ", ".join(name.split("_")[0] for name in dict.fromkeys(unmeasured_tables))
        yield f"not measured: `embedlab reproduce {address} TABLE` trains the rows of {names}"


def sign_notes(settled: Sequence[SettledClaim]) -> Iterator[str]:
    """Yield the meaning of each sign that the verdicts have."""
    if any(not isnan(claim.visible) for claim in settled):
        yield "80% power from: the smallest difference that would have had a verdict with 80% power"
    if any(claim.sign == REACHES["checkpoints"] for claim in settled):
        yield REACH_SIGN.replace(" ", ": ", 1)
    if any(isnan(claim.p) and claim.verdict == "open" for claim in settled):
        yield "without an interval: the items behind the numbers are not stored"
