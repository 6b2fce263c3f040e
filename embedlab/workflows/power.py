"""Which difference between two models these pairs and seeds can detect."""

from collections.abc import Sequence
from dataclasses import dataclass

from embedlab.analysis.evidence import member_columns
from embedlab.analysis.power import detectable
from embedlab.comparison.evidence import outcome_evidence
from embedlab.core.errors import UsageError
from embedlab.reports.power_table import power_table
from embedlab.reports.tables import Table
from embedlab.workflows.models import refuse_twice
from embedlab.workflows.scoring import score
from embedlab.workflows.session import Session


@dataclass(frozen=True, kw_only=True)
class PowerOptions:
    """Two models, and what is planned with them."""

    first: str
    second: str
    datasets: Sequence[str] | None = None  # None: all
    detect: float | None = None  # a difference in points
    seeds: int | None = None  # of each recipe
    common: bool = False  # on the pairs that both models score


@dataclass(frozen=True, kw_only=True)
class PowerReport:
    """The table, and whether no dataset was missing."""

    table: Table
    is_whole: bool


def power_report(options: PowerOptions, session: Session) -> PowerReport:
    """Score the pairs where that is not done yet, and say what they can detect."""
    _check(options)
    scored, is_whole = score([options.first, options.second], session, datasets=options.datasets, common=options.common)
    detect = options.detect / 100 if options.detect is not None else None
    members = member_columns(scored.models)
    evidence = outcome_evidence(scored.outcomes, members, scored.slices("dataset"))
    found = detectable(evidence, *scored.models, detect=detect, seeds=options.seeds)
    return PowerReport(table=power_table(found, scored, detect=options.detect, seeds=options.seeds), is_whole=is_whole)


def _check(options: PowerOptions) -> None:
    refuse_twice([options.first, options.second])
    if options.detect is not None and not 0 < options.detect < 100:
        hint = "give points above 0 and below 100, for example 1"
        raise UsageError(f"the difference to detect is {options.detect:g} points", hint=hint)
    if options.seeds is not None and options.seeds < 2:
        raise UsageError(f"a spread needs at least 2 seeds, not {options.seeds}", hint="give 2 or more")
