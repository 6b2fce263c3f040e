"""The table of a paper's claims: who is above whom, what is printed, what was measured, and the verdict."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan

from embedlab.analysis.claims import Claim, SettledClaim
from embedlab.analysis.seed_notes import REACH_SIGN, REACHES
from embedlab.experiments.paper_table import PaperTable
from embedlab.reports.captions import data_sentences
from embedlab.reports.reproduction_tables import TableRows, reach_mark, verdict_note
from embedlab.reports.tables import ABSENT, Column, Table, TableCell, Value

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


def _row(one: SettledClaim, table: PaperTable) -> dict[str, Value | TableCell]:
    claim, digits = one.claim, 2 if table.scale > 1 else 3
    number = table.name.split("_")[0]
    printed = table.printed_difference(claim)
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
        "ours": TableCell(value=one.difference, text=_interval(one, digits)),
        "low": one.low,
        "high": one.high,
        "p": one.p,
        "verdict": TableCell(value=one.verdict, text=_verdict(one, digits)),
        "reach": one.reach,
        "visible": one.visible,
    }


def _verdict(one: SettledClaim, digits: int) -> str:
    seen = f" (seen from {one.visible:z.{digits}f})" if not isnan(one.visible) else ""
    return f"{one.verdict}{reach_mark(one.sign)}{seen}"


def _explanations(
    paper: str, tables: Mapping[str, PaperTable], settled: Sequence[SettledClaim], measured: Sequence[SettledClaim]
) -> Sequence[str]:
    counts = Counter(one.verdict for one in settled)
    found = [", ".join(f"{counts[verdict]} {verdict}" for verdict in ("holds", "reversed", "open", "not measured") if counts[verdict])]
    if measured:
        found.append(verdict_note(len(measured), "claim", f"of {paper} that are measured here"))
    found += _signs(settled)
    lacking = list(dict.fromkeys(one.claim.table for one in settled if one.verdict == "not measured"))
    if lacking:
        commands = ", ".join(name.split("_")[0] for name in lacking)
        found.append(f"not measured: `embedlab reproduce {paper} TABLE` trains the rows of {commands}")
    return found


def _signs(settled: Sequence[SettledClaim]) -> Iterator[str]:
    """Yield what the signs of verdicts mean, those that are used."""
    if any(not isnan(one.visible) for one in settled):
        yield "seen from: the smallest difference that would have had a verdict with 80% power"
    if any(one.sign == REACHES["checkpoints"] for one in settled):
        yield REACH_SIGN.replace(" ", ": ", 1)
    if any(isnan(one.p) and one.verdict == "open" for one in settled):
        yield "without an interval: the items behind the numbers are not stored"


def page_claims_table(settled: Sequence[SettledClaim], names: Mapping[str, str]) -> Table:
    """Return the verdicts on the claims of a page of results; NAMES are those of models and slices that people read."""
    rows: TableRows = [
        {
            "claim": one.name,
            "what": f"{_named(one, names).statement}, {_where(one, names)}",
            "source": one.claim.source or "this page",
            "ours": _interval(one, 2),
            "verdict": _verdict(one, 2),
        }
        for one in settled
    ]
    titles = {"claim": "claim", "what": "states", "source": "stated by", "ours": "first minus second", "verdict": "verdict"}
    columns = [Column(key=key, title=title, align="left") for key, title in titles.items()]
    stated = sum(not isnan(one.p) and one.found_in is None for one in settled)
    tests = sorted({one.found_in.tests for one in settled if one.found_in is not None})
    notes = [verdict_note(stated, "claim", "that papers state")] if stated else []
    if tests:
        over = " and ".join(map(str, tests))
        notes.append(f"what this page states was found in its tables, and is corrected as there: by Holm over {over} comparisons")
    return Table(columns=columns, rows=rows, notes=[*notes, *_signs(settled)])


def claim_sentences(settled: Sequence[SettledClaim], names: Mapping[str, str]) -> str:
    """Return what was found of claims as sentences, one for all that compare in the same way.

    Those are the same two rows on several slices, several rows with one on the same slice, or one with several.
    """
    groups = _merged([[one] for one in settled], lambda one: (one.claim.first, one.claim.second))
    groups = _merged(groups, lambda one: (one.claim.second, one.claim.columns))
    groups = _merged(groups, lambda one: (one.claim.first, one.claim.columns))
    return "; ".join(_sentence(own, names) for own in groups)


def _merged(groups: Sequence[list[SettledClaim]], same: Callable[[SettledClaim], tuple[object, ...]]) -> list[list[SettledClaim]]:
    """Return GROUPS, where those of one claim that compare in the same way and have the SAME are one."""
    found: dict[object, list[SettledClaim]] = {}
    for place, own in enumerate(groups):
        key = (_relation(own[0]), _stated(own[0]), same(own[0])) if len(own) == 1 else place
        found.setdefault(key, []).extend(own)
    return [*found.values()]


def _sentence(settled: Sequence[SettledClaim], names: Mapping[str, str]) -> str:
    first, second = ([*dict.fromkeys(names.get(row, row) for row in rows)] for rows in zip(*map(_rows_of, settled), strict=True))
    where = _listed([*dict.fromkeys(_where(one, names) for one in settled)])
    signs = [one.sign.replace("*", r"\*") for one in settled]  # two of them would be emphasis in Markdown
    values = [_interval(one, 2) if len(settled) == 1 else f"{one.difference:+z.2f}" for one in settled]
    numbers = [f"{value}{sign}" for value, sign in zip(values, signs, strict=True)]
    verb = "is" if len(first) == 1 else "are"
    return f"{_listed(first)} {verb} {_relation(settled[0])} {_listed(second)} {where} ({', '.join(numbers)}{_stated(settled[0])})"


def _rows_of(one: SettledClaim) -> tuple[str, str]:
    return one.claim.first, one.claim.second


def _listed(texts: Sequence[str]) -> str:
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else texts[0]


def _relation(one: SettledClaim) -> str:
    """Return how the first row of a claim compares with the second, whatever is claimed."""
    if one.differs:
        return "above" if one.difference > 0 else "below"
    if one.claim.direction != "equal":
        return "not distinguished from"
    return f"{'' if one.verdict == 'holds' else 'not shown to be '}within {one.claim.size:g} points of"


def _stated(one: SettledClaim) -> str:
    """Return how what was found compares with what the source states."""
    if not one.claim.source:
        return ""
    said = {"holds": "as in", "reversed": "reversed: the other way round in", "open": f"open: {one.claim.direction} in"}
    return f"; {said.get(one.verdict, '')} {one.claim.source}"


def _named(one: SettledClaim, names: Mapping[str, str]) -> Claim:
    first, second = (names.get(row, row) for row in (one.claim.first, one.claim.second))
    return replace(one.claim, first=first, second=second)


def _where(one: SettledClaim, names: Mapping[str, str]) -> str:
    return f"on {' and '.join(names.get(column, column) for column in one.claim.columns)}"


def _interval(one: SettledClaim, digits: int) -> str:
    interval = "" if isnan(one.low) else f" [{one.low:+z.{digits}f}, {one.high:+z.{digits}f}]"
    return ABSENT if isnan(one.difference) else f"{one.difference:+z.{digits}f}{interval}"
