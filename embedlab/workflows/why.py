"""Why two models differ: where the difference sits, what the items of each side have in common,
typical ones, and how steady it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from embedlab.analysis.evidence import member_columns
from embedlab.comparison.explanation import Explanation, explained
from embedlab.core.errors import UsageError
from embedlab.outcomes.frame import joined_outcomes
from embedlab.outcomes.selection import select_items
from embedlab.reports.why import WHY, why_tables
from embedlab.scoring.selection import select_from
from embedlab.scoring.task_comparison import Slicing
from embedlab.workflows.closed_choices import refuse_unknown_choices
from embedlab.workflows.compare_tasks import compared, gather, refuse_without_items
from embedlab.workflows.models import refuse_twice
from embedlab.workflows.options.why import WhyOptions
from embedlab.workflows.own_files import hints_at_own_columns
from embedlab.workflows.report import Report
from embedlab.workflows.session import Session

# of the halves that combinations are searched and tested on: the same for the same items
HALVES_SEED = 0


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class WhyReport(Report):
    """The report, and the explanation behind its tables."""

    command: ClassVar[str] = "why"
    explanation: Explanation
    rows: int = 4  # that a figure shows

    def drawn(self) -> Mapping[str, Any]:
        """The difference on each kind of items, with the caption of its table."""
        caption = self.tables[0].caption()
        return {"explanation": self.explanation, "rows": self.rows, "caption": caption}


@hints_at_own_columns
def why_report(options: WhyOptions, session: Session) -> WhyReport:
    """Evaluate what is not evaluated yet, and say why the models differ; options that cannot apply
    are refused before any work.
    """
    refuse_unknown_choices(options)
    refuse_twice([options.first, options.second])
    for name, least in (("rows", 1), ("examples", 0)):
        if (value := getattr(options, name)) < least:
            raise UsageError(f"option {name} is {value}", hint=f"give {least} or more")
    selected = select_from(options.suites, options.tasks, session.settings.data)
    where = options.expression
    refuse_without_items(selected, "kind", where)
    slicing = Slicing(where=where)
    gathered = gather(
        [options.first, options.second], selected, session, slicing=slicing, setting=options.setting
    )
    if not gathered.outcomes:
        raise UsageError(
            "the selected tasks have no items to group",
            hint="select a task with items, such as --task sts12",
        )
    outcomes, models = joined_outcomes(gathered.outcomes), gathered.models
    columns = {model.name: model.members for model in models}
    selection = select_items(outcomes, where, columns) if where else None
    if selection is not None and selection.is_by_results:
        raise UsageError(
            f"{where!r} picks items by results",
            hint="read properties alone: results would explain themselves",
        )
    lacking = [
        member
        for member in member_columns(models)
        if outcomes.predictions[member].fill_nan(None).count() == 0
    ]
    if lacking:
        raise UsageError(
            f"{lacking[0]} has no prediction of these items",
            hint="select a task that both models can do",
        )
    comparison = compared(gathered, slicing, session)
    with session.progresses() as progress:
        rng = np.random.default_rng(HALVES_SEED)
        explanation = explained(
            outcomes,
            models,
            comparison.evidence,
            selection,
            rng=rng,
            examples=options.examples,
            progress=progress,
        )
    report = Report.of(
        why_tables(explanation, comparison, rows=options.rows), WHY, is_whole=comparison.is_whole
    )
    return WhyReport(**vars(report), explanation=explanation, rows=options.rows)
