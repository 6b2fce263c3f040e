"""The table of a paper's claims: who is above whom, what is printed, what was measured, and the verdict."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isnan

from embedlab.analysis.claims import SettledClaim
from embedlab.analysis.seed_notes import REACH_SIGN, REACHES
from embedlab.papers.table import PaperTable
from embedlab.reports.captions import data_sentences
from embedlab.reports.reproduction_tables import reach_mark, verdict_note
from embedlab.reports.tables import ABSENT, Column, Table, TableCell

KEYS = (
    "claim",
    "table",
    "first",
    "direction",
    "second",
    "columns",
    "size",
    "text",
    "quotation",
    "source",
    "printed",
    "ours",
    "low",
    "high",
    "p",
    "verdict",
    "reach",
    "visible",
)


def claims_table(
    paper: str,
    tables: Mapping[str, PaperTable],
    settled: Sequence[SettledClaim],
    *,
    marks: Sequence[str] = (),
    notes: Sequence[str] = (),
    is_short: bool = False,
) -> Table:
    """Return the verdicts on the claims about TABLES of a PAPER; what was not measured has no line where the table IS_SHORT."""
    shown = [one for one in settled if not (is_short and one.verdict == "not measured")]
    measured = [one for one in settled if not isnan(one.p)]
    columns = [
        Column(key="table", title="table", role="group"),
        Column(key="what", title="claim", role="text"),
        Column(key="printed", title="printed", digits=2, align="right"),
        Column(key="ours", title="ours", align="right"),
        Column(key="verdict", title="verdict", align="left", role="text"),
    ]
    title = " ".join([f"{paper}: do its claims hold?", *(f"[{mark}]" for mark in marks)])
    said = [*notes, *_explanations(paper, tables, settled, measured)]
    caption = f"{title.partition('?')[0]}? Brackets: 95% intervals. {' '.join(data_sentences(marks))}"
    rows = [_row(one, tables[one.claim.table]) for one in shown]
    return Table(title=title, columns=columns, rows=rows, notes=said, keys=KEYS, caption=caption.strip())


def _row(one: SettledClaim, table: PaperTable) -> dict[str, str | float | int | bool | TableCell | None]:
    claim, digits = one.claim, 2 if table.scale > 1 else 3
    number = table.name.split("_")[0]
    printed = table.printed_difference(claim)
    interval = "" if isnan(one.low) else f" [{one.low:+z.{digits}f}, {one.high:+z.{digits}f}]"
    return {
        "claim": one.name,
        "what": table.statement(claim),
        "table": TableCell(value=claim.table, text=number),
        "first": claim.first,
        "direction": claim.direction,
        "second": claim.second,
        "columns": ", ".join(table.columns_of(claim)),
        "size": claim.size,
        "text": claim.text or None,
        "quotation": claim.quotation or None,
        "source": claim.source,
        "printed": TableCell(value=printed, text=ABSENT if printed is None else f"{printed:+z.{digits}f}"),
        "ours": TableCell(value=one.difference, text=ABSENT if isnan(one.difference) else f"{one.difference:+z.{digits}f}{interval}"),
        "low": one.low,
        "high": one.high,
        "p": one.p,
        "verdict": TableCell(value=one.verdict, text=_verdict(one, digits)),
        "reach": one.reach,
        "visible": one.visible,
    }


def _verdict(one: SettledClaim, digits: int) -> str:
    seen = f" (seen from {one.visible:.{digits}f})" if not isnan(one.visible) else ""
    return f"{one.verdict}{reach_mark(one.sign)}{seen}"


def _explanations(
    paper: str, tables: Mapping[str, PaperTable], settled: Sequence[SettledClaim], measured: Sequence[SettledClaim]
) -> Sequence[str]:
    counts = Counter(one.verdict for one in settled)
    found = [", ".join(f"{counts[verdict]} {verdict}" for verdict in ("holds", "reversed", "open", "not measured") if counts[verdict])]
    if measured:
        found.append(verdict_note(len(measured), "claim", f"of {paper} that are measured here"))
    if any(not isnan(one.visible) for one in settled):
        found.append("seen from: the smallest difference that would have had a verdict with 80% power")
    if any(one.sign == REACHES["checkpoints"] for one in settled):
        found.append(REACH_SIGN.replace(" ", ": ", 1))
    if any(isnan(one.p) and one.verdict == "open" for one in settled):
        found.append("without an interval: the items behind the numbers are not stored")
    lacking = list(dict.fromkeys(one.claim.table for one in settled if one.verdict == "not measured"))
    if lacking:
        commands = ", ".join(name.split("_")[0] for name in lacking)
        found.append(f"not measured: `embedlab reproduce {paper} TABLE` trains the rows of {commands}")
    return found
