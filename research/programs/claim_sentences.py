"""The claims of a page of results: the table of their verdicts, and sentences made of them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isnan

from found_claims import FoundClaim

from embedlab.analysis.claims import Claim, SettledClaim
from embedlab.reports.claims_table import interval_cell, sign_notes, verdict_text
from embedlab.reports.papers import verdict_note
from embedlab.reports.tables import Table, columns_of


def page_claims_table(settled: Sequence[SettledClaim], names: Mapping[str, str]) -> Table:
    """Return the verdicts on the claims of a page of results; NAMES are those of models and slices
    that people read.
    """
    rows = [
        {
            "claim": each.name,
            "what": f"{_named(each, names).statement}, {_where(each, names)}",
            "source": each.claim.source or "this page",
            "ours": interval_cell(each, 2).text,
            "verdict": verdict_text(each, 2),
        }
        for each in settled
    ]
    columns = columns_of(
        "claim <",
        "what = states <",
        "source = stated by <",
        "ours = first minus second <",
        "verdict <",
    )
    found = [each for each in settled if isinstance(each, FoundClaim)]
    stated = sum(not isnan(each.p) and not isinstance(each, FoundClaim) for each in settled)
    tests = sorted({each.found_in.tests for each in found})
    notes = [verdict_note(stated, "claim", "that papers state")] if stated else []
    if tests:
        over = " and ".join(map(str, tests))
        notes.append(
            f"what this page states was found in its tables, and is corrected as there: by "
            f"Holm over {over} comparisons"
        )
    return Table(columns=columns, rows=rows, notes=[*notes, *sign_notes(settled)])


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
        interval_cell(settled_claim, 2).text
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
    is_equality = settled.claim.direction == "equal"
    if settled.verdict == "reversed" or (settled.verdict == "holds" and not is_equality):
        return "above" if settled.difference > 0 else "below"
    if not is_equality:
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
