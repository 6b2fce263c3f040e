"""Which difference between two models these items and seeds can detect."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from embedlab.analysis.power import detectable
from embedlab.core.errors import UsageError
from embedlab.reports.power_table import POWER, power_table
from embedlab.scoring.selection import select_from
from embedlab.scoring.task_comparison import Slicing
from embedlab.workflows.closed_choices import refuse_unknown_choices
from embedlab.workflows.compare_tasks import compared, gather
from embedlab.workflows.models import refuse_twice
from embedlab.workflows.options.power import PowerOptions
from embedlab.workflows.report import Report
from embedlab.workflows.session import Session


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PowerReport(Report):
    """The differences that can be detected."""

    command: ClassVar[str] = "power"

    def drawn(self) -> Mapping[str, Any]:
        """The differences, with the caption of their table."""
        return {
            "frame": self.frame,
            "caption": " ".join(table.caption() for table in self.tables),
        }


def power_report(options: PowerOptions, session: Session) -> PowerReport:
    """Evaluate what is not evaluated yet, and say what its items can detect."""
    refuse_unknown_choices(options)
    _check(options)
    selected = select_from(options.suites, options.tasks, session.settings.data)
    slicing = Slicing(common=options.common, where=options.expression)
    gathered = gather(
        [options.first, options.second], selected, session, slicing=slicing, setting=options.setting
    )
    comparison = compared(gathered, slicing, session)
    tested = [evidence for evidence in comparison.evidence if evidence.rows is not None]
    if not tested:
        names = ", ".join(each.task for each in selected)
        raise UsageError(
            f"{names} has no items whose differences are tested",
            hint="select a task with items, and no results in --where",
        )
    if slicing.is_plain:
        for note in gathered.without_items():
            session.note(note)
    first, second = gathered.models
    detect = options.detect / 100 if options.detect is not None else None
    rows = detectable(tested, first, second, detect=detect, seeds=options.seeds)
    table = power_table(rows, comparison, detect=options.detect, seeds=options.seeds)
    return PowerReport.of([table], POWER, is_whole=comparison.is_whole)


def _check(options: PowerOptions) -> None:
    refuse_twice([options.first, options.second])
    if options.detect is not None and not 0 < options.detect < 100:
        hint = "give points above 0 and below 100, for example 1"
        raise UsageError(f"the difference to detect is {options.detect:g} points", hint=hint)
    if options.seeds is not None and options.seeds < 2:
        raise UsageError(
            f"a spread needs at least 2 seeds, not {options.seeds}", hint="give 2 or more"
        )
