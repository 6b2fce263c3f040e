"""The table of two results that are verified against each other: the verdict, and below it what
differs.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from embedlab.models.grammar import title_of
from embedlab.reports.tables import Column, Table, TableCell, Value, columns_of, number
from embedlab.runs.signature import PartDifference, part_differences
from embedlab.scoring.verification import ResultPair, intervals_of


def verification_table(sides: ResultPair) -> tuple[Table, bool]:
    """Return the verdict with what differs below it, and whether the results are of the same thing
    and agree.
    """
    results, apart = (sides.first, sides.second), intervals_of(sides)
    parts = part_differences(*(result.signature for result in results))
    names: dict[str, list[str]] = defaultdict(list)
    rows: list[dict[str, Value | TableCell]] = []
    for part in parts:
        names[part.agreement].append(part.name)
        if part.agreement in {"differs", "other version"}:
            both = {"first": joined_or_none(part.first), "second": joined_or_none(part.second)}
            rows.append({"kind": "part", "what": part.name, **both})
    for key, (first, second) in sides.differing.items():
        low, high = apart.intervals.get(key, (None, None))
        rows.append(
            {
                "kind": "score",
                "what": " ".join(filter(None, (key.slice, key.metric, key.setting, key.split))),
                "first": first,
                "second": second,
                "difference": number(second - first, is_signed=True, low=low, high=high),
                "low": low,
                "high": high,
            }
        )
    columns = columns_of("what = what differs [key]")
    columns += [
        Column(key, str(file), "score", "right", 2)
        for key, file in zip(("first", "second"), sides.files, strict=True)
    ]
    if sides.differing:
        columns += columns_of("difference = second − first [difference] <")
    table = Table(
        _verdict(sides, names),
        columns if rows else [],
        rows,
        [*_notes(sides, parts, names), *(f"no interval: {reason}" for reason in apart.reasons)],
        signatures={
            str(file): str(result.signature)
            for file, result in zip(sides.files, results, strict=True)
        },
    )
    return table, not names["differs"] and bool(sides.shared) and not sides.differing


def _verdict(sides: ResultPair, names: dict[str, list[str]]) -> str:
    models = dict.fromkeys(title_of(result.model) for result in (sides.first, sides.second))
    tasks = [task for task in sides.first.signature.task if task in sides.second.signature.task]
    on = f" on {joined_or_none(tasks)}" if tasks else ""
    wrong = names["differs"]
    if "model" in wrong and {*wrong} <= {"model", "seeds"}:
        sameness = "other weights, measured in the same way"
    elif wrong:
        verb = "differ" if len(wrong) > 1 else "differs"
        sameness = f"not of the same thing: {', '.join(wrong)} {verb}"
    else:
        version = ", by another version" if names["other version"] else ""
        known = ", as far as both say" if names["unknown"] else ""
        sameness = f"of the same thing{version}{known}"
    count, total = len(sides.differing), len(sides.shared)
    if not total:
        scores = "no score is in both"
    elif total == 1:
        scores = "the score differs" if count else "the score agrees"
    else:
        scores = f"{count} of {total} scores differ" if count else f"all {total} scores agree"
    return f"{' and '.join(models)}{on}: {sameness}; {scores}"


def _notes(
    sides: ResultPair, parts: Sequence[PartDifference], names: dict[str, list[str]]
) -> Iterator[str]:
    """Yield what was not compared, and what follows from another part."""
    for part in parts:
        if part.agreement == "unknown":
            both = zip((part.first, part.second), sides.files, strict=True)
            listed = ", ".join(f"{joined_or_none(values)} in {file}" for values, file in both)
            yield f"{part.name} cannot be compared: {listed}"
    if extent := names["only in one"]:
        yield (
            f"one file holds more than the other ({', '.join(extent)}): what both have is compared"
        )
    wrong = {*names["differs"]}
    covered = sorted({"pooling", "max_tokens", "precision"} & wrong)
    if covered and "model" in wrong and not wrong & {"backend", "dims"}:
        yield (
            f"model is a fingerprint that depends on {', '.join(covered)} too: the weights may be "
            "the same"
        )


def joined_or_none(values: Sequence[str]) -> str:
    """Return VALUES separated by commas, or "none"."""
    return ", ".join(values) or "none"
