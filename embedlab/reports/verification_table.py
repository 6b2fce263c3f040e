"""The table of two results that are verified against each other: the verdict, and below it what
differs.
"""

from collections.abc import Iterator, Sequence

from embedlab.models.grammar import title_of
from embedlab.reports.tables import Column, Table, TableCell, Value, columns_of, number
from embedlab.scoring.verification import ResultPair, intervals_of


def verification_table(pair: ResultPair) -> tuple[Table, bool]:
    """Return the verdict with what differs below it, and whether the results are of the same thing
    and agree.
    """
    intervals, reasons = intervals_of(pair)
    rows: list[dict[str, Value | TableCell]] = []
    for part in pair.parts:
        if part.agreement in {"differs", "other version"}:
            first, second = joined_or_none(part.first), joined_or_none(part.second)
            rows.append({"kind": "part", "what": part.name, "first": first, "second": second})
    for key, (first_value, second_value) in pair.differing_scores.items():
        low, high = intervals.get(key, (None, None))
        difference = number(second_value - first_value, is_signed=True, low=low, high=high)
        rows.append(
            {
                "kind": "score",
                "what": " ".join(filter(None, (key.slice, key.metric, key.setting, key.split))),
                "first": first_value,
                "second": second_value,
                "difference": difference,
                "low": low,
                "high": high,
            }
        )
    first_file, second_file = map(str, pair.files)
    columns = [
        *columns_of("what = what differs [key]"),
        Column("first", first_file, "score", "right", 2),
        Column("second", second_file, "score", "right", 2),
    ]
    if pair.differing_scores:
        columns += columns_of("difference = second − first [difference] <")
    table = Table(
        _verdict(pair),
        columns if rows else [],
        rows,
        [*_notes(pair), *(f"no interval: {reason}" for reason in reasons)],
        signatures={
            first_file: str(pair.first.signature),
            second_file: str(pair.second.signature),
        },
    )
    return table, not pair.parts_of("differs") and bool(pair.shared) and not pair.differing_scores


def _verdict(pair: ResultPair) -> str:
    models = dict.fromkeys(title_of(result.model) for result in (pair.first, pair.second))
    tasks_note = f" on {joined_or_none(pair.tasks)}" if pair.tasks else ""
    differing = pair.parts_of("differs")
    if "model" in differing and {*differing} <= {"model", "seeds"}:
        sameness = "other weights, measured in the same way"
    elif differing:
        verb = "differ" if len(differing) > 1 else "differs"
        sameness = f"not of the same thing: {', '.join(differing)} {verb}"
    else:
        version = ", by another version" if pair.parts_of("other version") else ""
        limitation = ", as far as both say" if pair.parts_of("unknown") else ""
        sameness = f"of the same thing{version}{limitation}"
    count, total = len(pair.differing_scores), len(pair.shared)
    if not total:
        scores = "no score is in both"
    elif total == 1:
        scores = "the score differs" if count else "the score agrees"
    else:
        scores = f"{count} of {total} scores differ" if count else f"all {total} scores agree"
    return f"{' and '.join(models)}{tasks_note}: {sameness}; {scores}"


def _notes(pair: ResultPair) -> Iterator[str]:
    """Yield what was not compared, and what follows from another part."""
    for part in pair.parts:
        if part.agreement == "unknown":
            first_file, second_file = pair.files
            yield (
                f"{part.name} cannot be compared: {joined_or_none(part.first)} in {first_file}, "
                f"{joined_or_none(part.second)} in {second_file}"
            )
    if extent := pair.parts_of("only in one"):
        yield (
            f"one file holds more than the other ({', '.join(extent)}): what both have is compared"
        )
    differing = {*pair.parts_of("differs")}
    covered = sorted({"pooling", "max_tokens", "precision"} & differing)
    if covered and "model" in differing and not differing & {"backend", "dims"}:
        yield (
            f"model is a fingerprint that depends on {', '.join(covered)} too: the weights may be "
            "the same"
        )


def joined_or_none(values: Sequence[str]) -> str:
    """Return VALUES separated by commas, or "none"."""
    return ", ".join(values) or "none"
