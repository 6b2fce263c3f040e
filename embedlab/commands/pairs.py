"""`embedlab pairs`: single pairs, as people and models score them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from embedlab.commands.command import command
from embedlab.commands.options import ChosenItems, Flag, ModelsAndFiles
from embedlab.commands.terminal import Terminal
from embedlab.core.errors import UsageError
from embedlab.core.names import DEFAULT_TASK
from embedlab.core.nearest import unknown_name_error
from embedlab.core.session import Session
from embedlab.reports.report import Report

if TYPE_CHECKING:
    from embedlab.outcomes.selection import ItemSelection
    from embedlab.scoring.task_comparison import ComparisonInput


@dataclass(frozen=True, kw_only=True)
class PairsOptions(ChosenItems, ModelsAndFiles):
    """Which pairs are shown, of which models."""

    name: Annotated[
        str,
        Flag(
            metavar="NAME",
            help="Store the matching pairs as @NAME, for use in every filter.",
        ),
    ] = ""
    sort: Annotated[
        str | None,
        Flag(
            metavar="KEY",
            help="gap (default; with one model: its error), dice, gold, a model or error(MODEL), "
            "largest first; -KEY: smallest first.",
        ),
    ] = None
    limit: Annotated[
        int | None,
        Flag(metavar="N", help="How many to show. [default: 20]", min=1),
    ] = None  # in Python: all


@command("data runs machine output")
def pairs(options: PairsOptions, session: Session) -> Report:
    """Show single pairs with every MODEL's similarity and rank error, the largest disagreement
    first.

    EXPR is for example: dice>0.7 gold<2 gap>30 source:headlines sbert>0.8 "free text" /regex/
    -negated. A rank error is a model's percentile rank of a pair minus that of the gold score; the
    gap is the largest difference between the models' ranks.

    Examples:
        $ embedlab pairs snli-ce snli-supcl --dataset sts12 --sort gap --limit 10 --data DIR
        $ embedlab pairs dice --where 'dice>0.8 gold<2 source:headlines' --sort 'error(dice)'
          --format csv

    """
    import polars as pl

    from embedlab.analysis.expressions import NOTE, OF_PAIR, refuse_unnamable
    from embedlab.analysis.named_selections import store_selection
    from embedlab.analysis.pair_notes import PairNotes
    from embedlab.analysis.rank_errors import with_rank_errors
    from embedlab.commands.own_rows import models_and_files
    from embedlab.comparison.comparison import Slicing
    from embedlab.data.published import canonical_names
    from embedlab.evaluation import gather
    from embedlab.outcomes.selection import item_condition, items_that_fit
    from embedlab.outcomes.table import item_rows
    from embedlab.reports.frames import PAIRED
    from embedlab.reports.pairs import listed_columns, pair_list
    from embedlab.scoring.selection import SelectedTask

    named_models, files = models_and_files(options, session.settings)
    names = list(dict.fromkeys(named_models))
    taken = {*listed_columns(["dice"]), *OF_PAIR} - {"dice"}  # that model is that column
    for name in names:
        if name in taken:
            raise UsageError(
                f"{name!r} is a column of pairs, and cannot be the name of a model there too",
                hint=f"give the model another name: mine={name}",
            )
    if options.name:
        refuse_unnamable(options.name, options.expression)
    matches = item_condition(options.expression, names)
    named_columns = [name for name in OF_PAIR if name in matches.meta.root_names()]
    key, is_ascending = _sort_key(options.sort, names)
    selected_task = SelectedTask(
        task=DEFAULT_TASK, names=tuple(canonical_names(options.tasks or files))
    )
    gathered = gather(names, [selected_task], session, slicing=Slicing(), setting="literature")
    outcomes = gathered.outcomes[0]
    # Ranks are within the whole dataset: they must not change with what is shown of it.
    ranked = with_rank_errors(item_rows(outcomes), gathered.models)
    members = {model.name: model.members for model in gathered.models}
    selection = (
        items_that_fit(outcomes, options.expression, members) if options.expression else None
    )
    if "trained" in named_columns:
        ranked = ranked.with_columns(outcomes.trained_models.alias("trained"))
    if NOTE in named_columns:
        ranked = ranked.with_columns(PairNotes.load().of_pairs(ranked))
    matching = ranked
    if selection is not None:
        matching = ranked.filter(pl.Series(selection.is_selected))
    limit = options.limit or (20 if isinstance(session, Terminal) else None)
    shown_pairs = matching.sort(
        pl.col(key), descending=not is_ascending, nulls_last=True, maintain_order=True
    )
    if limit is not None:
        shown_pairs = shown_pairs.head(min(limit, shown_pairs.height))
    if options.name:
        store_selection(options.name, options.expression)
        session.note(f"stored @{options.name}, {options.expression!r}, for every filter")
    numbers = _numbers(gathered, selection) if selection is not None else ()
    title = f"{shown_pairs.height} of {ranked.height} pairs"
    if matching.height < ranked.height:
        title = f"{matching.height} of {ranked.height} pairs match"
        title += f", {shown_pairs.height} shown" if shown_pairs.height < matching.height else ""
    table = pair_list(gathered, shown_pairs, title, added=named_columns)
    table = replace(table, notes=[*numbers, *table.notes])
    return Report.of(table, schema=PAIRED, is_whole=gathered.is_whole)


def _numbers(gathered: ComparisonInput, selection: ItemSelection) -> Iterator[str]:
    """Yield the score of each model on the pairs that match, and on the rest; with intervals where
    results took no part in picking them.
    """
    from embedlab.comparison.comparison import selected_and_rest
    from embedlab.reports.pairs import selection_notes

    selected_scores = None
    if selection.is_selected.any():
        selected_scores = selected_and_rest(gathered.outcomes[0], gathered.models, selection)
    if selected_scores is not None:
        yield from selection_notes(selected_scores)


def _sort_key(sort: str | None, names: Sequence[str]) -> tuple[str, bool]:
    """The column to sort by, and whether the smallest value is first."""
    from embedlab.reports.pairs import TEXTS, listed_columns

    if not sort:
        return "gap" if len(names) > 1 else f"error({names[0]})", False
    key = sort.removeprefix("-")
    sortable = [column for column in listed_columns(names) if column not in TEXTS]
    if key not in sortable:
        raise unknown_name_error("column to sort by", key, sortable)
    return key, sort.startswith("-")
