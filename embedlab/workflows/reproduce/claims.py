"""The claims of a paper on the models at hand: measured, settled together, and shown as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from embedlab.analysis.claims import ClaimedDifference, SettledClaim, settle_claims
from embedlab.data.dataset import DatasetState
from embedlab.experiments.claim_evidence import measured_claims
from embedlab.experiments.paper_table import PaperTable
from embedlab.experiments.paper_trainings import for_claims
from embedlab.workflows.options.reproduce import ReproductionOptions
from embedlab.workflows.reproduce.plan import check_named_rows, check_servers
from embedlab.workflows.reproduce.run import KnownRows, built_start, known_rows
from embedlab.workflows.session import Session


@dataclass(frozen=True, kw_only=True, eq=False)
class PaperClaims:
    """The claims of a paper with their verdicts."""

    paper: str
    tables: Mapping[str, PaperTable]  # those that claims are about, by name
    settled: tuple[SettledClaim, ...]
    marks: tuple[str, ...]  # of the numbers: partial, generated …
    notes: tuple[str, ...]  # what is missing
    states: tuple[DatasetState, ...]  # of the data that was read


def measure_claims(
    tables: Sequence[PaperTable], options: ReproductionOptions, session: Session
) -> PaperClaims:
    """Return the verdicts on the claims about TABLES of one paper, on the models that are there;
    nothing is trained.
    """
    check_named_rows(tables, options)
    check_servers(tables, options)
    claimed = [for_claims(table) for table in tables if table.claims]
    start = built_start(options, session.settings)
    fitting = [
        table
        for table in claimed
        if start is None or any(source.encoder is None for source in table.sources.values())
    ]
    return settled_rows(
        tables[0].paper,
        claimed,
        [known_rows(table, options, start, session, says_untrained=False) for table in fitting],
    )


def settled_rows(
    paper: str, claimed: Sequence[PaperTable], known: Sequence[KnownRows]
) -> PaperClaims:
    """Return the verdicts on the claims about CLAIMED tables, of whose rows some are KNOWN; all
    that are measured are one family.
    """
    measured: dict[str, ClaimedDifference] = {}
    for rows in known:
        differences = measured_claims(
            rows.table, rows.members, rows.known.items, rows.known.evaluations
        )
        measured |= {
            name: difference
            for name, difference in differences.items()
            if rows.inconclusive.isdisjoint(
                {(claim := rows.table.claims[name]).first, claim.second}
            )
        }
    claims = {name: claim for table in claimed for name, claim in table.claims.items()}
    scored = [rows.known.scored for rows in known if rows.known.scored is not None]
    evaluated = {
        mark
        for rows in known
        for evaluation in rows.known.evaluations.values()
        for mark in evaluation.marks
    }
    return PaperClaims(
        paper=paper,
        tables={table.name: table for table in claimed},
        settled=tuple(settle_claims(claims, measured)),
        marks=tuple(sorted({*evaluated, *(mark for each in scored for mark in each.marks)})),
        notes=tuple(dict.fromkeys(note for rows in known for note in rows.notes)),
        states=tuple(state for each in scored for state in each.states),
    )
