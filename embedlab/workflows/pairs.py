"""Single pairs, filtered and sorted: what people and models say of each."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl

from embedlab.analysis.expressions import NOTE, OF_PAIR, TRAINED, refuse_unnamable
from embedlab.analysis.named_selections import store_selection
from embedlab.analysis.pair_notes import PairNotes, pair_keys
from embedlab.analysis.rank_errors import with_rank_errors
from embedlab.comparison.selected import selected_and_rest
from embedlab.core.errors import UsageError
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.nearest import unknown
from embedlab.data.aliases import canonical_names
from embedlab.outcomes.frame import Outcomes
from embedlab.outcomes.selection import ItemSelection, item_condition, items_that_fit
from embedlab.outcomes.table import item_rows
from embedlab.reports.frames import PAIRED
from embedlab.reports.pairs import TEXTS, listed_columns, pair_list, selection_notes
from embedlab.scoring.selection import SelectedTask
from embedlab.scoring.task_comparison import Gathered, Slicing
from embedlab.workflows.compare_tasks import gather
from embedlab.workflows.options.pairs import PairsOptions
from embedlab.workflows.own_files import hints_at_own_columns
from embedlab.workflows.report import Report
from embedlab.workflows.session import Session


@hints_at_own_columns
def pairs_report(options: PairsOptions, session: Session) -> Report:
    """Score all pairs and show those that match; a filter or sort key that is not understood is
    refused before any work.
    """
    names = list(dict.fromkeys(options.models))
    if options.limit is not None and options.limit < 1:
        raise UsageError(f"the limit is {options.limit} pairs", hint="give 1 or more")
    if options.name:
        refuse_unnamable(options.name, options.expression)
    matches = item_condition(options.expression, names)
    named = [name for name in OF_PAIR if name in matches.meta.root_names()]
    key, is_ascending = _sort_key(options.sort, names)
    selected = SelectedTask(task=DEFAULT_TASK, names=tuple(canonical_names(options.tasks)))
    gathered = gather(names, [selected], session, slicing=Slicing(), setting="literature")
    outcomes = gathered.outcomes[0]
    # Ranks are within the whole dataset: they must not change with what is shown of it.
    ranked = with_rank_errors(item_rows(outcomes), gathered.models)
    members = {model.name: model.members for model in gathered.models}
    selection = (
        items_that_fit(outcomes, matches, members, expression=options.expression)
        if options.expression
        else None
    )
    facts = _with_facts(ranked, outcomes, named)
    matching = facts.filter(pl.Series(selection.holds)) if selection is not None else facts
    shown = matching.sort(
        pl.col(key), descending=not is_ascending, nulls_last=True, maintain_order=True
    )
    shown = shown.head(options.limit) if options.limit is not None else shown
    if options.name:
        store_selection(options.name, options.expression)
        session.note(f"@{options.name} is {options.expression!r} from now on, in every filter")
    numbers = _numbers(gathered, selection) if selection is not None else ()
    table = pair_list(
        gathered, shown, _count(shown.height, matching.height, ranked.height), added=named
    )
    table = replace(table, notes=[*numbers, *table.notes])
    return Report.of([table], PAIRED, is_whole=gathered.is_whole)


def _with_facts(pairs: pl.DataFrame, outcomes: Outcomes, named: Sequence[str]) -> pl.DataFrame:
    """PAIRS with the columns that a filter names of what is known besides the scores."""
    if TRAINED in named:
        pairs = pairs.with_columns(outcomes.trained_models.alias(TRAINED))
    if NOTE in named:
        notes = PairNotes.load()
        if notes.trouble is not None:
            raise notes.trouble
        pairs = notes.joined(pairs.with_columns(pair_keys(pairs)), always=True)
    return pairs


def _numbers(gathered: Gathered, selection: ItemSelection) -> Iterator[str]:
    """Yield the score of each model on the pairs that match, and on the rest; with intervals where
    results took no part in picking them.
    """
    halves = None
    if selection.holds.any():
        halves = selected_and_rest(gathered.outcomes[0], gathered.models, selection)
    if halves is not None:
        yield from selection_notes(halves)


def _sort_key(sort: str | None, names: Sequence[str]) -> tuple[str, bool]:
    """The column to sort by, and whether the smallest value is first."""
    if not sort:
        return "gap" if len(names) > 1 else f"error({names[0]})", False
    key = sort.removeprefix("-")
    sortable = [column for column in listed_columns(names) if column not in TEXTS]
    if key not in sortable:
        raise unknown("column to sort by", key, sortable)
    return key, sort.startswith("-")


def _count(shown: int, matching: int, total: int) -> str:
    """How many pairs are shown, of those that match and of all."""
    if matching == total:
        return f"{shown} of {total} pairs"
    return f"{matching} of {total} pairs match" + (f", {shown} shown" if shown < matching else "")
