"""`embedlab power`: which difference between two models these items and seeds can detect, and how
many seeds a wanted one needs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from embedlab.commands.command import command
from embedlab.commands.options import CommonItems, Flag, SignatureOptions, TwoModels
from embedlab.core.errors import UsageError
from embedlab.core.session import Session
from embedlab.reports.report import Report


@dataclass(frozen=True, kw_only=True)
class PowerOptions(SignatureOptions, CommonItems, TwoModels):
    """Two models, and what is planned with them."""

    detect: Annotated[
        float | None,
        Flag(
            metavar="POINTS",
            help="Show how many items or seeds a difference of POINTS needs.",
        ),
    ] = None
    seeds: Annotated[
        int | None,
        Flag(
            metavar="N",
            min=2,
            help="Show what N seeds of each recipe would detect.",
        ),
    ] = None


@command("data runs machine output latex", draws="power")
def power(options: PowerOptions, session: Session) -> Report:
    """Print which difference between two models can be detected, at 5% with 80% power, on each
    dataset and on the usual averages, and how many items or seeds a difference needs.

    Effective items is the number of independent items that would give the same variance: items of
    one topic count for less.

    Examples:
        $ embedlab power snli-ce snli-supcl --data DIR
        $ embedlab power snli-ce snli-supcl --task sts12 --detect 1 --seeds 5
        $ embedlab power snli-ce snli-supcl --suite transfer

    """
    from embedlab.analysis.power import detectable
    from embedlab.commands.own_rows import two_models
    from embedlab.comparison.comparison import Slicing
    from embedlab.evaluation import compare_gathered, gather
    from embedlab.reports.power_table import POWER, power_table
    from embedlab.scoring.selection import select_from

    names, files = two_models(options, "power", session.settings)
    if options.detect is not None and not 0 < options.detect < 100:
        hint = "give points above 0 and below 100, for example 1"
        raise UsageError(f"the difference to detect is {options.detect:g} points", hint=hint)
    selected_tasks = select_from(options.suites, options.tasks or files, session.settings.data)
    slicing = Slicing(common=options.common, where=options.expression)
    gathered = gather(names, selected_tasks, session, slicing=slicing, setting=options.setting)
    comparison = compare_gathered(gathered, slicing, session)
    tested = [evidence for evidence in comparison.evidence if evidence.rows is not None]
    if not tested:
        tasks = ", ".join(selected_task.task for selected_task in selected_tasks)
        raise UsageError(
            f"{tasks} has no items whose differences are tested",
            hint="select a task with items, and no results in --where",
        )
    if slicing.is_plain:
        for note in gathered.without_items():
            session.note(note)
    first, second = gathered.models
    detect = options.detect / 100 if options.detect is not None else None
    rows = detectable(tested, first, second, detect=detect, seeds=options.seeds)
    table = power_table(rows, comparison, detect=options.detect, seeds=options.seeds)
    report = Report.of(table, schema=POWER, is_whole=comparison.is_whole)
    subject = {"frame": report.frame, "caption": table.caption()}
    return replace(report, command="power", figure_subject=subject)
