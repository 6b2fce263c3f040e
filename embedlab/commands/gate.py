"""A gate for releases: whether a candidate is worse than the model that it replaces by a margin."""

from dataclasses import asdict, dataclass, replace
from math import ceil, isfinite, isnan, nan

from embedlab.core.errors import ExitCode
from embedlab.reports.report import Report
from embedlab.reports.tables import attributes
from embedlab.tasks.task import scale_of

_ENDS = {
    ExitCode.OK: "passes",
    ExitCode.DIFFERENT: "fails",
    ExitCode.UNKNOWN: "undecided",
}


@dataclass(frozen=True, kw_only=True)
class GateRow:
    """One row of a comparison, in the units of its table: CANDIDATE − BASE."""

    row: str
    difference: float
    low: float  # of the 95% interval
    high: float
    items: int
    margin: float

    @property
    def exit_code(self) -> ExitCode:
        """0 where the whole interval is above −margin, 4 where it is below, 5 otherwise."""
        if self.low > -self.margin:
            return ExitCode.OK
        return ExitCode.DIFFERENT if self.high < -self.margin else ExitCode.UNKNOWN

    @property
    def items_needed(self) -> float:
        """About how many items would decide, if the difference stayed; nan where none would."""
        apart = self.difference + self.margin
        reach = self.difference - self.low if apart > 0 else self.high - self.difference
        return nan if not apart or isnan(reach) else self.items * (reach / apart) ** 2

    @property
    def text(self) -> str:
        """The row in words."""
        points = f"{self.difference:+.2f} [{self.low:+.2f}, {self.high:+.2f}]"
        is_open = self.exit_code == ExitCode.UNKNOWN
        needed = ""
        if is_open and isfinite(self.items_needed):
            needed = f" (about {ceil(self.items_needed):,} items would decide, not {self.items:,})"
        return f"{points} on {self.row}{needed}"


def gate_rows(report: Report, margin: float) -> list[GateRow]:
    """The rows that a gate of MARGIN points decides by: the averages where there are any."""
    slices = report.compared.slices
    candidate = report.compared.models[1].name
    chosen = [each for each in slices if each.average_of] or slices
    rows = []
    for compared in chosen:
        ends = attributes(
            compared.differences[candidate],
            "delta low high",
            scale_of(compared.task, compared.metric),
        )
        difference = ends.pop("delta")
        row = GateRow(
            row=compared.title, difference=difference, items=compared.items, margin=margin, **ends
        )
        rows.append(row)
    return rows


def gated(report: Report, margin: float) -> Report:
    """REPORT with the gate in its JSON, the line for logs, and the exit code: the worst of the
    rows'.
    """
    rows = gate_rows(report, margin)
    severity = [ExitCode.OK, ExitCode.UNKNOWN, ExitCode.DIFFERENT]
    code = max((row.exit_code for row in rows), key=severity.index, default=ExitCode.UNKNOWN)
    base, candidate = (model.name for model in report.compared.models)
    decisive = [row.text for row in rows if row.exit_code == code]
    line = (
        f"gate {_ENDS[code]}, margin {margin:g}: {candidate} minus {base} is "
        f"{'; '.join(decisive) or 'not known'}"
    )
    table, *others = report.tables
    records = []
    for row in rows:
        values = {**asdict(row), "items_needed": row.items_needed}
        plain = {
            key: value if isinstance(value, str) or isfinite(value) else None
            for key, value in values.items()
        }
        records.append({"result": _ENDS[row.exit_code], **plain})
    first = replace(table, records={**table.records, "gate": records})
    return replace(report, tables=(first, *others), last=line, exit_code=code)
