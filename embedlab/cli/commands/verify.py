"""`embedlab verify`: whether two results are of the same thing, and how far their scores are apart."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode, UsageError
from embedlab.models.grammar import title_of

if TYPE_CHECKING:
    from embedlab.evaluation.verification import ResultPair, ScoreIntervals
    from embedlab.reports.tables import Table, TableCell, Value
    from embedlab.runs.results import ScoreKey, StoredResult
    from embedlab.runs.signature import PartDifference

First = Annotated[
    Path, typer.Argument(metavar="A.json", help="What `evaluate --json` or `compare --json` printed, or a run's evaluations/TASK.json.")
]
Second = Annotated[Path, typer.Argument(metavar="B.json", help="Another such file.")]

EXAMPLES = examples(
    "embedlab verify mine.json theirs.json",
    "embedlab verify runs/sbert/seed-1/evaluations/sts.json runs/sbert/seed-2/evaluations/sts.json --data DIR",
)
_WEIGHTS = {"model", "seeds"}


@common("data", "runs", "output")
def verify(first: First, second: Second, *, terminal: Terminal) -> None:
    """Say whether two results are of the same thing, which part differs if not, and by how much their scores differ.

    Signatures are compared part by part. Another version of embedlab is shown, but is the same thing if the rest is. Scores agree where
    they are apart by less than half of the last digit that tables print. A difference has a 95% interval where the pairs are at hand
    (--data) and the scores of both models are stored, in runs or in the cache. Ends with 0 where both are of the same thing and all
    scores they share agree, with 1 where anything differs.
    """
    from embedlab.evaluation.verification import ResultPair
    from embedlab.runs.results import read_results

    mine, theirs = read_results(first), read_results(second)
    sides = [
        ResultPair(first=own, second=other, files=(first, second), settings=terminal.settings)
        for own, other in _matched(mine, theirs, first, second)
    ]
    found = [_table(one) for one in sides]
    terminal.show(*(table for table, _ in found))
    _note_others(first, mine, [one.first for one in sides], terminal)
    _note_others(second, theirs, [one.second for one in sides], terminal)
    if not all(is_same for _, is_same in found):
        raise typer.Exit(ExitCode.FAILED)


def _matched(
    mine: "Sequence[StoredResult]", theirs: "Sequence[StoredResult]", first: Path, second: Path
) -> "list[tuple[StoredResult, StoredResult]]":
    """The results to compare: the only ones, or those of one model on the same task in both files."""
    if len(mine) == len(theirs) == 1:
        return [(mine[0], theirs[0])]
    found = [(own, other) for own in mine for other in theirs if _is_counterpart(own, other)]
    if not found:
        own, other = (", ".join(dict.fromkeys(map(_name, results))) for results in (mine, theirs))
        raise UsageError(
            f"no model and task is in both files: {str(first)!r} has {own}, {str(second)!r} has {other}",
            hint="give files with one result each, or of the same models and tasks",
        )
    return found


def _is_counterpart(one: "StoredResult", other: "StoredResult") -> bool:
    return one.model == other.model and bool({*one.signature.task} & {*other.signature.task})


def _name(result: "StoredResult") -> str:
    return f"{title_of(result.model)} on {_joined(result.signature.task)}"


def _note_others(path: Path, results: "Sequence[StoredResult]", matched: "Sequence[StoredResult]", terminal: Terminal) -> None:
    """Say which results of a file have no counterpart."""
    if others := [_name(one) for one in results if all(one is not own for own in matched)]:
        terminal.note(f"not compared, only in {path}: {'; '.join(others)}")


def _table(sides: "ResultPair") -> "tuple[Table, bool]":
    """The verdict with what differs below it, and whether the results are of the same thing and agree."""
    from embedlab.evaluation.verification import intervals_of
    from embedlab.reports.tables import Column, Table
    from embedlab.runs.signature import part_differences

    parts = part_differences(sides.first.signature, sides.second.signature)
    shown, apart = [part for part in parts if part.agreement in {"differs", "other version"}], intervals_of(sides)
    rows = [*map(_part_row, shown), *(_score_row(sides, key, apart) for key in sides.differing)]
    columns = [
        Column(key="what", title="what differs"),
        Column(key="first", title=str(sides.files[0]), digits=2, align="right"),
        Column(key="second", title=str(sides.files[1]), digits=2, align="right"),
        *([Column(key="difference", title="second − first", align="left")] if sides.differing else []),
    ]
    table = Table(
        title=_verdict(sides, parts),
        columns=columns if rows else [],
        rows=rows,
        notes=[*_notes(sides, parts), *(f"no interval: {reason}" for reason in apart.reasons)],
        signatures={str(file): str(one.signature) for file, one in zip(sides.files, (sides.first, sides.second), strict=True)},
    )
    is_same = not any(part.agreement == "differs" for part in parts)
    return table, is_same and bool(sides.shared) and not sides.differing


def _verdict(sides: "ResultPair", parts: "Sequence[PartDifference]") -> str:
    names = " and ".join(dict.fromkeys(title_of(one.model) for one in (sides.first, sides.second)))
    tasks = [task for task in sides.first.signature.task if task in sides.second.signature.task]
    count, total = len(sides.differing), len(sides.shared)
    if not total:
        scores = "no score is in both"
    elif count:
        scores = f"{count} of {total} scores differ" if total > 1 else "the score differs"
    else:
        scores = f"all {total} scores agree" if total > 1 else "the score agrees"
    return f"{names}{f' on {_joined(tasks)}' if tasks else ''}: {_sameness(parts)}; {scores}"


def _sameness(parts: "Sequence[PartDifference]") -> str:
    agreements = {part.agreement for part in parts}
    if wrong := [part.name for part in parts if part.agreement == "differs"]:
        if "model" in wrong and {*wrong} <= _WEIGHTS:
            return "other weights, measured in the same way"
        return f"not of the same thing: {', '.join(wrong)} {'differ' if len(wrong) > 1 else 'differs'}"
    version = ", by another version" if "other version" in agreements else ""
    return f"of the same thing{version}{', as far as both say' if 'unknown' in agreements else ''}"


def _part_row(part: "PartDifference") -> "dict[str, Value | TableCell]":
    return {"kind": "part", "what": part.name, "first": _joined(part.first), "second": _joined(part.second)}


def _score_row(sides: "ResultPair", key: "ScoreKey", apart: "ScoreIntervals") -> "dict[str, Value | TableCell]":
    from embedlab.reports.tables import ABSENT, TableCell

    own, other = sides.differing[key]
    low, high = apart.intervals.get(key, (None, None))
    interval = f" [{low:+.2f}, {high:+.2f}]" if low is not None else ""
    delta = other - own
    return {
        "kind": "score",
        "what": " ".join(filter(None, (key.slice, key.metric, key.setting, key.split))),
        "first": own,
        "second": other,
        "difference": TableCell(value=delta, text=f"{delta:+.2f}{interval}" if delta == delta else ABSENT),
        "low": low,
        "high": high,
    }


def _notes(sides: "ResultPair", parts: "Sequence[PartDifference]") -> Iterator[str]:
    """What was not compared, and what follows from another part."""
    for part in (part for part in parts if part.agreement == "unknown"):
        both = ", ".join(f"{_joined(values)} in {file}" for values, file in zip((part.first, part.second), sides.files, strict=True))
        yield f"{part.name} cannot be compared: {both}"
    if extent := [part.name for part in parts if part.agreement == "only in one"]:
        yield f"one file holds more than the other ({', '.join(extent)}): what both have is compared"
    wrong = {part.name for part in parts if part.agreement == "differs"}
    covered = {"pooling", "max_tokens", "precision"} & wrong
    if covered and "model" in wrong and not wrong & {"backend", "dims"}:
        yield f"model is a fingerprint that depends on {', '.join(sorted(covered))} too: the weights may be the same"


def _joined(values: "Sequence[str]") -> str:
    return ", ".join(values) or "none"
