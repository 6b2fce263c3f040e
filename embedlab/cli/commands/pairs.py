"""`embedlab pairs`: single pairs, as people and models judge them."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from embedlab.cli import completion
from embedlab.cli.models import ModelNames
from embedlab.cli.options import common, examples
from embedlab.cli.terminal import Terminal
from embedlab.core.errors import ExitCode
from embedlab.core.nearest import unknown
from embedlab.reports.comparison_cells import pair_footnotes, shared_fields
from embedlab.reports.notes import data_notes, usage_notes, with_marks

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from embedlab.evaluation.scored_pairs import ScoredPairs
    from embedlab.reports.tables import Column, TableCell, Value

    Row = dict[str, Value | TableCell]

EXAMPLES = examples(
    "embedlab pairs snli-ce snli-supcl --dataset sts12 --sort gap --limit 10 --data DIR",
    "embedlab pairs dice --where 'dice>0.8 gold<2 source:headlines' --sort 'error(dice)' --format csv",
)

DIGITS = 3  # of a similarity
PROSE = ("sentence1", "sentence2")
TEXTS = ("dataset", "source", *PROSE)


@common("data", "runs", "machine", "output")
def pairs(
    models: ModelNames,
    dataset: Annotated[
        list[str] | None,
        typer.Option("--dataset", metavar="NAME", help="Only this dataset, or your own file.", autocompletion=completion.datasets),
    ] = None,
    where: Annotated[str, typer.Option("--where", metavar="EXPR", help="Only pairs for which all of its terms hold.")] = "",
    sort: Annotated[
        str | None,
        typer.Option(
            "--sort",
            metavar="KEY",
            help="gap (default; with one model: its error), dice, gold, a model or error(MODEL), largest first; -KEY: smallest first.",
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="How many to show.")] = 20,
    *,
    terminal: Terminal,
) -> None:
    """Show single pairs with every MODEL's similarity and rank error, where they disagree most first.

    EXPR is for example: dice>0.7 gold<2 gap>30 source:headlines sbert>0.8 "free text" /regex/ -negated. A rank error is a model's
    percentile rank of a pair minus that of the gold score; the gap is the largest difference between the models' ranks.
    """
    from embedlab.workflows.scoring import score

    scored, is_whole = score(models, terminal, datasets=dataset)

    import polars as pl

    from embedlab.analysis.expressions import compile_expression
    from embedlab.analysis.rank_errors import with_rank_errors
    from embedlab.reports.tables import Table

    # Ranks are within the whole dataset: they must not change with what is shown of it.
    ranked = with_rank_errors(scored.table, scored.models)
    names = [model.name for model in scored.models]
    matching = ranked.filter(compile_expression(where, _columns_of(names)))
    sort = sort or ("gap" if len(names) > 1 else f"error({names[0]})")
    key, is_ascending = (sort[1:], True) if sort.startswith("-") else (sort, False)
    sortable = [column for column in _columns_of(names) if column not in TEXTS]
    if key not in sortable:
        raise unknown("column to sort by", key, sortable)
    shown = matching.sort(pl.col(key), descending=not is_ascending, nulls_last=True, maintain_order=True).head(limit)
    columns = _columns(names)
    rows, is_any_shared = _rows(scored, shown, columns)
    signs = ["† the pair, ‡ a sentence of it is in the model's training data"] if is_any_shared else []
    terminal.show(
        Table(
            title=with_marks(_count(shown.height, matching.height, ranked.height), scored.marks),
            columns=columns,
            rows=rows,
            notes=[*data_notes(scored), *signs, *pair_footnotes(scored, "dataset"), *usage_notes(scored.models, scored.facts)],
        )
    )
    if not is_whole:
        raise typer.Exit(ExitCode.MISSING)


def _count(shown: int, matching: int, total: int) -> str:
    """How many pairs are shown, of those that match and of all."""
    if matching == total:
        return f"{shown} of {total} pairs"
    return f"{matching} of {total} pairs match" + (f", {shown} shown" if shown < matching else "")


def _columns_of(names: "Sequence[str]") -> list[str]:
    """The columns that can be shown, filtered and sorted."""
    found = [*TEXTS[:2], "pair", *TEXTS[2:], "gold", "dice", *names, *(f"error({name})" for name in names), "gap"]
    return list(dict.fromkeys(found))  # the model "dice" is the column of that name


def _rows(scored: "ScoredPairs", shown: "pl.DataFrame", columns: "Sequence[Column]") -> "tuple[list[Row], bool]":
    """The rows of the table, each similarity marked where its model knows text of the pair, and whether any does."""
    from embedlab.evaluation.provenance import overlap_mark
    from embedlab.reports.tables import TableCell

    rows: list[Row] = shown.select([column.key for column in columns]).to_dicts()
    is_any = False
    for model in scored.models:
        # The members of a model, seeds of one recipe, learnt from the same text.
        text = next((known for member in model.members if (known := scored.training_text[member].text) is not None), None)
        for row, shared in zip(rows, text.row_overlaps(shown) if text is not None else (), strict=False):
            if shared and isinstance(value := row[model.name], float):
                row |= {
                    model.name: TableCell(value=value, text=f"{value:.{DIGITS}f}{overlap_mark(shared)}"),
                    **shared_fields(model.name, shared),
                }
                is_any = True
    return rows, is_any


def _columns(names: "Sequence[str]") -> "list[Column]":
    from embedlab.reports.tables import Column

    digits: dict[str, Any] = {"gold": 2, "dice": 2, "gap": 1, **dict.fromkeys(names, DIGITS), **{f"error({name})": 0 for name in names}}
    return [Column(key=key, title=key, digits=digits.get(key), is_prose=key in PROSE) for key in _columns_of(names)]
