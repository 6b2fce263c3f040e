"""The table of two results that are verified against each other: the verdict, and below it what
differs.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from embedlab.models.grammar import title_of
from embedlab.reports.tables import Column, Table, TableCell, Value, columns_of, number
from embedlab.runs.signature import PartDifference, part_differences
from embedlab.scoring.verification import ResultPair, intervals_of


def verification_table(pair: ResultPair) -> tuple[Table, bool]:
    """Return the verdict with what differs below it, and whether the results are of the same thing
    and agree.
    """
    results, interval_results = (pair.first, pair.second), intervals_of(pair)
    differing_parts = part_differences(*(result.signature for result in results))
    names: dict[str, list[str]] = defaultdict(list)
    rows: list[dict[str, Value | TableCell]] = []
    for part in differing_parts:
        names[part.agreement].append(part.name)
        if part.agreement in {"differs", "other version"}:
            first, second = joined_or_none(part.first), joined_or_none(part.second)
            rows.append({"kind": "part", "what": part.name, "first": first, "second": second})
    for key, (first_value, second_value) in pair.differing_scores.items():
        low, high = interval_results.intervals.get(key, (None, None))
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
    columns = columns_of("what = what differs [key]")
    columns += [
        Column(key, str(file), "score", "right", 2)
        for key, file in zip(("first", "second"), pair.files, strict=True)
    ]
    if pair.differing_scores:
        columns += columns_of("difference = second − first [difference] <")
    table = Table(
        _verdict(pair, names),
        columns if rows else [],
        rows,
        [
            *_notes(pair, differing_parts, names),
            *(f"no interval: {reason}" for reason in interval_results.reasons),
        ],
        signatures={
            str(file): str(result.signature)
            for file, result in zip(pair.files, results, strict=True)
        },
    )
    return table, not names["differs"] and bool(pair.shared) and not pair.differing_scores


def _verdict(pair: ResultPair, names: dict[str, list[str]]) -> str:
    models = dict.fromkeys(title_of(result.model) for result in (pair.first, pair.second))
    tasks = [task for task in pair.first.signature.task if task in pair.second.signature.task]
    tasks_note = f" on {joined_or_none(tasks)}" if tasks else ""
    differing = names["differs"]
    if "model" in differing and {*differing} <= {"model", "seeds"}:
        sameness = "other weights, measured in the same way"
    elif differing:
        verb = "differ" if len(differing) > 1 else "differs"
        sameness = f"not of the same thing: {', '.join(differing)} {verb}"
    else:
        version = ", by another version" if names["other version"] else ""
        limitation = ", as far as both say" if names["unknown"] else ""
        sameness = f"of the same thing{version}{limitation}"
    count, total = len(pair.differing_scores), len(pair.shared)
    if not total:
        scores = "no score is in both"
    elif total == 1:
        scores = "the score differs" if count else "the score agrees"
    else:
        scores = f"{count} of {total} scores differ" if count else f"all {total} scores agree"
    return f"{' and '.join(models)}{tasks_note}: {sameness}; {scores}"


def _notes(
    pair: ResultPair, parts: Sequence[PartDifference], names: dict[str, list[str]]
) -> Iterator[str]:
    """Yield what was not compared, and what follows from another part."""
    for part in parts:
        if part.agreement == "unknown":
            values_by_file = zip((part.first, part.second), pair.files, strict=True)
            value_texts = ", ".join(
                f"{joined_or_none(values)} in {file}" for values, file in values_by_file
            )
            yield f"{part.name} cannot be compared: {value_texts}"
    if extent := names["only in one"]:
        yield (
            f"one file holds more than the other ({', '.join(extent)}): what both have is compared"
        )
    differing = {*names["differs"]}
    covered = sorted({"pooling", "max_tokens", "precision"} & differing)
    if covered and "model" in differing and not differing & {"backend", "dims"}:
        yield (
            f"model is a fingerprint that depends on {', '.join(covered)} too: the weights may be "
            "the same"
        )


def joined_or_none(values: Sequence[str]) -> str:
    """Return VALUES separated by commas, or "none"."""
    return ", ".join(values) or "none"
