"""Two files of results verified against each other: whether they are of the same thing, and how far
their scores are apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from embedlab.core.errors import UsageError
from embedlab.models.grammar import title_of
from embedlab.reports.tables import Table
from embedlab.reports.verification_table import joined_or_none, verification_table
from embedlab.runs.results import StoredResult, read_results
from embedlab.scoring.verification import ResultPair
from embedlab.workflows.report import Report, report_of
from embedlab.workflows.session import Session


@dataclass(frozen=True, kw_only=True)
class Verification:
    """One table for each two results, and whether all are of the same thing and agree."""

    tables: tuple[Table, ...]
    is_same: bool


def verify_files(first: Path, second: Path, session: Session) -> Verification:
    """Compare the results of one model and task in both files; what is only in one is noted."""
    mine, theirs = (read_results(path) for path in (first, second))
    sides = [
        ResultPair(first=result, second=other, files=(first, second), settings=session.settings)
        for result, other in _matched(mine, theirs, first, second)
    ]
    verified = [verification_table(side) for side in sides]
    _note_others(first, mine, [side.first for side in sides], session)
    _note_others(second, theirs, [side.second for side in sides], session)
    return Verification(
        tables=tuple(table for table, _ in verified),
        is_same=all(is_same for _, is_same in verified),
    )


def _matched(
    mine: Sequence[StoredResult], theirs: Sequence[StoredResult], first: Path, second: Path
) -> list[tuple[StoredResult, StoredResult]]:
    """The results to compare: the only ones, or those of one model on the same task in both
    files.
    """
    if len(mine) == len(theirs) == 1:
        return [(mine[0], theirs[0])]
    matched = [
        (result, other) for result in mine for other in theirs if _is_counterpart(result, other)
    ]
    if not matched:
        ours, other = (", ".join(dict.fromkeys(map(_name, results))) for results in (mine, theirs))
        raise UsageError(
            f"no model and task is in both files: {str(first)!r} has {ours}, {str(second)!r} "
            f"has {other}",
            hint="give files with one result each, or of the same models and tasks",
        )
    return matched


def _is_counterpart(result: StoredResult, other: StoredResult) -> bool:
    return result.model == other.model and bool({*result.signature.task} & {*other.signature.task})


def _name(result: StoredResult) -> str:
    return f"{title_of(result.model)} on {joined_or_none(result.signature.task)}"


def _note_others(
    path: Path, results: Sequence[StoredResult], matched: Sequence[StoredResult], session: Session
) -> None:
    """Say which results of a file have no counterpart."""
    if others := [
        _name(result)
        for result in results
        if all(result is not stored_result for stored_result in matched)
    ]:
        session.note(f"not compared, only in {path}: {'; '.join(others)}")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class VerificationReport(Report):
    """What differs between two files of results."""

    is_same: bool


def verification_report(first: Path, second: Path, session: Session) -> VerificationReport:
    """The same as a report: one row a difference."""
    verification = verify_files(first, second, session)
    return VerificationReport(**vars(report_of(verification.tables)), is_same=verification.is_same)
