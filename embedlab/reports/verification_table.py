"""The table of two results that are verified against each other: the verdict, and below it what
differs.
"""

from collections.abc import Iterator, Sequence

from embedlab.models.grammar import title_of
from embedlab.reports.tables import ABSENT, Column, Table, TableCell, Value
from embedlab.runs.results import ScoreKey
from embedlab.runs.signature import PartDifference, part_differences
from embedlab.scoring.verification import ResultPair, ScoreIntervals, intervals_of

_WEIGHTS = {"model", "seeds"}


def verification_table(sides: ResultPair) -> tuple[Table, bool]:
    """Return the verdict with what differs below it, and whether the results are of the same thing
    and agree.
    """
    parts = part_differences(sides.first.signature, sides.second.signature)
    shown, apart = (
        [part for part in parts if part.agreement in {"differs", "other version"}],
        intervals_of(sides),
    )
    rows = [*map(_part_row, shown), *(_score_row(sides, key, apart) for key in sides.differing)]
    columns = [
        Column(key="what", title="what differs", role="key"),
        Column(key="first", title=str(sides.files[0]), digits=2, align="right", role="score"),
        Column(key="second", title=str(sides.files[1]), digits=2, align="right", role="score"),
        *(
            [Column(key="difference", title="second − first", align="left", role="difference")]
            if sides.differing
            else []
        ),
    ]
    table = Table(
        title=_verdict(sides, parts),
        columns=columns if rows else [],
        rows=rows,
        notes=[*_notes(sides, parts), *(f"no interval: {reason}" for reason in apart.reasons)],
        signatures={
            str(file): str(result.signature)
            for file, result in zip(sides.files, (sides.first, sides.second), strict=True)
        },
    )
    is_same = not any(part.agreement == "differs" for part in parts)
    return table, is_same and bool(sides.shared) and not sides.differing


def _verdict(sides: ResultPair, parts: Sequence[PartDifference]) -> str:
    names = " and ".join(
        dict.fromkeys(title_of(result.model) for result in (sides.first, sides.second))
    )
    tasks = [task for task in sides.first.signature.task if task in sides.second.signature.task]
    count, total = len(sides.differing), len(sides.shared)
    if not total:
        scores = "no score is in both"
    elif count:
        scores = f"{count} of {total} scores differ" if total > 1 else "the score differs"
    else:
        scores = f"all {total} scores agree" if total > 1 else "the score agrees"
    return f"{names}{f' on {joined_or_none(tasks)}' if tasks else ''}: {_sameness(parts)}; {scores}"


def _sameness(parts: Sequence[PartDifference]) -> str:
    agreements = {part.agreement for part in parts}
    if wrong := [part.name for part in parts if part.agreement == "differs"]:
        if "model" in wrong and {*wrong} <= _WEIGHTS:
            return "other weights, measured in the same way"
        return (
            f"not of the same thing: {', '.join(wrong)} {'differ' if len(wrong) > 1 else 'differs'}"
        )
    version = ", by another version" if "other version" in agreements else ""
    return f"of the same thing{version}{', as far as both say' if 'unknown' in agreements else ''}"


def _part_row(difference: PartDifference) -> dict[str, Value | TableCell]:
    return {
        "kind": "part",
        "what": difference.name,
        "first": joined_or_none(difference.first),
        "second": joined_or_none(difference.second),
    }


def _score_row(
    sides: ResultPair, key: ScoreKey, apart: ScoreIntervals
) -> dict[str, Value | TableCell]:
    first, other = sides.differing[key]
    low, high = apart.intervals.get(key, (None, None))
    interval = f" [{low:+z.2f}, {high:+z.2f}]" if low is not None else ""
    delta = other - first
    return {
        "kind": "score",
        "what": " ".join(filter(None, (key.slice, key.metric, key.setting, key.split))),
        "first": first,
        "second": other,
        "difference": TableCell(
            value=delta, text=f"{delta:+z.2f}{interval}" if delta == delta else ABSENT
        ),
        "low": low,
        "high": high,
    }


def _notes(sides: ResultPair, parts: Sequence[PartDifference]) -> Iterator[str]:
    """What was not compared, and what follows from another part."""
    for difference in (part for part in parts if part.agreement == "unknown"):
        both = ", ".join(
            f"{joined_or_none(values)} in {file}"
            for values, file in zip((difference.first, difference.second), sides.files, strict=True)
        )
        yield f"{difference.name} cannot be compared: {both}"
    if extent := [part.name for part in parts if part.agreement == "only in one"]:
        yield (
            f"one file holds more than the other ({', '.join(extent)}): what both have is compared"
        )
    wrong = {part.name for part in parts if part.agreement == "differs"}
    covered = {"pooling", "max_tokens", "precision"} & wrong
    if covered and "model" in wrong and not wrong & {"backend", "dims"}:
        yield (
            f"model is a fingerprint that depends on {', '.join(sorted(covered))} too: the "
            f"weights may be the same"
        )


def joined_or_none(values: Sequence[str]) -> str:
    """Return VALUES separated by commas, or "none"."""
    return ", ".join(values) or "none"
