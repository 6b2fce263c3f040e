"""Compare models on the items of any task: what the command line, the dashboard, grids and papers
show is made here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from embedlab.analysis.another_dataset import Elsewhere, elsewhere
from embedlab.analysis.comparison import ComparedSlice, compare_evidence, comparison_notes
from embedlab.analysis.evidence import member_columns
from embedlab.comparison.evidence import outcome_evidence, slices_of
from embedlab.core.errors import UsageError
from embedlab.core.nearest import unknown
from embedlab.outcomes.frame import DATASET

if TYPE_CHECKING:
    from embedlab.analysis.scores import ModelColumns
    from embedlab.choices import Aggregate
    from embedlab.outcomes.frame import Outcomes
    from embedlab.outcomes.selection import ItemSelection


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Models compared on the slices of some items."""

    by: str  # a property of the items
    aggregate: Aggregate
    models: tuple[str, ...]
    reference: str
    slices: tuple[ComparedSlice, ...]
    margin: float | None = None  # of the test of equivalence, in units of the scores
    common: bool = False  # on the items that all models score
    notes: tuple[str, ...] = ()  # remarks on the whole comparison
    elsewhere: tuple[Elsewhere, ...] = ()  # what differences on whole datasets say of another one


def compare_outcomes(
    outcomes: Outcomes,
    models: Sequence[ModelColumns],
    *,
    by: str = DATASET,
    aggregate: Aggregate = "all",
    reference: str | None = None,
    margin: float | None = None,
    has_letters: bool = False,
    has_another: bool = False,
    common: bool = False,
    selection: ItemSelection | None = None,
    progress: Callable[[int, int], None] | None = None,
    preview: Callable[[Comparison], None] | None = None,
) -> Comparison:
    """Compare MODELS, whose members have predictions in OUTCOMES, on each slice by a property
    against REFERENCE (default: the first).

    Every model sees the same items, so differences are paired. Averages over datasets count
    sentences that recur in several of them. A model that lacks an item of a slice has no number
    there, with a note; with COMMON all models are compared on the items that all of them score. A
    dataset's fifths are cut within it, before a SELECTION leaves some of its items; of one that was
    chosen by results there are scores alone.

    MARGIN, in units of the scores, adds a test of equivalence. PREVIEW takes
    the scores as soon as they are known, then again with the intervals of one slice more.
    """
    names = [model.name for model in models]
    reference = _checked_reference(names, reference, by, aggregate)
    members = member_columns(models)
    parts = slices_of(outcomes, members, by=by, common=common, selection=selection)
    is_chosen = selection is not None and selection.is_by_results
    evidence = outcome_evidence(
        outcomes, members, parts, aggregate=aggregate, is_chosen=is_chosen, progress=progress
    )
    empty = Comparison(
        by=by,
        aggregate=aggregate,
        models=tuple(names),
        reference=reference,
        slices=(),
        margin=margin,
        common=common,
    )
    show = (lambda slices: preview(replace(empty, slices=slices))) if preview is not None else None
    slices = compare_evidence(
        evidence, models, reference, margin=margin, has_letters=has_letters, preview=show
    )
    another = elsewhere(evidence, slices, models, reference) if has_another else ()
    return replace(
        empty,
        slices=slices,
        notes=tuple(comparison_notes(slices, models, margin)),
        elsewhere=another,
    )


def _checked_reference(
    names: Sequence[str], reference: str | None, by: str, aggregate: Aggregate
) -> str:
    if not names:
        raise UsageError("no models to compare", hint="name one or more models")
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"model {twice!r} is named twice", hint="name each model once")
    if by == "dice" and aggregate != "all":
        raise UsageError(
            f"Dice fifths are not aggregated over sources: {aggregate!r}",
            hint="remove --aggregate, or use --by dataset",
        )
    if reference is not None and reference not in names:
        raise unknown("model", reference, names)
    return reference or names[0]
