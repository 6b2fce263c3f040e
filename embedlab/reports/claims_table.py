"""The table of a paper's claims: who is above whom, what is printed, what was measured, and the
verdict.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan

from embedlab.analysis.claims import Claim, SettledClaim
from embedlab.analysis.seed_notes import REACH_SIGN, REACHES
from embedlab.experiments.paper_table import PaperTable
from embedlab.reports.captions import data_sentences
from embedlab.reports.papers import TableRows, reach_mark, verdict_note
from embedlab.reports.tables import Table, TableCell, Value, columns_of, number

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
    """Return the verdicts on the claims about TABLES of a PAPER; what is open or was not measured
    has no line where the table IS_SHORT.
    """
    has_verdict = {"holds", "reversed"}
    shown = [each for each in settled if not is_short or each.verdict in has_verdict]
    measured = [each for each in settled if not isnan(each.p)]
    # a claim breaks, so that its verdict is next to it
    keys = ("table", "what", "printed", "ours", "verdict", "quotation", "source")
    columns = columns_of(
        keys[:5] if is_short else keys,
        titles={"what": "claim", "quotation": "the paper's words"},
        roles={"table": "group", "what": "key", "quotation": "minor", "source": "minor"},
    )
    columns[2:4] = [replace(column, align="right") for column in columns[2:4]]
    columns[4:] = [replace(column, align="left") for column in columns[4:]]
    title = " ".join([f"{paper}: do its claims hold?", *(f"[{mark}]" for mark in marks)])
    said = [*notes, *_explanations(paper, settled, shown, measured)]
    caption = (
        f"{title.partition('?')[0]}? Brackets: 95% intervals. {' '.join(data_sentences(marks))}"
    )
    rows = [_row(settled, tables[settled.claim.table]) for settled in shown]
    return Table(
        title=title, columns=columns, rows=rows, notes=said, keys=KEYS, caption=caption.strip
    )


def _row(settled: SettledClaim, table: PaperTable) -> dict[str, Value | TableCell]:
    claim, digits = settled.claim, 2 if table.scale > 1 else 3
    printed = table.printed_difference(claim)
    return {
        "claim": settled.name,
        "what": table.statement(claim),
        "table": TableCell(value=claim.table, text=table.name.split("_")[0]),
        "first": claim.first,
        "direction": claim.direction,
        "second": claim.second,
        "columns": ", ".join(table.columns_of(claim)),
        "size": claim.size,
        "text": claim.text or None,
        "quotation": claim.quotation or None,
        "source": claim.source,
        "printed": number(printed, digits=digits, is_signed=True),
        "ours": _interval(settled, digits),
        "low": settled.low,
        "high": settled.high,
        "p": settled.p,
        "verdict": TableCell(value=settled.verdict, text=_verdict(settled, digits)),
        "reach": settled.reach,
        "visible": settled.visible,
    }


def _verdict(settled: SettledClaim, digits: int) -> str:
    seen = f" (80% power from {settled.visible:z.{digits}f})" if not isnan(settled.visible) else ""
    return f"{settled.verdict}{reach_mark(settled.sign)}{seen}"


def _explanations(
    paper: str,
    settled: Sequence[SettledClaim],
    shown: Sequence[SettledClaim],
    measured: Sequence[SettledClaim],
) -> Sequence[str]:
    counts = Counter(each.verdict for each in settled)
    notes = [
        ", ".join(
            f"{counts[verdict]} {verdict}"
            for verdict in ("holds", "reversed", "open", "not measured")
            if counts[verdict]
        )
    ]
    if measured:
        notes.append(verdict_note(len(measured), "claim", f"of {paper} that are measured here"))
    notes += _signs(shown)
    lacking = list(
        dict.fromkeys(each.claim.table for each in settled if each.verdict == "not measured")
    )
    if lacking:
        commands = ", ".join(name.split("_")[0] for name in lacking)
        notes.append(
            f"not measured: `embedlab reproduce {paper} TABLE` trains the rows of {commands}"
        )
    return notes


def _signs(settled: Sequence[SettledClaim]) -> Iterator[str]:
    """Yield what the signs of verdicts mean, those that are used."""
    if any(not isnan(each.visible) for each in settled):
        yield "80% power from: the smallest difference that would have had a verdict with 80% power"
    if any(each.sign == REACHES["checkpoints"] for each in settled):
        yield REACH_SIGN.replace(" ", ": ", 1)
    if any(isnan(each.p) and each.verdict == "open" for each in settled):
        yield "without an interval: the items behind the numbers are not stored"


def page_claims_table(settled: Sequence[SettledClaim], names: Mapping[str, str]) -> Table:
    """Return the verdicts on the claims of a page of results; NAMES are those of models and slices
    that people read.
    """
    rows: TableRows = [
        {
            "claim": each.name,
            "what": f"{_named(each, names).statement}, {_where(each, names)}",
            "source": each.claim.source or "this page",
            "ours": _interval(each, 2).text,
            "verdict": _verdict(each, 2),
        }
        for each in settled
    ]
    titles = {
        "claim": "claim",
        "what": "states",
        "source": "stated by",
        "ours": "first minus second",
        "verdict": "verdict",
    }
    columns = columns_of(titles, titles=titles, align="left")
    stated = sum(not isnan(each.p) and each.found_in is None for each in settled)
    tests = sorted({each.found_in.tests for each in settled if each.found_in is not None})
    notes = [verdict_note(stated, "claim", "that papers state")] if stated else []
    if tests:
        over = " and ".join(map(str, tests))
        notes.append(
            f"what this page states was found in its tables, and is corrected as there: by "
            f"Holm over {over} comparisons"
        )
    return Table(columns=columns, rows=rows, notes=[*notes, *_signs(settled)])


def claim_sentences(settled: Sequence[SettledClaim], names: Mapping[str, str]) -> str:
    """Return what was found of claims as sentences, one for all that compare in the same way.

    Those are the same two rows on several slices, several rows with one on the same slice, or one
    with several.
    """
    groups = _merged(
        [[each] for each in settled], lambda settled: (settled.claim.first, settled.claim.second)
    )
    groups = _merged(groups, lambda settled: (settled.claim.second, settled.claim.columns))
    groups = _merged(groups, lambda settled: (settled.claim.first, settled.claim.columns))
    return "; ".join(_sentence(group, names) for group in groups)


def _merged(
    groups: Sequence[list[SettledClaim]], same: Callable[[SettledClaim], tuple[object, ...]]
) -> list[list[SettledClaim]]:
    """Return GROUPS, where those of one claim that compare in the same way and have the SAME are
    one.
    """
    merged: dict[object, list[SettledClaim]] = {}
    for index, group in enumerate(groups):
        key = (_relation(group[0]), _stated(group[0]), same(group[0])) if len(group) == 1 else index
        merged.setdefault(key, []).extend(group)
    return [*merged.values()]


def _sentence(settled: Sequence[SettledClaim], names: Mapping[str, str]) -> str:
    first, second = (
        [*dict.fromkeys(names.get(row, row) for row in rows)]
        for rows in zip(*map(_rows_of, settled), strict=True)
    )
    where = _listed([*dict.fromkeys(_where(each, names) for each in settled)])
    signs = [
        each.sign.replace("*", r"\*") for each in settled
    ]  # two of them would be emphasis in Markdown
    values = [
        _interval(settled_claim, 2).text
        if len(settled) == 1
        else f"{settled_claim.difference:+z.2f}"
        for settled_claim in settled
    ]
    numbers = [f"{value}{sign}" for value, sign in zip(values, signs, strict=True)]
    verb = "is" if len(first) == 1 else "are"
    return (
        f"{_listed(first)} {verb} {_relation(settled[0])} {_listed(second)} {where} "
        f"({', '.join(numbers)}{_stated(settled[0])})"
    )


def _rows_of(settled: SettledClaim) -> tuple[str, str]:
    return settled.claim.first, settled.claim.second


def _listed(texts: Sequence[str]) -> str:
    return f"{', '.join(texts[:-1])} and {texts[-1]}" if len(texts) > 1 else texts[0]


def _relation(settled: SettledClaim) -> str:
    """Return how the first row of a claim compares with the second, whatever is claimed."""
    if settled.differs:
        return "above" if settled.difference > 0 else "below"
    if settled.claim.direction != "equal":
        return "not distinguished from"
    return (
        f"{'' if settled.verdict == 'holds' else 'not shown to be '}within "
        f"{settled.claim.size:g} points of"
    )


def _stated(settled: SettledClaim) -> str:
    """Return how what was found compares with what the source states."""
    if not settled.claim.source:
        return ""
    said = {
        "holds": "as in",
        "reversed": "reversed: the other way round in",
        "open": f"open: {settled.claim.direction} in",
    }
    return f"; {said.get(settled.verdict, '')} {settled.claim.source}"


def _named(settled: SettledClaim, names: Mapping[str, str]) -> Claim:
    first, second = (names.get(row, row) for row in (settled.claim.first, settled.claim.second))
    return replace(settled.claim, first=first, second=second)


def _where(settled: SettledClaim, names: Mapping[str, str]) -> str:
    return f"on {' and '.join(names.get(column, column) for column in settled.claim.columns)}"


def _interval(settled: SettledClaim, digits: int) -> TableCell:
    return number(
        settled.difference, digits=digits, is_signed=True, low=settled.low, high=settled.high
    )
