"""`embedlab why`: where two models differ, what the items have in common on which one alone is
right, and how steady that is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from embedlab.commands.command import command
from embedlab.commands.options import Flag, SignatureOptions, TaskItems, TwoModels
from embedlab.core.errors import UsageError
from embedlab.core.session import Session
from embedlab.reports.report import Report

# of the halves that combinations are searched and tested on: the same for the same items
HALVES_SEED = 0


@dataclass(frozen=True, kw_only=True)
class WhyOptions(SignatureOptions, TaskItems, TwoModels):
    """Two models, the items on which they differ, and how much is shown."""

    rows: Annotated[
        int,
        Flag(
            metavar="N",
            help="Show at most this many rows per table; JSON and CSV have all.",
            min=1,
        ),
    ] = 4
    examples: Annotated[
        int,
        Flag(
            metavar="N",
            help="How many typical items to show of each model.",
            min=0,
        ),
    ] = 5


@command("data runs machine output latex", draws="why")
def why(options: WhyOptions, session: Session) -> Report:
    """Show why two models differ: on which kinds of items, by every property, and what the items
    have in common that only one model gets right.

    The first table lists the kinds of items on which the second model's lead differs most from its
    lead on all others, the most certain first. The second lists combinations of two properties,
    searched on half of the topics and seeds and confirmed on the other half.

    Examples:
        $ embedlab why dice minilm --data starter
        $ embedlab why sbert defsent --task sick-r --where 'negation:one'

    """
    import numpy as np

    from embedlab.analysis.evidence import member_columns
    from embedlab.commands.own_rows import two_models
    from embedlab.comparison.comparison import Slicing
    from embedlab.comparison.explanation import explain_difference
    from embedlab.evaluation import compare_gathered, gather, refuse_without_items
    from embedlab.outcomes.frame import join_outcomes
    from embedlab.outcomes.selection import select_items
    from embedlab.reports.why import WHY, why_tables
    from embedlab.scoring.selection import select_from

    names, files = two_models(options, "why", session.settings)
    selected_tasks = select_from(options.suites, options.tasks or files, session.settings.data)
    expression = options.expression
    refuse_without_items(selected_tasks, "kind", expression)
    slicing = Slicing(where=expression)
    gathered = gather(names, selected_tasks, session, slicing=slicing, setting=options.setting)
    if not gathered.outcomes:
        raise UsageError(
            "the selected tasks have no items to group",
            hint="select a task with items, such as --task sts12",
        )
    outcomes, models = join_outcomes(gathered.outcomes), gathered.models
    columns = {model.name: model.members for model in models}
    selection = select_items(outcomes, expression, columns) if expression else None
    if selection is not None and selection.is_by_results:
        raise UsageError(
            f"{expression!r} picks items by results",
            hint="read properties alone: results would explain themselves",
        )
    unscored_models = [
        member
        for member in member_columns(models)
        if outcomes.predictions[member].fill_nan(None).count() == 0
    ]
    if unscored_models:
        raise UsageError(
            f"{unscored_models[0]} has no prediction of these items",
            hint="select a task that both models can do",
        )
    comparison = compare_gathered(gathered, slicing, session)
    with session.progresses() as progress:
        rng = np.random.default_rng(HALVES_SEED)
        explanation = explain_difference(
            outcomes,
            models,
            comparison.evidence,
            selection,
            rng=rng,
            examples=options.examples,
            progress=progress,
        )
    tables = why_tables(explanation, comparison, rows=options.rows)
    drawn = tables[: 1 + bool(explanation.search.confirmed)]
    subject = {"tables": drawn, "caption": tables[0].caption()}
    return Report.of(
        *tables,
        schema=WHY,
        is_whole=comparison.is_whole,
        command="why",
        figure_subject=subject,
        behind={"explanation": explanation},
    )
